//! Kills of the server and of its processes: every acknowledged entry is there afterwards, once,
//! and in order.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use kagetsu_book::{Journal, Sequence};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use kagetsu_tests::PostgresServer;

use crate::{book_url, entries, leading, sample};

/// Kills of each kind in an ordinary run, and in a long one.
const KILLS: u64 = 3;
const MANY_KILLS: u64 = 50;

/// Appends until `kill` has run `kills` times; each entry is acknowledged by a sync.
fn survive(kills: u64, mut kill: impl FnMut(&mut PostgresServer, u64)) {
    let Some(mut server) = PostgresServer::start() else {
        return;
    };
    let url = book_url(&server, "killed");
    let mut journal = leading(&url);
    let (acknowledged, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let appending = scope.spawn(|| {
            let mut number = 0;
            while !is_over.load(Ordering::Acquire) {
                for _ in 0..3 {
                    number += 1;
                    let appended = journal.append(&sample(number)).expect("it leads");
                    assert_eq!(appended, Sequence(number));
                }
                let synced = journal.syncer().sync().expect("the server comes back");
                assert_eq!(synced, Sequence(number));
                acknowledged.store(number, Ordering::Release);
            }
        });
        for round in 0..kills {
            let before = acknowledged.load(Ordering::Acquire);
            kill(&mut server, round);
            // The next kill comes after some progress.
            while acknowledged.load(Ordering::Acquire) <= before + 3 && !appending.is_finished() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        is_over.store(true, Ordering::Release);
    });
    let number = acknowledged.load(Ordering::Acquire);
    let reader = kagetsu_postgres::PostgresJournal::open(&url).expect("it is there");
    let all = entries(&reader);
    assert_eq!(all.len() as u64, number);
    for (number, entry) in (1..).zip(&all) {
        assert_eq!(**entry, *sample(number), "{number}");
    }
}

fn wait_at_random(rng: &mut StdRng) {
    std::thread::sleep(Duration::from_micros(rng.random_range(0..20_000)));
}

fn kill_server(kills: u64) {
    let mut rng = StdRng::seed_from_u64(1);
    survive(kills, |server, _| {
        wait_at_random(&mut rng);
        server.kill();
        server.run(&[]);
    });
}

fn kill_connections(kills: u64) {
    let mut rng = StdRng::seed_from_u64(2);
    survive(kills, |server, _| {
        wait_at_random(&mut rng);
        server.sql(
            "select pg_terminate_backend(pid) from pg_stat_activity \
             where application_name = 'kagetsu'",
        );
    });
}

#[test]
fn killed_server_loses_no_acknowledged_entry() {
    kill_server(KILLS);
}

#[test]
fn killed_connections_lose_no_acknowledged_entry() {
    kill_connections(10 * KILLS);
}

#[test]
#[ignore = "takes minutes"]
fn server_killed_fifty_times_loses_nothing() {
    kill_server(MANY_KILLS);
}

#[test]
#[ignore = "takes minutes"]
fn connections_killed_fifty_times_lose_nothing() {
    kill_connections(MANY_KILLS);
}

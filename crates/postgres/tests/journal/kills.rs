//! Kills of the server and of its processes: every acknowledged entry is there afterwards, once,
//! and in order.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use kagetsu_book::{Journal, Sequence};
use kagetsu_postgres::{BookUrl, PostgresJournal};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use kagetsu_tests::PostgresServer;

use crate::{book_url, entries, leading, sample};

/// Kills of each kind in an ordinary run, and in a long one.
const KILLS: u64 = 3;
const MANY_KILLS: u64 = 50;

/// Appends to a journal until `kill` has run `kills` times; each entry is acknowledged by a sync. A
/// reader of its own records the journal after each kill.
fn survive(url: &BookUrl, kills: u64, mut kill: impl FnMut(u64)) {
    let mut journal = leading(url);
    // The server of a loaded machine may start for minutes.
    journal.lease().set_commit_patience(None);
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
            kill(round);
            let known = acknowledged.load(Ordering::Acquire);
            let reader = PostgresJournal::open(url).expect("it is there");
            let digest = reader.digest(Sequence(known)).expect("readable");
            assert!(
                digest.is_some(),
                "entry {known} was acknowledged and is lost"
            );
            // The next kill comes after some progress.
            while acknowledged.load(Ordering::Acquire) <= before + 3 && !appending.is_finished() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        is_over.store(true, Ordering::Release);
    });
    let number = acknowledged.load(Ordering::Acquire);
    let reader = PostgresJournal::open(url).expect("it is there");
    let all = entries(&reader);
    assert_eq!(all.len() as u64, number);
    for (number, entry) in (1..).zip(&all) {
        assert_eq!(**entry, *sample(number), "{number}");
    }
    println!("{kills} kills, {number} entries acknowledged and found");
}

fn wait_at_random(rng: &mut StdRng) {
    std::thread::sleep(Duration::from_micros(rng.random_range(0..20_000)));
}

fn kill_server(kills: u64) {
    let mut rng = StdRng::seed_from_u64(1);
    let mut server = kagetsu_builders::needed!(PostgresServer::start());
    survive(&book_url(&server, "killed"), kills, |_| {
        wait_at_random(&mut rng);
        server.kill();
        server.run(&[]);
    });
}

fn kill_connections(kills: u64) {
    let mut rng = StdRng::seed_from_u64(2);
    let server = kagetsu_builders::needed!(PostgresServer::start());
    survive(&book_url(&server, "killed"), kills, |_| {
        wait_at_random(&mut rng);
        terminate(&server, "true");
    });
}

/// Ends our connections that match a condition.
fn terminate(server: &PostgresServer, condition: &str) {
    server.sql(&format!(
        "select pg_terminate_backend(pid) from pg_stat_activity \
         where application_name = 'kagetsu' and {condition}"
    ));
}

/// Our connections whose transaction is on the server's disk and not acknowledged yet.
const COMMITTED: &str = "wait_event = 'SyncRep'";

fn wait_for_commit(server: &PostgresServer) {
    let count = format!(
        "select count(*) from pg_stat_activity where application_name = 'kagetsu' and {COMMITTED}"
    );
    while server.sql(&count) == "0" {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Makes commits wait for a standby that does not exist. The server's processes read the setting
/// one after the other, so that the next commit might not wait.
fn lose_standby(server: &PostgresServer) {
    const WAITS: &str = "application_name = 'psql' and wait_event = 'SyncRep'";
    server.set("synchronous_standby_names", "absent");
    std::thread::scope(|scope| {
        loop {
            let probe =
                scope.spawn(|| server.sql("drop table if exists probe; create table probe ()"));
            while !probe.is_finished() {
                let cancelled = server.sql(&format!(
                    "select count(pg_cancel_backend(pid)) from pg_stat_activity where {WAITS}"
                ));
                if cancelled != "0" {
                    return;
                }
            }
        }
    });
}

/// Ends connections between the commit and its acknowledgement. The server waits there for a
/// standby that does not exist.
fn kill_before_acknowledgement(kills: u64) {
    let server = kagetsu_builders::needed!(PostgresServer::start());
    survive(&book_url(&server, "killed"), kills, |_| {
        server.set("synchronous_standby_names", "absent");
        wait_for_commit(&server);
        terminate(&server, COMMITTED);
        server.set("synchronous_standby_names", "");
    });
}

/// Kills the primary and makes its synchronous standby the primary, again and again.
fn kill_primary(kills: u64) {
    let mut rng = StdRng::seed_from_u64(3);
    let mut primary = kagetsu_builders::needed!(PostgresServer::start());
    // The standby copies this setting.
    primary.set("synchronous_standby_names", "*");
    let mut standby = primary.standby(None);
    let synchronous = |primary: &PostgresServer| {
        let count = "select count(*) from pg_stat_replication where sync_state = 'sync'";
        while primary.sql(count) == "0" {
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    synchronous(&primary);
    let url = primary.url_of_both(&standby, "promoted");
    survive(&BookUrl::parse(&url).expect("an address"), kills, |_| {
        wait_at_random(&mut rng);
        primary.kill();
        standby.promote();
        let next = standby.standby(Some(&primary));
        primary = std::mem::replace(&mut standby, next);
        synchronous(&primary);
    });
}

#[test]
fn acknowledgement_waits_for_standby_after_a_loss() {
    let server = kagetsu_builders::needed!(PostgresServer::start());
    let url = book_url(&server, "killed");
    let mut journal = leading(&url);
    journal.append(b"an entry").expect("it leads");
    lose_standby(&server);
    std::thread::scope(|scope| {
        let syncing = scope.spawn(|| journal.syncer().sync());
        for _ in 0..3 {
            wait_for_commit(&server);
            assert!(!syncing.is_finished(), "no standby has the entry");
            terminate(&server, COMMITTED);
        }
        wait_for_commit(&server);
        assert!(!syncing.is_finished(), "no standby has the entry");
        server.set("synchronous_standby_names", "");
        let synced = syncing.join().expect("no panic").expect("it goes on");
        assert_eq!(synced, Sequence(1));
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
fn commit_without_acknowledgement_counts_once() {
    kill_before_acknowledgement(KILLS);
}

#[test]
fn promoted_standby_has_every_acknowledged_entry() {
    kill_primary(1);
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

#[test]
#[ignore = "takes minutes"]
fn fifty_commits_without_acknowledgement_count_once() {
    kill_before_acknowledgement(MANY_KILLS);
}

#[test]
#[ignore = "takes minutes"]
fn primary_killed_fifty_times_loses_nothing() {
    kill_primary(MANY_KILLS);
}

//! Builds with as many roots as a request may have.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kagetsu_game::{Move, Position, Variant};
use kagetsu_proto::{MAX_ROOTS, v1};

use crate::world::{Cluster, build, position, within};

/// Returns different positions of three stones.
fn roots() -> Vec<v1::Position> {
    let play = |moves: [u16; 3]| {
        let moves = moves.map(Move::new);
        Position::new(Variant::FREESTYLE_15, None, &moves)
    };
    let points = || 0..225_u16;
    let lines = points().flat_map(|a| points().flat_map(move |b| points().map(move |c| [a, b, c])));
    let mut keys = std::collections::HashSet::new();
    lines
        .filter_map(|line| play(line).ok())
        .filter(|root| keys.insert(root.key()))
        .take(MAX_ROOTS)
        .map(|root| (&root).into())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn look_ups_go_on_while_many_roots_are_read() {
    let cluster = Cluster::with_book();
    let roots = roots();
    assert_eq!(roots.len(), MAX_ROOTS);
    let is_over = Arc::new(AtomicBool::new(false));
    let request = v1::StartRequest {
        roots,
        ..build("test", 200_000)
    };
    let (mut builds, ends) = (cluster.builds().await, Arc::clone(&is_over));
    let start = tokio::spawn(async move {
        let started = within(builds.start(request)).await;
        ends.store(true, Ordering::Release);
        started
    });
    let mut books = cluster.books().await;
    let mut lookups = 0;
    while !is_over.load(Ordering::Acquire) {
        let found = within(books.lookup(v1::Position::from(&position("h8")))).await;
        found.expect("a book");
        lookups += 1;
    }
    let job = start.await.expect("no panic").expect("a job").into_inner();
    assert!(lookups > 2, "{lookups} look-ups while the roots were read");
    assert_eq!(job.frontier, MAX_ROOTS as u64, "{job:?}");
    cluster.end().await;
}

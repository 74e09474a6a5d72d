//! Searches that take longer than they should.

use std::time::Duration;

use kagetsu_game::{Answer, Effort, Question};
use kagetsu_schedule::{Capacity, Effect, Idle, Split, Task, WorkerId};

use crate::engine;
use crate::harness::{Harness, W1, W2, acknowledge, question, revoke, workers_of};

/// Worker 1 has answered a question in two seconds.
fn measured() -> Harness {
    let (mut harness, task) = Harness::with_task();
    harness.wait(2);
    harness.finish(W1, &task);
    harness.scheduler.settle(task.question);
    harness.effects();
    harness
}

/// Worker 1 has answered a question in two seconds, and gets another, which may take a lease and
/// sixteen times two seconds. Worker 2 is idle.
fn given() -> (Harness, Task) {
    let mut harness = measured();
    // The next question has exactly the same size.
    harness
        .scheduler
        .submit(harness.now, question(1), Answer::new(), Split::Never, 0, ());
    let (worker, task) = harness.one_assigned();
    assert_eq!(worker, W1);
    harness.join(W2, 1);
    (harness, task)
}

/// Sends a heartbeat a second from both workers; `nodes` maps the second to worker 1's positions.
fn beat(
    harness: &mut Harness,
    task: &Task,
    seconds: std::ops::RangeInclusive<u64>,
    nodes: impl Fn(u64) -> u64,
) {
    for second in seconds {
        harness.wait(1);
        harness.beat(W1, &[(task.id, nodes(second))]);
        harness.beat(W2, &[]);
    }
}

#[test]
fn slow_worker_shares_its_task_first_answer_counts() {
    for first in [W1, W2] {
        let (mut harness, task) = given();
        beat(&mut harness, &task, 1..=46, |second| second);
        assert_eq!(harness.effects(), []);
        beat(&mut harness, &task, 47..=48, |second| second);
        let (worker, again) = harness.one_assigned();
        assert_eq!((worker, again.id, again.attempt), (W2, task.id, 2));
        assert_eq!(
            (harness.totals().overdue, harness.status(W1).tasks),
            (1, vec![task.id]),
            "the first worker may go on"
        );
        let (last, by_first, by_last) = if first == W1 {
            (W2, &task, &again)
        } else {
            (W1, &again, &task)
        };
        harness.finish(first, by_first);
        let effects = harness.effects();
        assert!(
            matches!(&effects[..], [gone, Effect::Finished { .. }] if *gone == revoke(last, by_last)),
            "{effects:?}"
        );
        harness.finish(last, by_last);
        assert_eq!(harness.effects(), [acknowledge(last, by_last)]);
    }
}

/// A worker begins all its tasks by its own account, and answers none of them.
#[test]
fn queue_of_a_worker_without_answers_is_shared() {
    let mut harness = Harness::prefetching(3);
    harness.join(W1, 1);
    (1..=4).for_each(|n| _ = harness.ask(n, Split::Never, 0));
    let tasks: Vec<Task> = harness
        .assigned()
        .into_iter()
        .map(|(_, task)| task)
        .collect();
    assert_eq!(tasks.len(), 4);
    let mut answered = 0;
    for second in 1..=600 {
        if second % 10 == 0 {
            // Leaving and returning gains no time.
            let held: Vec<_> = tasks.iter().map(|task| (task.id, task.attempt)).collect();
            harness.scheduler.leave(harness.now, W1, false);
            harness.scheduler.join(harness.now, W1, 1, &held);
        }
        if second == 5 {
            harness.join(W2, 4);
        }
        for effect in harness.effects() {
            if let Effect::Assign { worker: W2, task } = effect {
                harness.finish(W2, &task);
                answered += 1;
            }
        }
        harness.wait(1);
        let progress: Vec<_> = tasks.iter().map(|task| (task.id, second << 20)).collect();
        harness.beat(W1, &progress);
        harness.beat(W2, &[]);
    }
    assert_eq!(
        (answered, harness.scheduler.counts().open_questions),
        (4, 0)
    );
}

/// One worker's slow answers do not become the usual time.
#[test]
fn slow_answers_of_one_worker_give_it_no_time() {
    let mut harness = Harness::direct();
    harness.join(W1, 1);
    harness.join(W2, 1);
    for n in 0..200 {
        harness.ask(n % 20, Split::Never, 0);
        let (worker, task) = harness.one_assigned();
        // Both are served in turn.
        harness.wait(if worker == W1 { 14 } else { 1 });
        [W1, W2]
            .iter()
            .for_each(|worker| harness.beat(*worker, &[]));
        harness.finish(worker, &task);
        harness.scheduler.settle(task.question);
        harness.effects();
    }
    harness.ask(1, Split::Never, 0);
    let (worker, task) = harness.one_assigned();
    assert_eq!(worker, W1);
    let mut waited = 0;
    while harness.effects().is_empty() {
        harness.wait(1);
        harness.beat(W1, &[(task.id, waited << 20)]);
        harness.beat(W2, &[]);
        waited += 1;
    }
    assert!((15..400).contains(&waited), "{waited}");
}

#[test]
fn growing_node_counts_hold_no_position() {
    let mut harness = Harness::direct();
    let strangers = [3, 4, 5, 6].map(WorkerId);
    let untrusted = Capacity {
        is_trusted: false,
        ..Capacity::from(1)
    };
    for stranger in strangers {
        harness
            .scheduler
            .join(harness.now, stranger, untrusted.clone(), &[]);
    }
    harness.ask(1, Split::Never, 0);
    let mut holders = Vec::new();
    for second in 1..1_200 {
        holders.extend(workers_of(&harness.assigned()));
        harness.wait(1);
        for stranger in strangers {
            let tasks = harness.status(stranger).tasks;
            let progress: Vec<_> = tasks.iter().map(|task| (*task, second << 20)).collect();
            harness.beat(stranger, &progress);
        }
    }
    assert_eq!(holders, strangers, "none of them answers");
    harness.join(W2, 1);
    let (worker, task) = harness.one_assigned();
    assert_eq!(worker, W2);
    harness.finish(W2, &task);
    let effects = harness.effects();
    assert!(
        matches!(effects.last(), Some(Effect::Finished { .. })),
        "{effects:?}"
    );
}

#[test]
fn failures_of_untrusted_workers_drop_no_question() {
    let mut harness = Harness::direct();
    let untrusted = Capacity {
        is_trusted: false,
        ..Capacity::from(1)
    };
    for stranger in [3, 4, 5].map(WorkerId) {
        harness
            .scheduler
            .join(harness.now, stranger, untrusted.clone(), &[]);
    }
    harness.ask(1, Split::Never, 0);
    let mut failures = 0;
    for _ in 0..1_000 {
        for effect in harness.effects() {
            match effect {
                Effect::Assign { worker, task } => {
                    failures += 1;
                    harness.fail(worker, &task);
                }
                Effect::Failed { reason, .. } => panic!("set aside: {reason}"),
                _ => {}
            }
        }
        harness.wait(1);
        (3..=5).for_each(|n| harness.beat(WorkerId(n), &[]));
    }
    // Each pauses, at last for a minute, after its fourth failure in a row.
    assert!((12..100).contains(&failures), "{failures}");
}

/// A task that takes very long goes to few other workers.
#[test]
fn copies_of_a_long_task_come_ever_later() {
    let (mut harness, task) = given();
    (3..=9).for_each(|n| harness.join(WorkerId(n), 1));
    let mut assigned = vec![0];
    for second in 1..900 {
        harness.wait(1);
        harness.beat(W1, &[(task.id, second)]);
        (2..=9).for_each(|n| {
            let tasks = harness.status(WorkerId(n)).tasks;
            let progress: Vec<_> = tasks.into_iter().map(|task| (task, second)).collect();
            harness.beat(WorkerId(n), &progress);
        });
        assigned.extend(harness.assigned().iter().map(|_| second));
    }
    assert_eq!(assigned, [0, 47, 141, 329, 705]);
    assert_eq!(harness.totals().overdue, 4);
}

#[test]
fn time_limit_needs_no_measured_speed() {
    let mut harness = Harness::direct();
    harness.join(W1, 1);
    let effort = Effort {
        time: Some(Duration::from_secs(10)),
        ..Effort::default()
    };
    let question = Question::new(engine::position(1), effort);
    harness
        .scheduler
        .submit(harness.now, question, Answer::new(), Split::Never, 0, ());
    let (_, task) = harness.one_assigned();
    harness.join(W2, 1);
    beat(&mut harness, &task, 1..=54, |second| second * 1_000_000);
    assert_eq!(harness.effects(), []);
    beat(&mut harness, &task, 55..=55, |second| second * 1_000_000);
    assert_eq!(harness.one_assigned().0, W2);
}

#[test]
fn slow_worker_is_on_probation_until_it_answers() {
    let mut harness = measured();
    harness.join(W1, 3);
    harness
        .scheduler
        .submit(harness.now, question(1), Answer::new(), Split::Never, 0, ());
    let (_, task) = harness.one_assigned();
    beat(&mut harness, &task, 1..=48, |second| second);
    assert_eq!(harness.status(W1).idle, Some(Idle::Probation));
    harness.finish(W1, &task);
    assert_eq!(harness.status(W1).idle, Some(Idle::NoTasks));
}

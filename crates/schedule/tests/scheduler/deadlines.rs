//! Searches that take longer than they should.

use std::time::Duration;

use kagetsu_game::{Answer, Effort, Question};
use kagetsu_schedule::{Capacity, Effect, Idle, Split, Task, WorkerId};

use crate::desk::{ANN, BOB, Desk, acknowledge, question, revoke, workers_of};
use crate::engine;

/// Ann has answered a question in two seconds, Bob is idle, and Ann gets another question. She may
/// take a lease and four times two seconds.
fn given() -> (Desk, Task) {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    let id = desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    desk.wait(2);
    desk.finish(ANN, &task);
    desk.scheduler.settle(id);
    desk.effects();
    // The next question has exactly the same size.
    desk.scheduler
        .submit(desk.now, question(1), Answer::new(), Split::Never, 0);
    let (worker, task) = desk.one_assigned();
    assert_eq!(worker, ANN);
    desk.join(BOB, 1);
    (desk, task)
}

/// Sends a heartbeat a second from both workers; `nodes` maps the second to Ann's positions.
fn beat(
    desk: &mut Desk,
    task: &Task,
    seconds: std::ops::RangeInclusive<u64>,
    nodes: impl Fn(u64) -> u64,
) {
    for second in seconds {
        desk.wait(1);
        desk.beat(ANN, &[(task.id, nodes(second))]);
        desk.beat(BOB, &[]);
    }
}

#[test]
fn slow_worker_shares_its_task_first_answer_counts() {
    for first in [ANN, BOB] {
        let (mut desk, task) = given();
        beat(&mut desk, &task, 1..=22, |second| second);
        assert_eq!(desk.effects(), []);
        beat(&mut desk, &task, 23..=24, |second| second);
        let (worker, again) = desk.one_assigned();
        assert_eq!((worker, again.id, again.attempt), (BOB, task.id, 2));
        assert_eq!(
            (desk.totals().overdue, desk.status(ANN).tasks),
            (1, vec![task.id]),
            "she may go on"
        );
        let (last, by_first, by_last) = if first == ANN {
            (BOB, &task, &again)
        } else {
            (ANN, &again, &task)
        };
        desk.finish(first, by_first);
        let effects = desk.effects();
        assert!(
            matches!(&effects[..], [gone, Effect::Finished { .. }] if *gone == revoke(last, by_last)),
            "{effects:?}"
        );
        desk.finish(last, by_last);
        assert_eq!(desk.effects(), [acknowledge(last, by_last)]);
    }
}

#[test]
fn large_task_is_repeated_only_by_spare_workers() {
    let (mut desk, task) = given();
    // Bob is busy with a task of his own.
    desk.scheduler
        .submit(desk.now, question(2), Answer::new(), Split::Never, 0);
    let (worker, other) = desk.one_assigned();
    assert_eq!(worker, BOB);
    let pace = engine::answer(&task.part).nodes() / 2;
    beat(&mut desk, &task, 1..=30, |second| second * pace / 2);
    assert_eq!(desk.effects(), []);
    desk.finish(BOB, &other);
    desk.effects();
    beat(&mut desk, &task, 31..=60, |second| second * pace / 2);
    let effects = desk.effects();
    assert!(
        matches!(effects.first(), Some(Effect::Assign { worker: BOB, task: again }) if again.id == task.id),
        "{effects:?}"
    );
}

#[test]
fn growing_node_counts_hold_no_position() {
    let mut desk = Desk::direct();
    let strangers = [3, 4, 5, 6].map(WorkerId);
    let untrusted = Capacity {
        is_trusted: false,
        ..Capacity::from(1)
    };
    for stranger in strangers {
        desk.scheduler
            .join(desk.now, stranger, untrusted.clone(), &[]);
    }
    desk.ask(1, Split::Never, 0);
    let mut holders = Vec::new();
    for second in 1..1_000 {
        holders.extend(workers_of(&desk.assigned()));
        desk.wait(1);
        for stranger in strangers {
            let tasks = desk.status(stranger).tasks;
            let progress: Vec<_> = tasks.iter().map(|task| (*task, second << 20)).collect();
            desk.beat(stranger, &progress);
        }
    }
    assert_eq!(holders, [WorkerId(3), WorkerId(4)], "none of them answers");
    desk.join(BOB, 1);
    let (worker, task) = desk.one_assigned();
    assert_eq!(worker, BOB);
    desk.finish(BOB, &task);
    let effects = desk.effects();
    assert!(
        matches!(effects.last(), Some(Effect::Finished { .. })),
        "{effects:?}"
    );
}

#[test]
fn failures_of_untrusted_workers_drop_no_question() {
    let mut desk = Desk::direct();
    let untrusted = Capacity {
        is_trusted: false,
        ..Capacity::from(1)
    };
    for stranger in [3, 4, 5].map(WorkerId) {
        desk.scheduler
            .join(desk.now, stranger, untrusted.clone(), &[]);
    }
    desk.ask(1, Split::Never, 0);
    let mut failures = 0;
    for _ in 0..1_000 {
        for effect in desk.effects() {
            match effect {
                Effect::Assign { worker, task } => {
                    failures += 1;
                    desk.fail(worker, &task);
                }
                Effect::Failed { reason, .. } => panic!("set aside: {reason}"),
                _ => {}
            }
        }
        desk.wait(1);
        (3..=5).for_each(|n| desk.beat(WorkerId(n), &[]));
    }
    // Each pauses, at last for a minute, after its fourth failure in a row.
    assert!((12..100).contains(&failures), "{failures}");
}

#[test]
fn where_nobody_else_is_left_it_goes_on() {
    let (mut desk, task) = given();
    desk.scheduler.leave(desk.now, BOB, true);
    beat(&mut desk, &task, 1..=100, |second| second);
    assert_eq!((desk.effects(), desk.totals().overdue), (vec![], 1));
    assert_eq!(desk.status(ANN).tasks, [task.id]);
    desk.finish(ANN, &task);
    assert!(matches!(&desk.effects()[..], [Effect::Finished { .. }]));
    assert_eq!(desk.scheduler.counts().waiting_tasks, 0);
}

/// At most as many workers have a task as may fail at it.
#[test]
fn no_more_have_a_task_than_may_fail_at_it() {
    let (mut desk, task) = given();
    (3..=9).for_each(|n| desk.join(WorkerId(n), 1));
    let mut assigned = 1;
    for second in 1..600 {
        desk.wait(1);
        desk.beat(ANN, &[(task.id, second)]);
        (2..=9).for_each(|n| {
            let tasks = desk.status(WorkerId(n)).tasks;
            let progress: Vec<_> = tasks.into_iter().map(|task| (task, second)).collect();
            desk.beat(WorkerId(n), &progress);
        });
        assigned += desk.assigned().len();
    }
    assert_eq!((assigned, desk.totals().overdue), (3, 3));
}

#[test]
fn a_limit_of_time_is_a_deadline_that_needs_no_pace() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    let effort = Effort {
        time: Some(Duration::from_secs(10)),
        ..Effort::default()
    };
    let question = Question::new(engine::position(1), effort);
    desk.scheduler
        .submit(desk.now, question, Answer::new(), Split::Never, 0);
    let (_, task) = desk.one_assigned();
    desk.join(BOB, 1);
    beat(&mut desk, &task, 1..=54, |second| second * 1_000_000);
    assert_eq!(desk.effects(), []);
    beat(&mut desk, &task, 55..=55, |second| second * 1_000_000);
    assert_eq!(desk.one_assigned().0, BOB);
}

#[test]
fn slow_worker_is_on_probation_until_it_answers() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    let id = desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    desk.wait(2);
    desk.finish(ANN, &task);
    desk.scheduler.settle(id);
    desk.effects();
    desk.join(ANN, 3);
    desk.scheduler
        .submit(desk.now, question(1), Answer::new(), Split::Never, 0);
    let (_, task) = desk.one_assigned();
    beat(&mut desk, &task, 1..=24, |second| second);
    assert_eq!(desk.status(ANN).idle, Some(Idle::Probation));
    desk.finish(ANN, &task);
    assert_eq!(desk.status(ANN).idle, Some(Idle::NoTasks));
}

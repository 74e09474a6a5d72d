//! Workers that fall silent, stall, leave and return.

use std::time::Duration;

use kagetsu_schedule::{Effect, Idle, Options, Report, Split, TaskId, WorkerId};

use crate::harness::{Harness, W1, W2, acknowledge, revoke};

#[test]
fn silent_worker_loses_tasks_late_answer_counts() {
    let mut harness = Harness::direct();
    harness.join(W1, 1);
    let id = harness.ask(1, Split::Never, 0);
    let (_, first) = harness.one_assigned();
    harness.wait(10);
    harness.join(W2, 1);
    assert_eq!(
        harness.scheduler.deadline(),
        Some(Duration::from_secs(15)),
        "a lease after its last message"
    );
    harness.wait(4);
    assert_eq!(harness.effects(), []);
    harness.wait(1);
    assert_eq!(harness.status(W1).idle, Some(Idle::Silent));
    let (worker, second) = harness.one_assigned();
    assert_eq!((worker, second.id, second.attempt), (W2, first.id, 2));

    harness.finish(W1, &first);
    let effects = harness.effects();
    let [gone, Effect::Finished { question, .. }] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!((gone, *question), (&revoke(W2, &second), id));
    harness.finish(W2, &second); // the revocation and the report have crossed
    assert_eq!(harness.effects(), [acknowledge(W2, &second)]);
    harness.scheduler.settle(id);
    assert_eq!(harness.effects(), [acknowledge(W1, &first)]);
}

#[test]
fn heartbeats_renew_the_lease() {
    let (mut harness, task) = Harness::with_task();
    for nodes in 1..100 {
        harness.wait(14);
        harness.beat(W1, &[(task.id, nodes)]);
    }
    assert_eq!(harness.effects(), []);
}

#[test]
fn stalled_worker_with_heartbeats_is_found() {
    let mut harness = Harness::direct();
    harness.join(W1, 1);
    harness.join(W2, 1);
    harness.ask(1, Split::Never, 0);
    let (_, task) = harness.one_assigned();
    for seconds in 1..60 {
        harness.wait(1);
        harness.beat(W1, &[(task.id, 500.min(seconds * 100))]);
        harness.beat(W2, &[]);
    }
    assert_eq!(
        harness.effects(),
        [],
        "it stood still after 5 s, and has 60 s to get on"
    );
    for _ in 0..6 {
        harness.wait(1);
        harness.beat(W2, &[]);
        harness.beat(W1, &[(task.id, 500)]);
    }
    let effects = harness.effects();
    let [
        first,
        Effect::Assign {
            worker: W2,
            task: again,
        },
        ..,
    ] = &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert_eq!(
        (first, again.id, again.attempt),
        (&revoke(W1, &task), task.id, 2)
    );
    assert_eq!(harness.totals().stalled, 1);
}

#[test]
fn queued_task_does_not_count_as_stalled() {
    let mut harness = Harness::prefetching(1);
    harness.join(W1, 1);
    (1..=2).for_each(|n| _ = harness.ask(n, Split::Never, 0));
    let assigned = harness.assigned();
    for nodes in 1..100 {
        harness.wait(10);
        harness.beat(W1, &[(assigned[0].1.id, nodes)]);
    }
    harness.finish(W1, &assigned[0].1);
    assert!(matches!(&harness.effects()[..], [Effect::Finished { .. }]));
    harness.wait(10);
    harness.beat(W1, &[]);
    assert_eq!(harness.effects(), [], "it has only just begun the second");
}

#[test]
fn a_question_that_kills_its_workers_is_set_aside() {
    let mut harness = Harness::new(Options {
        max_losses: 4,
        ..Options::default()
    });
    harness.ask(1, Split::Never, 0);
    for n in 1..=4 {
        harness.join(WorkerId(n), 1);
        assert_eq!(harness.one_assigned().0, WorkerId(n));
        harness.scheduler.leave(harness.now, WorkerId(n), false);
    }
    let effects = harness.effects();
    assert!(
        matches!(&effects[..], [Effect::Failed { reason, .. }] if reason.starts_with("4 workers")),
        "{effects:?}"
    );
}

#[test]
fn returning_worker_keeps_running_tasks() {
    let mut harness = Harness::prefetching(1);
    harness.join(W1, 1);
    (1..=2).for_each(|n| _ = harness.ask(n, Split::Never, 0));
    let had = harness.assigned();
    harness.scheduler.leave(harness.now, W1, false);
    assert_eq!(harness.scheduler.counts().waiting_tasks, 2);
    let stranger = (TaskId(99), 1);
    harness
        .scheduler
        .join(harness.now, W1, 1, &[(had[0].1.id, 1), stranger]);
    let effects = harness.effects();
    let [
        Effect::Revoke {
            worker: W1,
            task: TaskId(99),
        },
        Effect::Assign { worker: W1, task },
    ] = &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert_eq!(
        (task.id, task.attempt),
        (had[1].1.id, 2),
        "the other is lost"
    );
    harness.finish(W1, &had[0].1);
    assert!(matches!(&harness.effects()[..], [Effect::Finished { .. }]));
    assert_eq!((harness.totals().lost, harness.totals().regained), (2, 1));
}

/// The connection breaks while a second attempt is on its way to a worker that still has the first.
#[test]
fn reconnected_worker_keeps_its_attempt() {
    let mut harness = Harness::new(Options {
        max_attempts: 2,
        ..Options::default()
    });
    harness.join(W1, 1);
    harness.ask(1, Split::Never, 0);
    let (_, first) = harness.one_assigned();
    harness.join(W1, 1);
    let (_, second) = harness.one_assigned();
    assert_eq!((second.id, second.attempt), (first.id, 2));
    harness.claim(W1, 1, &first);
    assert_eq!(harness.effects(), []);
    harness.fail(W1, &first);
    let effects = harness.effects();
    let [_, Effect::Assign { task: third, .. }] = &effects[..] else {
        panic!("it has failed once: {effects:?}")
    };
    assert_eq!(third.attempt, 3);
}

#[test]
fn worker_under_a_new_id_keeps_its_tasks() {
    let (mut harness, task) = Harness::with_task();
    harness.scheduler.leave(harness.now, W1, false);
    harness.claim(W2, 1, &task);
    assert_eq!(harness.status(W2).tasks, [task.id]);
    assert_eq!(harness.effects(), []);
}

#[test]
fn assignee_reclaims_a_task_that_was_only_claimed() {
    let mut harness = Harness::direct();
    harness.join(W1, 1);
    let id = harness.ask(1, Split::Never, 0);
    let (_, task) = harness.one_assigned();
    for is_done in [false, true] {
        harness.scheduler.leave(harness.now, W1, false);
        harness.claim(W2, 0, &task);
        assert_eq!(
            (harness.effects(), harness.status(W2).tasks),
            (vec![], vec![task.id])
        );
        if is_done {
            harness.finish(W1, &task);
            let effects = harness.effects();
            assert!(
                effects.contains(&revoke(W2, &task))
                    && effects
                        .iter()
                        .any(|effect| matches!(effect, Effect::Finished { question, .. } if *question == id)),
                "{effects:?}"
            );
        } else {
            harness.claim(W1, 1, &task);
            assert_eq!(harness.effects(), [revoke(W2, &task)]);
            assert_eq!(
                (harness.status(W1).tasks, harness.status(W2).tasks),
                (vec![task.id], vec![])
            );
        }
    }
}

/// Task ids can be guessed.
#[test]
fn held_task_cannot_be_claimed_by_id() {
    let (mut harness, task) = Harness::with_task();
    harness.claim(W2, 1, &task);
    assert_eq!(harness.effects(), [revoke(W2, &task)]);
    assert_eq!(
        (harness.status(W1).tasks, harness.status(W2).tasks),
        (vec![task.id], vec![])
    );
}

#[test]
fn heartbeat_after_the_report_is_ignored() {
    let (mut harness, task) = Harness::with_task();
    harness.finish(W1, &task);
    harness.effects();
    harness.beat(W1, &[(task.id, 1)]);
    assert_eq!(harness.effects(), []);
    harness.join(W2, 1);
    harness.beat(W2, &[(task.id, 1)]);
    assert_eq!(
        harness.effects(),
        [revoke(W2, &task)],
        "the second copy is revoked"
    );
}

/// A late heartbeat does not bring back a lease that the worker lost in an earlier connection.
#[test]
fn heartbeat_renews_only_the_last_attempt() {
    let mut harness = Harness::direct();
    harness.join(W1, 1);
    harness.ask(1, Split::Never, 0);
    harness.one_assigned();
    harness.join(W1, 1);
    let (_, second) = harness.one_assigned();
    harness.join(W2, 1);
    harness.fail(W1, &second);
    let effects = harness.effects();
    assert!(
        matches!(&effects[..], [_, Effect::Assign { worker: W2, .. }]),
        "{effects:?}"
    );
    harness.beat(W1, &[(second.id, 5_000)]);
    assert_eq!(
        (harness.effects(), harness.status(W1).tasks),
        (vec![revoke(W1, &second)], vec![])
    );
}

/// A returning copy that waits in a queue does not move to the worker that runs the other copy.
#[test]
fn worker_never_has_a_task_twice() {
    let mut harness = Harness::new(Options::default());
    harness.join(W1, 1);
    harness.ask(1, Split::Never, 0);
    let (_, first) = harness.one_assigned();
    harness.scheduler.leave(harness.now, W1, false);
    harness.join(W2, 2);
    assert_eq!(harness.one_assigned().0, W2);
    harness.claim(W1, 0, &first);
    assert_eq!(harness.effects(), []);
    assert_eq!(
        (harness.status(W1).tasks, harness.status(W2).tasks),
        (vec![first.id], vec![first.id])
    );
}

#[test]
fn unseen_restart_loses_the_tasks() {
    let (mut harness, task) = Harness::with_task();
    harness.join(W2, 1);
    harness.join(W1, 1);
    let (worker, again) = harness.one_assigned();
    assert_eq!((worker, again.id, again.attempt), (W2, task.id, 2));
}

#[test]
fn returning_worker_keeps_unanswered_tasks() {
    let (mut harness, task) = Harness::with_task();
    harness.wait(20);
    assert_eq!(harness.scheduler.counts().waiting_tasks, 1);
    harness.beat(W1, &[(task.id, 5_000)]);
    assert_eq!(
        (harness.effects(), harness.status(W1).tasks),
        (vec![], vec![task.id])
    );
    harness.beat(W2, &[(task.id, 5_000)]); // a worker that never joined
    assert_eq!(harness.effects(), []);
}

#[test]
fn goodbye_hands_back_without_a_failure() {
    let mut harness = Harness::new(Options {
        max_losses: 1,
        max_attempts: 1,
        ..Options::default()
    });
    harness.join(W1, 1);
    harness.ask(1, Split::Never, 0);
    let (_, task) = harness.one_assigned();
    harness.report(W1, &task, Report::HandedBack);
    assert_eq!(
        harness.effects(),
        [acknowledge(W1, &task)],
        "and no new task for a stopping worker"
    );
    assert_eq!(harness.status(W1).idle, Some(Idle::Draining));
    harness.scheduler.leave(harness.now, W1, true);
    for attempt in 2..20 {
        harness.join(W2, 1);
        let (_, again) = harness.one_assigned();
        assert_eq!((again.id, again.attempt), (task.id, attempt));
        harness.scheduler.leave(harness.now, W2, true);
    }
}

#[test]
fn clock_never_runs_backwards() {
    let mut harness = Harness::direct();
    harness.wait(100);
    harness.scheduler.join(Duration::from_secs(3), W1, 1, &[]);
    assert_eq!(harness.status(W1).last_seen, Duration::from_secs(100));
    harness.scheduler.tick(Duration::from_secs(50));
    assert_eq!(harness.status(W1).idle, Some(Idle::NoTasks));
}

#[test]
fn speed_comes_from_heartbeats() {
    let (mut harness, task) = Harness::with_task();
    for beat in 1..=5 {
        harness.wait(2);
        harness.beat(W1, &[(task.id, beat * 3_000_000)]);
    }
    let speed = harness.status(W1).speed;
    assert!((1_400_000..=1_500_000).contains(&speed), "{speed}");
}

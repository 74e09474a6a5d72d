//! Workers that fall silent, stall, leave and return.

use std::time::Duration;

use kagetsu_schedule::{Effect, Idle, Options, Report, Split, TaskId, WorkerId};

use crate::desk::{ANN, BOB, Desk, acknowledge, revoke};

#[test]
fn silent_worker_loses_tasks_late_answer_counts() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    let id = desk.ask(1, Split::Never, 0);
    let (_, first) = desk.one_assigned();
    desk.wait(10);
    desk.join(BOB, 1);
    assert_eq!(
        desk.scheduler.deadline(),
        Some(Duration::from_secs(15)),
        "a lease after her last sign"
    );
    desk.wait(4);
    assert_eq!(desk.effects(), []);
    desk.wait(1);
    assert_eq!(desk.status(ANN).idle, Some(Idle::Silent));
    let (worker, second) = desk.one_assigned();
    assert_eq!((worker, second.id, second.attempt), (BOB, first.id, 2));

    desk.finish(ANN, &first);
    let effects = desk.effects();
    let [gone, Effect::Finished { question, .. }] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!((gone, *question), (&revoke(BOB, &second), id));
    desk.finish(BOB, &second); // the revocation and the report have crossed
    assert_eq!(desk.effects(), [acknowledge(BOB, &second)]);
    desk.scheduler.settle(id);
    assert_eq!(desk.effects(), [acknowledge(ANN, &first)]);
}

#[test]
fn heartbeats_renew_the_lease() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    for nodes in 1..100 {
        desk.wait(14);
        desk.beat(ANN, &[(task.id, nodes)]);
    }
    assert_eq!(desk.effects(), []);
}

#[test]
fn a_worker_that_beats_without_working_is_found() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.join(BOB, 1);
    desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    for seconds in 1..60 {
        desk.wait(1);
        desk.beat(ANN, &[(task.id, 500.min(seconds * 100))]);
        desk.beat(BOB, &[]);
    }
    assert_eq!(
        desk.effects(),
        [],
        "it stood still after 5 s, and has 60 s to get on"
    );
    for _ in 0..6 {
        desk.wait(1);
        desk.beat(BOB, &[]);
        desk.beat(ANN, &[(task.id, 500)]);
    }
    let effects = desk.effects();
    let [
        first,
        Effect::Assign {
            worker: BOB,
            task: again,
        },
        ..,
    ] = &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert_eq!(
        (first, again.id, again.attempt),
        (&revoke(ANN, &task), task.id, 2)
    );
    assert_eq!(desk.totals().stalled, 1);
}

#[test]
fn what_waits_in_a_queue_does_not_stand_still() {
    let mut desk = Desk::new(Options {
        prefetch: 1,
        ..Options::default()
    });
    desk.join(ANN, 1);
    (1..=2).for_each(|n| _ = desk.ask(n, Split::Never, 0));
    let assigned = desk.assigned();
    for nodes in 1..100 {
        desk.wait(10);
        desk.beat(ANN, &[(assigned[0].1.id, nodes)]);
    }
    desk.finish(ANN, &assigned[0].1);
    assert!(matches!(&desk.effects()[..], [Effect::Finished { .. }]));
    desk.wait(10);
    desk.beat(ANN, &[]);
    assert_eq!(desk.effects(), [], "it has only just begun the second");
}

#[test]
fn a_question_that_kills_its_workers_is_set_aside() {
    let mut desk = Desk::new(Options {
        max_losses: 4,
        ..Options::default()
    });
    desk.ask(1, Split::Never, 0);
    for n in 1..=4 {
        desk.join(WorkerId(n), 1);
        assert_eq!(desk.one_assigned().0, WorkerId(n));
        desk.scheduler.leave(desk.now, WorkerId(n), false);
    }
    let effects = desk.effects();
    assert!(
        matches!(&effects[..], [Effect::Failed { reason, .. }] if reason.starts_with("4 workers")),
        "{effects:?}"
    );
}

#[test]
fn a_worker_that_comes_back_keeps_what_it_still_has() {
    let mut desk = Desk::new(Options {
        prefetch: 1,
        ..Options::default()
    });
    desk.join(ANN, 1);
    (1..=2).for_each(|n| _ = desk.ask(n, Split::Never, 0));
    let had = desk.assigned();
    desk.scheduler.leave(desk.now, ANN, false);
    assert_eq!(desk.scheduler.counts().waiting_tasks, 2);
    let stranger = (TaskId(99), 1);
    desk.scheduler
        .join(desk.now, ANN, 1, &[(had[0].1.id, 1), stranger]);
    let effects = desk.effects();
    let [
        Effect::Revoke {
            worker: ANN,
            task: TaskId(99),
        },
        Effect::Assign { worker: ANN, task },
    ] = &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert_eq!(
        (task.id, task.attempt),
        (had[1].1.id, 2),
        "she has lost the other"
    );
    desk.finish(ANN, &had[0].1);
    assert!(matches!(&desk.effects()[..], [Effect::Finished { .. }]));
    assert_eq!((desk.totals().lost, desk.totals().regained), (2, 1));
}

/// The connection breaks while a second attempt is on its way to a worker that still has the first.
#[test]
fn a_worker_goes_on_under_the_attempt_that_it_knows() {
    let mut desk = Desk::new(Options {
        max_attempts: 2,
        ..Options::default()
    });
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, first) = desk.one_assigned();
    desk.join(ANN, 1);
    let (_, second) = desk.one_assigned();
    assert_eq!((second.id, second.attempt), (first.id, 2));
    desk.scheduler.join(desk.now, ANN, 1, &[(first.id, 1)]);
    assert_eq!(desk.effects(), []);
    desk.fail(ANN, &first);
    let effects = desk.effects();
    let [_, Effect::Assign { task: third, .. }] = &effects[..] else {
        panic!("it has failed once: {effects:?}")
    };
    assert_eq!(third.attempt, 3);
}

#[test]
fn worker_under_a_new_id_keeps_its_tasks() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    desk.scheduler.leave(desk.now, ANN, false);
    desk.scheduler
        .join(desk.now, BOB, 1, &[(task.id, task.attempt)]);
    assert_eq!(desk.status(BOB).tasks, [task.id]);
    assert_eq!(desk.effects(), []);
}

#[test]
fn assignee_reclaims_a_task_that_was_only_claimed() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    let id = desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    let named = [(task.id, task.attempt)];
    for is_done in [false, true] {
        desk.scheduler.leave(desk.now, ANN, false);
        desk.scheduler.join(desk.now, BOB, 0, &named);
        assert_eq!(
            (desk.effects(), desk.status(BOB).tasks),
            (vec![], vec![task.id])
        );
        if is_done {
            desk.finish(ANN, &task);
            let effects = desk.effects();
            assert!(
                effects.contains(&revoke(BOB, &task))
                    && effects
                        .iter()
                        .any(|effect| matches!(effect, Effect::Finished { question, .. } if *question == id)),
                "{effects:?}"
            );
        } else {
            desk.scheduler.join(desk.now, ANN, 1, &named);
            assert_eq!(desk.effects(), [revoke(BOB, &task)]);
            assert_eq!(
                (desk.status(ANN).tasks, desk.status(BOB).tasks),
                (vec![task.id], vec![])
            );
        }
    }
}

/// Task ids can be guessed.
#[test]
fn held_task_cannot_be_claimed_by_id() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    desk.scheduler
        .join(desk.now, BOB, 1, &[(task.id, task.attempt)]);
    assert_eq!(desk.effects(), [revoke(BOB, &task)]);
    assert_eq!(
        (desk.status(ANN).tasks, desk.status(BOB).tasks),
        (vec![task.id], vec![])
    );
}

#[test]
fn a_beat_that_crosses_its_report_means_nothing() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    desk.finish(ANN, &task);
    desk.effects();
    desk.beat(ANN, &[(task.id, 1)]);
    assert_eq!(desk.effects(), []);
    desk.join(BOB, 1);
    desk.beat(BOB, &[(task.id, 1)]);
    assert_eq!(
        desk.effects(),
        [revoke(BOB, &task)],
        "his is not wanted any more"
    );
}

/// A late heartbeat does not bring back a lease that the worker lost in an earlier connection.
#[test]
fn a_beat_brings_back_only_the_last_attempt() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    desk.one_assigned();
    desk.join(ANN, 1);
    let (_, second) = desk.one_assigned();
    desk.join(BOB, 1);
    desk.fail(ANN, &second);
    let effects = desk.effects();
    assert!(
        matches!(&effects[..], [_, Effect::Assign { worker: BOB, .. }]),
        "{effects:?}"
    );
    desk.beat(ANN, &[(second.id, 5_000)]);
    assert_eq!(
        (desk.effects(), desk.status(ANN).tasks),
        (vec![revoke(ANN, &second)], vec![])
    );
}

/// A returning copy that waits in a queue does not move to the worker that runs the other copy.
#[test]
fn nobody_has_a_task_twice() {
    let mut desk = Desk::new(Options::default());
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, first) = desk.one_assigned();
    desk.scheduler.leave(desk.now, ANN, false);
    desk.join(BOB, 2);
    assert_eq!(desk.one_assigned().0, BOB);
    desk.scheduler
        .join(desk.now, ANN, 0, &[(first.id, first.attempt)]);
    assert_eq!(desk.effects(), []);
    assert_eq!(
        (desk.status(ANN).tasks, desk.status(BOB).tasks),
        (vec![first.id], vec![first.id])
    );
}

#[test]
fn unseen_restart_loses_the_tasks() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    desk.join(BOB, 1);
    desk.join(ANN, 1);
    let (worker, again) = desk.one_assigned();
    assert_eq!((worker, again.id, again.attempt), (BOB, task.id, 2));
}

#[test]
fn returning_worker_keeps_unanswered_tasks() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    desk.wait(20);
    assert_eq!(desk.scheduler.counts().waiting_tasks, 1);
    desk.beat(ANN, &[(task.id, 5_000)]);
    assert_eq!(
        (desk.effects(), desk.status(ANN).tasks),
        (vec![], vec![task.id])
    );
    desk.beat(BOB, &[(task.id, 5_000)]); // he has never joined
    assert_eq!(desk.effects(), []);
}

#[test]
fn a_goodbye_hands_back_and_nobody_is_to_blame() {
    let mut desk = Desk::new(Options {
        max_losses: 1,
        max_attempts: 1,
        ..Options::default()
    });
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    desk.report(ANN, &task, Report::HandedBack);
    assert_eq!(
        desk.effects(),
        [acknowledge(ANN, &task)],
        "and nothing new for one who is about to stop"
    );
    assert_eq!(desk.status(ANN).idle, Some(Idle::Draining));
    desk.scheduler.leave(desk.now, ANN, true);
    for attempt in 2..20 {
        desk.join(BOB, 1);
        let (_, again) = desk.one_assigned();
        assert_eq!((again.id, again.attempt), (task.id, attempt));
        desk.scheduler.leave(desk.now, BOB, true);
    }
}

#[test]
fn time_that_runs_backwards_stands_still() {
    let mut desk = Desk::direct();
    desk.wait(100);
    desk.scheduler.join(Duration::from_secs(3), ANN, 1, &[]);
    assert_eq!(desk.status(ANN).last_seen, Duration::from_secs(100));
    desk.scheduler.tick(Duration::from_secs(50));
    assert_eq!(desk.status(ANN).idle, Some(Idle::NoTasks));
}

#[test]
fn speed_is_what_the_heartbeats_say() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    for beat in 1..=5 {
        desk.wait(2);
        desk.beat(ANN, &[(task.id, beat * 3_000_000)]);
    }
    let speed = desk.status(ANN).speed;
    assert!((1_400_000..=1_500_000).contains(&speed), "{speed}");
}

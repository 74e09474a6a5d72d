//! Workers that get no tasks, and questions that go to others.

use kagetsu_game::Variant;
use kagetsu_schedule::{Effect, Idle, Split, Suspension, Task, WorkerId};

use crate::harness::{Harness, W1, W2, done, question, revoke};

#[test]
fn qualifying_worker_keeps_tasks_gets_no_new_ones() {
    let mut harness = Harness::direct();
    harness.join(W1, 2);
    harness.ask(1, Split::Never, 0);
    let (_, first) = harness.one_assigned();
    harness
        .scheduler
        .suspend(harness.now, W1, Some(Suspension::Qualification));
    harness.ask(2, Split::Never, 0);
    assert_eq!(harness.effects(), []);
    assert_eq!(harness.status(W1).idle, Some(Idle::Qualifying));
    harness.scheduler.suspend(harness.now, W1, None);
    let (worker, second) = harness.one_assigned();
    assert_eq!((worker, &second.part), (W1, &question(2)));
    assert_eq!(harness.status(W1).tasks, [first.id, second.id]);
}

#[test]
fn reports_of_a_qualifying_worker_are_accepted() {
    let mut harness = Harness::direct();
    harness
        .scheduler
        .join_suspended(harness.now, W1, 1, &[], Some(Suspension::Qualification));
    let id = harness.scheduler.resume(harness.now, question(1), 0, W1);
    let (_, task) = harness.one_assigned();
    let expects =
        |harness: &Harness, worker| harness.scheduler.accepts(worker, task.id, task.attempt);
    assert!(expects(&harness, W1) && !expects(&harness, W2));
    harness.wait(16);
    assert!(
        expects(&harness, W1),
        "a late report of a silent worker counts"
    );
    harness.join(W2, 1);
    assert_eq!(harness.one_assigned().0, W2);
    assert!(
        expects(&harness, W1)
            && harness.scheduler.suspension(W1) == Some(Suspension::Qualification)
    );
    harness.scheduler.suspend(harness.now, W1, None);
    harness.finish(W1, &task);
    assert!(
        harness
            .effects()
            .iter()
            .any(|effect| matches!(effect, Effect::Finished { question, .. } if *question == id))
    );
    assert!(!expects(&harness, W1), "it is answered");
}

#[test]
fn repeated_suspension_keeps_its_start() {
    let mut harness = Harness::direct();
    for _ in 0..13 {
        harness
            .scheduler
            .join_suspended(harness.now, W1, 1, &[], Some(Suspension::Qualification));
        harness.wait(10);
    }
    assert!(
        !harness
            .scheduler
            .has_other_worker(Variant::FREESTYLE_15, &[W2])
    );
}

#[test]
fn excluding_question_leaves_slots_free() {
    let mut harness = Harness::direct();
    harness.join(W1, 2);
    harness
        .scheduler
        .join_suspended(harness.now, W2, 1, &[], Some(Suspension::Qualification));
    (0..2).for_each(|n| {
        _ = harness
            .scheduler
            .submit_excluding(harness.now, question(n), 0, vec![W1])
    });
    assert_eq!(harness.effects(), []);
    assert_eq!(
        harness.scheduler.spare_capacity_for(Variant::FREESTYLE_15),
        2
    );
}

#[test]
fn qualifying_worker_counts_for_a_while() {
    let mut harness = Harness::direct();
    let has_other_worker = |harness: &Harness| {
        harness
            .scheduler
            .has_other_worker(Variant::FREESTYLE_15, &[W2])
    };
    harness
        .scheduler
        .join_suspended(harness.now, W1, 1, &[], Some(Suspension::Qualification));
    assert!(has_other_worker(&harness) && !harness.scheduler.has_worker_for(Variant::FREESTYLE_15));
    for _ in 0..12 {
        assert!(has_other_worker(&harness), "{:?}", harness.now);
        harness.wait(10);
        harness.beat(W1, &[]);
    }
    assert!(!has_other_worker(&harness), "it has had its time");
    harness.scheduler.suspend(harness.now, W1, None);
    assert!(has_other_worker(&harness) && harness.scheduler.has_worker_for(Variant::FREESTYLE_15));
    // Even a long qualification time does not make a silent worker count.
    harness
        .scheduler
        .join_suspended(harness.now, W1, 1, &[], Some(Suspension::Qualification));
    harness.wait(16);
    assert!(!has_other_worker(&harness));
}

#[test]
fn quarantined_worker_loses_its_tasks() {
    let (mut harness, task) = Harness::with_task();
    harness.join(W2, 1);
    harness
        .scheduler
        .suspend(harness.now, W1, Some(Suspension::Quarantine));
    let effects = harness.effects();
    let [
        first,
        Effect::Assign {
            worker: W2,
            task: again,
        },
    ] = &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert_eq!((first, again.id), (&revoke(W1, &task), task.id));
    assert_eq!(harness.status(W1).idle, Some(Idle::Quarantined));
    harness.beat(W1, &[]);
    harness.scheduler.join(harness.now, W1, 1, &[]);
    harness.ask(2, Split::Never, 0);
    assert_eq!(
        harness.effects(),
        [],
        "a reconnection does not end the quarantine"
    );
}

#[test]
fn excluding_question_waits_for_other_workers() {
    let mut harness = Harness::direct();
    harness.join(W1, 1);
    assert!(
        !harness
            .scheduler
            .has_other_worker(Variant::FREESTYLE_15, &[W1])
    );
    harness
        .scheduler
        .submit_excluding(harness.now, question(1), 0, vec![W1]);
    assert_eq!(harness.effects(), []);
    harness.ask(2, Split::Never, 9);
    assert_eq!(
        harness.one_assigned().0,
        W1,
        "what comes behind it does not wait"
    );
    harness.join(W2, 1);
    assert!(
        harness
            .scheduler
            .has_other_worker(Variant::FREESTYLE_15, &[W1])
    );
    let (worker, task) = harness.one_assigned();
    assert_eq!((worker, &task.part), (W2, &question(1)));
    harness.finish(W2, &task);
    let effects = harness.effects();
    assert!(
        matches!(&effects[..], [Effect::Finished { by, .. }] if by[..] == [W2]),
        "{effects:?}"
    );
}

/// Worker 2 has the only task, because its question excludes worker 1.
fn excluding() -> (Harness, Task) {
    let mut harness = Harness::direct();
    harness.join(W1, 1);
    harness.join(W2, 1);
    harness
        .scheduler
        .submit_excluding(harness.now, question(1), 0, vec![W1]);
    let (worker, task) = harness.one_assigned();
    assert_eq!(worker, W2);
    (harness, task)
}

#[test]
fn excluding_question_ends_if_the_only_other_fails() {
    let (mut harness, mut task) = excluding();
    let mut worker = W2;
    for failures in 1.. {
        assert_eq!(worker, W2);
        harness.fail(worker, &task);
        let effects = harness.effects();
        if effects
            .iter()
            .any(|effect| matches!(effect, Effect::Failed { .. }))
        {
            assert_eq!(failures, 3);
            break;
        }
        let again = effects.into_iter().find_map(|effect| match effect {
            Effect::Assign { worker, task } => Some((worker, task)),
            _ => None,
        });
        (worker, task) = again.expect("no other worker may have it");
    }
    assert_eq!(harness.scheduler.counts().waiting_tasks, 0);
}

#[test]
fn excluded_worker_cannot_answer() {
    let (mut harness, task) = excluding();
    let is_finished = |effects: &[Effect]| {
        effects
            .iter()
            .any(|effect| matches!(effect, Effect::Finished { .. }))
    };
    harness.report(W1, &task, done(&task));
    assert!(
        !is_finished(&harness.effects()),
        "the excluded worker may not have it"
    );
    harness.scheduler.leave(harness.now, W1, false);
    harness
        .scheduler
        .join(harness.now, W1, 1, &[(task.id, task.attempt)]);
    assert_eq!(
        harness.effects(),
        [revoke(W1, &task)],
        "nor claim to have it"
    );
    harness.join(WorkerId(3), 1);
    harness.report(WorkerId(3), &task, done(&task));
    assert!(!is_finished(&harness.effects()), "it was given to another");
    harness.finish(W2, &task);
    assert!(is_finished(&harness.effects()));
}

#[test]
fn returning_quarantined_worker_keeps_no_task() {
    let (mut harness, task) = Harness::with_task();
    harness.scheduler.leave(harness.now, W1, false);
    harness.effects();
    harness.scheduler.join_suspended(
        harness.now,
        W1,
        1,
        &[(task.id, task.attempt)],
        Some(Suspension::Quarantine),
    );
    assert_eq!(harness.effects(), [revoke(W1, &task)]);
    let id = harness.scheduler.resume(harness.now, question(2), 0, W1);
    assert!(!harness.scheduler.also_assign(harness.now, id, W1));
    assert_eq!(harness.effects(), []);
    harness.join(W2, 2);
    assert_eq!(
        harness
            .assigned()
            .iter()
            .map(|(worker, _)| *worker)
            .collect::<Vec<_>>(),
        [W2, W2]
    );
}

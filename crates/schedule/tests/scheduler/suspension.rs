//! Workers that get no tasks, and questions that go to others.

use kagetsu_game::Variant;
use kagetsu_schedule::{Effect, Idle, Split, Suspension, WorkerId};

use crate::desk::{ANN, BOB, Desk, done, question, revoke};

#[test]
fn who_is_examined_gets_nothing_and_keeps_what_it_has() {
    let mut desk = Desk::direct();
    desk.join(ANN, 2);
    desk.ask(1, Split::Never, 0);
    let (_, first) = desk.one_assigned();
    desk.scheduler
        .suspend(desk.now, ANN, Some(Suspension::Qualification));
    desk.ask(2, Split::Never, 0);
    assert_eq!(desk.effects(), []);
    assert_eq!(desk.status(ANN).idle, Some(Idle::Qualifying));
    desk.scheduler.suspend(desk.now, ANN, None);
    let (worker, second) = desk.one_assigned();
    assert_eq!((worker, &second.part), (ANN, &question(2)));
    assert_eq!(desk.status(ANN).tasks, [first.id, second.id]);
}

#[test]
fn reports_of_a_qualifying_worker_are_accepted() {
    let mut desk = Desk::direct();
    desk.scheduler
        .join_suspended(desk.now, ANN, 1, &[], Some(Suspension::Qualification));
    let id = desk.scheduler.resume(desk.now, question(1), 0, ANN);
    let (_, task) = desk.one_assigned();
    let expects = |desk: &Desk, worker| desk.scheduler.accepts(worker, task.id, task.attempt);
    assert!(expects(&desk, ANN) && !expects(&desk, BOB));
    desk.wait(16);
    assert!(expects(&desk, ANN), "she was silent");
    desk.join(BOB, 1);
    assert_eq!(desk.one_assigned().0, BOB);
    assert!(
        expects(&desk, ANN) && desk.scheduler.suspension(ANN) == Some(Suspension::Qualification)
    );
    desk.scheduler.suspend(desk.now, ANN, None);
    desk.finish(ANN, &task);
    assert!(
        desk.effects()
            .iter()
            .any(|effect| matches!(effect, Effect::Finished { question, .. } if *question == id))
    );
    assert!(!expects(&desk, ANN), "it is answered");
}

#[test]
fn repeated_suspension_keeps_its_start() {
    let mut desk = Desk::direct();
    for _ in 0..13 {
        desk.scheduler
            .join_suspended(desk.now, ANN, 1, &[], Some(Suspension::Qualification));
        desk.wait(10);
    }
    assert!(
        !desk
            .scheduler
            .has_other_worker(Variant::FREESTYLE_15, &[BOB])
    );
}

#[test]
fn what_is_for_others_keeps_nobody_from_work() {
    let mut desk = Desk::direct();
    desk.join(ANN, 2);
    desk.scheduler
        .join_suspended(desk.now, BOB, 1, &[], Some(Suspension::Qualification));
    (0..2).for_each(|n| {
        _ = desk
            .scheduler
            .submit_excluding(desk.now, question(n), 0, vec![ANN])
    });
    assert_eq!(desk.effects(), []);
    assert_eq!(desk.scheduler.spare_capacity_for(Variant::FREESTYLE_15), 2);
}

#[test]
fn who_is_examined_is_somebody_for_a_while() {
    let mut desk = Desk::direct();
    let has_other_worker = |desk: &Desk| {
        desk.scheduler
            .has_other_worker(Variant::FREESTYLE_15, &[BOB])
    };
    desk.scheduler
        .join_suspended(desk.now, ANN, 1, &[], Some(Suspension::Qualification));
    assert!(has_other_worker(&desk) && !desk.scheduler.has_worker_for(Variant::FREESTYLE_15));
    for _ in 0..12 {
        assert!(has_other_worker(&desk), "{:?}", desk.now);
        desk.wait(10);
        desk.beat(ANN, &[]);
    }
    assert!(!has_other_worker(&desk), "it has had its time");
    desk.scheduler.suspend(desk.now, ANN, None);
    assert!(has_other_worker(&desk) && desk.scheduler.has_worker_for(Variant::FREESTYLE_15));
    // Even a long qualification time does not make a silent worker count.
    desk.scheduler
        .join_suspended(desk.now, ANN, 1, &[], Some(Suspension::Qualification));
    desk.wait(16);
    assert!(!has_other_worker(&desk));
}

#[test]
fn who_is_in_quarantine_loses_what_it_has_to_others() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    desk.join(BOB, 1);
    desk.scheduler
        .suspend(desk.now, ANN, Some(Suspension::Quarantine));
    let effects = desk.effects();
    let [
        first,
        Effect::Assign {
            worker: BOB,
            task: again,
        },
    ] = &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert_eq!((first, again.id), (&revoke(ANN, &task), task.id));
    assert_eq!(desk.status(ANN).idle, Some(Idle::Quarantined));
    desk.beat(ANN, &[]);
    desk.scheduler.join(desk.now, ANN, 1, &[]);
    desk.ask(2, Split::Never, 0);
    assert_eq!(desk.effects(), [], "she is not freed by coming back");
}

#[test]
fn a_question_for_others_waits_until_there_are_some() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    assert!(
        !desk
            .scheduler
            .has_other_worker(Variant::FREESTYLE_15, &[ANN])
    );
    desk.scheduler
        .submit_excluding(desk.now, question(1), 0, vec![ANN]);
    assert_eq!(desk.effects(), []);
    desk.ask(2, Split::Never, 9);
    assert_eq!(
        desk.one_assigned().0,
        ANN,
        "what comes behind it does not wait"
    );
    desk.join(BOB, 1);
    assert!(
        desk.scheduler
            .has_other_worker(Variant::FREESTYLE_15, &[ANN])
    );
    let (worker, task) = desk.one_assigned();
    assert_eq!((worker, &task.part), (BOB, &question(1)));
    desk.finish(BOB, &task);
    let effects = desk.effects();
    assert!(
        matches!(&effects[..], [Effect::Finished { by, .. }] if by[..] == [BOB]),
        "{effects:?}"
    );
}

#[test]
fn excluding_question_ends_if_the_only_other_fails() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.join(BOB, 1);
    desk.scheduler
        .submit_excluding(desk.now, question(1), 0, vec![ANN]);
    let (mut worker, mut task) = desk.one_assigned();
    for failures in 1.. {
        assert_eq!(worker, BOB);
        desk.fail(worker, &task);
        let effects = desk.effects();
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
        (worker, task) = again.expect("nobody else may have it");
    }
    assert_eq!(desk.scheduler.counts().waiting_tasks, 0);
}

#[test]
fn nobody_answers_what_is_asked_of_others() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.join(BOB, 1);
    desk.scheduler
        .submit_excluding(desk.now, question(1), 0, vec![ANN]);
    let (_, task) = desk.one_assigned();
    let is_finished = |effects: &[Effect]| {
        effects
            .iter()
            .any(|effect| matches!(effect, Effect::Finished { .. }))
    };
    desk.report(ANN, &task, done(&task));
    assert!(!is_finished(&desk.effects()), "she may not have it");
    desk.scheduler.leave(desk.now, ANN, false);
    desk.scheduler
        .join(desk.now, ANN, 1, &[(task.id, task.attempt)]);
    assert_eq!(
        desk.effects(),
        [revoke(ANN, &task)],
        "nor say that she has it"
    );
    desk.join(WorkerId(3), 1);
    desk.report(WorkerId(3), &task, done(&task));
    assert!(!is_finished(&desk.effects()), "it was given to another");
    desk.finish(BOB, &task);
    assert!(is_finished(&desk.effects()));
}

#[test]
fn who_comes_back_into_quarantine_brings_nothing() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    desk.scheduler.leave(desk.now, ANN, false);
    desk.effects();
    desk.scheduler.join_suspended(
        desk.now,
        ANN,
        1,
        &[(task.id, task.attempt)],
        Some(Suspension::Quarantine),
    );
    assert_eq!(desk.effects(), [revoke(ANN, &task)]);
    let id = desk.scheduler.resume(desk.now, question(2), 0, ANN);
    assert!(!desk.scheduler.also_assign(desk.now, id, ANN));
    assert_eq!(desk.effects(), []);
    desk.join(BOB, 2);
    assert_eq!(
        desk.assigned()
            .iter()
            .map(|(worker, _)| *worker)
            .collect::<Vec<_>>(),
        [BOB, BOB]
    );
}

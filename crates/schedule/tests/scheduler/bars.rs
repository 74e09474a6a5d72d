//! Workers that get no tasks, and questions that go to others.

use kagetsu_game::Variant;
use kagetsu_schedule::{Bar, Effect, Idle, Split};

use crate::desk::{ANN, BOB, Desk, question, revoke};

#[test]
fn who_is_examined_gets_nothing_and_keeps_what_it_has() {
    let mut desk = Desk::direct();
    desk.join(ANN, 2);
    desk.ask(1, Split::Never, 0);
    desk.one_assigned();
    desk.scheduler.bar(desk.now, ANN, Some(Bar::Exam));
    desk.ask(2, Split::Never, 0);
    assert_eq!(desk.effects(), []);
    assert_eq!(desk.status(ANN).idle, Some(Idle::Examined));
    desk.scheduler.bar(desk.now, ANN, None);
    assert_eq!(desk.one_assigned().0, ANN);
}

#[test]
fn who_is_in_quarantine_loses_what_it_has_to_others() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    desk.join(BOB, 1);
    desk.scheduler.bar(desk.now, ANN, Some(Bar::Quarantine));
    let effects = desk.effects();
    let [first, Effect::Assign { worker: BOB, task: again }] = &effects[..] else { panic!("{effects:?}") };
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
    assert!(!desk.scheduler.has_others(Variant::FREESTYLE_15, &[ANN]));
    desk.scheduler.submit_to_others(desk.now, question(1), 0, vec![ANN]);
    assert_eq!(desk.effects(), []);
    desk.ask(2, Split::Never, 9);
    assert_eq!(desk.one_assigned().0, ANN, "what comes behind it does not wait");
    desk.join(BOB, 1);
    assert!(desk.scheduler.has_others(Variant::FREESTYLE_15, &[ANN]));
    let (worker, task) = desk.one_assigned();
    assert_eq!((worker, &task.part), (BOB, &question(1)));
    desk.finish(BOB, &task);
    let effects = desk.effects();
    assert!(matches!(&effects[..], [Effect::Finished { by, .. }] if by[..] == [BOB]), "{effects:?}");
}

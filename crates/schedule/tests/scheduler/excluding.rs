//! Questions that go to other workers.

use kagetsu_schedule::{Effect, Split, Task, WorkerId};

use crate::harness::{Harness, W1, W2, done, question, revoke};

#[test]
fn excluding_question_waits_for_other_workers() {
    let mut harness = Harness::direct();
    harness.join(W1, 1);
    harness
        .scheduler
        .submit_check(harness.now, question(1), 0, vec![W1], ());
    assert_eq!(harness.effects(), []);
    harness.ask(2, Split::Never, 9);
    assert_eq!(
        harness.one_assigned().0,
        W1,
        "what comes behind it does not wait"
    );
    harness.join(W2, 1);
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
        .submit_check(harness.now, question(1), 0, vec![W1], ());
    let (worker, task) = harness.one_assigned();
    assert_eq!(worker, W2);
    (harness, task)
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
    harness.claim(W1, 1, &task);
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

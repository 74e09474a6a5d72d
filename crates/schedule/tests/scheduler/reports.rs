//! Acceptance and acknowledgement of reports.

use kagetsu_game::{Answer, Move, Question};
use kagetsu_schedule::{Effect, Options, Report, Split, Task, TaskId, WorkerId};

use crate::desk::{ANN, BOB, Desk, acknowledge, question, revoke};
use crate::engine;

#[test]
fn question_is_dropped_after_three_failures() {
    let mut desk = Desk::direct();
    let workers = [ANN, BOB, WorkerId(3), WorkerId(4)];
    workers.iter().for_each(|worker| desk.join(*worker, 1));
    let id = desk.ask(1, Split::Never, 0);
    let mut tried = Vec::new();
    let failed = loop {
        let effects = desk.effects();
        match effects.last() {
            Some(Effect::Assign { worker, task }) => {
                tried.push(*worker);
                desk.fail(*worker, task);
            }
            other => break other.cloned(),
        }
    };
    assert_eq!(tried, [ANN, BOB, WorkerId(3)]);
    let reason = "failed 3 times on 3 workers, at last on worker 3: no memory".into();
    assert_eq!(
        failed,
        Some(Effect::Failed {
            question: id,
            reason
        })
    );
    assert_eq!(desk.scheduler.counts().open_questions, 0);
}

#[test]
fn one_failing_part_drops_the_whole_question() {
    let mut desk = Desk::new(Options {
        max_attempts: 1,
        ..Options::default()
    });
    [ANN, BOB, WorkerId(3)]
        .iter()
        .for_each(|worker| desk.join(*worker, 1));
    desk.ask(1, Split::Seeded, 0);
    let parts = desk.assigned();
    desk.finish(ANN, &parts[0].1);
    desk.effects();
    desk.fail(BOB, &parts[1].1);
    let effects = desk.effects();
    let expected = [
        acknowledge(BOB, &parts[1].1),
        revoke(WorkerId(3), &parts[2].1),
        acknowledge(ANN, &parts[0].1),
    ];
    assert_eq!(effects[..3], expected);
    assert!(matches!(effects[3..], [Effect::Failed { .. }]));
}

#[test]
fn an_old_failure_does_not_end_a_new_attempt() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, first) = desk.one_assigned();
    desk.fail(ANN, &first);
    desk.effects();
    for report in [Report::Failed("again".into()), Report::HandedBack] {
        desk.report(ANN, &first, report);
        assert_eq!(desk.effects(), [acknowledge(ANN, &first)]);
    }
    assert_eq!(desk.status(ANN).tasks, [first.id]);
}

#[test]
fn what_was_never_handed_out_is_not_believed() {
    let mut desk = Desk::new(Options {
        first_id: 1_000,
        ..Options::default()
    });
    desk.join(ANN, 1);
    let id = desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    assert!(id.0 >= 1_000 && task.id.0 >= 1_000);
    for (number, attempt) in [(task.id.0, 0), (task.id.0, 2), (7, 1)] {
        let false_one = Task {
            id: TaskId(number),
            attempt,
            ..task.clone()
        };
        desk.finish(BOB, &false_one);
        assert_eq!(desk.effects(), [acknowledge(BOB, &false_one)]);
    }
}

#[test]
fn verdicts_that_nobody_asked_for_do_not_count() {
    let mut desk = Desk::direct();
    desk.join(ANN, 3);
    desk.ask(1, Split::Seeded, 0);
    let parts = desk.assigned();
    let stray = Question {
        moves: vec![Move::new(40_000)],
        ..question(1)
    };
    let strays = engine::answer(&stray);
    desk.report(ANN, &parts[0].1, Report::Done(strays.clone()));
    assert_eq!(desk.effects()[0], acknowledge(ANN, &parts[0].1));
    assert_eq!(desk.totals().failed, 1, "it says nothing else");

    let mut answer = engine::answer(&parts[1].1.part);
    answer.merge(strays);
    desk.report(ANN, &parts[1].1, Report::Done(answer));
    let effects = desk.effects();
    assert!(effects.contains(&Effect::Progress {
        question: parts[1].1.question,
        answer: engine::answer(&parts[1].1.part)
    }));
}

#[test]
fn a_finished_game_has_an_empty_answer() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    desk.report(ANN, &task, Report::Done(Answer::new()));
    assert!(matches!(&desk.effects()[..], [Effect::Finished { answer, .. }] if answer.is_empty()));
}

#[test]
fn cancelling_revokes_and_acknowledges() {
    let mut desk = Desk::new(Options::default());
    desk.join(ANN, 1);
    desk.join(BOB, 1);
    let id = desk.ask(1, Split::Seeded, 0);
    let parts = desk.assigned();
    desk.finish(BOB, &parts[1].1);
    desk.effects();
    desk.scheduler.cancel(desk.now, id);
    assert_eq!(
        desk.effects(),
        [revoke(ANN, &parts[0].1), acknowledge(BOB, &parts[1].1)]
    );
    desk.finish(ANN, &parts[0].1);
    assert_eq!(desk.effects(), [acknowledge(ANN, &parts[0].1)]);
    desk.scheduler.cancel(desk.now, id);
    assert_eq!((desk.effects(), desk.totals().cancelled), (vec![], 1));
}

#[test]
fn repeated_report_waits_until_answer_is_stored() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    let id = desk.ask(1, Split::Never, 0);
    let (_, task) = desk.one_assigned();
    desk.finish(ANN, &task);
    assert!(matches!(&desk.effects()[..], [Effect::Finished { .. }]));
    desk.scheduler
        .join(desk.now, ANN, 1, &[(task.id, task.attempt)]);
    desk.finish(ANN, &task);
    assert_eq!(desk.effects(), []);
    desk.scheduler.settle(id);
    desk.finish(ANN, &task);
    assert_eq!(
        desk.effects(),
        [acknowledge(ANN, &task), acknowledge(ANN, &task)]
    );
}

#[test]
fn an_unfinished_question_cannot_be_settled() {
    let mut desk = Desk::direct();
    let id = desk.ask(1, Split::Never, 0);
    desk.scheduler.settle(id);
    assert_eq!(desk.scheduler.counts().open_questions, 1);
}

/// Returns the workers that fail in turn until the question is dropped, and the reason.
fn failures(desk: &mut Desk) -> (Vec<WorkerId>, String) {
    let mut tried = Vec::new();
    loop {
        let effects = desk.effects();
        match effects.last() {
            Some(Effect::Assign { worker, task }) => {
                tried.push(*worker);
                desk.fail(*worker, task);
            }
            Some(Effect::Failed { reason, .. }) => return (tried, reason.clone()),
            other => panic!("{tried:?}, then {other:?}"),
        }
    }
}

#[test]
fn failures_of_one_worker_do_not_drop_a_question() {
    for (workers, tried, reason) in [
        (
            1,
            vec![1, 1, 1],
            "failed 3 times, at last on worker 1: no memory",
        ),
        (
            2,
            vec![1, 2, 1],
            "failed 3 times on 2 workers, at last on worker 1: no memory",
        ),
        (
            3,
            vec![1, 2, 3],
            "failed 3 times on 3 workers, at last on worker 3: no memory",
        ),
        (
            9,
            vec![1, 2, 3],
            "failed 3 times on 3 workers, at last on worker 3: no memory",
        ),
    ] {
        let mut desk = Desk::direct();
        (1..=workers).for_each(|n| desk.join(WorkerId(n), 1));
        desk.ask(1, Split::Never, 0);
        let (by, because) = failures(&mut desk);
        assert_eq!(
            (by, because.as_str()),
            (tried.into_iter().map(WorkerId).collect(), reason),
            "{workers} workers"
        );
    }
}

/// Two workers have failed before and are on probation; the task still goes to the third.
#[test]
fn task_goes_round_workers_on_probation() {
    let mut desk = Desk::direct();
    let workers = [ANN, BOB, WorkerId(3)];
    workers.iter().for_each(|worker| desk.join(*worker, 1));
    for n in 1..=3 {
        desk.ask(n, Split::Never, 0);
    }
    for (worker, task) in desk.assigned() {
        desk.fail(worker, &task);
    }
    let mut reasons = Vec::new();
    let mut effects = std::collections::VecDeque::from(desk.effects());
    while let Some(effect) = effects.pop_front() {
        match effect {
            Effect::Assign { worker, task } => {
                desk.fail(worker, &task);
                effects.extend(desk.effects());
            }
            Effect::Failed { reason, .. } => reasons.push(reason),
            _ => {}
        }
    }
    assert_eq!(reasons.len(), 3);
    assert!(
        reasons
            .iter()
            .all(|reason| reason.starts_with("failed 3 times on 3 workers")),
        "{reasons:?}"
    );
}

#[test]
fn who_may_not_be_asked_is_not_waited_for() {
    let mut desk = Desk::direct();
    desk.join(ANN, 1);
    desk.join(BOB, 1);
    desk.scheduler.suspend(
        desk.now,
        BOB,
        Some(kagetsu_schedule::Suspension::Quarantine),
    );
    desk.ask(1, Split::Never, 0);
    let (tried, reason) = failures(&mut desk);
    assert_eq!(
        (tried, reason.as_str()),
        (
            vec![ANN; 3],
            "failed 3 times, at last on worker 1: no memory"
        )
    );
}

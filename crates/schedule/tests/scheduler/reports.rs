//! Acceptance and acknowledgement of reports.

use kagetsu_game::{Answer, Move, Question};
use kagetsu_schedule::{Effect, Options, QuestionId, Report, Split, Task, TaskId, WorkerId};

use crate::engine;
use crate::harness::{Harness, W1, W2, acknowledge, question, revoke};

#[test]
fn one_failing_part_drops_the_whole_question() {
    let mut harness = Harness::new(Options {
        max_attempts: 1,
        ..Options::default()
    });
    [W1, W2, WorkerId(3)]
        .iter()
        .for_each(|worker| harness.join(*worker, 1));
    harness.ask(1, Split::Seeded, 0);
    let parts = harness.assigned();
    harness.finish(W1, &parts[0].1);
    harness.effects();
    harness.fail(W2, &parts[1].1);
    let effects = harness.effects();
    let expected = [
        acknowledge(W2, &parts[1].1),
        revoke(WorkerId(3), &parts[2].1),
        acknowledge(W1, &parts[0].1),
    ];
    assert_eq!(effects[..3], expected);
    assert!(matches!(effects[3..], [Effect::Failed { .. }]));
}

#[test]
fn an_old_failure_does_not_end_a_new_attempt() {
    let (mut harness, first) = Harness::with_task();
    harness.fail(W1, &first);
    harness.effects();
    for report in [Report::Failed("again".into()), Report::HandedBack] {
        harness.report(W1, &first, report);
        assert_eq!(harness.effects(), [acknowledge(W1, &first)]);
    }
    assert_eq!(harness.status(W1).tasks, [first.id]);
}

#[test]
fn report_of_an_unassigned_task_is_ignored() {
    let mut harness = Harness::new(Options {
        first_id: 1_000,
        ..Options::default()
    });
    harness.join(W1, 1);
    let id = harness.ask(1, Split::Never, 0);
    let (_, task) = harness.one_assigned();
    assert!(id.0 >= 1_000 && task.id.0 >= 1_000);
    for (number, attempt) in [(task.id.0, 0), (task.id.0, 2), (7, 1)] {
        let false_one = Task {
            id: TaskId(number),
            attempt,
            ..task.clone()
        };
        harness.finish(W2, &false_one);
        assert_eq!(harness.effects(), [acknowledge(W2, &false_one)]);
    }
}

#[test]
fn unrequested_verdicts_do_not_count() {
    let mut harness = Harness::direct();
    harness.join(W1, 3);
    harness.ask(1, Split::Seeded, 0);
    let parts = harness.assigned();
    let stray = Question {
        moves: vec![Move::new(40_000)],
        ..question(1)
    };
    let strays = engine::answer(&stray);
    harness.report(W1, &parts[0].1, Report::Done(strays.clone()));
    assert_eq!(harness.effects()[0], acknowledge(W1, &parts[0].1));
    assert_eq!(harness.totals().failed, 1, "it says nothing else");

    let mut answer = engine::answer(&parts[1].1.part);
    answer.merge(strays);
    harness.report(W1, &parts[1].1, Report::Done(answer));
    let effects = harness.effects();
    assert!(effects.contains(&Effect::Progress {
        question: parts[1].1.question,
        answer: engine::answer(&parts[1].1.part)
    }));
}

#[test]
fn a_finished_game_has_an_empty_answer() {
    let (mut harness, task) = Harness::with_task();
    harness.report(W1, &task, Report::Done(Answer::new()));
    assert!(
        matches!(&harness.effects()[..], [Effect::Finished { answer, .. }] if answer.is_empty())
    );
}

#[test]
fn cancelling_revokes_and_acknowledges() {
    let mut harness = Harness::new(Options::default());
    harness.join(W1, 1);
    harness.join(W2, 1);
    let id = harness.ask(1, Split::Seeded, 0);
    let parts = harness.assigned();
    harness.finish(W2, &parts[1].1);
    harness.effects();
    harness.scheduler.cancel(harness.now, id);
    assert_eq!(
        harness.effects(),
        [revoke(W1, &parts[0].1), acknowledge(W2, &parts[1].1)]
    );
    harness.finish(W1, &parts[0].1);
    assert_eq!(harness.effects(), [acknowledge(W1, &parts[0].1)]);
    harness.scheduler.cancel(harness.now, id);
    assert_eq!((harness.effects(), harness.totals().cancelled), (vec![], 1));
}

#[test]
fn repeated_report_waits_until_answer_is_stored() {
    let mut harness = Harness::direct();
    harness.join(W1, 1);
    let id = harness.ask(1, Split::Never, 0);
    let (_, task) = harness.one_assigned();
    harness.finish(W1, &task);
    assert!(matches!(&harness.effects()[..], [Effect::Finished { .. }]));
    harness.claim(W1, 1, &task);
    harness.finish(W1, &task);
    assert_eq!(harness.effects(), []);
    harness.scheduler.settle(id);
    harness.finish(W1, &task);
    assert_eq!(
        harness.effects(),
        [acknowledge(W1, &task), acknowledge(W1, &task)]
    );
}

#[test]
fn an_unfinished_question_cannot_be_settled() {
    let mut harness = Harness::direct();
    let id = harness.ask(1, Split::Never, 0);
    harness.scheduler.settle(id);
    assert_eq!(harness.scheduler.counts().open_questions, 1);
}

/// Returns the workers that fail in turn until the question is dropped, the question, and the
/// reason.
fn failures(harness: &mut Harness) -> (Vec<WorkerId>, QuestionId, String) {
    let mut tried = Vec::new();
    loop {
        let effects = harness.effects();
        match effects.last() {
            Some(Effect::Assign { worker, task }) => {
                tried.push(*worker);
                harness.fail(*worker, task);
            }
            Some(Effect::Failed {
                question, reason, ..
            }) => {
                return (tried, *question, reason.clone());
            }
            other => panic!("{tried:?}, then {other:?}"),
        }
    }
}

#[test]
fn failures_of_one_worker_do_not_drop_a_question() {
    for (workers, tried, on) in [
        (1, [1, 1, 1], ""),
        (2, [1, 2, 1], " on 2 workers"),
        (3, [1, 2, 3], " on 3 workers"),
        (9, [1, 2, 3], " on 3 workers"),
    ] {
        let last = tried[2];
        let reason = format!("failed 3 times{on}, at last on worker {last}: no memory");
        let mut harness = Harness::direct();
        (1..=workers).for_each(|n| harness.join(WorkerId(n), 1));
        let id = harness.ask(1, Split::Never, 0);
        let (by, dropped, because) = failures(&mut harness);
        assert_eq!(
            (dropped, harness.scheduler.counts().open_questions),
            (id, 0)
        );
        assert_eq!(
            (by, because),
            (tried.map(WorkerId).to_vec(), reason),
            "{workers} workers"
        );
    }
}

/// Two workers have failed before and are on probation; the task still goes to the third.
#[test]
fn task_goes_round_workers_on_probation() {
    let mut harness = Harness::direct();
    let workers = [W1, W2, WorkerId(3)];
    workers.iter().for_each(|worker| harness.join(*worker, 1));
    for n in 1..=3 {
        harness.ask(n, Split::Never, 0);
    }
    for (worker, task) in harness.assigned() {
        harness.fail(worker, &task);
    }
    let mut reasons = Vec::new();
    let mut effects = std::collections::VecDeque::from(harness.effects());
    while let Some(effect) = effects.pop_front() {
        match effect {
            Effect::Assign { worker, task } => {
                harness.fail(worker, &task);
                effects.extend(harness.effects());
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

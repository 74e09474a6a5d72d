//! Calibration: questions with known answers, which every worker answers before it gets tasks.

use std::sync::LazyLock;

use kagetsu_game::{Answer, Effort, Position, Question, Variant, quote};
use kagetsu_proto::{FIRST_CALIBRATION_TASK, v1};
use kagetsu_schedule::TaskId;
use kagetsu_search::{Control, Engine, EngineOptions};

use crate::cluster::connections::WorkerInfo;

/// A question and our own engine's answer.
struct CalibrationQuestion {
    question: Question,
    answer: Answer,
}

/// A quiet position or a won one of each rule and game that our own engine plays, searched once a
/// process.
static KNOWN_ANSWERS: LazyLock<Vec<CalibrationQuestion>> = LazyLock::new(|| {
    let gomoku = |rule: &str, line: &str| {
        let variant: Variant = rule.parse().ok()?;
        Position::from_line(variant, line).ok()
    };
    let positions = [
        (gomoku("freestyle-15", "h8 i9 h10 g9 i8 h9"), 4),
        // Black has four in a row in three plies.
        (gomoku("freestyle-15", "h8 a1 i8 a15 j8 o1"), 3),
        (gomoku("renju-15", "h8 h9 j10 i9 g9 j8"), 4),
        (Some(Position::start(Variant::XIANGQI)), 2),
        (Some(Position::start(Variant::SURAKARTA)), 2),
    ];
    let options = EngineOptions {
        table_bytes: 1 << 20,
        ..EngineOptions::default()
    };
    let Ok(mut engine) = Engine::new(options) else {
        return Vec::new();
    };
    let known = |(position, depth): (Option<Position>, u8)| {
        let question = Question {
            width: 2,
            ..Question::new(position?, Effort::depth(depth))
        };
        let answer = engine
            .answer(&question, &Control::new(), &mut |_| {})
            .ok()?;
        Some(CalibrationQuestion { question, answer })
    };
    positions.into_iter().filter_map(known).collect()
});

/// Searches the known answers now, so that the first worker does not wait for them.
pub(crate) fn prepare() {
    LazyLock::force(&KNOWN_ANSWERS);
}

/// Whether a task is a calibration question.
pub(crate) const fn is_question(task: TaskId) -> bool {
    task.0 >= FIRST_CALIBRATION_TASK
}

/// Returns the questions for a worker, as tasks.
pub(crate) fn tasks(info: &WorkerInfo) -> Vec<v1::Task> {
    let plays =
        |known: &CalibrationQuestion| info.plays.contains(&known.question.position.variant());
    let questions = (FIRST_CALIBRATION_TASK..)
        .zip(KNOWN_ANSWERS.iter())
        .filter(|(_, known)| plays(known));
    let task = |(task, known): (u64, &CalibrationQuestion)| v1::Task {
        task,
        attempt: 1,
        question: Some((&known.question).into()),
        priority: 1,
        role: None,
    };
    questions.map(task).collect()
}

/// Checks the answer to a calibration question.
///
/// # Errors
/// The fault, as a message for the operator.
pub(crate) fn check(info: &WorkerInfo, report: &v1::Report) -> Result<(), String> {
    let index = usize::try_from(report.task - FIRST_CALIBRATION_TASK).unwrap_or(usize::MAX);
    let Some(CalibrationQuestion {
        question,
        answer: known,
    }) = KNOWN_ANSWERS.get(index)
    else {
        return Err("it answers a calibration question that was not asked".into());
    };
    let position = &question.position;
    let answer = match &report.outcome {
        Some(v1::report::Outcome::Answer(answer)) => {
            answer.about(position).map_err(|error| error.to_string())
        }
        Some(v1::report::Outcome::Failed(reason)) => {
            Err(format!("it could not: {}", quote(reason)))
        }
        _ => Err("it did not".into()),
    };
    let fault = |what: String| format!("asked about {position}, whose answer is known: {what}");
    let answer = answer.map_err(fault)?;
    let Some((best, verdict)) = answer.best() else {
        return Err(fault("it names no move".into()));
    };
    for (m, verdict) in answer.verdicts() {
        let (claimed, true_one) = (verdict.proof, known.get(*m).and_then(|known| known.proof));
        if let (Some(claimed), Some(true_one)) = (claimed, true_one)
            && claimed.contradicts(true_one)
        {
            let m = position.write_move(*m);
            return Err(fault(format!(
                "it calls {m} a {}, which is a {}",
                claimed.claim, true_one.claim
            )));
        }
    }
    // Our own engine with one thread gives the same answer everywhere.
    let is_ours = &*info.engine == Engine::NAME && info.threads == 1;
    let known_best = known
        .best()
        .map(|(m, verdict)| (m, verdict.score, verdict.nodes));
    if is_ours && known_best != Some((best, verdict.score, verdict.nodes)) {
        let (m, score) = known_best.map_or_else(Default::default, |(m, score, _)| {
            (position.write_move(m), score.to_string())
        });
        return Err(fault(format!(
            "it says {} ({}, {} positions), this coordinator's {} says {m} ({score}): its memory is faulty, or it is \
             another build of the same version",
            position.write_move(best),
            verdict.score,
            verdict.nodes,
            Engine::NAME,
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use kagetsu_game::Score;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use super::*;

    fn info(engine: &str) -> WorkerInfo {
        let plays: BTreeSet<Variant> = Variant::all().collect();
        let (name, engine) = ("w".into(), engine.into());
        WorkerInfo {
            name,
            engine,
            slots: 1,
            threads: 1,
            plays: Arc::new(plays),
            token: None,
            class: kagetsu_verification::Class::Operator,
        }
    }

    #[test]
    fn long_reason_is_cut() {
        let outcome = Some(v1::report::Outcome::Failed("é".repeat(4_000_000)));
        let report = v1::Report {
            task: FIRST_CALIBRATION_TASK,
            attempt: 1,
            outcome,
            strategies: Vec::new(),
        };
        let fault = check(&info("e"), &report).expect_err("it could not");
        assert!(
            fault.contains("it could not: é") && fault.ends_with("é...(3999800 more)"),
            "{}",
            fault.len()
        );
        assert!(fault.len() < 1_000, "{fault}");
    }

    fn report(task: u64, answer: &Answer) -> v1::Report {
        v1::Report {
            task,
            attempt: 1,
            outcome: Some(v1::report::Outcome::Answer(answer.into())),
            strategies: Vec::new(),
        }
    }

    #[test]
    fn only_the_known_answers_pass() {
        let ours = info(Engine::NAME);
        assert_eq!(tasks(&ours).len(), 5);
        for (task, known) in tasks(&ours).iter().zip(KNOWN_ANSWERS.iter()) {
            assert!(is_question(TaskId(task.task)));
            assert_eq!(check(&ours, &report(task.task, &known.answer)), Ok(()));
            // One bit of one score is wrong, or a win is false.
            let (best, verdict) = known.answer.best().expect("a move");
            let mut wrong = known.answer.clone();
            let score = Score::opinion(i32::from(verdict.score.raw()) ^ 1);
            let worse = kagetsu_game::Verdict {
                score,
                proof: None,
                ..verdict.clone()
            };
            wrong.retain(|m, _| m != best);
            wrong.extend([(best, worse)]);
            let fault = check(&ours, &report(task.task, &wrong)).expect_err("it differs");
            assert!(fault.contains("another build"), "{fault}");
            assert_eq!(
                check(&info("pikafish"), &report(task.task, &wrong)),
                Ok(()),
                "another engine may differ"
            );
            let failed = v1::report::Outcome::Failed("no".into());
            let failed = v1::Report {
                task: task.task,
                attempt: 1,
                outcome: Some(failed),
                strategies: Vec::new(),
            };
            assert!(
                check(&ours, &failed)
                    .expect_err("it failed")
                    .contains("could not: no")
            );
        }
        assert!(check(&ours, &report(u64::MAX, &Answer::new())).is_err());
    }

    #[test]
    fn denied_win_is_found() {
        let known = &KNOWN_ANSWERS[1];
        let (best, verdict) = known.answer.best().expect("a move");
        let proof = verdict.proof.expect("a won position");
        let lost = kagetsu_game::Proof {
            claim: proof.claim.negated(),
            ..proof
        };
        let lie = kagetsu_game::Verdict {
            proof: Some(lost),
            score: lost.score(),
            ..verdict.clone()
        };
        let lie: Answer = [(best, lie)].into_iter().collect();
        let fault =
            check(&info("pikafish"), &report(FIRST_CALIBRATION_TASK + 1, &lie)).expect_err("a lie");
        assert!(fault.contains("a loss, which is a win"), "{fault}");
    }
}

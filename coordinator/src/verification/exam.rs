//! What every worker is asked before it is believed: questions whose answers are known.

use std::sync::LazyLock;

use kagetsu_game::{Answer, Effort, Position, Question, Variant};
use kagetsu_proto::{FIRST_CALIBRATION_TASK, v1};
use kagetsu_schedule::TaskId;
use kagetsu_search::{Control, Engine, EngineOptions};

use crate::cluster::links::Introduction;

/// One question of the exam, and what our own engine answers to it.
struct Paper {
    question: Question,
    answer: Answer,
}

/// A quiet position and a won one of each rule and game that our own engine plays. They are searched once in a process.
static PAPERS: LazyLock<Vec<Paper>> = LazyLock::new(|| {
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
    let paper = |(position, depth): (Option<Position>, u8)| {
        let question = Question {
            width: 2,
            ..Question::new(position?, Effort::depth(depth))
        };
        let answer = engine
            .answer(&question, &Control::new(), &mut |_| {})
            .ok()?;
        Some(Paper { question, answer })
    };
    positions.into_iter().filter_map(paper).collect()
});

/// Has the answers ready, so that the first worker need not wait for them.
pub(crate) fn prepare() {
    LazyLock::force(&PAPERS);
}

/// Whether a task is a question of the exam.
pub(crate) const fn is_part(task: TaskId) -> bool {
    task.0 >= FIRST_CALIBRATION_TASK
}

/// The questions for a worker, as tasks.
pub(crate) fn tasks(about: &Introduction) -> Vec<v1::Task> {
    let plays = |paper: &Paper| about.plays.contains(&paper.question.position.variant());
    let asked = (FIRST_CALIBRATION_TASK..)
        .zip(PAPERS.iter())
        .filter(|(_, paper)| plays(paper));
    let task = |(task, paper): (u64, &Paper)| v1::Task {
        task,
        attempt: 1,
        question: Some((&paper.question).into()),
        priority: 1,
        role: None,
    };
    asked.map(task).collect()
}

/// Longest reason of a worker that is kept, in characters: it stands in logs, lists, journals and headers.
const LONGEST: usize = 500;

/// What a worker gives as a reason, cut where it is too long.
pub(crate) fn brief(reason: String) -> String {
    match reason.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}..", &reason[..end]),
        None => reason,
    }
}

/// What is wrong with an answer to a question of the exam.
///
/// # Errors
/// The fault, for a person.
pub(crate) fn mark(about: &Introduction, report: &v1::Report) -> Result<(), String> {
    compare(about, report).map_err(brief)
}

fn compare(about: &Introduction, report: &v1::Report) -> Result<(), String> {
    let index = usize::try_from(report.task - FIRST_CALIBRATION_TASK).unwrap_or(usize::MAX);
    let Some(Paper {
        question,
        answer: known,
    }) = PAPERS.get(index)
    else {
        return Err("it answers what it was not asked".into());
    };
    let position = &question.position;
    let said = match &report.outcome {
        Some(v1::report::Outcome::Answer(answer)) => {
            answer.about(position).map_err(|error| error.to_string())
        }
        Some(v1::report::Outcome::Failed(reason)) => Err(format!("it could not: {reason}")),
        _ => Err("it did not".into()),
    };
    let fault = |what: String| format!("asked about {position}, whose answer is known: {what}");
    let said = said.map_err(fault)?;
    let Some((best, verdict)) = said.best() else {
        return Err(fault("it names no move".into()));
    };
    for (m, verdict) in said.verdicts() {
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
    // The same program of one thread says the same everywhere.
    let is_ours = about.engine == Engine::NAME && about.threads == 1;
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

    fn about(engine: &str) -> Introduction {
        let plays: BTreeSet<Variant> = Variant::all().collect();
        let (name, engine) = ("w".into(), engine.into());
        Introduction {
            name,
            engine,
            slots: 1,
            threads: 1,
            plays: Arc::new(plays),
            token: None,
        }
    }

    #[test]
    fn a_reason_without_end_is_cut() {
        let said = Some(v1::report::Outcome::Failed("é".repeat(4_000_000)));
        let report = v1::Report {
            task: FIRST_CALIBRATION_TASK,
            attempt: 1,
            outcome: said,
        };
        let fault = mark(&about("e"), &report).expect_err("it could not");
        assert!(
            fault.contains("it could not: é") && fault.chars().count() == LONGEST + 2,
            "{}",
            fault.len()
        );
        assert_eq!(brief("é".repeat(LONGEST)), "é".repeat(LONGEST));
    }

    fn report(task: u64, answer: &Answer) -> v1::Report {
        v1::Report {
            task,
            attempt: 1,
            outcome: Some(v1::report::Outcome::Answer(answer.into())),
        }
    }

    #[test]
    fn our_own_answers_pass_and_others_do_not() {
        let ours = about(Engine::NAME);
        assert_eq!(tasks(&ours).len(), 5);
        for (task, paper) in tasks(&ours).iter().zip(PAPERS.iter()) {
            assert!(is_part(TaskId(task.task)));
            assert_eq!(mark(&ours, &report(task.task, &paper.answer)), Ok(()));
            // One bit of one score, or a win that is none.
            let (best, verdict) = paper.answer.best().expect("a move");
            let mut wrong = paper.answer.clone();
            let score = Score::opinion(i32::from(verdict.score.raw()) ^ 1);
            let worse = kagetsu_game::Verdict {
                score,
                proof: None,
                ..verdict.clone()
            };
            wrong.retain(|m, _| m != best);
            wrong.extend([(best, worse)]);
            let fault = mark(&ours, &report(task.task, &wrong)).expect_err("it differs");
            assert!(fault.contains("another build"), "{fault}");
            assert_eq!(
                mark(&about("pikafish"), &report(task.task, &wrong)),
                Ok(()),
                "another engine may differ"
            );
            let failed = v1::report::Outcome::Failed("no".into());
            let failed = v1::Report {
                task: task.task,
                attempt: 1,
                outcome: Some(failed),
            };
            assert!(
                mark(&ours, &failed)
                    .expect_err("it failed")
                    .contains("could not: no")
            );
        }
        assert!(mark(&ours, &report(u64::MAX, &Answer::new())).is_err());
    }

    #[test]
    fn whoever_denies_a_known_win_is_found() {
        let paper = &PAPERS[1];
        let (best, verdict) = paper.answer.best().expect("a move");
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
        let fault = mark(
            &about("pikafish"),
            &report(FIRST_CALIBRATION_TASK + 1, &lie),
        )
        .expect_err("a lie");
        assert!(fault.contains("a loss, which is a win"), "{fault}");
    }
}

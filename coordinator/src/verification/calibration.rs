//! Calibration: questions with known answers, which every worker answers before it gets tasks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use kagetsu_game::{Answer, Effort, Position, Question, Variant, quote};
use kagetsu_proto::{FIRST_CALIBRATION_TASK, v1};
use kagetsu_schedule::TaskId;
use kagetsu_search::{Control, Engine, EngineOptions};

use kagetsu_verification::Profile;

/// A question and our own engine's answer.
#[derive(Clone, Debug)]
struct CalibrationQuestion {
    question: Question,
    answer: Answer,
}

/// Numbers of tasks that belong to one variant.
const TASKS_PER_VARIANT: u64 = 8;

/// The known answers of each variant that a worker has named so far.
static KNOWN_ANSWERS: LazyLock<Mutex<BTreeMap<Variant, Arc<[CalibrationQuestion]>>>> =
    LazyLock::new(Mutex::default);

/// Returns the positions of a variant that every worker of it is asked about, with depths: a quiet
/// one and a won one.
fn positions(variant: Variant) -> Vec<(Position, u8)> {
    let lines: &[(&str, u8)] = match variant {
        Variant::FREESTYLE_15 => &[("h8 i9 h10 g9 i8 h9", 4), ("h8 a1 i8 a15 j8 o1", 3)],
        Variant::RENJU_15 => &[("h8 h9 j10 i9 g9 j8", 4), ("h8 a1 i8 a15 j8 o1", 3)],
        // Both have four in a row.
        Variant::Gomoku { .. } => &[("c3 d4", 2), ("a2 a5 b2 b5 c2 c5 d2 d5", 2)],
        _ => &[("", 2)],
    };
    let position = |(line, depth): &(&str, u8)| {
        let position = Position::from_line(variant, line).ok()?;
        Some((position, *depth))
    };
    lines.iter().filter_map(position).collect()
}

/// Searches a variant's questions.
fn search(variant: Variant) -> Vec<CalibrationQuestion> {
    let options = EngineOptions {
        table_bytes: 1 << 20,
        ..EngineOptions::default()
    };
    let Ok(mut engine) = Engine::new(options) else {
        return Vec::new();
    };
    let known = |(position, depth): (Position, u8)| {
        let question = Question {
            width: 2,
            ..Question::new(position, Effort::depth(depth))
        };
        let answer = engine
            .answer(&question, &Control::new(), &mut |_| {})
            .ok()?;
        Some(CalibrationQuestion { question, answer })
    };
    positions(variant).into_iter().filter_map(known).collect()
}

/// Returns the questions of a variant; none if our own engine does not play it.
fn known(variant: Variant) -> Arc<[CalibrationQuestion]> {
    let lock = || KNOWN_ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = lock().get(&variant) {
        return Arc::clone(known);
    }
    let found: Arc<[CalibrationQuestion]> = if Engine::supports(variant) {
        search(variant).into()
    } else {
        Arc::default()
    };
    Arc::clone(lock().entry(variant).or_insert(found))
}

/// Searches the known answers of these variants, and returns those that have some. It takes about a
/// millisecond a variant once a process, so it runs before the cluster is locked.
pub(crate) fn prepare(plays: &Arc<BTreeSet<Variant>>) -> Arc<BTreeSet<Variant>> {
    let without = |variant: &&Variant| known(**variant).is_empty();
    if plays.iter().find(without).is_none() {
        return Arc::clone(plays);
    }
    let with = plays.iter().copied();
    Arc::new(with.filter(|variant| !known(*variant).is_empty()).collect())
}

/// Why a worker does not get tasks of a variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CalibrationFault {
    /// Its answer is wrong, so that it gets no tasks at all.
    Wrong(String),
    /// It cannot answer in this variant.
    Unable(Variant, String),
}

/// Whether a task is a calibration question.
pub(crate) const fn is_question(task: TaskId) -> bool {
    task.0 >= FIRST_CALIBRATION_TASK
}

/// Returns the questions for a worker, as tasks.
pub(crate) fn tasks(info: &Profile) -> Vec<v1::Task> {
    let mut tasks = Vec::new();
    for (first, variant) in (FIRST_CALIBRATION_TASK..)
        .step_by(TASKS_PER_VARIANT as usize)
        .zip(Variant::all())
        .filter(|(_, variant)| info.plays.contains(variant))
    {
        let task = |(task, known): (u64, &CalibrationQuestion)| v1::Task {
            task,
            attempt: 1,
            question: Some((&known.question).into()),
            priority: 1,
            role: None,
        };
        tasks.extend((first..).zip(known(variant).iter()).map(task));
    }
    tasks
}

/// Checks the answer to a calibration question. Returns whether it is that of our own engine.
///
/// # Errors
/// The fault, for the operator.
pub(crate) fn check(info: &Profile, report: &v1::Report) -> Result<bool, CalibrationFault> {
    let number = report.task - FIRST_CALIBRATION_TASK;
    let index = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let variant = Variant::all().nth(index(number / TASKS_PER_VARIANT));
    let asked = variant.map(|variant| (variant, known(variant)));
    let question = asked.as_ref().and_then(|(variant, known)| {
        Some((*variant, known.get(index(number % TASKS_PER_VARIANT))?))
    });
    let Some((
        variant,
        CalibrationQuestion {
            question,
            answer: known,
        },
    )) = question
    else {
        return Err(CalibrationFault::Wrong(
            "it answers a calibration question that was not asked".into(),
        ));
    };
    let position = &question.position;
    let answer = match &report.outcome {
        Some(v1::report::Outcome::Answer(answer)) => {
            answer.about(position).map_err(|error| error.to_string())
        }
        Some(v1::report::Outcome::Failed(reason)) => {
            let reason = format!("asked about {position}, it could not: {}", quote(reason));
            return Err(CalibrationFault::Unable(variant, reason));
        }
        _ => Err("it did not".into()),
    };
    let fault = |what: String| {
        CalibrationFault::Wrong(format!(
            "asked about {position}, whose answer is known: {what}"
        ))
    };
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
    let is_exact = known_best == Some((best, verdict.score, verdict.nodes));
    if is_ours && !is_exact {
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
    Ok(is_exact)
}

#[cfg(test)]
mod tests {
    use kagetsu_game::Score;

    use super::*;

    fn info(engine: &str) -> Profile {
        let plays: BTreeSet<Variant> = Variant::all().collect();
        let (name, engine) = ("w".into(), engine.into());
        Profile {
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
        let Err(CalibrationFault::Unable(variant, fault)) = check(&info("e"), &report) else {
            panic!("it could not")
        };
        assert_eq!(Variant::all().next(), Some(variant));
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
        let all: Vec<_> = Variant::all()
            .flat_map(|variant| known(variant).to_vec())
            .collect();
        assert_eq!(tasks(&ours).len(), all.len());
        for (task, known) in tasks(&ours).iter().zip(&all) {
            assert!(is_question(TaskId(task.task)));
            assert_eq!(check(&ours, &report(task.task, &known.answer)), Ok(true));
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
            let fault = wrong_one(check(&ours, &report(task.task, &wrong)));
            assert!(fault.contains("another build"), "{fault}");
            assert_eq!(
                check(&info("pikafish"), &report(task.task, &wrong)),
                Ok(false),
                "another engine may differ"
            );
            let failed = v1::report::Outcome::Failed("no".into());
            let failed = v1::Report {
                task: task.task,
                attempt: 1,
                outcome: Some(failed),
                strategies: Vec::new(),
            };
            let variant = known.question.position.variant();
            assert!(matches!(
                check(&ours, &failed),
                Err(CalibrationFault::Unable(of, reason)) if of == variant && reason.contains("could not: no")
            ));
        }
        assert!(check(&ours, &report(u64::MAX, &Answer::new())).is_err());
    }

    fn wrong_one(result: Result<bool, CalibrationFault>) -> String {
        match result {
            Err(CalibrationFault::Wrong(fault)) => fault,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_variant_has_calibration_questions() {
        let plays: Arc<BTreeSet<Variant>> = Arc::new(Variant::all().collect());
        assert!(Arc::ptr_eq(&prepare(&plays), &plays));
        for variant in Variant::all() {
            let known = known(variant);
            assert!(
                (1..=TASKS_PER_VARIANT).contains(&(known.len() as u64)),
                "{variant}"
            );
            assert!(
                known.iter().all(|known| known.answer.best().is_some()),
                "{variant}"
            );
            let is_proven = |known: &CalibrationQuestion| {
                known
                    .answer
                    .best()
                    .is_some_and(|(_, verdict)| verdict.proof.is_some())
            };
            let is_gomoku = matches!(variant, Variant::Gomoku { .. });
            assert_eq!(known.iter().any(is_proven), is_gomoku, "{variant}");
        }
    }

    #[test]
    fn denied_win_is_found() {
        let ours = info(Engine::NAME);
        let task = tasks(&ours)[1].task;
        let all = known(Variant::all().next().expect("one"));
        let known = &all[1];
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
        let fault = wrong_one(check(&info("pikafish"), &report(task, &lie)));
        assert!(fault.contains("a loss, which is a win"), "{fault}");
    }
}

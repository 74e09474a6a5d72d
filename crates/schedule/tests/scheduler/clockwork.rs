//! Whole clusters, by the hundred.

use std::time::Duration;

use kagetsu_game::{Effort, Question};
use kagetsu_schedule::{Options, Split, Totals, WorkerId};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use crate::cluster::{End, Fault, Outcome, Plan, PlannedQuestion, run};
use crate::engine;
use crate::merging::assert_same;

const CHAOTIC_SEEDS: u64 = 300;

fn planned(n: usize, split: Split) -> PlannedQuestion {
    let question = Question {
        width: 1 + (n % 4) as u16,
        ..Question::new(engine::position(n), Effort::depth(8))
    };
    PlannedQuestion {
        at: Duration::from_millis(n as u64 * 70),
        question,
        split,
        priority: 0,
        is_poison: false,
        bad_luck: 0,
        cancelled_at: None,
    }
}

fn calm(workers: Vec<(u32, u64)>, questions: Vec<PlannedQuestion>) -> Plan {
    Plan {
        seed: 1,
        options: Options::default(),
        workers,
        questions,
        faults: Vec::new(),
        latency: Duration::from_millis(1),
        is_chaotic: false,
    }
}

/// Workers of all speeds, and everything that can go wrong in the first two minutes.
fn chaos(seed: u64) -> Plan {
    let mut dice = SmallRng::seed_from_u64(!seed);
    let workers: Vec<_> = (0..dice.random_range(1..7))
        .map(|_| (dice.random_range(1..4), dice.random_range(5_000..60_000)))
        .collect();
    let questions = (0..dice.random_range(1..30))
        .map(|n| misfortune(&mut dice, n))
        .collect();
    let faults: Vec<_> = (0..dice.random_range(0..25))
        .map(|_| fault(&mut dice, workers.len() as u64))
        .collect();
    let is_crawl = |fault: &&(_, Fault)| matches!(fault.1, Fault::Crawl { .. });
    // A worker that crawls for 200 s stalls a task up to four times.
    let stalls = 4 * faults.iter().filter(is_crawl).count() as u32;
    let options = Options {
        prefetch: dice.random_range(0..3),
        max_attempts: 3 + stalls,
        max_losses: 1_000,
        min_moves: dice.random_range(1..6),
        first_id: seed << 32,
        ..Options::default()
    };
    let latency = Duration::from_millis(dice.random_range(1..200));
    Plan {
        seed,
        options,
        workers,
        questions,
        faults,
        latency,
        is_chaotic: true,
    }
}

fn misfortune(dice: &mut SmallRng, n: usize) -> PlannedQuestion {
    let at = Duration::from_millis(dice.random_range(0..60_000));
    PlannedQuestion {
        at,
        priority: dice.random_range(0..3),
        is_poison: dice.random_bool(0.05),
        bad_luck: dice.random_range(0..3),
        cancelled_at: dice
            .random_bool(0.1)
            .then(|| at + Duration::from_millis(dice.random_range(0..20_000))),
        ..planned(
            n,
            if dice.random_bool(0.5) {
                Split::Seeded
            } else {
                Split::Never
            },
        )
    }
}

fn fault(dice: &mut SmallRng, workers: u64) -> (Duration, Fault) {
    let worker = WorkerId(dice.random_range(1..=workers));
    let at = Duration::from_millis(dice.random_range(0..120_000));
    let [down, length] = [Duration::from_millis(dice.random_range(0..40_000)); 2];
    let fault = match dice.random_range(0..5) {
        0 => Fault::Kill { worker, down },
        1 => Fault::Freeze { worker, length },
        2 => Fault::Cut { worker, length },
        3 => Fault::Crawl {
            worker,
            length: 5 * length,
        },
        _ => Fault::Drain { worker, down },
    };
    (at, fault)
}

/// Checks that every question ended as expected and that the scheduler kept no state.
fn check(plan: &Plan, outcome: &Outcome) {
    for (index, (planned, end)) in plan.questions.iter().zip(&outcome.ends).enumerate() {
        match end {
            Some(End::Finished(answer)) if planned.split == Split::Never => {
                assert_eq!(*answer, engine::answer(&planned.question))
            }
            Some(End::Finished(answer)) => assert_same(&planned.question, answer),
            Some(End::Failed(_)) => {
                assert!(planned.is_poison, "question {index} was set aside: {end:?}")
            }
            Some(End::Cancelled) => assert!(planned.cancelled_at.is_some()),
            None => panic!("question {index} has not ended"),
        }
        assert!(
            !planned.is_poison || !matches!(end, Some(End::Finished(_))),
            "question {index} cannot be answered"
        );
    }
    let counts = outcome.scheduler.counts();
    let left = [
        counts.open_questions,
        counts.unsettled_questions,
        counts.waiting_tasks,
        counts.leased_tasks,
    ];
    assert_eq!(left, [0; 4], "{counts:?}");
}

/// Runs a plan and checks it; names the seed and shows the end of the trace if it fails.
#[expect(
    clippy::print_stderr,
    reason = "the harness shows it only where a test fails"
)]
fn checked(plan: Plan) -> Outcome {
    let seed = plan.seed;
    let outcome = run(plan.clone());
    let verdict = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&plan, &outcome)));
    if let Err(panic) = verdict {
        eprintln!(
            "seed {seed}:\n{}",
            outcome.trace[outcome.trace.len().saturating_sub(60)..].join("\n")
        );
        std::panic::resume_unwind(panic);
    }
    outcome
}

#[test]
fn every_question_ends_well_whatever_happens() {
    let mut seen = Totals::default();
    for seed in 0..CHAOTIC_SEEDS {
        let totals = checked(chaos(seed)).scheduler.counts().totals;
        seen.reassigned += totals.reassigned;
        seen.late += totals.late;
        seen.handed_back += totals.handed_back;
        seen.failed += totals.failed;
        seen.stalled += totals.stalled;
        seen.overdue += totals.overdue;
        seen.lost += totals.lost;
        seen.regained += totals.regained;
        seen.moved += totals.moved;
        seen.set_aside += totals.set_aside;
        seen.cancelled += totals.cancelled;
    }
    let ends = [
        seen.failed,
        seen.stalled,
        seen.overdue,
        seen.lost,
        seen.set_aside,
    ];
    let moves = [seen.reassigned, seen.handed_back, seen.regained, seen.moved];
    let all = [&ends[..], &moves, &[seen.late, seen.cancelled]].concat();
    assert!(
        all.into_iter().all(|times| times >= 20),
        "the faults do not bring about everything: {seen:?}"
    );
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    for seed in 0..20 {
        assert_eq!(
            run(chaos(seed)).trace,
            run(chaos(seed)).trace,
            "seed {seed}"
        );
    }
}

/// Questions that are all submitted at the start.
fn at_once(count: usize, split: Split) -> Vec<PlannedQuestion> {
    (0..count)
        .map(|n| PlannedQuestion {
            at: Duration::ZERO,
            ..planned(n, split)
        })
        .collect()
}

/// Returns the time that one slot needs for all questions without a network.
fn alone(questions: &[PlannedQuestion], speed: u64) -> Duration {
    questions
        .iter()
        .map(|planned| engine::cost(&planned.question, speed))
        .sum()
}

#[test]
fn many_workers_share_many_questions_evenly() {
    for workers in [1, 2, 7, 30] {
        let questions = at_once(workers * 20, Split::Seeded);
        let ideal = alone(&questions, 50_000) / workers as u32;
        let outcome = checked(calm(vec![(1, 50_000); workers], questions));
        let efficiency = ideal.as_secs_f64() / outcome.ended_at.as_secs_f64();
        assert!(efficiency > 0.94, "{workers} workers: {efficiency}");
        assert_eq!(
            outcome.nodes,
            outcome.ends.iter().map(nodes).sum::<u64>(),
            "nothing is searched twice"
        );
    }
}

fn nodes(end: &Option<End>) -> u64 {
    if let Some(End::Finished(answer)) = end {
        answer.nodes()
    } else {
        0
    }
}

#[test]
fn prefetch_hides_the_way_to_the_coordinator() {
    let questions = at_once(50, Split::Never);
    let ideal = alone(&questions, 1_000_000);
    let busy = |prefetch| {
        let options = Options {
            prefetch,
            ..Options::default()
        };
        let latency = Duration::from_millis(40);
        let outcome = checked(Plan {
            options,
            latency,
            ..calm(vec![(1, 1_000_000)], questions.clone())
        });
        ideal.as_secs_f64() / outcome.ended_at.as_secs_f64()
    };
    let [without, with] = [0, 1].map(busy);
    assert!(
        without < 0.8 && with > 0.95,
        "busy {without} of the time without, {with} with"
    );
}

#[test]
fn more_workers_answer_sooner() {
    let asked_at = Duration::from_secs(1);
    let question = |split| {
        vec![PlannedQuestion {
            at: asked_at,
            ..planned(1, split)
        }]
    };
    let time = |workers, split| {
        checked(calm(vec![(1, 50_000); workers], question(split))).ended_at - asked_at
    };
    let whole = time(4, Split::Never);
    let divided = time(4, Split::Seeded);
    assert!(divided * 2 < whole, "{divided:?} against {whole:?}");
}

#[test]
fn slow_worker_does_not_delay_the_end() {
    let questions = at_once(60, Split::Never);
    let outcome = checked(calm(
        vec![(1, 50_000), (1, 50_000), (1, 10_000)],
        questions.clone(),
    ));
    let ideal = alone(&questions, 110_000);
    let longest = longest(&questions, 10_000);
    assert!(
        outcome.ended_at < ideal + longest,
        "{:?} is more than one slow task over {ideal:?}",
        outcome.ended_at
    );
}

/// A worker sends heartbeats with one more position a second. Once its task is overdue, another
/// worker gets it.
#[test]
fn crawling_worker_does_not_delay_the_end() {
    let questions = at_once(60, Split::Never);
    let crawling_for = Duration::from_secs(3600);
    let faults = vec![(
        Duration::from_secs(30),
        Fault::Crawl {
            worker: WorkerId(1),
            length: crawling_for,
        },
    )];
    let plan = Plan {
        faults,
        ..calm(vec![(1, 50_000); 3], questions.clone())
    };
    let outcome = checked(plan);
    let [two, longest] = [alone(&questions, 100_000), longest(&questions, 50_000)];
    let patient = Options::default().lease + longest * (Options::default().overdue_factor + 1);
    // The two tasks are the one that it held and the one that tests whether it is sound again,
    // which another worker then searches.
    assert!(
        outcome.answered_at < two + 2 * patient + longest,
        "{:?} against {two:?} and {patient:?}",
        outcome.answered_at
    );
}

/// A worker that is slow, but no slower than before, keeps its tasks.
#[test]
fn slow_workers_keep_their_tasks() {
    let outcome = checked(calm(
        vec![(1, 50_000), (1, 5_000), (1, 200_000)],
        at_once(200, Split::Never),
    ));
    let totals = outcome.scheduler.counts().totals;
    assert!(
        totals.overdue <= 1,
        "once, before the failure is known: {totals:?}"
    );
}

fn longest(questions: &[PlannedQuestion], speed: u64) -> Duration {
    questions
        .iter()
        .map(|planned| engine::cost(&planned.question, speed))
        .max()
        .unwrap_or_default()
}

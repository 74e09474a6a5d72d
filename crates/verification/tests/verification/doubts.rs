//! Claims of wins and losses without evidence, by liars under every name, and by honest workers
//! that search more strongly than the coordinator.

use std::collections::VecDeque;
use std::time::Duration;

use kagetsu_game::{Answer, Effort, Question};
use kagetsu_schedule::{QuestionId, WorkerId};
use kagetsu_verification::{Class, Decision, Profile, Ticket, Verification, VerificationOptions};

use crate::world::{
    DEPTH, ENGINE, Lie, Worker, World, answer_with, pass, position, profile, truth,
};

/// All that a liar can say to be believed more: its class, its engine, its threads.
fn disguises() -> Vec<Profile> {
    let mut all = vec![profile("liar", Some("stranger"), Class::Volunteer)];
    for engine in [ENGINE, "other 1.0"] {
        for threads in [1, 8, 256] {
            let operators = profile("liar", None, Class::Operator);
            all.push(Profile {
                engine: engine.into(),
                threads,
                ..operators
            });
        }
    }
    all
}

#[test]
fn liars_of_all_claims_are_found_under_every_name() {
    let lies = [20_000, -20_000].map(Lie::Decided);
    for lie in lies.into_iter().chain([Lie::Claim, Lie::Bias(2_500)]) {
        for disguise in disguises() {
            for honest_workers in [1, 2] {
                let mut world = World::new(100.0);
                (1..=honest_workers).for_each(|id| world.operator(id, Worker::HONEST));
                world.join(10, disguise.clone(), Worker::liar(lie, 100));
                world.queue = (0..200).map(position).collect();
                world.run();
                let what = format!("{lie:?} {disguise:?} beside {honest_workers}");
                assert_eq!((world.proofs(), world.book.len()), (0, 200), "{what}");
                assert_eq!(world.false_values(), 0, "{what}");
                assert!(world.is_quarantined(10), "{what}");
                let trust = world.verification.trust(WorkerId(10));
                assert_eq!(trust.verified, 0, "{what}");
                assert!(
                    (1..=honest_workers).all(|id| !world.is_quarantined(id)),
                    "{what}"
                );
            }
        }
    }
}

#[test]
fn claims_wait_for_a_slow_engine_of_the_coordinator() {
    let mut world = World::new(100.0);
    world.waiting = Some(VecDeque::new());
    (1..=2).for_each(|id| world.operator(id, Worker::liar(Lie::Decided(20_000), 100)));
    world.queue = (0..200).map(position).collect();
    world.run();
    assert_eq!(
        (world.book.len(), world.verification.held_answers()),
        (0, 200)
    );
    let mut most = 0;
    loop {
        let waiting = world.waiting.as_mut().expect("a slow engine");
        most = most.max(waiting.len());
        let Some((check, question)) = waiting.pop_front() else {
            break;
        };
        let own = truth(&question.position);
        world.verification.searched(world.now, check, Some(own));
        world.carry_out();
    }
    assert_eq!(
        (most, world.false_values()),
        (Verification::MAX_SEARCHES, 0)
    );
    assert_eq!(
        world.verification.held_answers(),
        0,
        "each waited for its turn"
    );
    assert!((1..=2).all(|id| world.is_quarantined(id)));
}

#[test]
fn claims_beyond_the_replays_at_a_time_are_checked() {
    let profile = profile("w", None, Class::Operator);
    let mut machine = Verification::new(VerificationOptions::new(0.0, 1, ENGINE));
    for id in [1, 2] {
        machine
            .connect(Duration::ZERO, WorkerId(id), profile.clone())
            .expect("an operator's");
        assert!(pass(&mut machine, id, &profile));
    }
    for n in 0..100 {
        let position = position(n);
        let ticket = Ticket {
            id: QuestionId(n),
            question: Question::new(position.clone(), Effort::depth(DEPTH)),
            job: Some(1),
            priority: 7,
        };
        let answer = answer_with(&position, Lie::Claim);
        machine.answered(Duration::ZERO, ticket, answer, vec![WorkerId(1)]);
    }
    let (mut replays, mut checks) = (0, 0);
    while let Some(decision) = machine.poll() {
        match decision {
            Decision::Replay { .. } => replays += 1,
            Decision::Ask { .. } => checks += 1,
            other => assert!(matches!(other, Decision::Store), "{other:?}"),
        }
    }
    assert_eq!(replays, Verification::MAX_REPLAYS);
    assert_eq!(replays + checks, 100);
}

/// Two workers of the operator make the same claims, under the coordinator's engine or another.
#[test]
fn claims_of_two_that_lie_alike_are_not_confirmed() {
    for lie in [Lie::Decided(20_000), Lie::Decided(-20_000), Lie::Claim] {
        for engine in [ENGINE, "other 1.0"] {
            let mut world = World::new(100.0);
            for id in [10, 11] {
                let operators = profile(&format!("w{id}"), None, Class::Operator);
                let liar = Profile {
                    engine: engine.into(),
                    ..operators
                };
                world.join(id, liar, Worker::liar(lie, 100));
            }
            world.queue = (0..60).map(position).collect();
            world.run();
            let what = format!("{lie:?} {engine}");
            assert_eq!((world.false_values(), world.proofs()), (0, 0), "{what}");
            for id in [10, 11] {
                assert!(world.is_quarantined(id), "{what}");
                assert_eq!(world.verification.trust(WorkerId(id)).verified, 0, "{what}");
            }
        }
    }
}

/// A bias that other engines may show is never confirmed, and never stays where it was checked.
#[test]
fn bias_under_another_name_is_not_believed() {
    for disguise in disguises() {
        let mut world = World::new(100.0);
        world.operator(1, Worker::HONEST);
        world.join(10, disguise.clone(), Worker::liar(Lie::Bias(350), 100));
        world.queue = (0..200).map(position).collect();
        world.run();
        assert_eq!(world.false_values(), 0, "{disguise:?}");
        assert_eq!(world.verification.trust(WorkerId(10)).verified, 0);
        assert!(!world.is_quarantined(1));
    }
}

/// With few checks a liar's earlier claims are asked again after its first one that is checked.
#[test]
fn earlier_claims_of_a_doubted_worker_are_asked_again() {
    let mut world = World::new(0.0);
    world.operator(1, Worker::HONEST);
    let other = Profile {
        engine: "other 1.0".into(),
        ..profile("liar", None, Class::Operator)
    };
    world.join(10, other, Worker::liar(Lie::Decided(20_000), 100));
    (0..50).for_each(|n| _ = world.answer(10, &position(n), Lie::Decided(20_000)));
    (50..60).for_each(|n| _ = world.answer(10, &position(n), Lie::None));
    assert_eq!((world.false_values(), world.queue.len()), (50, 0));
    // A claim of proof is always checked.
    world.answer(10, &position(60), Lie::Claim);
    assert_eq!((world.false_values(), world.queue.len()), (0, 50));
    assert!(!world.is_quarantined(10), "it may be a stronger search");
    // From then on all its claims are checked.
    (60..78).for_each(|n| _ = world.answer(10, &position(n), Lie::Decided(20_000)));
    assert_eq!(world.false_values(), 0);
    assert!(!world.is_quarantined(10));
    world.answer(10, &position(78), Lie::Decided(20_000));
    assert!(world.is_quarantined(10));
}

/// A worker that takes another name, or another process under its name, stays doubted.
#[test]
fn doubt_outlives_a_process() {
    let mut world = World::new(100.0);
    world.operator(1, Worker::HONEST);
    let other = Profile {
        engine: "other 1.0".into(),
        ..profile("liar", None, Class::Operator)
    };
    for id in 10..30 {
        assert!(!(10..id).any(|id| world.is_quarantined(id)), "{id}");
        world.join(id, other.clone(), Worker::liar(Lie::Decided(20_000), 100));
        world.answer(id, &position(id), Lie::Decided(20_000));
        world.verification.disconnect(world.now, WorkerId(id));
        world.workers.remove(&WorkerId(id));
    }
    assert!(world.is_quarantined(29));
}

/// One worker that makes claims, some of which the coordinator sees.
struct Claimant {
    machine: Verification,
    chance: u64,
}

impl Claimant {
    fn new(seed: u64) -> Self {
        let options = VerificationOptions::new(100.0, seed, ENGINE);
        let mut machine = Verification::new(options);
        let strong = Profile {
            engine: "strong 1.0".into(),
            threads: 4,
            ..profile("strong", None, Class::Operator)
        };
        for (id, named) in [(1, profile("w", None, Class::Operator)), (2, strong)] {
            machine
                .connect(Duration::ZERO, WorkerId(id), named.clone())
                .expect("an operator's");
            assert!(pass(&mut machine, id, &named));
        }
        Self {
            machine,
            chance: seed * 2 + 1,
        }
    }

    /// A pseudo-random number below 100.
    fn draw(&mut self) -> u64 {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        (self.chance >> 20) % 100
    }

    /// Claims a win that no equal search sees, and the coordinator in `seen` of 100 cases. Returns
    /// whether the worker is quarantined for it.
    fn claim(&mut self, n: u64, seen: u64) -> bool {
        let position = position(n % 1_000);
        let claimed = answer_with(&position, Lie::Decided(20_000));
        let ticket = Ticket {
            id: QuestionId(n),
            question: Question::new(position.clone(), Effort::depth(DEPTH)),
            job: Some(1),
            priority: 7,
        };
        let now = Duration::from_secs(n);
        self.machine
            .answered(now, ticket, claimed.clone(), vec![WorkerId(2)]);
        let is_seen = self.draw() < seen;
        let mut accepted: Option<Answer> = None;
        while let Some(decision) = self.machine.poll() {
            match decision {
                Decision::Ask { check, .. } => {
                    let by = vec![WorkerId(1)];
                    self.machine
                        .second_opinion(now, check, truth(&position), by);
                }
                Decision::Search { check, lines, .. } => {
                    assert_eq!(lines.len(), 1, "the line is to be tried");
                    let own = if is_seen {
                        claimed.clone()
                    } else {
                        truth(&position)
                    };
                    self.machine.searched(now, check, Some(own));
                }
                Decision::Accept { answer, .. } => accepted = Some(answer),
                _ => {}
            }
        }
        let expected = if is_seen { claimed } else { truth(&position) };
        assert_eq!(accepted, Some(expected), "the coordinator's search decides");
        self.machine.is_quarantined(WorkerId(2))
    }
}

/// Returns the number of workers of a hundred that are quarantined within so many claims, and the
/// mean number of claims until then.
fn quarantined(seen: u64, claims: u64) -> (u64, u64) {
    let (mut count, mut total) = (0, 0);
    for seed in 1..=100 {
        let mut claimant = Claimant::new(seed);
        if let Some(n) = (1..=claims).find(|n| claimant.claim(*n, seen)) {
            (count, total) = (count + 1, total + n);
        }
        assert!(
            claimant.machine.is_admitted(WorkerId(1)),
            "it saw nothing, and is honest"
        );
    }
    (count, total / count.max(1))
}

#[test]
fn stronger_honest_workers_are_not_quarantined() {
    for seen in [50, 70, 90] {
        assert_eq!(quarantined(seen, 500), (0, 0), "{seen} % seen");
    }
    let (count, claims) = quarantined(10, 500);
    assert!(count == 100 && claims < 60, "{count} after {claims}");
}

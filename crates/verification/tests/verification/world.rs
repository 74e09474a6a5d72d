//! A coordinator without streams and books: it carries out the effects at once.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use kagetsu_game::{
    Answer, Bound, Claim, Effort, Key, Move, Position, Proof, ProofKind, Provenance, Question,
    Score, Variant, Verdict,
};
use kagetsu_schedule::{QuestionId, WorkerId};
use kagetsu_verification::{
    Admission, CheckId, Class, Decision, Profile, Replay, Ticket, Verification, VerificationOptions,
};

pub(crate) const ENGINE: &str = "kagetsu 0.1.0";
pub(crate) const DEPTH: u8 = 4;

/// An answer's fault.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lie {
    /// The true value.
    None,
    /// A value wrong by so many centi-units.
    Bias(i32),
    /// A proof that does not exist.
    Claim,
    /// A win that ends the game at once, which the rules refute.
    InstantWin,
    /// Won or lost by so many centi-units, without a proof.
    Decided(i32),
}

/// A worker that lies in a share of its answers.
#[derive(Clone, Debug)]
pub(crate) struct Worker {
    pub(crate) lie: Lie,
    /// Lies in a million answers.
    pub(crate) rate: u32,
    /// Whether it lies in second opinions, too.
    pub(crate) colludes: bool,
}

impl Worker {
    pub(crate) const HONEST: Self = Self {
        lie: Lie::None,
        rate: 0,
        colludes: false,
    };

    pub(crate) const fn liar(lie: Lie, percent: u32) -> Self {
        Self {
            lie,
            rate: percent * 10_000,
            colludes: true,
        }
    }
}

/// The machine with its surroundings.
pub(crate) struct World {
    pub(crate) verification: Verification,
    pub(crate) now: Duration,
    pub(crate) workers: BTreeMap<WorkerId, Worker>,
    /// Verdicts in the book by position, with the position.
    pub(crate) book: BTreeMap<Key, (Position, Answer)>,
    pub(crate) queue: VecDeque<Position>,
    tickets: BTreeMap<QuestionId, Position>,
    /// Questions of checks that wait for a worker.
    pub(crate) open_checks: VecDeque<(CheckId, Question, Vec<WorkerId>)>,
    /// Whether the coordinator's own engine answers.
    pub(crate) has_engine: bool,
    /// Searches that the coordinator's own engine has not answered, if it is slow.
    pub(crate) waiting: Option<VecDeque<(CheckId, Question)>>,
    next: u64,
    chance: u64,
    pub(crate) searches: u64,
}

pub(crate) fn profile(name: &str, token: Option<&str>, class: Class) -> Profile {
    Profile {
        name: name.into(),
        engine: ENGINE.into(),
        slots: 1,
        threads: 1,
        token: token.map(Into::into),
        class,
        plays: Arc::new(BTreeSet::from([Variant::FREESTYLE_15])),
    }
}

/// A worker passes its calibration. Returns whether it is admitted by that.
pub(crate) fn pass(machine: &mut Verification, id: u64, profile: &Profile) -> bool {
    let is_exact = &*profile.engine == ENGINE && profile.threads == 1;
    machine.pass_calibration(WorkerId(id), Arc::clone(&profile.plays), is_exact)
}

/// Returns the n-th of many different positions.
pub(crate) fn position(n: u64) -> Position {
    let start = Position::from_line(Variant::FREESTYLE_15, "a1 c2 b5").expect("a legal line");
    let first = start.legal_moves()[(n / 221) as usize % 222];
    let next = start.play(first).expect("an empty point");
    next.play(next.legal_moves()[(n % 221) as usize])
        .expect("an empty point")
}

pub(crate) fn verdict(score: i32, proof: Option<Proof>, m: Move) -> Verdict {
    Verdict {
        score: proof.map_or(Score::opinion(score), Proof::score),
        bound: Bound::Exact,
        depth: DEPTH,
        nodes: 1_000,
        line: vec![m],
        proof,
        by: Provenance {
            engine: ENGINE.into(),
            day: 1,
        },
    }
}

/// Returns the answer of an honest engine, which depends on the position alone.
pub(crate) fn truth(position: &Position) -> Answer {
    let m = position.legal_moves()[0];
    let value = (position
        .key()
        .to_string()
        .bytes()
        .map(i32::from)
        .sum::<i32>()
        % 200)
        - 100;
    [(m, verdict(value, None, m))].into_iter().collect()
}

pub(crate) fn answer_with(position: &Position, lie: Lie) -> Answer {
    let honest = truth(position);
    let (m, known) = honest.best().expect("a verdict");
    let proof = |plies| Some(Proof::new(Claim::Win, ProofKind::Vct, plies));
    let reported = match lie {
        Lie::None => known.clone(),
        Lie::Bias(by) => verdict(i32::from(known.score.raw()) + by, None, m),
        Lie::Claim => verdict(0, proof(9), m),
        Lie::InstantWin => verdict(0, proof(1), m),
        Lie::Decided(score) => verdict(score, None, m),
    };
    [(m, reported)].into_iter().collect()
}

impl World {
    pub(crate) fn new(share_percent: f64) -> Self {
        Self {
            verification: Verification::new(VerificationOptions::new(
                share_percent,
                0x5eed,
                ENGINE,
            )),
            now: Duration::ZERO,
            workers: BTreeMap::new(),
            book: BTreeMap::new(),
            queue: VecDeque::new(),
            tickets: BTreeMap::new(),
            open_checks: VecDeque::new(),
            has_engine: true,
            waiting: None,
            next: 0,
            chance: 1,
            searches: 0,
        }
    }

    pub(crate) fn with_seed(share_percent: f64, seed: u64) -> Self {
        let mut world = Self::new(share_percent);
        let options = VerificationOptions::new(share_percent, seed, ENGINE);
        world.verification = Verification::new(options);
        world.chance = seed | 1;
        world
    }

    /// A worker connects and passes its calibration.
    pub(crate) fn join(&mut self, id: u64, profile: Profile, worker: Worker) {
        let named = profile.clone();
        let admission = self
            .verification
            .connect(self.now, WorkerId(id), profile)
            .expect("a known engine");
        if admission == Admission::Calibrating {
            assert!(pass(&mut self.verification, id, &named));
        }
        self.workers.insert(WorkerId(id), worker);
        self.carry_out();
    }

    pub(crate) fn operator(&mut self, id: u64, worker: Worker) {
        self.join(
            id,
            profile(&format!("w{id}"), None, Class::Operator),
            worker,
        );
    }

    pub(crate) fn volunteer(&mut self, id: u64, token: &str, worker: Worker) {
        let profile = profile(&format!("v{id}"), Some(token), Class::Volunteer);
        self.join(id, profile, worker);
    }

    /// A pseudo-random number below a million (xorshift64).
    pub(crate) fn draw(&mut self) -> u32 {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        (self.chance % 1_000_000) as u32
    }

    /// One worker answers a position with this lie.
    pub(crate) fn answer(&mut self, worker: u64, position: &Position, lie: Lie) -> QuestionId {
        self.next += 1;
        let id = QuestionId(self.next);
        let ticket = Ticket {
            id,
            question: Question::new(position.clone(), Effort::depth(DEPTH)),
            job: Some(1),
            priority: 7,
        };
        self.tickets.insert(id, position.clone());
        self.now += Duration::from_millis(100);
        let answer = answer_with(position, lie);
        let by = vec![WorkerId(worker)];
        self.verification.answered(self.now, ticket, answer, by);
        self.carry_out();
        id
    }

    /// Works off the queue; each position goes to a worker drawn by chance.
    pub(crate) fn run(&mut self) {
        while let Some(position) = self.queue.pop_front() {
            let able: Vec<WorkerId> = self.able();
            if able.is_empty() {
                self.queue.push_front(position);
                return;
            }
            let worker = able[self.draw() as usize % able.len()];
            let lie = self.mood(worker);
            self.answer(worker.0, &position, lie);
        }
    }

    fn able(&self) -> Vec<WorkerId> {
        self.workers
            .keys()
            .copied()
            .filter(|worker| self.verification.is_admitted(*worker))
            .collect()
    }

    fn mood(&mut self, worker: WorkerId) -> Lie {
        let Worker { lie, rate, .. } = self.workers[&worker];
        if self.draw() < rate { lie } else { Lie::None }
    }

    /// Carries out the machine's decisions, and answers the checks that a worker can answer.
    pub(crate) fn carry_out(&mut self) {
        loop {
            while let Some(effect) = self.verification.poll() {
                self.follow(effect);
            }
            let operators: Vec<WorkerId> = self
                .able()
                .into_iter()
                .filter(|worker| self.verification.class(*worker) == Class::Operator)
                .collect();
            let place = self
                .open_checks
                .iter()
                .position(|(_, _, except)| operators.iter().any(|id| !except.contains(id)));
            let Some((check, question, except)) =
                place.and_then(|place| self.open_checks.remove(place))
            else {
                return;
            };
            let free: Vec<_> = operators.iter().filter(|id| !except.contains(id)).collect();
            let by = *free[self.draw() as usize % free.len()];
            let worker = &self.workers[&by];
            let lie = if worker.colludes {
                worker.lie
            } else {
                Lie::None
            };
            let answer = answer_with(&question.position, lie);
            self.verification
                .second_opinion(self.now, check, answer, vec![by]);
        }
    }

    fn follow(&mut self, effect: Decision) {
        match effect {
            Decision::Replay { id, answer, .. } => {
                let claims: Vec<(Move, u16)> = answer
                    .verdicts()
                    .iter()
                    .filter_map(|(m, v)| Some((*m, v.proof?.plies)))
                    .collect();
                // In these positions no claim is true.
                let (refuted, unproven) = claims.into_iter().partition::<Vec<_>, _>(|c| c.1 == 1);
                let replay = Replay {
                    unproven: unproven.into_iter().map(|(m, _)| m).collect(),
                    refuted: refuted.into_iter().map(|(m, _)| m).collect(),
                    longer: Vec::new(),
                };
                self.verification.replayed(self.now, id, replay);
            }
            Decision::Accept { id, answer } => {
                let position = self.tickets.remove(&id).expect("each ends once");
                let entry = (position.clone(), Answer::new());
                let (_, known) = self.book.entry(position.key()).or_insert(entry);
                known.merge(answer);
            }
            Decision::Reject { id } => {
                let position = self.tickets.remove(&id).expect("each ends once");
                self.queue.push_back(position);
            }
            Decision::Ask {
                check,
                question,
                except,
                ..
            } => self.open_checks.push_back((check, question, except)),
            Decision::Withdraw { check } => self.open_checks.retain(|(id, ..)| *id != check),
            Decision::Search {
                check, question, ..
            } => {
                self.searches += 1;
                if let Some(waiting) = &mut self.waiting {
                    return waiting.push_back((check, question));
                }
                let answer = self.has_engine.then(|| truth(&question.position));
                self.verification.searched(self.now, check, answer);
            }
            Decision::Retract { answers } => {
                for (_, position) in answers {
                    self.book.remove(&position.key());
                    self.queue.push_back(position);
                }
            }
            Decision::Quarantine { .. } | Decision::Store => {}
        }
    }

    /// Returns how many values in the book are not true.
    pub(crate) fn false_values(&self) -> usize {
        let is_false = |(position, answer): &&(Position, Answer)| {
            truth(position).best().map(|(m, v)| (m, v.score))
                != answer.best().map(|(m, v)| (m, v.score))
        };
        self.book.values().filter(is_false).count()
    }

    /// Returns how many proofs stand in the book; none of them is true.
    pub(crate) fn proofs(&self) -> usize {
        let has_proof = |(_, answer): &&(Position, Answer)| {
            answer.verdicts().iter().any(|(_, v)| v.proof.is_some())
        };
        self.book.values().filter(has_proof).count()
    }

    pub(crate) fn is_quarantined(&self, worker: u64) -> bool {
        self.verification.is_quarantined(WorkerId(worker))
    }
}

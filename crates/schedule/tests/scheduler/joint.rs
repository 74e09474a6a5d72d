//! Many workers in one tree: whatever arrives in whatever order, the value is that of one worker alone.

use std::collections::BTreeMap;
use std::time::Duration;

use kagetsu_game::{
    Answer, Bound, Claim, Effort, Move, Position, Proof, ProofKind, Provenance, Question, Score,
    Verdict, Window, zobrist,
};
use kagetsu_schedule::{
    Effect, Options, QuestionId, Report, Role, Scheduler, Split, Task, TaskId, WorkerId,
};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Moves worth a search, in every position of the model.
const CANDIDATES: usize = 5;

/// A model of an engine: a game tree that is its own hash, searched to a depth by alpha-beta and nothing else, so that a
/// value depends on the position and the depth alone.
struct Model {
    /// One position of so many ends the game.
    ends: u64,
    nodes: u64,
}

impl Model {
    fn hash(path: &[Move]) -> u64 {
        path.iter().fold(7, |hash, m| {
            zobrist::number(hash >> 2 ^ u64::from(m.code())) as u64
        })
    }

    /// The most promising first, as far as a leaf can tell.
    fn candidates(path: &[Move]) -> Vec<Move> {
        let mut hash = Self::hash(path);
        let mut moves = Vec::new();
        while moves.len() < CANDIDATES {
            hash = zobrist::number(hash >> 3) as u64;
            let m = Move::new((hash % 225) as u16);
            if !path.contains(&m) && !moves.contains(&m) {
                moves.push(m);
            }
        }
        moves
    }

    /// The value and the line, for the side to move; fail-soft.
    fn search(
        &mut self,
        path: &mut Vec<Move>,
        depth: u8,
        alpha: Score,
        beta: Score,
    ) -> (Score, Vec<Move>) {
        self.nodes += 1;
        let hash = Self::hash(path);
        if self.ends > 0 && hash.is_multiple_of(self.ends) {
            return (Score::loss_in(0), Vec::new());
        }
        if depth == 0 {
            return (Score::opinion((hash >> 20) as i32 % 20_000), Vec::new());
        }
        let (mut best, mut line) = (Score::MIN, Vec::new());
        for m in Self::candidates(path) {
            path.push(m);
            let (score, rest) = self.search(path, depth - 1, beta.after(), alpha.max(best).after());
            path.pop();
            if score.before() > best {
                best = score.before();
                line = std::iter::once(m).chain(rest).collect();
            }
            if best >= beta {
                break;
            }
        }
        (best, line)
    }

    /// The value of a move, for who makes it.
    fn value(&mut self, position: &Position, m: Move, depth: u8, window: Window) -> Verdict {
        let mut path = position.moves().to_vec();
        path.push(m);
        let before = self.nodes;
        let (score, rest) = self.search(
            &mut path,
            depth - 1,
            window.beta.after(),
            window.alpha.after(),
        );
        let score = score.before();
        let claim = if score.win_plies().is_some() {
            Claim::Win
        } else {
            Claim::Loss
        };
        let bound = match score {
            _ if score <= window.alpha => Bound::Upper,
            _ if score >= window.beta => Bound::Lower,
            _ => Bound::Exact,
        };
        let is_proven = score.win_plies().is_some() && bound != Bound::Upper
            || score.loss_plies().is_some() && bound != Bound::Lower;
        let plies = score.win_plies().or(score.loss_plies()).unwrap_or_default();
        Verdict {
            score,
            bound: if is_proven { Bound::Exact } else { bound },
            depth,
            nodes: self.nodes - before,
            line: std::iter::once(m).chain(rest).collect(),
            proof: is_proven.then_some(Proof {
                claim,
                kind: ProofKind::Search,
                plies,
            }),
            by: Provenance {
                engine: "model".into(),
                day: 0,
            },
        }
    }

    /// The best moves exactly, the others as no better than the worst of these.
    fn answer(&mut self, question: &Question) -> Answer {
        let depth = question.effort.depth.expect("a depth");
        let moves = if question.moves.is_empty() {
            Self::candidates(question.position.moves())
        } else {
            question.moves.clone()
        };
        let mut known: Vec<(Move, Verdict)> = Vec::new();
        for m in moves {
            let mut values: Vec<_> = known.iter().map(|(_, v)| v.score).collect();
            values.sort_by_key(|&value| std::cmp::Reverse(value));
            let alpha = values
                .get(usize::from(question.width) - 1)
                .copied()
                .unwrap_or(Score::MIN);
            let alpha = alpha.max(question.window.alpha).min(Score::OPINION_MAX);
            known.push((
                m,
                self.value(
                    &question.position,
                    m,
                    depth,
                    Window {
                        alpha,
                        ..question.window
                    },
                ),
            ));
        }
        known.into_iter().collect()
    }
}

fn question(n: usize, depth: u8, width: u16) -> Question {
    let position = crate::engine::position(n);
    Question {
        width,
        ..Question::new(position, Effort::depth(depth))
    }
}

/// A cluster in which what is done next is a matter of chance.
struct Bazaar {
    scheduler: Scheduler,
    model: Model,
    dice: SmallRng,
    now: Duration,
    held: BTreeMap<(WorkerId, TaskId), Task>,
    unknown: Vec<(QuestionId, usize, Position)>,
    asked: u64,
    deepest: usize,
    narrowed: u64,
    end: Option<(Answer, u64)>,
}

impl Bazaar {
    fn new(seed: u64, workers: u64, ends: u64) -> Self {
        let options = Options {
            round_trip: Duration::from_micros(1),
            ..Options::default()
        };
        let mut scheduler = Scheduler::new(options);
        (0..workers).for_each(|worker| scheduler.join(Duration::ZERO, WorkerId(worker), 1, &[]));
        Self {
            scheduler,
            model: Model { ends, nodes: 0 },
            dice: SmallRng::seed_from_u64(seed),
            now: Duration::ZERO,
            held: BTreeMap::new(),
            unknown: Vec::new(),
            asked: 0,
            deepest: 0,
            narrowed: 0,
            end: None,
        }
    }

    fn listen(&mut self) {
        while let Some(effect) = self.scheduler.poll() {
            match effect {
                Effect::Assign { worker, task } => {
                    self.asked += 1;
                    self.deepest = self.deepest.max(task.part.position.moves().len());
                    self.held.insert((worker, task.id), task);
                }
                Effect::Revoke { worker, task } => _ = self.held.remove(&(worker, task)),
                // Half of the workers are too far away to hear of it in time.
                Effect::Narrow {
                    worker,
                    task,
                    window,
                } => {
                    let held = self
                        .held
                        .get_mut(&(worker, task))
                        .expect("only what is held is narrowed");
                    let before = held.part.window;
                    assert!(
                        before.alpha <= window.alpha
                            && window.beta <= before.beta
                            && before != window
                    );
                    self.narrowed += 1;
                    if worker.0 % 2 == 0 {
                        held.part.window = window;
                    }
                }
                Effect::Expand {
                    question,
                    node,
                    position,
                } => self.unknown.push((question, node, position)),
                Effect::Finished { answer, nodes, .. } => self.end = Some((answer, nodes)),
                Effect::Acknowledge { .. } | Effect::Progress { .. } => {}
                Effect::Failed { reason, .. } => panic!("{reason}"),
            }
        }
    }

    /// One thing happens.
    fn step(&mut self) {
        self.now += Duration::from_millis(1);
        if !self.unknown.is_empty() && self.dice.random_bool(0.5) {
            let at = self.dice.random_range(0..self.unknown.len());
            let (id, node, position) = self.unknown.swap_remove(at);
            let replies = Model::candidates(position.moves()).into_iter();
            let some = |m| (m, self.model.value(&position, m, 1, Window::FULL));
            let replies: Answer = replies.map(some).collect();
            self.scheduler.expand(self.now, id, node, &replies);
        } else if !self.held.is_empty() {
            let at = self.dice.random_range(0..self.held.len());
            let (&(worker, id), task) = self.held.iter().nth(at).expect("within");
            let task = task.clone();
            match self.dice.random_range(0..40) {
                0 => {
                    self.held.retain(|(holder, _), _| *holder != worker);
                    self.scheduler.leave(self.now, worker, true);
                    self.scheduler.join(self.now, worker, 1, &[]);
                }
                1 => {
                    self.held.retain(|(holder, _), _| *holder != worker);
                    self.scheduler
                        .report(self.now, worker, id, task.attempt, Report::HandedBack);
                    self.scheduler.join(self.now, worker, 1, &[]);
                }
                _ => {
                    self.held.remove(&(worker, id));
                    let answer = match task.role {
                        Role::Threats => Answer::new(),
                        _ => self.model.answer(&task.part),
                    };
                    self.scheduler
                        .report(self.now, worker, id, task.attempt, Report::Done(answer));
                }
            }
        }
        self.listen();
    }

    fn run(&mut self, question: Question) -> Answer {
        self.scheduler
            .submit(self.now, question, Answer::new(), Split::Tree, 0);
        self.listen();
        let mut steps = 0;
        while self.end.is_none() {
            assert!(
                !self.held.is_empty() || !self.unknown.is_empty(),
                "nobody has anything to do"
            );
            self.step();
            steps += 1;
            assert!(steps < 100_000, "it does not end");
        }
        assert!(
            self.held.is_empty(),
            "what nobody wants any more is revoked"
        );
        self.end.take().expect("just seen").0
    }
}

/// What is promised: the moves, the best `width` with their values, and of each other move that it is no better.
fn promised(answer: &Answer, width: u16) -> Vec<(Move, Score, Bound)> {
    let (best, others) = answer
        .verdicts()
        .split_at(usize::from(width).min(answer.len()));
    let mut others: Vec<_> = others.iter().map(|(m, v)| (*m, v)).collect();
    others.sort_by_key(|(m, _)| *m);
    let said = |m: &Move, v: &Verdict| (*m, v.score, v.bound);
    let last = best.last().map_or(Score::MAX, |(_, v)| v.score);
    // That another move loses is said where somebody found it out on the way.
    let bound = |(m, v): (Move, &Verdict)| {
        assert!(v.score <= last && v.bound != Bound::Lower, "{v:?}");
        (m, last, Bound::Upper)
    };
    best.iter()
        .map(|(m, v)| said(m, v))
        .chain(others.into_iter().map(bound))
        .collect()
}

fn check(n: usize, depth: u8, width: u16, ends: u64) -> (u64, usize, u64) {
    let question = question(n, depth, width);
    let expected = Model { ends, nodes: 0 }.answer(&question);
    let (mut asked, mut deepest, mut narrowed) = (0, 0, 0);
    for (seed, workers) in (0..12).zip([1, 2, 3, 5, 8, 13, 32, 64, 2, 4, 16, 100]) {
        let mut bazaar = Bazaar::new(seed, workers, ends);
        let answer = bazaar.run(question.clone());
        let is_won = expected
            .best()
            .is_some_and(|(_, best)| best.score.win_plies().is_some());
        if is_won {
            // Any win ends the search; a shorter one may have been found on the way.
            assert!(
                answer
                    .best()
                    .is_some_and(|(_, best)| best.score.win_plies().is_some())
            );
        } else {
            assert_eq!(
                promised(&answer, width),
                promised(&expected, width),
                "position {n}, depth {depth}, seed {seed}, {workers} workers"
            );
            for (m, verdict) in answer
                .verdicts()
                .iter()
                .filter(|(_, v)| v.bound == Bound::Exact && v.proof.is_none())
            {
                assert_eq!((verdict.line[0], verdict.depth), (*m, depth));
            }
        }
        asked += bazaar.asked;
        deepest = deepest.max(bazaar.deepest);
        narrowed += bazaar.narrowed;
    }
    (asked, deepest, narrowed)
}

#[test]
fn the_value_is_that_of_one_worker_whatever_the_order_of_arrival() {
    let (mut asked, mut deepest, mut narrowed) = (0, 0, 0);
    for n in 0..6 {
        let (a, d, w) = check(n, 7, 1, 0);
        (asked, deepest, narrowed) = (asked + a, deepest.max(d), narrowed + w);
    }
    assert!(
        asked > 1_000 && narrowed > 0,
        "{asked} tasks, {narrowed} narrowed"
    );
    assert_eq!(
        deepest,
        3 + 2,
        "of three stones: the answers to the first replies are tasks of their own"
    );
}

#[test]
fn the_best_three_are_exact_whatever_the_order_of_arrival() {
    (0..6).for_each(|n| _ = check(n, 6, 3, 0));
}

#[test]
fn games_that_end_early_have_one_value_too() {
    (0..12).for_each(|n| _ = check(n, 6, 1, 9));
    (0..6).for_each(|n| _ = check(n, 6, 2, 25));
}

//! The prover: a thread that repeats what workers claim to have proven, as far as little work goes.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Weak};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use kagetsu_book::Work;
use kagetsu_game::{
    Answer, Claim, Effort, Move, Outcome, Position, Proof, ProofKind, Question, Score, Window,
};
use kagetsu_schedule::{QuestionId, WorkerId};
use kagetsu_search::{Control, Engine, EngineOptions};

use crate::cluster::hub::Hub;
use crate::cluster::watched::Watched;
use crate::verification::audit::Check;
use crate::verification::exam;

/// Claims that wait; of more, other workers are asked.
const MOST_WAITING: usize = 32;
/// Positions visited in a search for all claims of one answer.
const MOST_NODES: u64 = 60_000;
/// Positions visited for each claim that it does not repeat and that is looked for among threats, and the most such claims of one
/// answer.
const BY_THREATS: (u64, usize) = (5_000, 8);
/// How long the coordinator searches itself where two workers differ and there is no third.
const REFEREE: Duration = Duration::from_secs(60);
const TABLE: usize = 16 << 20;

/// An answer with claims, on its way into the book.
pub(crate) struct Claims {
    pub(crate) id: QuestionId,
    pub(crate) work: Work,
    pub(crate) answer: Answer,
    pub(crate) by: Vec<WorkerId>,
}

/// An answer to a person that goes into the book too.
pub(crate) struct Kept {
    pub(crate) id: QuestionId,
    pub(crate) question: Question,
    pub(crate) answer: Answer,
    /// Positions visited for it.
    pub(crate) nodes: u64,
    /// Who found it.
    pub(crate) by: Vec<WorkerId>,
    /// Who waits for it.
    pub(crate) watched: Watched,
}

enum Request {
    Claims(Box<Claims>),
    Kept(Box<Kept>),
    Referee(Box<Check>),
}

/// The way to the prover.
pub(crate) struct Prover {
    requests: SyncSender<Request>,
    control: Control,
    thread: JoinHandle<()>,
}

impl Prover {
    /// # Errors
    /// If the system gives no thread, or no memory for an engine.
    pub(crate) fn start(hub: Weak<Hub>) -> anyhow::Result<Self> {
        let (requests, orders) = sync_channel(MOST_WAITING);
        let engine = Engine::new(EngineOptions {
            table_bytes: TABLE,
            ..EngineOptions::default()
        })?;
        let control = Control::new();
        let worker = Bench {
            hub,
            engine,
            control: control.clone(),
        };
        let thread = Builder::new()
            .name("prover".into())
            .spawn(move || worker.run(&orders))?;
        Ok(Self {
            requests,
            control,
            thread,
        })
    }

    /// Has claims repeated; gives them back where too many wait.
    ///
    /// # Errors
    /// The claims.
    pub(crate) fn prove(&self, claims: Box<Claims>) -> Result<(), Box<Claims>> {
        match self.requests.try_send(Request::Claims(claims)) {
            Err(
                TrySendError::Full(Request::Claims(claims))
                | TrySendError::Disconnected(Request::Claims(claims)),
            ) => Err(claims),
            _ => Ok(()),
        }
    }

    /// Has the claims of an answer to a person repeated; gives them back where too many wait.
    ///
    /// # Errors
    /// The answer.
    pub(crate) fn keep(&self, kept: Box<Kept>) -> Result<(), Box<Kept>> {
        match self.requests.try_send(Request::Kept(kept)) {
            Err(
                TrySendError::Full(Request::Kept(kept))
                | TrySendError::Disconnected(Request::Kept(kept)),
            ) => Err(kept),
            _ => Ok(()),
        }
    }

    /// Has a question answered by the coordinator itself.
    ///
    /// # Errors
    /// The check, where too much waits.
    pub(crate) fn referee(&self, check: Box<Check>) -> Result<(), Box<Check>> {
        match self.requests.try_send(Request::Referee(check)) {
            Err(
                TrySendError::Full(Request::Referee(check))
                | TrySendError::Disconnected(Request::Referee(check)),
            ) => Err(check),
            _ => Ok(()),
        }
    }

    /// Ends it; what waits is not done, and its workers are not acknowledged.
    pub(crate) fn end(self) -> JoinHandle<()> {
        self.control.stop();
        self.thread
    }
}

/// The prover's own end.
struct Bench {
    hub: Weak<Hub>,
    engine: Engine,
    control: Control,
}

impl Bench {
    fn run(mut self, orders: &Receiver<Request>) {
        exam::prepare();
        while let Ok(request) = orders.recv() {
            if self.control.is_stopped() {
                return;
            }
            let done: Box<dyn FnOnce(Arc<Hub>)> = match request {
                Request::Claims(claims) => {
                    let open = self.open(&claims.work.question, &claims.answer);
                    Box::new(move |hub| hub.proven(*claims, &open))
                }
                Request::Kept(kept) => {
                    let open = self.open(&kept.question, &kept.answer);
                    Box::new(move |hub| hub.kept(kept, &open))
                }
                Request::Referee(check) => {
                    let question = &check.work.question;
                    let effort = Effort {
                        time: Some(REFEREE),
                        ..question.effort
                    };
                    let question = Question {
                        effort,
                        ..question.clone()
                    };
                    let answer = self
                        .engine
                        .answer(&question, &self.control, &mut |_| {})
                        .ok();
                    Box::new(move |hub| hub.refereed(check, answer))
                }
            };
            // What was searched while the coordinator ends is half a search.
            if let Some(hub) = self.hub.upgrade().filter(|_| !self.control.is_stopped()) {
                done(hub);
            }
        }
    }

    /// The moves whose claims could not be repeated.
    fn open(&mut self, asked: &Question, answer: &Answer) -> Vec<Move> {
        let position = &asked.position;
        let claims: Vec<(Move, Proof)> = answer
            .verdicts()
            .iter()
            .filter_map(|(m, v)| Some((*m, v.proof?)))
            .collect();
        let (over, searched): (Vec<_>, Vec<_>) = claims
            .into_iter()
            .partition(|(_, p)| p.kind == ProofKind::Terminal);
        let mut open: Vec<Move> = over
            .into_iter()
            .filter(|(m, p)| !is_over(position, *m, *p))
            .map(|(m, _)| m)
            .collect();
        open.extend(self.unrepeated(asked, &searched, answer));
        open
    }

    fn unrepeated(
        &mut self,
        asked: &Question,
        claims: &[(Move, Proof)],
        answer: &Answer,
    ) -> Vec<Move> {
        let position = &asked.position;
        let moves: Vec<Move> = claims.iter().map(|(m, _)| *m).collect();
        if moves.is_empty() || !Engine::supports(position.variant()) {
            return moves;
        }
        let verdicts = || moves.iter().filter_map(|m| answer.get(*m));
        let depth = verdicts()
            .map(|verdict| verdict.depth)
            .max()
            .unwrap_or(1)
            .max(2);
        let nodes = verdicts()
            .map(|verdict| verdict.nodes)
            .fold(1_000_u64, u64::saturating_add);
        // What is asked for a proof is answered by other searches, so many as there are moves: it is repeated as it was asked.
        let Window { alpha, beta } = asked.window;
        let is_about_proof = beta <= -Score::OPINION_MAX || alpha >= Score::OPINION_MAX;
        let effort = if is_about_proof {
            asked.effort
        } else {
            Effort {
                nodes: Some(nodes.saturating_mul(2).min(MOST_NODES)),
                ..Effort::depth(depth)
            }
        };
        let window = if is_about_proof {
            asked.window
        } else {
            Window::FULL
        };
        let width = u16::try_from(moves.len()).unwrap_or(u16::MAX);
        let question = Question {
            moves: moves.clone(),
            width,
            window,
            ..Question::new(position.clone(), effort)
        };
        let found = self
            .engine
            .answer(&question, &self.control, &mut |_| {})
            .unwrap_or_default();
        let holds = |(m, claimed): &&(Move, Proof)| {
            let found = found.get(*m).and_then(|verdict| verdict.proof);
            found.is_some_and(|found| found.claim == claimed.claim && found.plies <= claimed.plies)
        };
        let left: Vec<(Move, Proof)> = claims
            .iter()
            .filter(|claim| !holds(claim))
            .copied()
            .collect();
        let tried = if is_about_proof { 0 } else { BY_THREATS.1 };
        let is_open = |(index, (m, claimed)): (usize, &(Move, Proof))| {
            let is_found = index < tried && self.wins_by_threats(position, *m, *claimed);
            (!is_found).then_some(*m)
        };
        left.iter().enumerate().filter_map(is_open).collect()
    }

    /// Whether a claim is true by continuous threats, within as many plies as claimed: a win if they begin with the move, a loss if
    /// the opponent has them after it.
    fn wins_by_threats(&self, position: &Position, m: Move, claimed: Proof) -> bool {
        let effort = Effort {
            nodes: Some(BY_THREATS.0),
            ..Effort::default()
        };
        let found = |position: Position| {
            let answer = self
                .engine
                .threats(&Question::new(position, effort), &self.control);
            let (first, verdict) = answer.best()?;
            Some((first, verdict.proof?.plies))
        };
        match claimed.claim {
            Claim::Win => found(position.clone())
                .is_some_and(|(first, plies)| first == m && plies <= claimed.plies),
            Claim::Loss => position
                .play(m)
                .ok()
                .filter(|next| next.outcome().is_none())
                .and_then(found)
                .is_some_and(|(_, plies)| plies < claimed.plies),
            Claim::Draw => false,
        }
    }
}

/// Whether the game is over after the move, and ends as it is said.
fn is_over(position: &Position, m: Move, proof: Proof) -> bool {
    let Ok(next) = position.play(m) else {
        return false;
    };
    match next.outcome() {
        Some(Outcome::Draw) => proof.claim == Claim::Draw,
        Some(Outcome::Win(side)) => {
            (side == position.side()) == (proof.claim == Claim::Win) && proof.claim != Claim::Draw
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use kagetsu_game::Variant;

    use super::*;

    #[test]
    fn claims_are_found_among_threats_and_nothing_else_is() {
        let engine = Engine::new(EngineOptions {
            table_bytes: 1 << 20,
            ..EngineOptions::default()
        })
        .expect("memory");
        let bench = Bench {
            hub: Weak::new(),
            engine,
            control: Control::new(),
        };
        let claim = |line: &str, m: &str, claim, plies| {
            let position = Position::from_line(Variant::FREESTYLE_15, line).expect("a line");
            let m = position.parse_move(m).expect("a move");
            bench.wins_by_threats(
                &position,
                m,
                Proof {
                    claim,
                    kind: ProofKind::Search,
                    plies,
                },
            )
        };
        // Three in a row, open: who does not stop it loses to a four that is open, and a five.
        let (three, open) = ("h8 a1 i8 a15 j8", "h8 a1 i8 a15 j8 o1");
        assert!(claim(three, "o1", Claim::Loss, 4) && claim(three, "o1", Claim::Loss, 9));
        assert!(!claim(three, "o1", Claim::Loss, 3), "it takes longer");
        assert!(!claim(three, "k8", Claim::Loss, 40) && !claim(three, "o1", Claim::Draw, 40));
        let wins = |m: &str| claim(open, m, Claim::Win, 3);
        assert!(wins("g8") || wins("k8"));
        assert!(
            !claim(open, "g8", Claim::Win, 2) && !claim(open, "k8", Claim::Win, 2) && !wins("a2")
        );
    }
}

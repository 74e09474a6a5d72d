//! The claim verifier: a thread that finds claimed proofs again with the coordinator's own engine,
//! and answers questions on which workers differ.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use kagetsu_game::{
    Answer, Claim, Effort, Move, Outcome, Position, Proof, ProofKind, Question, Score, Window,
};
use kagetsu_schedule::QuestionId;
use kagetsu_search::{Control, Engine, EngineOptions};
use kagetsu_verification::{CheckId, Replay};

use super::calibration;

/// Requests that wait; further ones are refused.
const MAX_WAITING_REQUESTS: usize = 32;
/// Nodes of the search for all claims of one answer.
const MAX_REPLAY_NODES: u64 = 60_000;
/// Nodes of the threat search for each claim that the search did not find.
const MAX_THREAT_NODES: u64 = 5_000;
/// Claims of one answer for which there is a threat search.
const MAX_THREAT_SEARCHES: usize = 8;
/// Time of a search for a second opinion.
const MAX_SEARCH_TIME: Duration = Duration::from_secs(60);
const TABLE_BYTES: usize = 16 << 20;

/// Work for the claim verifier.
pub(crate) enum Request {
    /// Find the claimed proofs of an answer.
    Replay {
        id: QuestionId,
        question: Question,
        answer: Answer,
    },
    /// Answer the question of a check.
    Search { check: CheckId, question: Question },
}

/// The result of a [`Request`].
pub(crate) enum Finding {
    Replayed(QuestionId, Replay),
    /// The answer; `None` if the engine could not give one.
    Searched(CheckId, Option<Answer>),
}

/// The handle of the thread.
pub(crate) struct ClaimVerifier {
    requests: SyncSender<Request>,
    control: Control,
    thread: JoinHandle<()>,
}

impl ClaimVerifier {
    /// Starts the thread, which calls `found` with each result.
    ///
    /// # Errors
    /// If the system gives no thread, or no memory for an engine.
    pub(crate) fn start(found: Box<dyn Fn(Finding) + Send>) -> anyhow::Result<Self> {
        let (requests, received) = sync_channel(MAX_WAITING_REQUESTS);
        let engine = Engine::new(EngineOptions {
            table_bytes: TABLE_BYTES,
            ..EngineOptions::default()
        })?;
        let control = Control::new();
        let queue = VerifierQueue {
            found,
            engine,
            control: control.clone(),
        };
        let thread = Builder::new()
            .name("claim verifier".into())
            .spawn(move || queue.run(&received))?;
        Ok(Self {
            requests,
            control,
            thread,
        })
    }

    /// Sends a request. Returns `false` if too many wait already.
    pub(crate) fn send(&self, request: Request) -> bool {
        self.requests.try_send(request).is_ok()
    }

    /// Stops the thread. Waiting requests have no result: their workers are not acknowledged.
    pub(crate) fn stop(self) -> JoinHandle<()> {
        self.control.stop();
        self.thread
    }
}

/// The thread's own end.
struct VerifierQueue {
    found: Box<dyn Fn(Finding) + Send>,
    engine: Engine,
    control: Control,
}

impl VerifierQueue {
    fn run(mut self, received: &Receiver<Request>) {
        calibration::prepare();
        while let Ok(request) = received.recv() {
            if self.control.is_stopped() {
                return;
            }
            let finding = match request {
                Request::Replay {
                    id,
                    question,
                    answer,
                } => Finding::Replayed(id, self.replay(&question, &answer)),
                Request::Search { check, question } => {
                    Finding::Searched(check, self.search(question))
                }
            };
            // A search that was stopped is incomplete.
            if !self.control.is_stopped() {
                (self.found)(finding);
            }
        }
    }

    fn search(&mut self, question: Question) -> Option<Answer> {
        let time = question.effort.time.unwrap_or(MAX_SEARCH_TIME);
        let question = Question {
            effort: Effort {
                time: Some(time.min(MAX_SEARCH_TIME)),
                ..question.effort
            },
            ..question
        };
        self.engine
            .answer(&question, &self.control, &mut |_| {})
            .ok()
    }

    /// Replays all claims of an answer: by the rules where the game ends, else by searching.
    fn replay(&mut self, asked: &Question, answer: &Answer) -> Replay {
        let mut replay = Replay::default();
        let mut open = Vec::new();
        for (m, verdict) in answer.verdicts() {
            let Some(proof) = verdict.proof else { continue };
            match by_rules(&asked.position, *m, proof) {
                Some(true) => {}
                Some(false) => replay.refuted.push(*m),
                None => open.push((*m, proof)),
            }
        }
        replay.unproven = self.unrepeated(asked, &open, answer);
        replay
    }

    /// Returns the moves whose claims a search with few nodes does not find.
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
        // Other searches answer a question about proof alone: repeat it as it was asked.
        let Window { alpha, beta } = asked.window;
        let is_about_proof = beta <= -Score::OPINION_MAX || alpha >= Score::OPINION_MAX;
        let effort = if is_about_proof {
            asked.effort
        } else {
            Effort {
                nodes: Some(nodes.saturating_mul(2).min(MAX_REPLAY_NODES)),
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
        let tried = if is_about_proof {
            0
        } else {
            MAX_THREAT_SEARCHES
        };
        let is_open = |(index, (m, claimed)): (usize, &(Move, Proof))| {
            let is_found = index < tried && self.wins_by_threats(position, *m, *claimed);
            (!is_found).then_some(*m)
        };
        left.iter().enumerate().filter_map(is_open).collect()
    }

    /// Whether continuous threats prove a claim within as many plies: threats that begin with the
    /// move prove a win, threats of the opponent after it a loss.
    fn wins_by_threats(&self, position: &Position, m: Move, claimed: Proof) -> bool {
        let effort = Effort {
            nodes: Some(MAX_THREAT_NODES),
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

/// Returns whether the rules alone confirm a claim (`true`) or refute it (`false`); `None` where
/// the game goes on.
fn by_rules(position: &Position, m: Move, proof: Proof) -> Option<bool> {
    let Ok(next) = position.play(m) else {
        return Some(false);
    };
    match next.outcome() {
        Some(Outcome::Draw) => Some(proof.claim == Claim::Draw),
        Some(Outcome::Win(side)) if side == position.side() => Some(proof.claim == Claim::Win),
        Some(Outcome::Win(_)) => Some(proof.claim == Claim::Loss),
        None => {
            let is_immediate = proof.claim != Claim::Draw && proof.plies <= 1;
            (proof.kind == ProofKind::Terminal || is_immediate).then_some(false)
        }
    }
}

#[cfg(test)]
mod tests {
    use kagetsu_game::Variant;

    use super::*;

    #[test]
    fn threats_prove_true_claims_only() {
        let engine = Engine::new(EngineOptions {
            table_bytes: 1 << 20,
            ..EngineOptions::default()
        })
        .expect("memory");
        let queue = VerifierQueue {
            found: Box::new(|_| {}),
            engine,
            control: Control::new(),
        };
        let claim = |line: &str, m: &str, claim, plies| {
            let position = Position::from_line(Variant::FREESTYLE_15, line).expect("a line");
            let m = position.parse_move(m).expect("a move");
            queue.wins_by_threats(
                &position,
                m,
                Proof {
                    claim,
                    kind: ProofKind::Search,
                    plies,
                },
            )
        };
        // An open three that is not blocked becomes an open four and then five.
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

    #[test]
    fn rules_refute_wins_that_do_not_end_the_game() {
        let four = Position::from_line(Variant::FREESTYLE_15, "h8 a1 i8 a3 j8 a5 k8 a7");
        let four = four.expect("a line");
        let m = |text: &str| four.parse_move(text).expect("a move");
        let proof = |claim, kind, plies| Proof { claim, kind, plies };
        use Claim::{Draw, Loss, Win};
        use ProofKind::{Search, Terminal, Vcf};
        for (text, claim, kind, plies, holds) in [
            ("g8", Win, Terminal, 1, Some(true)),
            ("g8", Win, Vcf, 1, Some(true)),
            ("g8", Loss, Search, 2, Some(false)),
            ("a9", Win, Vcf, 1, Some(false)),
            ("a9", Win, Terminal, 3, Some(false)),
            ("a9", Win, Vcf, 3, None),
            ("a9", Loss, Search, 4, None),
            ("a9", Draw, Search, 0, None),
        ] {
            let found = by_rules(&four, m(text), proof(claim, kind, plies));
            assert_eq!(found, holds, "{text} {claim:?} {kind:?} {plies}");
        }
    }
}

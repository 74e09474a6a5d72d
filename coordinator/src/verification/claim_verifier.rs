//! The claim verifier: a thread that finds claimed proofs again with the coordinator's own engine,
//! and answers questions on which workers differ.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use kagetsu_game::{
    Answer, Claim, Effort, Move, Outcome, Position, Proof, ProofKind, Question, Window,
};
use kagetsu_schedule::QuestionId;
use kagetsu_search::threats::{ThreatClass, ThreatOutcome, ThreatSearch};
use kagetsu_search::{Control, Engine, EngineOptions};
use kagetsu_verification::{CheckId, Replay};

use super::strategies::Strategies;

/// Nodes of the search for all claims of one answer that threats do not prove.
const MAX_REPLAY_NODES: u64 = 60_000;
/// Nodes of the threat searches for all claims of one answer, and for one claim.
const MAX_THREAT_NODES: u64 = 40_000;
const MAX_CLAIM_THREAT_NODES: u64 = 5_000;
/// Time of a search for a second opinion.
const MAX_SEARCH_TIME: Duration = Duration::from_secs(60);
/// Lines of one check that are tried, and plies of each.
const MAX_LINES: usize = 2;
const MAX_LINE_PLIES: usize = 12;
/// Value from which on a move is called won, in centi-units.
const UNPROVEN_WIN: i32 = 10_000;
const TABLE_BYTES: usize = 16 << 20;
const THREAT_TABLE_BYTES: usize = 4 << 20;

/// Work for the claim verifier.
pub(crate) enum Request {
    /// Find the claimed proofs of an answer.
    Replay {
        id: QuestionId,
        question: Question,
        answer: Answer,
        strategies: Vec<Strategies>,
    },
    /// Answer the question of a check.
    Search {
        check: CheckId,
        question: Question,
        /// Lines that are said to win or to lose.
        lines: Vec<Vec<Move>>,
    },
}

/// The result of a [`Request`].
pub(crate) enum Finding {
    Replayed(QuestionId, Replay),
    /// The answer; `None` if the engine could not give one.
    Searched(CheckId, Option<Answer>),
}

/// The handle of the thread.
pub(crate) struct ClaimVerifier {
    requests: Sender<Request>,
    control: Control,
    thread: JoinHandle<()>,
}

impl ClaimVerifier {
    /// Starts the thread, which calls `found` with each result.
    ///
    /// # Errors
    /// If the system gives no thread, or no memory for an engine.
    pub(crate) fn start(found: Box<dyn Fn(Finding) + Send>) -> anyhow::Result<Self> {
        let (requests, received) = channel();
        let engine = Engine::new(EngineOptions {
            table_bytes: TABLE_BYTES,
            ..EngineOptions::default()
        })?
        .with_kept_table();
        let control = Control::new();
        let queue = VerifierQueue {
            found,
            engine,
            threats: ThreatSearch::new(THREAT_TABLE_BYTES).with_any_length(),
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

    /// Sends a request. The verification bounds how many wait.
    pub(crate) fn send(&self, request: Request) {
        // A thread that has ended was stopped.
        let _ = self.requests.send(request);
    }

    /// Stops the thread. Waiting requests have no result: their workers are not acknowledged.
    pub(crate) fn stop(self) -> JoinHandle<()> {
        self.control.stop();
        self.thread
    }
}

/// The state of the thread.
struct VerifierQueue {
    found: Box<dyn Fn(Finding) + Send>,
    engine: Engine,
    threats: ThreatSearch,
    control: Control,
}

impl VerifierQueue {
    fn run(mut self, received: &Receiver<Request>) {
        while let Ok(request) = received.recv() {
            if self.control.is_stopped() {
                return;
            }
            let finding = match request {
                Request::Replay {
                    id,
                    question,
                    answer,
                    strategies,
                } => Finding::Replayed(id, self.replay(&question, &answer, &strategies)),
                Request::Search {
                    check,
                    question,
                    lines,
                } => Finding::Searched(check, self.search(question, &lines)),
            };
            // A search that was stopped is incomplete.
            if !self.control.is_stopped() {
                (self.found)(finding);
            }
        }
    }

    /// Answers the question of a check. Where the answer does not show what the lines are said to
    /// show, it tries them: it searches their positions from the end to the start, which the table
    /// remembers, then the question again. A line shows a deep win, and proves nothing by itself.
    fn search(&mut self, question: Question, lines: &[Vec<Move>]) -> Option<Answer> {
        let time = question.effort.time.unwrap_or(MAX_SEARCH_TIME);
        let effort = Effort {
            time: Some(time.min(MAX_SEARCH_TIME)),
            ..question.effort
        };
        let question = Question { effort, ..question };
        self.engine.clear_table();
        let first = self.answer(&question)?;
        let is_decided = |answer: &Answer| {
            let best = answer.best();
            best.is_some_and(|(_, v)| i32::from(v.score.raw()).abs() >= UNPROVEN_WIN)
        };
        if lines.is_empty() || is_decided(&first) {
            return Some(first);
        }
        for line in lines.iter().take(MAX_LINES) {
            let mut positions = vec![question.position.clone()];
            for m in line.iter().take(MAX_LINE_PLIES) {
                let Some(next) = positions.last().and_then(|last| last.play(*m).ok()) else {
                    break;
                };
                positions.push(next);
            }
            for position in positions.into_iter().skip(1).rev() {
                self.answer(&Question::new(position, effort));
            }
        }
        self.answer(&question)
    }

    /// Returns the engine's answer; `None` if it could not give one.
    fn answer(&mut self, question: &Question) -> Option<Answer> {
        self.engine
            .answer(question, &self.control, &mut |_| {})
            .ok()
    }

    /// Replays all claims of an answer: by the rules where the game ends, else by the worker's
    /// strategies, else by searching.
    fn replay(
        &mut self,
        question: &Question,
        answer: &Answer,
        strategies: &[Strategies],
    ) -> Replay {
        let mut replay = Replay::default();
        let mut open = Vec::new();
        for (m, verdict) in answer.verdicts() {
            let Some(proof) = verdict.proof else { continue };
            match by_rules(&question.position, *m, proof) {
                Some(true) => {}
                Some(false) => replay.refuted.push(*m),
                None => open.push((*m, proof)),
            }
        }
        for strategies in strategies {
            let longer = strategies.prove(&question.position, &mut open);
            replay.longer.extend(longer);
        }
        if Engine::supports(question.position.variant()) {
            replay
                .longer
                .extend(self.repeat(question, &mut open, answer));
        }
        replay.unproven = moves(&open);
        replay
    }

    /// Removes the claims that threats or a search with few nodes find. Returns those of them that
    /// need more plies.
    fn repeat(
        &mut self,
        question: &Question,
        open: &mut Vec<(Move, Proof)>,
        answer: &Answer,
    ) -> Vec<(Move, Proof)> {
        // Other searches answer a question about proof alone: it is repeated unchanged.
        let (effort, window) = (question.effort, question.window);
        if window.asks_for_proof() {
            return self.search_claims(effort, window, &question.position, open);
        }
        let mut nodes = MAX_THREAT_NODES;
        open.retain(|claim| !self.wins_by_threats(&question.position, *claim, &mut nodes));
        let verdicts = || open.iter().filter_map(|(m, _)| answer.get(*m));
        let depth = verdicts().map(|verdict| verdict.depth).max();
        let nodes = verdicts()
            .map(|verdict| verdict.nodes)
            .fold(1_000_u64, u64::saturating_add);
        let effort = Effort {
            nodes: Some(nodes.saturating_mul(2).min(MAX_REPLAY_NODES)),
            ..Effort::depth(depth.unwrap_or(1).max(2))
        };
        self.search_claims(effort, Window::FULL, &question.position, open)
    }

    /// Searches the moves of these claims, and removes each claim that the search finds. Returns
    /// those of them that need more plies, as it found them.
    fn search_claims(
        &mut self,
        effort: Effort,
        window: Window,
        position: &Position,
        open: &mut Vec<(Move, Proof)>,
    ) -> Vec<(Move, Proof)> {
        let mut longer = Vec::new();
        if open.is_empty() {
            return longer;
        }
        let question = Question {
            moves: moves(open),
            width: u16::try_from(open.len()).unwrap_or(u16::MAX),
            window,
            ..Question::new(position.clone(), effort)
        };
        self.engine.clear_table();
        let found = self
            .engine
            .answer(&question, &self.control, &mut |_| {})
            .unwrap_or_default();
        open.retain(|(m, claimed)| {
            let found = found.get(*m).and_then(|verdict| verdict.proof);
            let Some(found) = found.filter(|found| found.claim == claimed.claim) else {
                return true;
            };
            // The win that a search finds first depends on its table.
            if found.plies > claimed.plies {
                longer.push((*m, found));
            }
            false
        });
        longer
    }

    /// Whether continuous threats prove a claim within as many plies: threats that begin with the
    /// move prove a win, threats of the opponent after it a loss. Takes its nodes from `nodes`.
    fn wins_by_threats(
        &mut self,
        position: &Position,
        (m, claimed): (Move, Proof),
        nodes: &mut u64,
    ) -> bool {
        let mut first_move = |position: &Position, plies: u16| {
            let effort = Effort {
                depth: Some(u8::try_from(plies).unwrap_or(u8::MAX)),
                nodes: Some(MAX_CLAIM_THREAT_NODES.min(*nodes)),
                time: None,
            };
            let class = ThreatClass::Vct;
            let found = self.threats.search(position, class, effort, &self.control);
            let found = found.ok()?;
            *nodes = nodes.saturating_sub(found.nodes);
            match found.outcome {
                ThreatOutcome::Win {
                    line, plies: found, ..
                } if found <= plies => line.first().copied(),
                _ => None,
            }
        };
        match claimed.claim {
            Claim::Win => first_move(position, claimed.plies) == Some(m),
            Claim::Loss => position.play(m).is_ok_and(|next| {
                next.outcome().is_none()
                    && first_move(&next, claimed.plies.saturating_sub(1)).is_some()
            }),
            Claim::Draw => false,
        }
    }
}

fn moves(claims: &[(Move, Proof)]) -> Vec<Move> {
    claims.iter().map(|(m, _)| *m).collect()
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

    fn engine() -> Engine {
        let options = EngineOptions {
            table_bytes: 1 << 20,
            ..EngineOptions::default()
        };
        Engine::new(options).expect("memory").with_kept_table()
    }

    fn queue() -> VerifierQueue {
        VerifierQueue {
            found: Box::new(|_| {}),
            engine: engine(),
            threats: ThreatSearch::new(THREAT_TABLE_BYTES).with_any_length(),
            control: Control::new(),
        }
    }

    #[test]
    fn threats_prove_true_claims_only() {
        let mut queue = queue();
        let mut claim = |line: &str, m: &str, claim, plies| {
            let position = Position::from_line(Variant::FREESTYLE_15, line).expect("a line");
            let m = position.parse_move(m).expect("a move");
            let proof = Proof::new(claim, ProofKind::Search, plies);
            queue.wins_by_threats(&position, (m, proof), &mut MAX_THREAT_NODES.clone())
        };
        // An open three that is not blocked becomes an open four and then five.
        let (three, open) = ("h8 a1 i8 a15 j8", "h8 a1 i8 a15 j8 o1");
        assert!(claim(three, "o1", Claim::Loss, 4) && claim(three, "o1", Claim::Loss, 9));
        assert!(!claim(three, "o1", Claim::Loss, 3), "it takes longer");
        assert!(!claim(three, "k8", Claim::Loss, 40) && !claim(three, "o1", Claim::Draw, 40));
        let mut wins = |m: &str, plies| claim(open, m, Claim::Win, plies);
        assert!(wins("g8", 3) || wins("k8", 3));
        assert!(!wins("g8", 2) && !wins("k8", 2) && !wins("a2", 3));
    }

    #[test]
    fn most_claims_of_the_own_engine_are_found() {
        let (mut queue, mut engine) = (queue(), engine());
        let (mut wins, mut losses, mut unproven) = (0, 0, 0);
        for line in [
            "j9 h9 h8 i9 j8 k8 i7",
            "i9 f9 g7 g9 h7 h9 g6",
            "h8 g9 j8 f8 g7 g8 i7",
            "h8 a1 i8 a15 j8 o1",
        ] {
            let position = Position::from_line(Variant::FREESTYLE_15, line).expect("a line");
            let question = Question {
                width: 20,
                ..Question::new(position, Effort::depth(10))
            };
            let answer = engine.answer(&question, &Control::new(), &mut |_| {});
            let answer = answer.expect("an answer");
            for (_, verdict) in answer.verdicts() {
                let claim = verdict.proof.map(|proof| proof.claim);
                wins += usize::from(claim == Some(Claim::Win));
                losses += usize::from(claim == Some(Claim::Loss));
            }
            let replay = queue.replay(&question, &answer, &[]);
            assert_eq!(replay.refuted, [], "{line}");
            unproven += replay.unproven.len();
        }
        assert!(wins > 0 && losses > 20, "{wins} wins, {losses} losses");
        assert!(unproven * 20 < losses, "{unproven} of {losses} and {wins}");
    }

    #[test]
    fn rules_refute_wins_that_do_not_end_the_game() {
        let four = Position::from_line(Variant::FREESTYLE_15, "h8 a1 i8 a3 j8 a5 k8 a7");
        let four = four.expect("a line");
        let m = |text: &str| four.parse_move(text).expect("a move");
        let proof = |claim, kind, plies| Proof::new(claim, kind, plies);
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

    #[test]
    fn tried_lines_show_deep_wins_and_no_others() {
        let (mut queue, mut unseen) = (queue(), 0);
        for (line, depth, claimed) in [
            (
                "j7 g6 g7 g8 f9 j9 f8 j8 h8 i8 g9 i6",
                2,
                "h7 i7 i9 i5 i4 j10 e5",
            ),
            ("i10 h8 i7 f7 f10 g9 i9 j6 f9 i6 i8", 4, "i11 f12 f8 h10"),
            (
                "h7 j7 g8 i8 i6 f8 h9 j10 j6 j9 g10",
                4,
                "j11 j8 j12 j13 j5 f9",
            ),
        ] {
            let position = Position::from_line(Variant::FREESTYLE_15, line).expect("a line");
            let question = Question::new(position.clone(), Effort::depth(depth));
            let mut is_decided = |tried: &str| {
                let end = position.play_line(tried).expect("a line");
                let tried = end.moves()[position.moves().len()..].to_vec();
                let answer = queue.search(question.clone(), &[tried]).expect("an answer");
                let (_, best) = answer.best().expect("a verdict");
                i32::from(best.score.raw()).abs() >= UNPROVEN_WIN
            };
            assert!(is_decided(claimed), "{line}: {claimed}");
            unseen += usize::from(!is_decided("a1 a2 o1 o2 a15 o15"));
        }
        assert_eq!(unseen, 3, "moves that decide nothing show nothing");
    }
}

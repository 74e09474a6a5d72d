//! Whether every move loses: what a proof asks of the side that is to be beaten.

use kagetsu_game::{
    Answer, Bound, Claim, Effort, Game, Move, Outcome, Position, Proof, ProofKind, Question, Score, Variant, Verdict,
    Window, with_game,
};

use crate::threats::{self, Class, Threats};
use crate::verdicts::provenance;
use crate::{Control, Engine, EngineError, Progress};

/// Bytes of what the searches for threats remember from one move to the next.
const TABLE: usize = 32 << 20;
/// Positions of the first search after each move: most moves lose to an attack that is soon found.
const FEW: u64 = 5_000;
/// With more moves left after that the position is far from lost, and the rest of the effort is saved.
const MANY: usize = 64;
/// So many that are left one after the other say the same.
const HOPELESS: usize = 24;
/// Plies to which the moves that are left are compared.
const DEPTH: u8 = 4;
/// Positions for each move, where the effort does not tell.
const NODES: u64 = 20_000;

/// Whether the question is if all moves lose: no other value matters.
pub(crate) fn asks_for_loss(question: &Question) -> bool {
    question.window.beta <= -Score::OPINION_MAX && matches!(question.position.variant(), Variant::Gomoku { .. })
}

impl Engine {
    /// A search for a win by continuous threats after each move, within the same share of the effort. What is not lost by
    /// that is compared as always, so that every legal move, up to symmetry, has an exact value or a proof.
    pub(crate) fn refute(
        &mut self,
        question: &Question,
        control: &Control,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Answer, EngineError> {
        let position = &question.position;
        let moves = if question.moves.is_empty() { position.distinct_moves() } else { question.moves.clone() };
        check_all(position, &moves)?;
        if position.outcome().is_some() || moves.is_empty() {
            return Ok(Answer::new());
        }
        let share = question.effort.nodes.map_or(NODES, |nodes| (nodes / moves.len() as u64).max(1));
        let mut threats = Threats::new(TABLE);
        let own = threats.search(position, Class::Vct, Effort::nodes(share), control)?;
        if let threats::Outcome::Win { plies, kind, line } = own.outcome
            && let Some(&m) = line.first().filter(|m| moves.contains(m))
        {
            let proof = Proof { claim: Claim::Win, kind, plies };
            return Ok([(m, verdict(proof, own.nodes, line))].into_iter().collect());
        }
        let (mut answer, mut left) = (Answer::new(), moves);
        for budget in [FEW.min(share), share] {
            let mut still = Vec::new();
            let mut fails = 0;
            for m in left {
                let found = if fails < HOPELESS { lost(position, m, budget, &mut threats, control)? } else { None };
                match found {
                    Some(verdict) => {
                        answer.extend([(m, verdict)]);
                        fails = 0;
                    }
                    None => {
                        still.push(m);
                        fails += 1;
                    }
                }
            }
            left = still;
            if left.is_empty() || left.len() > MANY || control.is_stopped() {
                break;
            }
        }
        if !left.is_empty() {
            let width = u16::try_from(left.len()).unwrap_or(u16::MAX);
            let effort = Effort { depth: Some(DEPTH), ..Effort::default() };
            let rest = Question { moves: left, window: Window::FULL, effort, width, ..question.clone() };
            answer.merge(self.answer(&rest, control, progress)?);
        }
        Ok(answer)
    }
}

fn check_all(position: &Position, moves: &[Move]) -> Result<(), EngineError> {
    with_game!(position.variant(), G => {
        let game = position.game::<G>();
        match moves.iter().find(|m| game.check(**m).is_err()) {
            Some(m) => Err(EngineError::IllegalMove(position.write_move(*m))),
            None => Ok(()),
        }
    })
}

/// That the move loses, if that is found.
fn lost(
    position: &Position,
    m: Move,
    budget: u64,
    threats: &mut Threats,
    control: &Control,
) -> Result<Option<Verdict>, EngineError> {
    let Ok(next) = position.play(m) else { return Err(EngineError::IllegalMove(position.write_move(m))) };
    match next.outcome() {
        Some(Outcome::Win(side)) if side != position.side() => {
            let proof = Proof { claim: Claim::Loss, kind: ProofKind::Terminal, plies: 1 };
            Ok(Some(verdict(proof, 0, vec![m])))
        }
        Some(_) => Ok(None),
        None => {
            let found = threats.search(&next, Class::Vct, Effort::nodes(budget), control)?;
            let threats::Outcome::Win { plies, kind, .. } = found.outcome else { return Ok(None) };
            let kind = if kind == ProofKind::Terminal { ProofKind::Vcf } else { kind };
            Ok(Some(verdict(Proof { claim: Claim::Loss, kind, plies: plies + 1 }, found.nodes, vec![m])))
        }
    }
}

fn verdict(proof: Proof, nodes: u64, line: Vec<Move>) -> Verdict {
    let depth = u8::try_from(proof.plies).unwrap_or(u8::MAX);
    Verdict { score: proof.score(), bound: Bound::Exact, depth, nodes, line, proof: Some(proof), by: provenance() }
}

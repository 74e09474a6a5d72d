//! A proof that one side wins, as a job of many searches (Wu, Lin, Sun, Lin and Yen: "Job-level
//! proof number search", 2010).
//!
//! The attacker is first asked whether threats win. Where they do not, a search for the best move
//! names one quiet move at a time: the next one when those known look harder than it promises.

use kagetsu_game::{Answer, Move, Position, Question, Score, Verdict, Window};

use super::growth_policy::{GrowthPolicy, PolicyScope};
use super::proof_order::ProofOrder;
use super::selection::Selection;
use crate::graph::id::Id;

/// The policy that looks for a proof that one side wins.
pub(super) struct Prove;

/// Number of threat searches that the attacker's look for his best moves may cost.
const SEARCHES_PER_ATTACK: u64 = 10;

impl GrowthPolicy for Prove {
    fn name(&self) -> &'static str {
        "prove"
    }

    fn label(&self) -> &'static str {
        "Prove a win"
    }

    fn help(&self) -> &'static str {
        "The position that helps most to prove that one side wins the roots: proof-number order"
    }

    fn defaults(&self) -> &'static [(&'static str, u32)] {
        &[("nodes", 20_000)]
    }

    fn ignores(&self) -> &'static [&'static str] {
        &["alpha"]
    }

    fn can_deepen(&self) -> bool {
        false
    }

    fn loss_weight(&self, _: f64) -> f64 {
        0.0
    }

    /// Asks the attacker first which move wins by threats or comes nearest to it, then for the best
    /// move, and later for the best of the other moves near stones, each with the effort of several
    /// threat searches. The defender is asked whether all moves lose, with one threat search for
    /// each move. Games without threat searches cannot answer the first question any better than a
    /// search for the best moves, so there the attacker is asked for these.
    fn question(
        &self,
        scope: &PolicyScope,
        mut question: Question,
        known: Option<&Answer>,
    ) -> Question {
        let searches = if question.position.side() == scope.side {
            if let Some(known) = known {
                question.width = 1;
                let is_searched = |(_, known): &(Move, Verdict)| known.depth > 0;
                question.moves = if known.verdicts().iter().any(is_searched) {
                    near_stones(&question.position, question.moves)
                } else {
                    Vec::new()
                };
            } else if question.position.variant().has_threat_search() {
                question.window = Window {
                    alpha: Score::OPINION_MAX,
                    beta: Score::MAX,
                };
            }
            SEARCHES_PER_ATTACK
        } else {
            question.window = Window {
                alpha: Score::MIN,
                beta: -Score::OPINION_MAX,
            };
            if question.moves.is_empty() {
                question.position.distinct_moves().len() as u64
            } else {
                question.moves.len() as u64
            }
        };
        let nodes = question.effort.nodes;
        question.effort.nodes = nodes.map(|nodes| nodes.saturating_mul(searches));
        question
    }

    fn widens(&self) -> bool {
        true
    }

    fn widens_to_depth_of_bounds(&self) -> bool {
        false
    }

    fn selection(&self, job: u32, scope: PolicyScope, roots: Vec<Id>) -> Box<dyn Selection> {
        Box::new(ProofOrder::new(job, scope.side, roots))
    }
}

/// Distance to the next stone, in columns and rows, up to which a move is near.
const NEAR: u16 = 2;

/// Returns those of the moves of a gomoku position that are near a stone, or all if none is.
fn near_stones(position: &Position, moves: Vec<Move>) -> Vec<Move> {
    let Some((stones, (_, size))) = position.stones().zip(position.variant().gomoku()) else {
        return moves;
    };
    let size = u16::from(size);
    let place = |m: &Move| (m.code() % size, m.code() / size);
    let stones: Vec<(u16, u16)> = stones.iter().flatten().map(place).collect();
    let is_near = |m: &Move| {
        let (column, row) = place(m);
        let is_close =
            |stone: &(u16, u16)| stone.0.abs_diff(column) <= NEAR && stone.1.abs_diff(row) <= NEAR;
        stones.iter().any(is_close)
    };
    let near: Vec<Move> = moves.iter().copied().filter(is_near).collect();
    if near.is_empty() { moves } else { near }
}

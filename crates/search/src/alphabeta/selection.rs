//! Pruning and reductions of a selective search.

use kagetsu_game::{Effort, Score};

use crate::heuristics::{Force, Situation, Style};

/// A node at the beginning of its search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) situation: Situation,
    /// Whether nothing forces and the side to move is not in check.
    pub(crate) is_quiet: bool,
    /// The static evaluation for the side to move, where it is used.
    pub(crate) opinion: Score,
    pub(crate) alpha: Score,
    pub(crate) beta: Score,
    /// Plies to search.
    pub(crate) depth: i32,
    /// Plies from the root.
    pub(crate) ply: usize,
}

impl Node {
    /// Whether the window is open, so that an exact value is wanted.
    pub(crate) fn is_pv(&self) -> bool {
        i32::from(self.beta.raw()) - i32::from(self.alpha.raw()) > 1
    }

    fn opinion(&self) -> i32 {
        self.opinion.raw().into()
    }
}

/// Reverse futility pruning: whether the evaluation is so far above beta that a shallow search
/// would not bring it below. One ply changes the evaluation by `ply` at most.
pub(crate) fn is_far_above(node: &Node, ply: i32) -> bool {
    node.depth <= 6
        && !node.beta.is_mate()
        && node.opinion() - ply * node.depth >= node.beta.raw().into()
}

/// Razoring: whether the evaluation is so far below alpha that only fours could help.
pub(crate) fn is_far_below(node: &Node, ply: i32) -> bool {
    node.depth <= 3
        && !node.alpha.is_mate()
        && node.opinion() + 100 + 2 * ply * node.depth <= node.alpha.raw().into()
}

/// Whether a late move without a threat can be left out.
pub(crate) fn is_prunable(
    node: &Node,
    alpha: Score,
    searched: usize,
    force: Force,
    style: &Style,
) -> bool {
    if node.is_pv() || force.attacks || searched == 0 {
        return false;
    }
    let (depth, &Style { ply, late, .. }) = (node.depth, style);
    let is_late = depth <= 8 && searched as i32 >= late.moves.0 + depth * depth * late.moves.1 / 4;
    let is_futile =
        depth <= 5 && !alpha.is_mate() && node.opinion() + ply + ply * depth <= alpha.raw().into();
    is_late || is_futile
}

/// Returns the plies by which the search of a late move is reduced.
pub(crate) fn reduction(
    node: &Node,
    searched: usize,
    force: Force,
    history: i32,
    style: &Style,
) -> i32 {
    if node.depth < 3 || searched < 2 {
        return 0;
    }
    let mut reduction = late(node.depth as usize, searched, style);
    reduction -= i32::from(node.is_pv())
        + i32::from(force.attacks)
        + i32::from(force.defends)
        + history / 2_048;
    reduction.clamp(0, node.depth - 2)
}

/// Returns the depth of the first, reduced search of the root move at place `at`.
pub(crate) fn at_root(depth: u8, at: usize, force: Force, style: &Style) -> u8 {
    let late = late(usize::from(depth), at, style);
    let reduction = late - 1 - i32::from(force.attacks) - i32::from(force.defends);
    depth - reduction.clamp(0, i32::from(depth.saturating_sub(2))) as u8
}

/// Returns the reduction in plies: a divisor of 80 makes about 1.2 * ln(depth) * ln(moves).
fn late(depth: usize, moves: usize, style: &Style) -> i32 {
    (usize::from(LOGARITHMS[depth.min(63)][moves.min(63)]) / style.late.divisor) as i32
}

/// About 100 * ln(depth) * ln(moves), by depth and number of moves searched.
static LOGARITHMS: [[u16; 64]; 64] = logarithms();

const fn logarithms() -> [[u16; 64]; 64] {
    let mut table = [[0; 64]; 64];
    let mut depth = 1;
    while depth < 64 {
        let mut moves = 1;
        while moves < 64 {
            // Tenths of binary logarithms, in integer arithmetic.
            let product = tenths(depth) * tenths(moves);
            table[depth][moves] = (product * 48 / 100) as u16;
            moves += 1;
        }
        depth += 1;
    }
    table
}

/// Returns ten times the binary logarithm of `n`, interpolated linearly between powers of two.
const fn tenths(n: usize) -> usize {
    let floor = n.ilog2() as usize;
    10 * floor + ((10 * n) >> floor) - 10
}

/// Returns the depth to search where the table has no best move (internal iterative reduction).
pub(crate) const fn without_a_table_move(depth: i32) -> i32 {
    if depth >= 5 { depth - 1 } else { depth }
}

/// Returns the share of a question's effort that the VCT search at the root may take.
pub(crate) fn vct_effort(effort: Effort) -> Effort {
    let by_depth = effort
        .depth
        .map_or(500_000, |depth| 50 * u64::from(depth) * u64::from(depth));
    let nodes = effort
        .nodes
        .map_or(by_depth, |nodes| by_depth.min(nodes / 6));
    Effort {
        depth: None,
        nodes: Some(nodes),
        time: effort.time.map(|time| time / 6),
    }
}

/// Fours tried to find the opponent's threat.
pub(crate) const MAX_THREAT_FOURS: u32 = 64;

/// Whether a node whose selected moves all lose is deep enough to prove that the others lose, too.
pub(crate) fn is_worth_a_proof(node: &Node) -> bool {
    node.depth >= 3
}

/// Least depth of a null move.
pub(crate) const MIN_NULL_DEPTH: i32 = 3;

/// Least depth at which a null move is verified.
pub(crate) const MIN_VERIFIED_DEPTH: i32 = 9;

/// Returns the plies by which the search after a null move is reduced.
pub(crate) fn null_reduction(node: &Node) -> i32 {
    3 + node.depth / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_moves_and_deeper_searches_are_reduced_more() {
        for depth in 1..63 {
            for moves in 1..63 {
                assert!(LOGARITHMS[depth][moves] <= LOGARITHMS[depth + 1][moves]);
                assert!(LOGARITHMS[depth][moves] <= LOGARITHMS[depth][moves + 1]);
            }
        }
        let style = &<crate::gomoku::Board<kagetsu_game::gomoku::Freestyle> as crate::heuristics::Heuristics>::STYLE;
        assert_eq!(late(3, 2, style), 0);
        assert!(
            (7..=9).contains(&late(10, 20, style)),
            "{}",
            late(10, 20, style)
        );
    }
}

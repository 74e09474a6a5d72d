//! Pruning and reductions of a selective search.

use std::sync::LazyLock;

use kagetsu_game::{Effort, Score};

use super::correction::StaticValue;
use crate::heuristics::{Force, Situation, Style};

/// A node at the beginning of its search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) situation: Situation,
    /// Whether nothing forces and the side to move is not in check.
    pub(crate) is_quiet: bool,
    /// The static evaluation for the side to move, where it is used.
    pub(crate) value: StaticValue,
    pub(crate) alpha: Score,
    pub(crate) beta: Score,
    /// Plies to search.
    pub(crate) depth: i32,
    /// Plies from the root.
    pub(crate) ply: usize,
    /// Whether a cutoff is expected.
    pub(crate) is_cut: bool,
    /// Whether the evaluation is better than two plies before.
    pub(crate) improves: bool,
}

impl Node {
    /// Whether the window is open, so that an exact value is wanted.
    pub(crate) fn is_pv(&self) -> bool {
        i32::from(self.beta.raw()) - i32::from(self.alpha.raw()) > 1
    }

    fn opinion(&self) -> i32 {
        self.value.corrected.raw().into()
    }
}

/// Reverse futility pruning: whether the evaluation is so far above beta that a shallow search
/// would not bring it below. One ply changes the evaluation by `ply` at most.
pub(crate) fn is_far_above(node: &Node, style: &Style) -> bool {
    let (most, depth) = if style.is_forcing {
        (20, node.depth - i32::from(node.improves))
    } else {
        (6, node.depth)
    };
    node.depth <= most
        && !node.beta.is_mate()
        && node.opinion() - style.ply * depth >= node.beta.raw().into()
}

/// Razoring: whether the evaluation is so far below alpha that only fours could help.
pub(crate) fn is_far_below(node: &Node, style: &Style) -> bool {
    let margin = if style.is_forcing {
        40 + 30 * node.depth
    } else {
        100 + 2 * style.ply * node.depth
    };
    node.depth <= 3 && !node.alpha.is_mate() && node.opinion() + margin <= node.alpha.raw().into()
}

/// Whether a node is expected to exceed beta by so much that a shallower search suffices.
pub(crate) fn is_likely_high(node: &Node) -> bool {
    !node.is_pv()
        && node.is_cut
        && node.opinion() >= i32::from(node.beta.raw()) - 9 + 15 * node.depth
}

/// Whether a new best score within the window makes the search of the other moves less important.
pub(crate) fn is_enough_improved(node: &Node, score: Score) -> bool {
    score < node.beta && (3..12).contains(&node.depth) && !score.is_mate()
}

/// Moves searched at nodes of each depth whose evaluation improves: 3 and the depth to the power
/// of 1.32. Other nodes search half of them.
static MOST_MOVES: LazyLock<[i32; 64]> =
    LazyLock::new(|| std::array::from_fn(|depth| 3 + (depth as f64).powf(1.32) as i32));

/// Whether a late move can be left out. Where threats decide the game, moves that make a threat may
/// be left out only because they are late in the order.
pub(crate) fn is_prunable(
    node: &Node,
    alpha: Score,
    searched: usize,
    force: Force,
    style: &Style,
) -> bool {
    if searched == 0 || !style.is_forcing && (force.attacks || node.is_pv()) {
        return false;
    }
    let (depth, &Style { ply, late, .. }) = (node.depth, style);
    let is_late = if style.is_forcing {
        let most = MOST_MOVES[depth.clamp(0, 63) as usize];
        searched as i32 >= if node.improves { most } else { most / 2 }
    } else {
        depth <= 8 && searched as i32 >= late.moves.0 + depth * depth * late.moves.1 / 4
    };
    let is_futile = depth <= 5
        && !force.attacks
        && !node.is_pv()
        && !alpha.is_mate()
        && node.opinion() + ply + ply * depth <= alpha.raw().into();
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
    if style.is_forcing {
        return forcing_reduction(node, searched, history);
    }
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

/// Returns the same where threats decide the game. Computes in hundredths of a ply.
fn forcing_reduction(node: &Node, searched: usize, history: i32) -> i32 {
    if node.depth < 2 || searched < 1 {
        return 0;
    }
    let late = i32::from(LOGARITHMS[node.depth.min(63) as usize][(searched + 1).min(63)]);
    let worsens = !node.is_pv() && !node.improves && late > 100;
    let reduction = late + 100 * i32::from(worsens) + 100 * i32::from(node.is_cut)
        - 100 * i32::from(node.is_pv())
        - history * 100 / 2_048;
    ((reduction + 50) / 100).clamp(0, (node.depth - 2).max(0))
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

/// Divisor of a question's effort that gives the effort of the VCT search at the root.
const VCT_SHARE: u64 = 24;

/// Returns the share of a question's effort that the VCT search at the root may take.
pub(crate) fn vct_effort(effort: Effort) -> Effort {
    let by_depth = effort
        .depth
        .map_or(500_000, |depth| 50 * u64::from(depth) * u64::from(depth));
    let nodes = effort
        .nodes
        .map_or(by_depth, |nodes| by_depth.min(nodes / VCT_SHARE));
    Effort {
        depth: None,
        nodes: Some(nodes),
        time: effort.time.map(|time| time / VCT_SHARE as u32),
    }
}

/// Fewest positions for which the search of a win by threats after the best root move is worth its
/// start.
pub(crate) const MIN_EXAMINATION: u64 = 2_000;

/// Returns the positions for the search of a win by threats after the best root move, by the
/// positions searched so far.
pub(crate) fn examination(nodes: u64) -> u64 {
    nodes / 16
}

/// Fours tried to find the opponent's threat.
pub(crate) const MAX_THREAT_FOURS: u32 = 64;

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

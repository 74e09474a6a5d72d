//! The search for the opponent's win by threats after the best move of the root.

use std::collections::BTreeMap;

use kagetsu_game::{Bound, Effort, Move, Score};

use crate::EngineOptions;
use crate::alphabeta::selection;
use crate::alphabeta::table::TableEntry;
use crate::control::limits::SearchLimits;
use crate::heuristics::{Heuristics, Situation};
use crate::root::{RootMove, RootSearch};

/// The root moves after which the opponent's win by threats was looked for, each with the greatest
/// number of positions of such a search.
#[derive(Default)]
pub(super) struct Examined(BTreeMap<Move, u64>);

impl Examined {
    /// Whether a search of `nodes` positions is worth its cost; if so, notes it as done.
    fn is_due(&mut self, m: Move, nodes: u64) -> bool {
        let done = self.0.entry(m).or_default();
        let is_due = nodes >= 2 * *done;
        if is_due {
            *done = nodes;
        }
        is_due
    }
}

impl RootSearch<'_> {
    /// Searches for a win of the opponent by threats after the best move, with a share of the
    /// positions searched so far. Returns whether there is one, which the table then knows.
    pub(super) fn is_refuted<H: Heuristics>(
        &self,
        board: &H,
        known: &[RootMove],
        examined: &mut Examined,
        limits: &SearchLimits,
    ) -> bool {
        let EngineOptions {
            vct,
            selective,
            leaf_fours,
            ..
        } = *self.options;
        let Some(best) = known.first().filter(|best| !best.score.is_mate()) else {
            return false;
        };
        if !H::STYLE.is_forcing || !vct || !selective || leaf_fours == 0 || self.table.is_empty() {
            return false;
        }
        let nodes = selection::examination(limits.nodes());
        if nodes < selection::MIN_EXAMINATION || !examined.is_due(best.m, nodes) {
            return false;
        }
        let mut board = board.clone();
        board.play(best.m);
        if board.situation() != Situation::Free {
            return false;
        }
        let Effort {
            nodes: most, time, ..
        } = self.question.effort;
        let effort = Effort {
            depth: None,
            nodes: Some(most.map_or(nodes, |most| nodes.min(most.saturating_sub(limits.nodes())))),
            time: time.map(|time| time.saturating_sub(limits.elapsed())),
        };
        let found = board.vct(effort, self.control);
        limits.add(found.nodes);
        let Some((plies, line)) = found.win else {
            return false;
        };
        let entry = TableEntry {
            score: Score::win_in(plies),
            bound: Bound::Exact,
            depth: u8::MAX,
            best: line.first().copied().unwrap_or(Move::NONE),
        };
        self.table.put(board.hash(), entry);
        true
    }
}

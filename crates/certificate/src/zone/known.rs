use std::collections::HashMap;

use crate::tree::Reference;

use super::points::{Zone, ZoneBoard};
use super::rows::{BoardRows, RowSet};

/// Wins that are remembered: about 600 bytes each, 1,200 on more than 16 rows, 2,300 on the plane.
const MAX_REMEMBERED: usize = 1 << 16;

/// The most stones of the loser in a row of five without a stone of the winner, where the loser is
/// to move and cannot make a five.
pub(super) const MAX_IN_ROW: usize = 3;

/// The stones of the loser with which a node wins. The winner's stones are given.
///
/// `docs/development/zones.md` proves that the node wins with all stones of the loser that meet the
/// three conditions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WinConditions<const WORDS: usize> {
    /// The points that hold no stone of the loser.
    pub(super) free: Zone<WORDS>,
    /// The points that hold a stone of the loser.
    pub(super) kept: Zone<WORDS>,
    /// The rows that hold at most so many stones of the loser, by the number. A row of a lower
    /// bound may be missing from higher ones.
    pub(super) at_most: [RowSet<WORDS>; MAX_IN_ROW + 1],
}

impl<const WORDS: usize> WinConditions<WORDS> {
    /// Returns the conditions that these stones of the loser alone meet.
    pub(super) fn only(rows: &BoardRows<WORDS>, foe: Zone<WORDS>) -> Self {
        Self {
            free: rows.full.without(foe),
            kept: foe,
            ..Self::default()
        }
    }

    /// Whether the stones of the loser meet the conditions.
    fn are_met(&self, rows: &BoardRows<WORDS>, foe: Zone<WORDS>) -> bool {
        self.free.and(foe).is_empty()
            && self.kept.without(foe).is_empty()
            && self.tight_rows(rows, foe, 1).is_empty()
    }

    /// Returns the rows that hold at least their bound and `more` stones.
    fn tight_rows(&self, rows: &BoardRows<WORDS>, foe: Zone<WORDS>, more: usize) -> RowSet<WORDS> {
        let counts = rows.counts(foe);
        let exceeded = |most: usize| self.at_most[most].and(counts.at_least(most + more));
        (0..=MAX_IN_ROW)
            .map(exceeded)
            .fold(RowSet::default(), RowSet::or)
    }

    /// Returns the points on which a further stone of the loser may not meet the conditions, where
    /// these stones meet them.
    pub(super) fn relevant_points(&self, rows: &BoardRows<WORDS>, foe: Zone<WORDS>) -> Zone<WORDS> {
        self.free.or(rows.points(self.tight_rows(rows, foe, 0)))
    }

    /// Adds the conditions of another branch.
    pub(super) fn add(&mut self, other: Self) {
        self.free = self.free.or(other.free);
        self.kept = self.kept.or(other.kept);
        for (own, others) in self.at_most.iter_mut().zip(other.at_most) {
            *own = own.or(others);
        }
    }

    /// Returns conditions under which these are met after one more stone of the loser on any of
    /// some points. None of the points is relevant, or the conditions were met with a stone on
    /// the only one.
    pub(super) fn before(mut self, rows: &BoardRows<WORDS>, points: Zone<WORDS>) -> Self {
        let through = rows.through(points);
        for most in 0..MAX_IN_ROW {
            self.at_most[most] = self.at_most[most].or(self.at_most[most + 1].and(through));
        }
        self
    }
}

/// Known wins of nodes.
#[derive(Debug, Default)]
pub(super) struct KnownWins<const WORDS: usize> {
    /// By the node and the winner's stones.
    wins: HashMap<(Reference, Zone<WORDS>), Vec<WinConditions<WORDS>>>,
    count: usize,
}

impl<const WORDS: usize> KnownWins<WORDS> {
    /// Returns the conditions of a known win of the node on this board.
    pub(super) fn find(
        &self,
        rows: &BoardRows<WORDS>,
        at: Reference,
        board: ZoneBoard<WORDS>,
    ) -> Option<WinConditions<WORDS>> {
        let wins = self.wins.get(&(at, board.own))?;
        let win = wins.iter().rev().find(|win| win.are_met(rows, board.foe));
        win.copied()
    }

    pub(super) fn add(
        &mut self,
        at: Reference,
        board: ZoneBoard<WORDS>,
        win: WinConditions<WORDS>,
    ) {
        if self.count >= MAX_REMEMBERED {
            self.wins.clear();
            self.count = 0;
        }
        self.count += 1;
        self.wins.entry((at, board.own)).or_default().push(win);
    }
}

//! Positions in which a node is known to win, and others to which that carries over.
//!
//! Let a node win with stones `W` of the winner and `L` of the loser. Then it wins with `W` and
//! other stones `M` of the loser if
//!
//! 1. `L` and `M` agree on the zone,
//! 2. no stone of `M` outside of `L` is in a row in which the loser could make a five with the
//!    replies that it has until the end,
//! 3. `M` has the stones of `L` without which a reply has no known answer, and
//! 4. `M` leaves as many points empty.
//!
//! The answers are the same. The winner's moves are points of the zone, so they are empty. A reply
//! in the zone was played from `L` as well. A reply elsewhere does no more than a pass did there.
//! A five of the loser would be in a row of (2), or in a row with no more of its stones than from
//! `L`.

use std::collections::HashMap;

use crate::tree::Reference;

use super::board::ZoneBoard;
use super::points::Zone;
use super::rows::BoardRows;

/// Wins that are remembered, about 200 bytes each.
const MAX_REMEMBERED: usize = 1 << 20;

/// The points, stones and replies that a way to win depends on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Relevance {
    /// The points that matter.
    pub(super) zone: Zone,
    /// The points on which replies of the loser were played.
    pub(super) replies: Zone,
    /// The most replies elsewhere that the loser has until the end.
    pub(super) elsewhere: u8,
    /// The stones of the loser without which the win may fail, as no reply was played there.
    pub(super) needed: Zone,
}

impl Relevance {
    /// Adds what another branch depends on.
    pub(super) fn add(&mut self, other: Self) {
        self.zone = self.zone.or(other.zone);
        self.replies = self.replies.or(other.replies);
        self.elsewhere = self.elsewhere.max(other.elsewhere);
        self.needed = self.needed.or(other.needed);
    }
}

/// A position in which a node wins.
#[derive(Debug)]
struct Win {
    foe: Zone,
    passes: u8,
    relevance: Relevance,
}

impl Win {
    /// Whether the node wins on another board with the same stones of the winner, too.
    fn covers(&self, rows: &BoardRows, board: ZoneBoard) -> bool {
        let Self { foe, passes, .. } = *self;
        let Relevance {
            zone,
            replies,
            elsewhere,
            needed,
        } = self.relevance;
        if board.passes > passes || !board.foe.xor(foe).and(zone).is_empty() {
            return false;
        }
        let filled = |foe: Zone, passes: u8| foe.len() + u32::from(passes);
        if filled(board.foe, board.passes) > filled(foe, passes) {
            return false;
        }
        if !foe.without(board.foe).and(needed).is_empty() {
            return false;
        }
        let new = board.foe.without(foe);
        let least = 5_u8.saturating_sub(elsewhere.saturating_add(board.passes));
        new.is_empty() || !rows.has_row(board.own, board.foe.or(replies), new, least)
    }
}

/// Known wins of nodes.
#[derive(Debug, Default)]
pub(super) struct KnownWins {
    /// By the node and the winner's stones.
    wins: HashMap<(Reference, Zone), Vec<Win>>,
    count: usize,
}

impl KnownWins {
    /// Returns what a node's win depends on, where one is known that covers this board.
    pub(super) fn find(
        &self,
        rows: &BoardRows,
        at: Reference,
        board: ZoneBoard,
    ) -> Option<Relevance> {
        let wins = self.wins.get(&(at, board.own))?;
        let win = wins.iter().rev().find(|win| win.covers(rows, board))?;
        Some(win.relevance)
    }

    pub(super) fn add(&mut self, at: Reference, board: ZoneBoard, relevance: Relevance) {
        if self.count >= MAX_REMEMBERED {
            self.wins.clear();
            self.count = 0;
        }
        self.count += 1;
        self.wins.entry((at, board.own)).or_default().push(Win {
            foe: board.foe,
            passes: board.passes,
            relevance,
        });
    }
}

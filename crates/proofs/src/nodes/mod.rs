//! The nodes of one variant's trees, and the ways to win with them once more.

mod answers;
mod placed;
mod threats;
mod wins_by_stones;

use std::cmp::Reverse;
use std::collections::BTreeSet;

use kagetsu_certificate::{Node, ProofDag, Reference, Zone, ZoneChecker};
use kagetsu_game::{Move, Position, Side, Variant, with_game};

pub(crate) use answers::{AnswerSource, LoserReply, ReplyAnswers};
pub(crate) use placed::PlacedNodes;
pub use threats::NodeCounts;
use threats::ThreatNodes;
use wins_by_stones::WinsByStones;

/// Positions that a node that won elsewhere may cost where it is tried.
pub(crate) const TRY_POSITIONS: u64 = 3_000;
/// Positions that a zone may cost.
const ZONE_POSITIONS: u64 = 200_000;

/// Nodes of trees of one variant, and what is needed to try them on other positions.
pub(crate) struct NodePool {
    pub(crate) variant: Variant,
    pub(crate) dag: ProofDag,
    /// Nodes of gomoku positions with the winner to move.
    pub(crate) known: PlacedNodes,
    /// Nodes that won, where they are tried on other positions.
    by_stones: Option<WinsByStones>,
    /// Which nodes play threats alone, as far as it was looked at.
    threats: ThreatNodes,
    /// Nodes that consist of threats only, and so are cheap to try in another position.
    pub(crate) plans: BTreeSet<u32>,
    /// `None` for a variant without zones.
    zones: Option<ZoneChecker>,
}

impl NodePool {
    /// Returns no nodes. `is_tried` says whether nodes that won are tried on other positions of
    /// the winner.
    pub(crate) fn new(variant: Variant, is_tried: bool) -> Self {
        let zones = ZoneChecker::new(variant);
        let by_stones = (is_tried && zones.is_some()).then(|| WinsByStones::new(variant));
        Self {
            variant,
            dag: ProofDag::default(),
            known: PlacedNodes::default(),
            by_stones,
            threats: ThreatNodes::default(),
            plans: BTreeSet::new(),
            zones,
        }
    }

    /// Whether wins of this side have zones.
    pub(crate) fn has_zones(&self, winner: Side) -> bool {
        let zones = self.zones.as_ref();
        zones.is_some_and(|zones| zones.covers(winner))
    }

    /// Whether nodes that won are tried on other positions of the winner.
    pub(crate) fn tries_nodes(&self, winner: Side) -> bool {
        self.by_stones.is_some() && self.has_zones(winner)
    }

    /// Returns the positions that the last try cost.
    pub(crate) fn visited(&self) -> u64 {
        self.zones.as_ref().map_or(0, ZoneChecker::visited)
    }

    /// Returns the move of a node, seen from the position that refers to it.
    pub(crate) fn own_move(&self, at: Reference) -> Option<Move> {
        let own = self.dag.node(at.node).at?;
        Some(self.variant.image(own, at.turn))
    }

    /// Returns the answer of a node to a reply.
    pub(crate) fn answer(&self, at: Reference, reply: Move) -> Option<Reference> {
        let own = self.variant.image(reply, self.variant.inverse(at.turn));
        let next = self.dag.node(at.node).answer(own)?;
        Some(next.turned(at.turn))
    }

    /// Returns the number of a node that plays as another one under a symmetry, adding it if it is
    /// new.
    pub(crate) fn upright(&mut self, at: Reference) -> u32 {
        let image = |m: Move| self.variant.image(m, at.turn);
        let mut node = self.dag.node(at.node).clone();
        node.at = node.at.map(image);
        for (m, next) in &mut node.replies {
            (*m, *next) = (image(*m), next.turned(at.turn));
        }
        node.replies.sort_unstable_by_key(|(m, _)| *m);
        node.otherwise = node.otherwise.map(|next| next.turned(at.turn));
        self.dag.add(node)
    }

    /// Adds a move that ends the game.
    pub(crate) fn add_last(&mut self, m: Move) -> u32 {
        self.dag.add(Node {
            at: Some(m),
            ..Node::default()
        })
    }

    /// Notes a node that wins in a position.
    pub(crate) fn note(&mut self, position: &Position, at: Reference) -> Reference {
        if let Some(by_stones) = &mut self.by_stones {
            by_stones.add(position, at);
        }
        at
    }

    /// The same for the nodes behind it.
    pub(crate) fn note_all(&mut self, position: &Position, at: Reference) {
        if let Some(by_stones) = &mut self.by_stones {
            by_stones.add_all(&self.dag, position, at);
        }
    }

    /// Whether a node plays more than threats.
    pub(crate) fn is_quiet(&mut self, at: Reference) -> bool {
        for number in self.threats.len()..self.dag.nodes().len() {
            self.threats.push(self.dag.node(number as u32));
        }
        !self.threats.contains(at.node)
    }

    /// Returns the nodes that won where the winner had the same stones.
    pub(crate) fn alike(&self, position: &Position) -> Vec<Reference> {
        let is_tried = self.tries_nodes(position.side());
        let by_stones = self.by_stones.as_ref().filter(|_| is_tried);
        by_stones.map_or_else(Vec::new, |known| known.like(position))
    }

    /// Returns the one of them that wins here.
    pub(crate) fn like(&mut self, position: &Position) -> Option<Reference> {
        let mut tried = self.alike(position).into_iter();
        tried.find(|at| self.wins(position, *at, TRY_POSITIONS))
    }

    /// Whether a node wins in a position, within so many positions. Without zones the game is
    /// played, and plans alone are tried.
    pub(crate) fn wins(&mut self, position: &Position, at: Reference, most: u64) -> bool {
        let Self { dag, zones, .. } = self;
        match zones.as_mut().filter(|zones| zones.covers(position.side())) {
            Some(zones) => zones.wins(&*dag, position, at, most),
            None => with_game!(self.variant, G => dag.wins(&mut position.game::<G>(), at)),
        }
    }

    /// Whether an answer wins after a reply, within so many positions.
    pub(crate) fn answers(
        &mut self,
        position: &Position,
        reply: Move,
        answer: Reference,
        most: u64,
    ) -> bool {
        let next = position.play(reply);
        next.is_ok_and(|next| next.outcome().is_none() && self.wins(&next, answer, most))
    }

    /// Returns the points that matter to an answer after a pass of the loser, who is to move.
    pub(crate) fn zone(&mut self, position: &Position, answer: Reference) -> Option<Zone> {
        let Self { dag, zones, .. } = self;
        let zones = zones.as_mut()?;
        zones.after_pass(&*dag, position, answer, ZONE_POSITIONS)
    }

    /// Orders the replies at a position: first the one farthest from all stones, which is like a
    /// pass, so that its answer is the answer to most. Then come those with a position of their
    /// own, and of these the ones whose answers are quiet moves.
    pub(crate) fn sort(&mut self, position: &Position, replies: &mut [LoserReply]) {
        replies.sort_by_cached_key(|reply| {
            let is_last = reply.source == AnswerSource::OtherReply;
            (is_last, Reverse(distance(position, reply.at)))
        });
        if let Some(rest) = replies.get_mut(1..) {
            rest.sort_by_cached_key(|reply| {
                let is_quiet = reply.guide.is_some_and(|guide| self.is_quiet(guide));
                (reply.source, !is_quiet)
            });
        }
    }
}

/// Returns the distance of a point to the next stone of a gomoku position, in columns or rows,
/// whichever is more; 0 in other games.
pub(crate) fn distance(position: &Position, m: Move) -> u16 {
    let Some((stones, (_, size))) = position.stones().zip(position.variant().gomoku()) else {
        return 0;
    };
    let size = u16::from(size);
    let place = |m: Move| (m.code() % size, m.code() / size);
    let (column, row) = place(m);
    let distances = stones.iter().flatten().map(|stone| {
        let (other_column, other_row) = place(*stone);
        column.abs_diff(other_column).max(row.abs_diff(other_row))
    });
    distances.min().unwrap_or(u16::MAX)
}

use std::collections::{HashMap, HashSet};

use kagetsu_certificate::{ProofDag, Reference};
use kagetsu_game::{Move, Position, Symmetry, Variant};

use super::threats::ThreatNodes;

/// Nodes that are tried at a position.
const MAX_TRIES: usize = 12;

/// Nodes that won, by the winner's stones up to symmetry: they often win again where the winner has
/// the same stones, whatever the loser's are.
#[derive(Clone, Debug)]
pub(crate) struct WinsByStones {
    variant: Variant,
    /// Seen from the least image of the stones, the most recent last.
    known: HashMap<Vec<Move>, Vec<Reference>>,
}

impl WinsByStones {
    /// Returns an empty index for a variant of gomoku.
    pub(crate) fn new(variant: Variant) -> Self {
        Self {
            variant,
            known: HashMap::new(),
        }
    }

    /// Adds a node that wins for the side to move of a position.
    pub(crate) fn add(&mut self, position: &Position, at: Reference) {
        self.add_stones(&own_stones(position), at);
    }

    /// Adds a node that wins for the side to move of a position, and the nodes behind it as far as
    /// to the first of each sequence of threats.
    pub(crate) fn add_all(&mut self, dag: &ProofDag, position: &Position, at: Reference) {
        let mut threats = ThreatNodes::default();
        let needed = at.node as usize + 1;
        dag.nodes()
            .iter()
            .take(needed)
            .for_each(|node| threats.push(node));
        let mut seen = HashSet::new();
        let mut left = vec![(own_stones(position), at)];
        while let Some((mut own, at)) = left.pop() {
            own.sort_unstable();
            if !seen.insert((own.clone(), at)) {
                continue;
            }
            self.add_stones(&own, at);
            let node = dag.node(at.node);
            if let Some(m) = node.at.filter(|_| !threats.contains(at.node)) {
                own.push(self.variant.image(m, at.turn));
                let next = node.references().map(|next| next.turned(at.turn));
                left.extend(next.map(|next| (own.clone(), next)));
            }
        }
    }

    fn add_stones(&mut self, own: &[Move], at: Reference) {
        let (stones, turn) = self.least_image(own);
        let seen = at.turned(turn);
        let known = self.known.entry(stones).or_default();
        known.retain(|other| *other != seen);
        known.push(seen);
    }

    /// Returns the most recent nodes that won where the side to move had the same stones.
    pub(crate) fn like(&self, position: &Position) -> Vec<Reference> {
        let (stones, turn) = self.least_image(&own_stones(position));
        let back = self.variant.inverse(turn);
        let known = self.known.get(&stones).map_or(&[][..], Vec::as_slice);
        let recent = known.iter().rev().take(MAX_TRIES);
        recent.map(|seen| seen.turned(back)).collect()
    }

    /// Returns the least image of stones, and a symmetry that leads there.
    fn least_image(&self, own: &[Move]) -> (Vec<Move>, Symmetry) {
        let image = |turn: Symmetry| {
            let mut stones: Vec<Move> = own.iter().map(|m| self.variant.image(*m, turn)).collect();
            stones.sort_unstable();
            (stones, turn)
        };
        let images = self.variant.symmetries().map(image);
        let least = images.min_by(|(a, _), (b, _)| a.cmp(b));
        least.unwrap_or_else(|| image(Symmetry::IDENTITY))
    }
}

/// Returns the stones of the side to move.
fn own_stones(position: &Position) -> Vec<Move> {
    let stones = position.stones();
    stones.map_or_else(Vec::new, |stones| stones[position.side().index()].clone())
}

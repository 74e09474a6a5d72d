//! Proofs that beat replies of earlier positions. They often beat the same reply where the attacker
//! has the same stones, and the defender others.

use std::collections::HashMap;
use std::sync::Arc;

use kagetsu_game::{Move, Position, Symmetry, Variant};

use super::vct::ProofTemplate;

/// Replies that are remembered, in tens of megabytes; when there are more, all are forgotten.
const MAX_REMEMBERED: usize = 1 << 16;

/// Proof templates by the attacker's stones and the defender's reply, in the least of their images.
/// They prove nothing, and are played out wherever they are tried.
#[derive(Debug, Default)]
pub(crate) struct TemplateMemory(HashMap<(AttackStones, Move), (Arc<ProofTemplate>, Symmetry)>);

/// A variant, the number of the attacker's side, and his stones, ascending.
type AttackStones = (Variant, usize, Vec<Move>);

impl TemplateMemory {
    /// Returns the templates that last beat replies of a position, by the reply.
    pub(crate) fn find(&self, at: &Position, replies: &[Move]) -> HashMap<Move, ProofTemplate> {
        let variant = at.variant();
        let Some((stones, turn)) = least_image(at) else {
            return HashMap::new();
        };
        let back = variant.inverse(turn);
        let known = |reply: &Move| {
            let image = variant.image(*reply, turn);
            let (template, before) = self.0.get(&(stones.clone(), image))?;
            let moved = template.moved(|m| variant.image(variant.image(m, *before), back));
            Some((*reply, moved))
        };
        replies.iter().filter_map(known).collect()
    }

    /// Remembers the templates that beat replies of a position.
    pub(crate) fn note(&mut self, at: &Position, beaten: Vec<(Move, Arc<ProofTemplate>)>) {
        if self.0.len() >= MAX_REMEMBERED {
            self.0.clear();
        }
        if let Some((stones, turn)) = least_image(at) {
            let image = |reply| (stones.clone(), at.variant().image(reply, turn));
            let beaten = beaten.into_iter();
            self.0
                .extend(beaten.map(|(reply, template)| (image(reply), (template, turn))));
        }
    }
}

/// Returns the least image of the attacker's stones where the defender is to move, and the symmetry
/// that gives it.
fn least_image(position: &Position) -> Option<(AttackStones, Symmetry)> {
    let (variant, attacker) = (position.variant(), position.side().other().index());
    let stones = &position.stones()?[attacker];
    let image = |turn: Symmetry| {
        let mut images: Vec<Move> = stones.iter().map(|m| variant.image(*m, turn)).collect();
        images.sort_unstable();
        ((variant, attacker, images), turn)
    };
    let images = variant.symmetries().map(image);
    images.min_by(|(one, _), (other, _)| one.cmp(other))
}

use std::collections::HashMap;

use kagetsu_certificate::Reference;
use kagetsu_game::{Key, Position};

/// Nodes of positions on square boards, one for all images of a position.
#[derive(Default)]
pub(crate) struct PlacedNodes(HashMap<Key, Reference>);

impl PlacedNodes {
    pub(crate) fn get(&self, position: &Position) -> Option<Reference> {
        let canonical = position.canonical();
        let seen = self.0.get(&canonical.key)?;
        Some(seen.turned(position.variant().inverse(canonical.symmetry)))
    }

    pub(crate) fn insert(&mut self, position: &Position, at: Reference) {
        let canonical = position.canonical();
        self.0.insert(canonical.key, at.turned(canonical.symmetry));
    }
}

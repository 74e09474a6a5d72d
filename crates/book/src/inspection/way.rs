use std::collections::{BTreeMap, BTreeSet, VecDeque};

use kagetsu_game::Position;

use crate::base::id::Id;
use crate::{Book, BookError};

/// Roots of a variant from which a way may begin.
const MAX_ROOTS: usize = 10_000;
/// Positions that the search for a way visits.
const MAX_VISITS: usize = 5_000;

impl Book {
    /// Returns the position with the moves by which the book leads there from one of its roots, by
    /// the shortest way; `None` if no way is found within some thousand positions.
    pub(crate) fn way_to(&self, position: &Position) -> Result<Option<Position>, BookError> {
        let variant = position.variant();
        let id = |position: &Position| Id::of(variant.code(), &position.canonical());
        let roots = self.roots(variant, MAX_ROOTS)?.listed;
        let roots: BTreeMap<Id, Position> =
            roots.into_iter().map(|root| (id(&root), root)).collect();
        let end = id(position);
        let (mut index, mut seen) = (self.index(), BTreeSet::from([end]));
        // Each position with the next one on its way to the end.
        let mut next = BTreeMap::new();
        let mut waiting = VecDeque::from([end]);
        while let Some(at) = waiting.pop_front() {
            if let Some(root) = roots.get(&at) {
                return Ok(follow(root.clone(), at, &next));
            }
            for parent in index.reach(at)?.parents() {
                if seen.len() < MAX_VISITS && seen.insert(parent) {
                    next.insert(parent, at);
                    waiting.push_back(parent);
                }
            }
        }
        Ok(None)
    }
}

/// Plays the moves from a root to the end of a way.
fn follow(root: Position, from: Id, next: &BTreeMap<Id, Id>) -> Option<Position> {
    let (mut position, mut at) = (root, from);
    while let Some(&wanted) = next.get(&at) {
        let code = position.variant().code();
        let moves = position.legal_moves();
        let after = moves.into_iter().filter_map(|m| position.play(m).ok());
        position = after
            .into_iter()
            .find(|after| Id::of(code, &after.canonical()) == wanted)?;
        at = wanted;
    }
    Some(position)
}

//! Positions that keep a tree from being whole.

use std::collections::{HashMap, HashSet};

use kagetsu_game::{Key, Position};

/// A position that its side to move wins, as far as the book or a guide tells, and no win is found.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "the win of {position} was not found again in {nodes} positions; give more --nodes, or prove \
     it in the book by a build of its own"
)]
pub(crate) struct OpenPosition {
    pub(crate) position: Position,
    nodes: u64,
    pub(crate) place: OpenPlace,
}

/// Where a proof is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenPlace {
    /// At the position itself.
    Here,
    /// At positions behind it, which are noted.
    Behind,
    /// At a position two plies behind it, which was tried in vain before.
    Tried,
}

impl OpenPosition {
    /// Returns the error of a search of so many positions.
    pub(crate) const fn new(position: Position, nodes: u64) -> Self {
        Self {
            position,
            nodes,
            place: OpenPlace::Here,
        }
    }

    /// The same error for a position that leads to this one.
    pub(crate) const fn behind(mut self, place: OpenPlace) -> Self {
        self.place = place;
        self
    }
}

/// Collects the open positions of a tree.
#[derive(Debug, Default)]
pub(crate) struct OpenPositions {
    /// Positions that were tried in vain before: those two plies before them take their place.
    tried: HashSet<Key>,
    /// Stones of the first position with the winner to move that may take the place of another.
    least_stones: usize,
    found: Vec<Position>,
    /// The open positions that were met.
    met: HashMap<Key, OpenPlace>,
}

impl OpenPositions {
    /// Returns a collection for the tree of a position.
    pub(crate) fn new(root: &Position, tried: &[Position]) -> Self {
        Self {
            tried: tried.iter().map(Position::key).collect(),
            least_stones: stones(root),
            ..Self::default()
        }
    }

    /// Returns the place where a proof is missing, of a position that was met.
    pub(crate) fn met(&self, position: &Position) -> Option<OpenPlace> {
        self.met.get(&position.key()).copied()
    }

    /// Returns the number of positions that were found.
    pub(crate) fn len(&self) -> usize {
        self.found.len()
    }

    /// Notes that a position is open; `before` is the number of positions that were found before
    /// the search behind it. Returns the place for the position two plies before.
    pub(crate) fn note(
        &mut self,
        position: &Position,
        place: OpenPlace,
        before: usize,
    ) -> OpenPlace {
        let is_first = stones(position) < self.least_stones + 2;
        let place = match place {
            OpenPlace::Behind => OpenPlace::Behind,
            _ if self.tried.contains(&position.key()) && !is_first => {
                self.found.truncate(before);
                OpenPlace::Tried
            }
            _ => {
                self.found.truncate(before);
                self.found.push(position.clone());
                OpenPlace::Behind
            }
        };
        self.met.insert(position.key(), place);
        place
    }

    /// Returns the positions that were found.
    pub(crate) fn into_found(self) -> Vec<Position> {
        self.found
    }
}

fn stones(position: &Position) -> usize {
    usize::from(position.canonical().stones)
}

#[cfg(test)]
mod tests {
    use kagetsu_game::Variant;

    use super::*;

    #[test]
    fn tried_position_gives_way_to_an_earlier_one() {
        let read = |line| Position::from_line(Variant::FREESTYLE_15, line).expect("legal");
        let [root, parent, tried] = ["h8 a1", "h8 a1 i9 a2", "h8 a1 i9 a2 g7 a3"].map(read);
        let other = read("h8 a1 i9 a2 g7 a4");
        let mut open = OpenPositions::new(&root, &[tried.clone(), root.clone()]);
        assert_eq!(open.note(&other, OpenPlace::Here, 0), OpenPlace::Behind);
        assert_eq!(open.note(&tried, OpenPlace::Here, 1), OpenPlace::Tried);
        assert_eq!(open.met(&tried), Some(OpenPlace::Tried));
        assert_eq!(open.note(&parent, OpenPlace::Tried, 0), OpenPlace::Behind);
        assert_eq!(open.note(&root, OpenPlace::Behind, 0), OpenPlace::Behind);
        assert_eq!(open.into_found(), [parent]);

        // None is before the root.
        let mut open = OpenPositions::new(&root, std::slice::from_ref(&root));
        assert_eq!(open.note(&root, OpenPlace::Here, 0), OpenPlace::Behind);
        assert_eq!(open.into_found(), [root]);
    }
}

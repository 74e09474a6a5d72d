//! The shortest known way to each position of a book.

use std::collections::{HashMap, VecDeque};

use anyhow::Result;
use kagetsu_book::Book;
use kagetsu_game::{Key, Move, Position, Symmetry, Variant};

use super::columns::own_moves;

/// For each position of the book the position before it on the shortest way from a root.
///
/// Moves and symmetries are between canonical orientations, so one entry serves all ways.
pub(crate) struct Paths {
    steps: HashMap<Key, Option<PathStep>>,
    roots: HashMap<Key, Position>,
}

/// The last step to a position.
#[derive(Clone, Copy)]
struct PathStep {
    from: Key,
    /// The move, in the canonical orientation of `from`.
    at: Move,
    /// The symmetry that leads from there, after the move, to the canonical orientation.
    symmetry: Symmetry,
}

impl Paths {
    /// Searches the book from the roots of its jobs.
    ///
    /// # Errors
    /// If the book is damaged.
    pub(crate) fn of(book: &Book, variant: Option<Variant>) -> Result<Self> {
        let is_wanted = |position: &Position| variant.is_none_or(|v| v == position.variant());
        let mut steps = HashMap::new();
        for entry in book.positions() {
            let entry = entry?;
            if is_wanted(&entry.position) {
                steps.insert(entry.position.key(), None);
            }
        }
        let mut roots = HashMap::new();
        let mut queue = VecDeque::new();
        let jobs = book.jobs()?;
        let all_roots = jobs.iter().flat_map(|job| job.spec.roots.iter());
        for root in all_roots.filter(|root| is_wanted(root)) {
            let canonical = root.canonical();
            let is_new = roots.insert(canonical.key, root.clone()).is_none();
            if is_new && steps.contains_key(&canonical.key) {
                queue.push_back((root.variant(), canonical.packed));
            }
        }
        while let Some((variant, packed)) = queue.pop_front() {
            let position = Position::unpack(variant, packed)?;
            let Some(entry) = book.lookup(&position)? else {
                continue;
            };
            let from = position.key();
            let moves: Vec<Move> = entry.facts.verdicts().iter().map(|(m, _)| *m).collect();
            for (at, child) in moves.iter().zip(position.children(&moves)) {
                let Some(step @ None) = steps.get_mut(&child.key) else {
                    continue;
                };
                if roots.contains_key(&child.key) {
                    continue;
                }
                *step = Some(PathStep {
                    from,
                    at: *at,
                    symmetry: child.symmetry,
                });
                queue.push_back((variant, child.packed));
            }
        }
        Ok(Self { steps, roots })
    }

    /// Whether the book has the position with this key.
    pub(crate) fn has(&self, key: Key) -> bool {
        self.steps.contains_key(&key)
    }

    /// Returns the moves to a position as text: those of its root, and those after it. A position
    /// that no job leads to has the moves that its stones allow, if the game places stones.
    pub(crate) fn moves_to(&self, position: &Position, key: Key) -> Option<String> {
        let variant = position.variant();
        let mut steps = Vec::new();
        let mut at = key;
        while let Some(Some(step)) = self.steps.get(&at) {
            steps.push(*step);
            at = step.from;
        }
        let Some(root) = self.roots.get(&at) else {
            return own_moves(position).map(|moves| text(position, &moves));
        };
        steps.reverse();
        // The symmetries from the root's own orientation to the canonical one of each step.
        let mut turns = vec![root.canonical().symmetry];
        let mut moves = root.moves().to_vec();
        for step in steps {
            let turned = turns
                .iter()
                .rev()
                .fold(step.at, |m, turn| variant.image(m, variant.inverse(*turn)));
            moves.push(turned);
            turns.push(step.symmetry);
        }
        Some(text(position, &moves))
    }
}

fn text(position: &Position, moves: &[Move]) -> String {
    let names: Vec<_> = moves.iter().map(|m| position.write_move(*m)).collect();
    names.join(" ")
}

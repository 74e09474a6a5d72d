//! The shortest known way to each position of a book.

use std::collections::{HashMap, VecDeque};

use anyhow::Result;
use kagetsu_book::{Book, BookScan};
use kagetsu_game::{Canonical, Key, Move, Position, Symmetry, Variant};

/// For each position of the book the position before it on the shortest way from a root.
///
/// Moves and symmetries are between canonical orientations, so one entry serves all ways. The
/// positions of a game that places stones come in the order of their stones, so their steps are
/// noted during the scan; all ways to such a position are equally long. The steps of other games
/// are found before it.
pub(crate) struct Paths {
    steps: HashMap<Key, PathStep>,
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
    /// Begins at the roots of a book's jobs.
    ///
    /// # Errors
    /// If the book is damaged.
    pub(crate) fn of(book: &Book, scan: &BookScan<'_>, variant: Option<Variant>) -> Result<Self> {
        let mut paths = Self {
            steps: HashMap::new(),
            roots: HashMap::new(),
        };
        let mut queue = VecDeque::new();
        let jobs = book.jobs()?;
        let roots = jobs.iter().flat_map(|job| job.spec.roots.iter());
        for root in roots.filter(|root| variant.is_none_or(|v| v == root.variant())) {
            let canonical = root.canonical();
            let is_new = paths.roots.insert(canonical.key, root.clone()).is_none();
            if is_new && !root.variant().places_stones() {
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
                if scan.has(variant, &child) && paths.note(from, *at, &child) {
                    queue.push_back((variant, child.packed));
                }
            }
        }
        Ok(paths)
    }

    /// Notes that a move leads to a position of the book; `false` where a way is known.
    pub(crate) fn note(&mut self, from: Key, at: Move, child: &Canonical) -> bool {
        if self.roots.contains_key(&child.key) || self.steps.contains_key(&child.key) {
            return false;
        }
        let step = PathStep {
            from,
            at,
            symmetry: child.symmetry,
        };
        self.steps.insert(child.key, step);
        true
    }

    /// Returns the moves to a position as text: those of its root, and those after it. A position
    /// that no job leads to has the moves that its stones allow, if the game places stones.
    pub(crate) fn moves_to(&self, position: &Position, key: Key) -> Option<String> {
        let variant = position.variant();
        let mut steps = Vec::new();
        let mut at = key;
        while let Some(step) = self.steps.get(&at) {
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

/// Returns the moves of a position that no job leads to, where its stones say them.
fn own_moves(position: &Position) -> Option<Vec<Move>> {
    position
        .variant()
        .places_stones()
        .then(|| position.line())?
}

fn text(position: &Position, moves: &[Move]) -> String {
    let names: Vec<_> = moves.iter().map(|m| position.write_move(*m)).collect();
    names.join(" ")
}

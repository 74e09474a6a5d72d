//! The shortest known way to each position of a book.

use std::collections::{HashMap, VecDeque};

use anyhow::Result;
use foldhash::fast::RandomState;
use kagetsu_book::{Book, BookScan, ScannedChild, ScannedEntry};
use kagetsu_game::{Key, Move, Position, Symmetry, Variant};

/// The shortest way from a root to each position that is still to come.
///
/// The positions of a game that places stones come in the order of their stones, so the ways are
/// noted during the scan, and a way goes when its position comes; all ways to such a position are
/// equally long. The ways of other games are found before the scan.
pub(crate) struct Paths {
    ways: HashMap<Key, KnownWay, RandomState>,
    roots: HashMap<Key, Position>,
}

/// A way to a position.
#[derive(Clone)]
struct KnownWay {
    /// The moves of the root, and those after it, in the root's own orientation.
    moves: Vec<Move>,
    /// The symmetries from the root's own orientation to the canonical one of the position.
    turns: Vec<Symmetry>,
}

impl KnownWay {
    fn to_root(root: &Position) -> Self {
        Self {
            moves: root.moves().to_vec(),
            turns: vec![root.canonical().symmetry],
        }
    }

    /// Returns the way after a move in the canonical orientation of the position.
    fn after(&self, variant: Variant, at: Move, symmetry: Symmetry) -> Self {
        let turned = self
            .turns
            .iter()
            .rev()
            .fold(at, |m, turn| variant.image(m, variant.inverse(*turn)));
        let mut way = Self {
            moves: Vec::with_capacity(self.moves.len() + 1),
            turns: self.turns.clone(),
        };
        way.moves.extend_from_slice(&self.moves);
        way.moves.push(turned);
        if symmetry != Symmetry::IDENTITY {
            way.turns.push(symmetry);
        }
        way
    }
}

impl Paths {
    /// Begins at the roots of a book's jobs.
    ///
    /// # Errors
    /// If the book is damaged.
    pub(crate) fn of(book: &Book, scan: &BookScan<'_>, variant: Option<Variant>) -> Result<Self> {
        let mut paths = Self {
            ways: HashMap::default(),
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
            let Some(way) = paths.way(position.key()) else {
                continue;
            };
            let moves: Vec<Move> = entry.facts.verdicts().iter().map(|(m, _)| *m).collect();
            for (at, child) in moves.iter().zip(position.children(&moves)) {
                let behind = ScannedChild {
                    key: child.key,
                    symmetry: child.symmetry,
                };
                if scan.has(variant, &child) && paths.note(&way, variant, *at, behind) {
                    queue.push_back((variant, child.packed));
                }
            }
        }
        Ok(paths)
    }

    fn way(&self, key: Key) -> Option<KnownWay> {
        let root = self.roots.get(&key).map(KnownWay::to_root);
        root.or_else(|| self.ways.get(&key).cloned())
    }

    /// Returns the moves to a position of the scan, those of its root first, and notes the ways to
    /// the positions behind it. `None` where no job leads.
    pub(crate) fn take(&mut self, scanned: &ScannedEntry) -> Option<Vec<Move>> {
        let root = self.roots.get(&scanned.key).map(KnownWay::to_root);
        let way = root.or_else(|| self.ways.remove(&scanned.key))?;
        let variant = scanned.entry.position.variant();
        if variant.places_stones() {
            let verdicts = scanned.entry.facts.verdicts().iter();
            for ((at, _), child) in verdicts.zip(&scanned.behind) {
                if let Some(child) = child {
                    self.note(&way, variant, *at, *child);
                }
            }
        }
        Some(way.moves)
    }

    /// Notes that a move leads to a position of the book; `false` where a way is known.
    fn note(&mut self, way: &KnownWay, variant: Variant, at: Move, child: ScannedChild) -> bool {
        if self.roots.contains_key(&child.key) || self.ways.contains_key(&child.key) {
            return false;
        }
        let way = way.after(variant, at, child.symmetry);
        self.ways.insert(child.key, way);
        true
    }
}

//! The shortest known way to each position of a book.

use std::collections::{HashMap, VecDeque};

use anyhow::Result;
use kagetsu_book::{Book, BookScan, ScannedEntry};
use kagetsu_game::{Move, Position, Symmetry, Variant};

/// The shortest way from a root to each position of a scan, in 8 bytes for each: the last move and
/// the position before it.
///
/// The positions of a game that places stones come in the order of their stones, so the ways are
/// noted during the scan; all ways to such a position are equally long. The ways of other games are
/// found before the scan.
pub(crate) struct Paths {
    /// By the number of the position.
    steps: Vec<LastMove>,
    roots: HashMap<u32, RootWay>,
}

/// The last move of a way.
#[derive(Clone, Copy)]
struct LastMove {
    /// The number of the position before the move; `NOWHERE` without a way.
    from: u32,
    /// The move, in the canonical orientation of that position.
    at: Move,
    /// The symmetry that leads, after the move, to the canonical orientation.
    symmetry: Symmetry,
}

const NOWHERE: u32 = u32::MAX;

const _: () = assert!(size_of::<LastMove>() == 8);

/// The position where a job or the book begins.
struct RootWay {
    root: Position,
    /// The symmetry that leads to its canonical orientation.
    symmetry: Symmetry,
}

impl Paths {
    /// Begins at the roots of a book's jobs, then at those of the book.
    ///
    /// # Errors
    /// If the book is damaged.
    pub(crate) fn of(book: &Book, scan: &BookScan<'_>, variant: Option<Variant>) -> Result<Self> {
        let none = LastMove {
            from: NOWHERE,
            at: Move::new(0),
            symmetry: Symmetry::IDENTITY,
        };
        let mut paths = Self {
            steps: vec![none; scan.len()],
            roots: HashMap::new(),
        };
        let mut queue = VecDeque::new();
        let jobs = book.jobs()?;
        let overview = book.overview()?;
        let begun = overview.variants.iter().flat_map(|held| &held.roots);
        let roots = jobs.iter().flat_map(|job| job.spec.roots.iter());
        // A book of games without jobs begins where its games do.
        let roots = roots.chain(begun.map(|root| &root.position));
        for root in roots.filter(|root| variant.is_none_or(|v| v == root.variant())) {
            let Some(number) = scan.number(root) else {
                continue;
            };
            let way = RootWay {
                root: root.clone(),
                symmetry: root.canonical().symmetry,
            };
            let is_new = paths.roots.insert(number, way).is_none();
            if is_new && !root.variant().places_stones() {
                queue.push_back(number);
            }
        }
        while let Some(number) = queue.pop_front() {
            if let Some(scanned) = scan.entry(number)? {
                paths.note_all(&scanned, |child| queue.push_back(child));
            }
        }
        Ok(paths)
    }

    /// Notes the ways over a position of the scan, if its game places stones and a way leads there.
    pub(crate) fn note(&mut self, scanned: &ScannedEntry) {
        let places_stones = scanned.position.variant().places_stones();
        if places_stones && self.is_known(scanned.number) {
            self.note_all(scanned, |_| {});
        }
    }

    fn is_known(&self, number: u32) -> bool {
        self.steps[number as usize].from != NOWHERE || self.roots.contains_key(&number)
    }

    /// Notes the way over a position to each position behind it that has none yet.
    fn note_all(&mut self, scanned: &ScannedEntry, mut noted: impl FnMut(u32)) {
        let moves = scanned.facts.verdicts().iter().zip(&scanned.moves);
        for ((at, _), known) in moves {
            let Some(child) = known.behind else { continue };
            if !self.is_known(child.number) {
                self.steps[child.number as usize] = LastMove {
                    from: scanned.number,
                    at: *at,
                    symmetry: child.symmetry,
                };
                noted(child.number);
            }
        }
    }

    /// Returns a position of the scan as a job leads to it: in the orientation of the job's root,
    /// with all moves. `None` where no job leads.
    pub(crate) fn way(&self, scanned: &ScannedEntry) -> Option<Position> {
        let variant = scanned.position.variant();
        let (mut number, mut steps) = (scanned.number, Vec::new());
        let root = loop {
            if let Some(root) = self.roots.get(&number) {
                break root;
            }
            let step = self.steps[number as usize];
            if step.from == NOWHERE {
                return None;
            }
            steps.push(step);
            number = step.from;
        };
        let mut moves = root.root.moves().to_vec();
        // The symmetries from the root's own orientation to the canonical one of the position.
        let mut turns = vec![root.symmetry];
        for step in steps.iter().rev() {
            let back = |m, turn: &Symmetry| variant.image(m, variant.inverse(*turn));
            moves.push(turns.iter().rev().fold(step.at, back));
            if step.symmetry != Symmetry::IDENTITY {
                turns.push(step.symmetry);
            }
        }
        Position::new(variant, root.root.setup().cloned(), &moves).ok()
    }
}

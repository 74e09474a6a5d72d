use std::collections::BTreeMap;

use kagetsu_game::{Claim, Move, Position};

use crate::{Book, BookError};

/// Holes that are told one by one.
const TOLD: usize = 10;

/// How well a book knows what it holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grades {
    /// By stones on the board.
    pub by_stones: BTreeMap<u16, Grade>,
    /// Moves by the engine that searched them.
    pub engines: BTreeMap<String, u64>,
    /// The holes nearest to the root, of those as near the ones that lose least.
    pub holes: Vec<Hole>,
}

/// The positions with so many stones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grade {
    /// How many.
    pub positions: u64,
    /// The depths of their searches, added up.
    pub depths: u64,
    /// Proven won, lost and drawn for the side to move.
    pub wins: u64,
    /// See [`Grade::wins`].
    pub losses: u64,
    /// See [`Grade::wins`].
    pub draws: u64,
    /// Positions where a move without a value may be the best.
    pub open: u64,
    /// Moves with a value that lead to no position of the book.
    pub holes: u64,
}

/// A move with a value that leads to no position of the book.
#[derive(Clone, Debug, PartialEq)]
pub struct Hole {
    /// Where, in canonical orientation.
    pub position: Position,
    /// The move.
    pub at: Move,
    /// Centi-units by which it is worse than the position's value.
    pub loss: u32,
}

impl Book {
    /// How well the book knows what it holds; reads it whole.
    ///
    /// # Errors
    /// A damaged record.
    pub fn grades(&self) -> Result<Grades, BookError> {
        let (mut grades, mut index) = (Grades::default(), self.index());
        let mut nearest: Vec<(u16, u32, Hole)> = Vec::new();
        for id in self.ids() {
            let id = id?;
            let node = index.node(id)?.ok_or(BookError::Record(id.key()))?;
            let value = index.value(id)?.ok_or(BookError::Store("a value"))?;
            let grade = grades.by_stones.entry(id.stones()).or_default();
            grade.positions += 1;
            grade.depths += u64::from(node.facts.best().map_or(0, |(_, v)| v.depth));
            grade.open += u64::from(value.is_open);
            match value.proof.map(|proof| proof.claim) {
                Some(Claim::Win) => grade.wins += 1,
                Some(Claim::Loss) => grade.losses += 1,
                Some(Claim::Draw) => grade.draws += 1,
                None => {}
            }
            for (_, verdict) in node.facts.verdicts() {
                match grades.engines.get_mut(&*verdict.by.engine) {
                    Some(moves) => *moves += 1,
                    None => drop(grades.engines.insert(verdict.by.engine.to_string(), 1)),
                }
            }
            for (m, child) in &node.followed {
                if index.reach(*child)?.is_known() {
                    continue;
                }
                grade.holes += 1;
                let score = node.facts.get(*m).map_or(value.score, |verdict| verdict.score);
                let loss = (i32::from(value.score.raw()) - i32::from(score.raw())).max(0).unsigned_abs();
                let place = (id.stones(), loss);
                if nearest.len() < TOLD || nearest.last().is_some_and(|(stones, loss, _)| place < (*stones, *loss)) {
                    let at = nearest.partition_point(|(stones, loss, _)| (*stones, *loss) <= place);
                    nearest.insert(at, (place.0, loss, Hole { position: node.position.clone(), at: *m, loss }));
                    nearest.truncate(TOLD);
                }
            }
        }
        grades.holes = nearest.into_iter().map(|(.., hole)| hole).collect();
        Ok(grades)
    }
}

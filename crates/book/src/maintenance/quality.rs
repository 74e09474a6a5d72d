use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use kagetsu_game::{Claim, Game, Move, Position, with_game};

use crate::base::id::Id;
use crate::base::node::Node;
use crate::graph::keys::{POSITION, key};
use crate::maintenance::stats::count;
use crate::{Book, BookError, Derived, Stats};

/// The number of holes in a report.
const MAX_NAMED_HOLES: usize = 10;
/// Positions that a measurement reads at a time.
const STEP: usize = 10_000;

/// The quality of a book.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grades {
    /// The statistics of the book.
    pub stats: Stats,
    /// The quality by stones on the board.
    pub by_stones: BTreeMap<u16, Grade>,
    /// Moves by the engine that searched them.
    pub engines: BTreeMap<String, u64>,
    /// Positions by the first day of their searches, in days since 1970-01-01.
    pub by_day: BTreeMap<u32, u64>,
    /// The holes that are nearest to the start, by stones placed or taken; among equals those that
    /// lose least come first.
    pub holes: Vec<Hole>,
}

/// The quality of the positions with the same number of stones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grade {
    /// The number of positions.
    pub positions: u64,
    /// The sum of the depths of their searches.
    pub depths: u64,
    /// Positions proven won for the side to move.
    pub wins: u64,
    /// Positions proven lost for the side to move.
    pub losses: u64,
    /// Positions proven drawn.
    pub draws: u64,
    /// Positions where a move without a value may be the best.
    pub open: u64,
    /// Moves with a value that lead to no position of the book, in positions without a proven win.
    pub holes: u64,
}

/// A move with a value that leads to no position of the book.
#[derive(Clone, Debug, PartialEq)]
pub struct Hole {
    /// The position: with the moves from a root of the book where a way through the book is found,
    /// else in canonical orientation.
    pub position: Position,
    /// The move.
    pub at: Move,
    /// Centi-units by which it is worse than the position's value.
    pub loss: u32,
}

impl Grade {
    fn count(&mut self, node: &Node, value: &Derived) {
        self.positions += 1;
        self.depths += u64::from(node.facts.best().map_or(0, |(_, v)| v.depth));
        self.open += u64::from(value.is_open);
        match value.proof.map(|proof| proof.claim) {
            Some(Claim::Win) => self.wins += 1,
            Some(Claim::Loss) => self.losses += 1,
            Some(Claim::Draw) => self.draws += 1,
            None => {}
        }
    }

    fn add(&mut self, other: &Self) {
        self.positions += other.positions;
        self.depths += other.depths;
        self.wins += other.wins;
        self.losses += other.losses;
        self.draws += other.draws;
        self.open += other.open;
        self.holes += other.holes;
    }
}

/// A measurement of a book; see [`Book::grade`].
#[derive(Default)]
pub struct Grading {
    grades: Grades,
    /// The holes by distance from the start and by loss.
    nearest: Vec<((u16, u32), Hole)>,
    last: Option<Id>,
}

impl Grading {
    /// Begins behind the place of another measurement. Returns `None` if the text is no place.
    #[must_use]
    pub fn behind(place: &str) -> Option<Self> {
        let id = HEXLOWER.decode(place.as_bytes()).ok()?;
        Some(Self {
            last: Some(Id(id.try_into().ok()?)),
            ..Self::default()
        })
    }

    /// Adds a hole, if it is one of the nearest.
    fn tell(&mut self, place: (u16, u32), hole: impl FnOnce() -> Hole) {
        if self.nearest.len() < MAX_NAMED_HOLES
            || self.nearest.last().is_some_and(|(last, _)| place < *last)
        {
            let at = self.nearest.partition_point(|(known, _)| *known <= place);
            self.nearest.insert(at, (place, hole()));
            self.nearest.truncate(MAX_NAMED_HOLES);
        }
    }

    fn position(
        &mut self,
        id: Id,
        node: &Node,
        value: &Derived,
        mut is_unknown: impl FnMut(Id) -> bool,
    ) {
        count(&mut self.grades.stats, id, node, value);
        let mut grade = Grade::default();
        grade.count(node, value);
        for (_, verdict) in node.facts.verdicts() {
            match self.grades.engines.get_mut(&*verdict.by.engine) {
                Some(moves) => *moves += 1,
                None => drop(self.grades.engines.insert(verdict.by.engine.to_string(), 1)),
            }
        }
        let days = node.facts.verdicts().iter().map(|(_, v)| v.by.day);
        if let Some(day) = days.min() {
            *self.grades.by_day.entry(day).or_default() += 1;
        }
        // A position with a proven win needs no other move.
        let is_won = value.proof.is_some_and(|proof| proof.claim == Claim::Win);
        let variant = node.position.variant();
        let at_start = || with_game!(variant, G => G::start(variant).stones());
        let unknown = node.followed.iter().filter(|(_, child)| is_unknown(*child));
        for (m, _) in unknown.filter(|_| !is_won) {
            grade.holes += 1;
            let score = node
                .facts
                .get(*m)
                .map_or(value.score, |verdict| verdict.score);
            let loss = (i32::from(value.score.raw()) - i32::from(score.raw()))
                .max(0)
                .unsigned_abs();
            let far = id.stones().abs_diff(at_start());
            self.tell((far, loss), || Hole {
                position: node.position.clone(),
                at: *m,
                loss,
            });
        }
        self.grades
            .by_stones
            .entry(id.stones())
            .or_default()
            .add(&grade);
    }
}

impl Book {
    /// Measures the quality of the whole book.
    ///
    /// # Errors
    /// If a record is damaged.
    pub fn grades(&self) -> Result<Grades, BookError> {
        Ok(self.grade(Grading::default(), usize::MAX)?.0)
    }

    /// Measures the next `most` positions. Returns the place of the last one, too, in hex digits,
    /// if there are more.
    ///
    /// # Errors
    /// If a record is damaged.
    pub fn grade(
        &self,
        mut grading: Grading,
        most: usize,
    ) -> Result<(Grades, Option<String>), BookError> {
        let (mut left, mut is_more) = (most, true);
        while is_more && left > 0 {
            is_more = self.grade_some(&mut grading, left.min(STEP))?;
            left -= left.min(STEP);
        }
        let Grading {
            grades,
            nearest,
            last,
        } = grading;
        let mut holes: Vec<Hole> = nearest.into_iter().map(|(_, hole)| hole).collect();
        for hole in &mut holes {
            self.name_hole(hole)?;
        }
        let next = last.filter(|_| is_more).map(|id| HEXLOWER.encode(&id.0));
        Ok((Grades { holes, ..grades }, next))
    }

    /// Gives the position of a hole the moves by which the book comes there.
    fn name_hole(&self, hole: &mut Hole) -> Result<(), BookError> {
        let Some(played) = self.way_to(&hole.position)? else {
            return Ok(());
        };
        // Both moves have the same image in the canonical orientation.
        let image = |position: &Position, m: Move| {
            position.variant().image(m, position.canonical().symmetry)
        };
        let wanted = image(&hole.position, hole.at);
        let legal = played.legal_moves();
        if let Some(m) = legal.into_iter().find(|&m| image(&played, m) == wanted) {
            (hole.position, hole.at) = (played, m);
        }
        Ok(())
    }

    /// Measures the next `most` positions, and adds them to `grading`. Returns whether there are
    /// more.
    fn grade_some(&self, grading: &mut Grading, most: usize) -> Result<bool, BookError> {
        let mut from = key(POSITION, &[]);
        if let Some(last) = grading.last {
            from.extend(last.0);
            from.push(0);
        }
        let mut index = self.index();
        let mut count = 0;
        for id in self.ids_from(&from).take(most) {
            let id = id?;
            let node = index.node(id)?.ok_or(BookError::Entry("a position"))?;
            let value = index.value(id)?.ok_or(BookError::Entry("a value"))?;
            let mut damage = None;
            let is_unknown = |child| match index.reach(child) {
                Ok(reach) => !reach.is_known(),
                Err(error) => {
                    damage = Some(error);
                    false
                }
            };
            grading.position(id, &node, &value, is_unknown);
            if let Some(error) = damage {
                return Err(error);
            }
            grading.last = Some(id);
            count += 1;
        }
        grading.grades.stats.entries = self.marker.applied;
        Ok(count == most)
    }
}

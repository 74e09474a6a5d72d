use std::ops::Range;

use kagetsu_game::Move;
use kagetsu_game::gomoku::Rule;

use super::fours::{Completion, Fours};
use crate::gomoku::board::Board;
use crate::gomoku::patterns::kind::Kind;

/// With fewer fours tried, remembering costs more than searching again.
const MIN_REMEMBERED: u32 = 48;

/// The search for a win by continuous fours (VCF): the attacker makes a four with every move, so the defender has one
/// answer. What it finds is a proof: nothing is assumed of the defender but that he must stop a five, and his own fives
/// and fours are seen.
pub(in crate::gomoku) struct Vcf<'a, R> {
    board: &'a Board<R>,
    budget: &'a mut u32,
    fours: Fours<R>,
    /// Fours tried.
    tried: u32,
    failures: FailureTable,
    /// Where fours can be made, of the nodes on the way from the root, those of the root first.
    ways: Vec<FourMove>,
    /// The winning line, last move first.
    line: Vec<Move>,
}

/// A cell that makes a four, and the point that answers it.
#[derive(Clone, Copy, Debug)]
struct FourMove {
    cell: u16,
    point: u16,
}

impl FourMove {
    /// Instead of the point, where one answer is not enough.
    const MANY: u16 = u16::MAX;
}

/// How the search of one node ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Win,
    /// No win, however many fours there may be.
    Never,
    /// No win with so few fours.
    Short,
    /// The budget is spent.
    Spent,
}

impl<'a, R: Rule> Vcf<'a, R> {
    /// The side to move attacks.
    pub(in crate::gomoku) fn new(board: &'a Board<R>, budget: &'a mut u32) -> Self {
        let fours = Fours::new(board);
        Self {
            board,
            budget,
            fours,
            tried: 0,
            failures: FailureTable::new(),
            ways: Vec::with_capacity(64),
            line: Vec::new(),
        }
    }

    /// The win with the fewest fours, at most `length`, as the whole line; fours tried are taken from the budget.
    pub(in crate::gomoku) fn find(mut self, length: u32) -> Option<Vec<Move>> {
        let (me, other) = (self.board.side(), self.board.side().other());
        if let Some(five) = self.board.one(me, Kind::Five) {
            return Some(vec![Move::new(five as u16)]);
        }
        let must = self.board.one(other, Kind::Five).map(|cell| cell as u16);
        if self.board.count(other, Kind::Five) > 1 || length == 0 {
            return None;
        }
        let cells = self
            .board
            .cells_of(me, |kind| kind.is_four() || kind == Kind::Forbidden);
        let is_won = cells.iter().any(|cell| self.add(cell as u16, must));
        let mut end = if is_won { End::Win } else { End::Short };
        for fours in 2..=length {
            match end {
                End::Short => end = self.attack(0, fours, must),
                End::Win | End::Never | End::Spent => break,
            }
        }
        self.line.reverse();
        (end == End::Win).then_some(self.line)
    }

    /// Adds a cell to the ways, if it makes a four. Whether that ends the game at once, and may be made now: then the line
    /// of the win is written.
    #[inline]
    fn add(&mut self, cell: u16, must: Option<u16>) -> bool {
        match self.fours.completion(cell.into()) {
            Completion::None => false,
            Completion::One(point) => self.add_way(FourMove { cell, point }, must),
            Completion::Two(point, other) => {
                self.ways.push(FourMove {
                    cell,
                    point: FourMove::MANY,
                });
                // The defender's stone on the one leaves the other.
                match self.fours.answer(cell.into(), point.into()) {
                    Some(answer) if answer == point => {
                        self.wins(FourMove { cell, point: other }, point, must)
                    }
                    Some(answer) => self.wins(FourMove { cell, point }, answer, must),
                    None => false,
                }
            }
        }
    }

    /// Adds a four with one answer.
    #[inline]
    fn add_way(&mut self, way: FourMove, must: Option<u16>) -> bool {
        self.ways.push(way);
        let answer = self
            .fours
            .answer(way.cell.into(), way.point.into())
            .filter(|&answer| answer != way.point);
        answer.is_some_and(|answer| self.wins(way, answer, must))
    }

    /// Whether a four may be made that is answered elsewhere than on its point.
    fn wins(&mut self, way: FourMove, answer: u16, must: Option<u16>) -> bool {
        let is_won = must.is_none_or(|must| must == way.cell) && !self.is_forbidden(way.cell);
        if is_won {
            self.line
                .extend([way.point, answer, way.cell].map(Move::new));
        }
        is_won
    }

    fn is_forbidden(&self, cell: u16) -> bool {
        self.fours.is_forbidden(self.board.side(), cell.into())
    }

    /// Searches wins with at most so many fours, at least two, among the ways from `first` on, none of which ends the game
    /// at once; the first must be made on `must`, if that is given.
    fn attack(&mut self, first: usize, fours: u32, must: Option<u16>) -> End {
        let all = first..self.ways.len();
        let mut end = End::Never;
        for at in all.clone() {
            let way = self.ways[at];
            if must.is_some_and(|must| must != way.cell) {
                continue;
            }
            let found = self.attempt(way, fours - 1, all.clone(), must.is_some());
            self.ways.truncate(all.end);
            match found {
                End::Never => {}
                End::Short => end = End::Short,
                End::Win | End::Spent => return found,
            }
        }
        end
    }

    /// Makes a four, has it answered, and searches wins with at most so many more.
    fn attempt(&mut self, way: FourMove, fours: u32, known: Range<usize>, is_forced: bool) -> End {
        let (cell, point) = (usize::from(way.cell), usize::from(way.point));
        if way.point == FourMove::MANY {
            // What wins at once was tried: it is forbidden.
            return End::Never;
        }
        let hash = self.fours.hash_after(cell, point);
        if fours > 1
            && let Some(end) = self.failures.get(hash, fours)
        {
            return end;
        }
        if self.is_forbidden(way.cell) || self.fours.answer(cell, point) != Some(way.point) {
            return End::Never;
        }
        if *self.budget == 0 {
            return End::Spent;
        }
        *self.budget -= 1;
        self.tried += 1;
        self.fours.put(cell, point);
        let end = self.after(way, fours, known, is_forced);
        self.fours.put(cell, point);
        match end {
            End::Win => self.line.extend([way.point, way.cell].map(Move::new)),
            End::Never | End::Short if fours > 1 && self.tried >= MIN_REMEMBERED => {
                self.failures.put(hash, end, fours)
            }
            End::Never | End::Short | End::Spent => {}
        }
        end
    }

    /// A four and its answer are on the board; `known` are the ways before it, and if `is_forced` no other of them was allowed.
    fn after(&mut self, last: FourMove, fours: u32, known: Range<usize>, is_forced: bool) -> End {
        let must = match self.fours.counter(last.point.into()) {
            Completion::None => None,
            Completion::One(point) => Some(point),
            Completion::Two(..) => return End::Never,
        };
        let first = self.ways.len();
        // Only along the lines of the new stone is there more to make than before.
        let beside = self.fours.cells_beside(last.cell.into());
        if beside.iter().any(|&cell| self.add(cell as u16, must)) {
            return End::Win;
        }
        // No way of before can end it now that could not before, but where something is forbidden or was forced.
        if fours == 1 && !R::FORBIDS && !is_forced {
            return End::Short;
        }
        for at in known {
            let way = self.ways[at];
            let is_gone = [way.cell, way.point]
                .iter()
                .any(|&cell| cell == last.cell || cell == last.point);
            if is_gone || beside.contains(&usize::from(way.cell)) {
                continue;
            }
            // What was not allowed before may be now; the answer may be forbidden now; and a stone next to the five may have
            // made an overline of it.
            let may_differ = way.point == FourMove::MANY
                || self.fours.may_spoil(last.cell.into(), way.cell.into());
            let is_won = if may_differ {
                self.add(way.cell, must)
            } else {
                self.add_way(way, must)
            };
            if is_won {
                return End::Win;
            }
        }
        if fours == 1 {
            End::Short
        } else {
            self.attack(first, fours, must)
        }
    }
}

/// Positions that are not won, each with the number of fours of which this is known. A slot holds one of the positions that
/// share it; that two of them are taken for one another is unlikely, and would cost a win but never make one.
struct FailureTable {
    slots: Vec<u64>,
    /// Positions put in since it last grew.
    put: usize,
}

/// Bits of a slot that hold the number of fours; the others are the hash's.
const LENGTH: u64 = 0xff;

/// Slots to begin with, and the most.
const SLOTS: (usize, usize) = (1 << 8, 1 << 18);

impl FailureTable {
    const fn new() -> Self {
        Self {
            slots: Vec::new(),
            put: 0,
        }
    }

    fn get(&self, hash: u64, fours: u32) -> Option<End> {
        let known = *self.slots.get(self.slot(hash))?;
        match known & LENGTH {
            _ if known & !LENGTH != hash & !LENGTH => None,
            LENGTH => Some(End::Never),
            length => (length >= u64::from(fours)).then_some(End::Short),
        }
    }

    fn put(&mut self, hash: u64, end: End, fours: u32) {
        if self.put == self.slots.len() / 2 && self.slots.len() < SLOTS.1 {
            let before = std::mem::take(&mut self.slots);
            self.slots = vec![0; (before.len() * 8).clamp(SLOTS.0, SLOTS.1)];
            self.put = 0;
            for known in before {
                let slot = self.slot(known);
                self.slots[slot] = known;
            }
        }
        let length = if end == End::Never {
            LENGTH
        } else {
            u64::from(fours).min(LENGTH - 1)
        };
        let slot = self.slot(hash);
        self.slots[slot] = hash & !LENGTH | length;
        self.put += 1;
    }

    /// By bits that a slot keeps; the number of slots is a power of two.
    const fn slot(&self, hash: u64) -> usize {
        (hash >> 8) as usize & self.slots.len().wrapping_sub(1)
    }
}

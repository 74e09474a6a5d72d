use std::ops::Range;

use kagetsu_game::Move;
use kagetsu_game::gomoku::Rule;

use super::fours::{Completion, Fours};
use crate::gomoku::board::Board;
use crate::gomoku::patterns::kind::CellKind;

/// Least number of tried fours from which remembering failures pays.
const MIN_REMEMBERED: u32 = 48;

/// The search for a victory by continuous fours (VCF): each move of the attacker makes a four, so
/// the defender has one reply. A win is a proof: it assumes only that the defender must stop a
/// five, and it sees the defender's fives and fours.
pub(in crate::gomoku) struct Vcf<'a, R> {
    board: &'a Board<R>,
    budget: &'a mut u32,
    fours: Fours<R>,
    /// Fours tried.
    tried: u32,
    failures: FailureTable,
    /// Possible fours of the nodes on the current path, those of the root first.
    ways: Vec<FourMove>,
    /// The winning line, last move first.
    line: Vec<Move>,
    /// Whether each four lies near the one before.
    is_local: bool,
}

/// Most fours of a line in a local search.
const MAX_LOCAL_FOURS: u32 = 40;

/// Most fours tried after another one in a local search.
const LOCAL_WIDTH: usize = 2;

/// A cell that makes a four, and the cell of its reply.
#[derive(Clone, Copy, Debug)]
struct FourMove {
    cell: u16,
    point: u16,
}

impl FourMove {
    /// Stands for the point where one reply is not enough.
    const MANY: u16 = u16::MAX;
}

/// The result of searching a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VcfEnd {
    Win,
    /// No win with any number of fours.
    Never,
    /// No win with the allowed number of fours.
    Short,
    /// The budget is spent.
    Spent,
}

impl<'a, R: Rule> Vcf<'a, R> {
    /// Returns a search with the side to move as attacker.
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
            is_local: false,
        }
    }

    /// Returns the win with the fewest fours, at most `length`, as the whole line. Takes the tried
    /// fours from the budget.
    pub(in crate::gomoku) fn find(mut self, length: u32) -> Option<Vec<Move>> {
        let (me, other) = (self.board.side(), self.board.side().other());
        if let Some(five) = self.board.one(me, CellKind::Five) {
            return Some(vec![Move::new(five as u16)]);
        }
        let must = self
            .board
            .one(other, CellKind::Five)
            .map(|cell| cell as u16);
        if self.board.count(other, CellKind::Five) > 1 || length == 0 {
            return None;
        }
        let cells = self
            .board
            .cells_of(me, |kind| kind.is_four() || kind == CellKind::Forbidden);
        let is_won = cells.iter().any(|cell| self.add(cell as u16, must));
        let mut end = if is_won { VcfEnd::Win } else { VcfEnd::Short };
        let first = if self.is_local { length } else { 2 };
        for fours in first..=length {
            match end {
                VcfEnd::Short => end = self.attack(0, fours, must),
                VcfEnd::Win | VcfEnd::Never | VcfEnd::Spent => break,
            }
        }
        self.line.reverse();
        (end == VcfEnd::Win).then_some(self.line)
    }

    /// Returns a win whose fours after the first each lie near the four before, at most
    /// [`LOCAL_WIDTH`] of them tried after each four, as the whole line. It need not be the
    /// shortest. Takes the tried fours from the budget.
    pub(in crate::gomoku) fn find_local(mut self) -> Option<Vec<Move>> {
        self.is_local = true;
        self.find(MAX_LOCAL_FOURS)
    }

    /// Adds a cell if it makes a four. Returns whether that four may be made and wins at once; the
    /// line is then complete.
    #[inline]
    fn add(&mut self, cell: u16, must: Option<u16>) -> bool {
        let mut completion = self.fours.completion(cell.into());
        if R::CLOSES
            && let Completion::One(point) = completion
        {
            // A five that one more stone could close may stay beside the point.
            self.fours.put(cell.into(), point.into());
            let left = self.fours.fives(self.board.side(), cell.into());
            if let Completion::One(five) | Completion::Two(five, _) = left {
                completion = Completion::Two(point, five);
            }
            self.fours.put(cell.into(), point.into());
        }
        match completion {
            Completion::None => false,
            Completion::One(point) => self.add_way(FourMove { cell, point }, must),
            Completion::Two(point, other) => {
                self.ways.push(FourMove {
                    cell,
                    point: FourMove::MANY,
                });
                // The defender stops one completion; the other remains.
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

    /// Adds a four with one reply.
    #[inline]
    fn add_way(&mut self, way: FourMove, must: Option<u16>) -> bool {
        self.ways.push(way);
        let answer = self
            .fours
            .answer(way.cell.into(), way.point.into())
            .filter(|&answer| answer != way.point);
        answer.is_some_and(|answer| self.wins(way, answer, must))
    }

    /// Whether a four whose completion point the defender does not take may be made. The line is
    /// then complete.
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

    /// Searches wins with at most `fours` fours, at least two, among the fours from `first` on,
    /// none of which wins at once. The first four must be on `must`, if given.
    fn attack(&mut self, first: usize, fours: u32, must: Option<u16>) -> VcfEnd {
        let all = first..self.ways.len();
        let mut end = VcfEnd::Never;
        let mut tried = 0;
        for at in all.clone() {
            let way = self.ways[at];
            if self.is_local && first > 0 && tried >= LOCAL_WIDTH {
                return VcfEnd::Short;
            }
            if must.is_some_and(|must| must != way.cell) {
                continue;
            }
            tried += 1;
            let found = self.attempt(way, fours - 1, all.clone(), must.is_some());
            self.ways.truncate(all.end);
            match found {
                VcfEnd::Never => {}
                VcfEnd::Short => end = VcfEnd::Short,
                VcfEnd::Win | VcfEnd::Spent => return found,
            }
        }
        end
    }

    /// Plays a four and its reply, and searches wins with at most `fours` more.
    fn attempt(
        &mut self,
        way: FourMove,
        fours: u32,
        known: Range<usize>,
        is_forced: bool,
    ) -> VcfEnd {
        let (cell, point) = (usize::from(way.cell), usize::from(way.point));
        if way.point == FourMove::MANY {
            // Winning fours were tried before, so this one is forbidden.
            return VcfEnd::Never;
        }
        let hash = self.fours.hash_after(cell, point);
        if fours > 1
            && let Some(end) = self.failures.get(hash, fours)
        {
            return end;
        }
        if self.is_forbidden(way.cell) || self.fours.answer(cell, point) != Some(way.point) {
            return VcfEnd::Never;
        }
        if *self.budget == 0 {
            return VcfEnd::Spent;
        }
        *self.budget -= 1;
        self.tried += 1;
        self.fours.put(cell, point);
        let end = self.after(way, fours, known, is_forced);
        self.fours.put(cell, point);
        match end {
            VcfEnd::Win => self.line.extend([way.point, way.cell].map(Move::new)),
            VcfEnd::Never | VcfEnd::Short if fours > 1 && self.tried >= MIN_REMEMBERED => {
                self.failures.put(hash, end, fours)
            }
            VcfEnd::Never | VcfEnd::Short | VcfEnd::Spent => {}
        }
        end
    }

    /// Searches after a four and its reply. `known` are the fours before it; if `is_forced`, only
    /// one of them was allowed.
    fn after(
        &mut self,
        last: FourMove,
        fours: u32,
        known: Range<usize>,
        is_forced: bool,
    ) -> VcfEnd {
        let defender = self.board.side().other();
        let must = match self.fours.fives(defender, last.point.into()) {
            Completion::None => None,
            Completion::One(point) => Some(point),
            Completion::Two(..) => return VcfEnd::Never,
        };
        let first = self.ways.len();
        // New fours arise only on the lines of the new stone.
        let beside = self.fours.cells_beside(last.cell.into());
        if beside.iter().any(|&cell| self.add(cell as u16, must)) {
            return VcfEnd::Win;
        }
        // An earlier four wins now only if it was forbidden or not allowed before.
        if fours == 1 && !R::FORBIDS && !is_forced {
            return VcfEnd::Short;
        }
        for at in known {
            let way = self.ways[at];
            let is_gone = [way.cell, way.point]
                .iter()
                .any(|&cell| cell == last.cell || cell == last.point);
            if is_gone || beside.contains(&usize::from(way.cell)) {
                continue;
            }
            if self.is_local && !self.fours.is_near(last.cell, way.cell) {
                continue;
            }
            // The four may be allowed now, its reply may be forbidden now, and its five may have
            // become an overline.
            let may_differ = way.point == FourMove::MANY
                || self.fours.may_spoil(last.cell.into(), way.cell.into());
            let is_won = if may_differ {
                self.add(way.cell, must)
            } else {
                self.add_way(way, must)
            };
            if is_won {
                return VcfEnd::Win;
            }
        }
        if fours == 1 {
            VcfEnd::Short
        } else {
            self.attack(first, fours, must)
        }
    }
}

/// Positions without a win, each with the number of fours for which that is known. Positions share
/// slots. A hash collision is unlikely and could hide a win but never make one.
struct FailureTable {
    slots: Vec<u64>,
    /// Positions added since the last growth.
    put: usize,
}

/// Bits of a slot that hold the number of fours; the other bits hold the hash.
const LENGTH: u64 = 0xff;

/// Initial and greatest number of slots.
const SLOTS: (usize, usize) = (1 << 8, 1 << 18);

impl FailureTable {
    const fn new() -> Self {
        Self {
            slots: Vec::new(),
            put: 0,
        }
    }

    fn get(&self, hash: u64, fours: u32) -> Option<VcfEnd> {
        let known = *self.slots.get(self.slot(hash))?;
        match known & LENGTH {
            _ if known & !LENGTH != hash & !LENGTH => None,
            LENGTH => Some(VcfEnd::Never),
            length => (length >= u64::from(fours)).then_some(VcfEnd::Short),
        }
    }

    fn put(&mut self, hash: u64, end: VcfEnd, fours: u32) {
        if self.put == self.slots.len() / 2 && self.slots.len() < SLOTS.1 {
            let before = std::mem::take(&mut self.slots);
            self.slots = vec![0; (before.len() * 8).clamp(SLOTS.0, SLOTS.1)];
            self.put = 0;
            for known in before {
                let slot = self.slot(known);
                self.slots[slot] = known;
            }
        }
        let length = if end == VcfEnd::Never {
            LENGTH
        } else {
            u64::from(fours).min(LENGTH - 1)
        };
        let slot = self.slot(hash);
        self.slots[slot] = hash & !LENGTH | length;
        self.put += 1;
    }

    /// Uses bits that the slot stores, too. The number of slots is a power of two.
    const fn slot(&self, hash: u64) -> usize {
        (hash >> 8) as usize & self.slots.len().wrapping_sub(1)
    }
}

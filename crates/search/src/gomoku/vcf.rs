use std::collections::HashSet;

use kagetsu_game::Move;
use kagetsu_game::gomoku::Rule;

use super::board::Board;
use super::kind::Kind;
use crate::heuristics::Heuristics;

/// With fewer fours left to try, remembering costs more than searching again.
const FEW: u32 = 64;

/// The search for a win by continuous fours: the attacker makes a four with every move, so the defender has one answer.
/// What it finds is a proof: nothing is assumed of the defender but that he must stop a five, and his own fives and fours
/// are seen.
pub(super) struct Vcf<'a, R> {
    board: &'a mut Board<R>,
    budget: &'a mut u32,
    /// Positions without a win of the length searched.
    barren: HashSet<(u64, u32)>,
    /// Whether a four was left untried for want of length.
    is_cut: bool,
}

impl<'a, R: Rule> Vcf<'a, R> {
    pub(super) fn new(board: &'a mut Board<R>, budget: &'a mut u32) -> Self {
        Self { board, budget, barren: HashSet::new(), is_cut: false }
    }

    /// The win with the fewest fours, at most `length`, as the whole line; fours tried are taken from the budget.
    pub(super) fn find(mut self, length: u32) -> Option<Vec<Move>> {
        for fours in 1..=length {
            self.is_cut = false;
            if let Some(mut line) = self.attack(fours) {
                line.reverse();
                return Some(line);
            }
            // A longer search would be the same.
            if !self.is_cut || *self.budget == 0 {
                return None;
            }
        }
        None
    }

    /// The line, last move first.
    fn attack(&mut self, fours: u32) -> Option<Vec<Move>> {
        let (me, other) = (self.board.side(), self.board.side().other());
        if self.board.count(me, Kind::Five) > 0 {
            return self.board.cells_of(me, |kind| kind == Kind::Five).first().map(|cell| vec![Move::new(cell as u16)]);
        }
        let threats = self.board.count(other, Kind::Five);
        if threats > 1 {
            return None;
        }
        if self.barren.contains(&(self.board.hash(), fours)) {
            self.is_cut = true;
            return None;
        }
        // The last four must leave two completion points, or one that is forbidden to the defender.
        let is_last = fours == 1 && !self.board.is_judged(other);
        self.is_cut |= is_last && self.board.count(me, Kind::Four) + self.board.count(me, Kind::FourThree) > 0;
        let cells = self.board.cells_of(me, |kind| if is_last { kind == Kind::Winning } else { kind.is_four() });
        let mut cells: Vec<usize> = cells.iter().collect();
        if threats == 1 {
            let stop = self.board.cells_of(other, |kind| kind == Kind::Five);
            cells.retain(|&cell| stop.contains(cell));
        }
        // What wins at once comes first.
        cells.sort_by_key(|&cell| std::cmp::Reverse(self.board.kind(me, cell)));
        for cell in cells {
            if self.board.is_forbidden(me, cell) {
                continue;
            }
            if *self.budget == 0 {
                return None;
            }
            *self.budget -= 1;
            if let Some(line) = self.four(cell, fours) {
                return Some(line);
            }
        }
        if *self.budget > FEW {
            self.barren.insert((self.board.hash(), fours));
        }
        None
    }

    /// Makes a four and has it answered.
    fn four(&mut self, cell: usize, fours: u32) -> Option<Vec<Move>> {
        let (me, m) = (self.board.side(), Move::new(cell as u16));
        self.board.play_cell(cell);
        let line = if self.board.count(me.other(), Kind::Five) > 0 {
            // The defender wins first.
            None
        } else {
            let points = self.board.cells_of(me, |kind| kind == Kind::Five);
            points.first().and_then(|point| {
                if self.board.is_forbidden(me.other(), point) {
                    return self.caught(point).map(|answer| vec![Move::new(point as u16), answer, m]);
                }
                let answer = Move::new(point as u16);
                if fours == 1 && points.iter().nth(1).is_none() {
                    self.is_cut = true;
                    return None;
                }
                self.board.play_cell(point);
                let rest = if points.iter().nth(1).is_some() { self.attack(1) } else { self.attack(fours - 1) };
                self.board.undo_cell();
                rest.map(|mut line| {
                    line.extend([answer, m]);
                    line
                })
            })
        };
        self.board.undo_cell();
        line
    }

    /// Some legal move of a defender who may not play on the point that stops the five.
    fn caught(&self, point: usize) -> Option<Move> {
        let me = self.board.side();
        let legal = self.board.empty().iter().find(|&cell| cell != point && !self.board.is_forbidden(me, cell));
        legal.map(|cell| Move::new(cell as u16))
    }
}

//! The opponent's threat to win by continuous fours, and the moves that do not meet it.

use kagetsu_game::gomoku::Rule;
use kagetsu_game::{Move, zobrist};

use super::Board;
use crate::gomoku::cells::Cells;
use crate::gomoku::patterns::kind::CellKind;
use crate::gomoku::patterns::shape::CENTRE;
use crate::gomoku::places::empty;
use crate::gomoku::threats::vcf::Vcf;

impl<R: Rule> Board<R> {
    /// Returns the VCF that the opponent would have if it were to move, trying at most `budget`
    /// fours.
    pub(in crate::gomoku) fn find_threat(&mut self, budget: &mut u32) -> Option<Vec<Move>> {
        if !self.may_threaten() {
            return None;
        }
        self.pass();
        let length = *budget;
        let line = Vcf::new(self, budget).find(length);
        self.pass();
        line
    }

    /// Whether the opponent has fours enough to win by them.
    pub(in crate::gomoku) fn may_threaten(&self) -> bool {
        let other = self.side.other();
        self.count(other, CellKind::FourThree) + self.count(other, CellKind::Winning) > 0
            || self.fours(other) > 1
    }

    /// Returns the legal moves after which the opponent's VCF may fail. Every other move loses in
    /// one ply more than the line has.
    pub(in crate::gomoku) fn replies_to(&mut self, line: &[Move]) -> Cells {
        let near = self.touching(line).and(&self.empty);
        let legal: Cells = near
            .iter()
            .filter(|&cell| !self.is_forbidden(self.side, cell))
            .collect();
        legal
            .iter()
            .filter(|&cell| !self.still_wins(Move::new(cell as u16), line))
            .collect()
    }

    /// Returns the cells where a stone could change the outcome of the opponent's VCF:
    /// - the cells of the line, and the completion points of its last four, where a stone beside
    ///   them may close a five;
    /// - cells that make a four, alone or together with a reply of the line;
    /// - all cells, where a forbidden point decides the line.
    fn touching(&mut self, line: &[Move]) -> Cells {
        let mut cells = self.cells_of(self.side, CellKind::is_four);
        for (at, m) in line.iter().enumerate() {
            let here = [m.index()].into_iter().collect();
            cells.add(&here, self.geometry.words());
            if at % 2 == 1 {
                cells.add(&self.beside(m.index()), self.geometry.words());
            }
        }
        self.pass();
        let (me, mut played, mut is_judged) = (self.side, 0, false);
        for m in &line[..line.len().saturating_sub(2)] {
            is_judged |= self.side == me && self.kind(me, m.index()) == CellKind::Tangle;
            self.play_cell(m.index());
            played += 1;
        }
        let points = self.cells_of(me, |kind| kind == CellKind::Five);
        is_judged |= points.iter().nth(1).is_none();
        (0..played).for_each(|_| self.undo_cell());
        self.pass();
        if is_judged {
            return self.empty;
        }
        cells.add(&points, self.geometry.words());
        for point in points.iter().filter(|_| R::CLOSES) {
            cells.add(&self.beside(point), self.geometry.words());
        }
        cells
    }

    /// Empty cells within a row of five of a cell.
    fn beside(&self, cell: usize) -> Cells {
        let lines = self.geometry.places[cell]
            .into_iter()
            .zip(self.geometry.strides);
        lines
            .flat_map(|(at, stride)| {
                let window = empty(self.lines[usize::from(at.line)].window(at.place.into()));
                let steps =
                    (0..=2 * CENTRE as isize).filter(move |&step| window >> (2 * step) & 1 != 0);
                steps.map(move |step| (cell as isize + (step - CENTRE as isize) * stride) as usize)
            })
            .collect()
    }

    /// Whether the opponent's VCF still wins after a move: each four of it can be made, has the
    /// same only reply, and no reply makes a five, or a four that the next move does not stop.
    ///
    /// The move then loses in one ply more than the line has. Nothing else is assumed of the side
    /// that plays it.
    pub(in crate::gomoku) fn still_wins(&mut self, m: Move, line: &[Move]) -> bool {
        self.play_cell(m.index());
        let wins = self.follow(line);
        self.undo_cell();
        wins
    }

    fn follow(&mut self, line: &[Move]) -> bool {
        let (me, other) = (self.side, self.side.other());
        if self.count(me, CellKind::Five) > 0 {
            return true;
        }
        let &[four, answer, ref rest @ ..] = line else {
            return false;
        };
        let four = four.index();
        let must_stop = self.count(other, CellKind::Five) > 0;
        let can_play = self.empty.contains(four)
            && self.kind(me, four).is_four()
            && !self.is_forbidden(me, four);
        if !can_play || must_stop && !self.stops(other).contains(four) {
            return false;
        }
        self.play_cell(four);
        let stops = self.stops(me);
        let mut stops = stops.iter().filter(|&stop| !self.is_forbidden(other, stop));
        let stops = (stops.next(), stops.next());
        let wins = self.count(other, CellKind::Five) == 0
            && self.count(me, CellKind::Five) > 0
            && match stops {
                (None, _) => true,
                (Some(stop), None) if stop == answer.index() => {
                    self.play_cell(stop);
                    let wins = self.follow(rest);
                    self.undo_cell();
                    wins
                }
                _ => false,
            };
        self.undo_cell();
        wins
    }

    /// Passes, or takes a pass back.
    pub(in crate::gomoku) fn pass(&mut self) {
        self.side = self.side.other();
        self.hash ^= zobrist::SECOND_TO_MOVE as u64;
    }
}

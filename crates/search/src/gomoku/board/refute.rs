//! What the opponent threatens to do by continuous fours, and which moves do nothing against it.

use kagetsu_game::gomoku::Rule;
use kagetsu_game::{Move, zobrist};

use super::super::kind::Kind;
use super::super::vcf::Vcf;
use super::Board;

impl<R: Rule> Board<R> {
    /// How the opponent would win by fours if it were his move, trying at most `budget` of them.
    pub(super) fn find_threat(&mut self, budget: &mut u32) -> Option<Vec<Move>> {
        let other = self.side.other();
        let fours = [Kind::Tangle, Kind::Four, Kind::FourThree].map(|kind| self.count(other, kind));
        if self.count(other, Kind::FourThree) == 0 && fours.iter().sum::<u16>() < 2 {
            return None;
        }
        self.pass();
        let length = *budget;
        let line = Vcf::new(self, budget).find(length);
        self.pass();
        line
    }

    /// Whether the opponent's line of fours still wins after a move: every four of it can be made, has no other answer than
    /// before, and none of the answers makes a five or a four that the next move does not stop.
    ///
    /// Then the move loses in one ply more than the line has: nothing else is assumed of the mover.
    pub(super) fn still_wins(&mut self, m: Move, line: &[Move]) -> bool {
        self.play_cell(m.index());
        let wins = self.follow(line);
        self.undo_cell();
        wins
    }

    fn follow(&mut self, line: &[Move]) -> bool {
        let (me, other) = (self.side, self.side.other());
        if self.count(me, Kind::Five) > 0 {
            return true;
        }
        let &[four, answer, ref rest @ ..] = line else { return false };
        let four = four.index();
        let must_stop = match self.count(other, Kind::Five) {
            0 => false,
            1 => true,
            _ => return false,
        };
        let can_play = self.empty.contains(four) && self.kind(me, four).is_four() && !self.is_forbidden(me, four);
        if !can_play || must_stop && self.kind(other, four) != Kind::Five {
            return false;
        }
        self.play_cell(four);
        let points = self.cells_of(me, |kind| kind == Kind::Five);
        let wins = self.count(other, Kind::Five) == 0
            && points.first().is_some_and(|point| {
                let is_only = points.iter().nth(1).is_none();
                if !is_only || self.is_forbidden(other, point) {
                    return true;
                }
                if point != answer.index() {
                    return false;
                }
                self.play_cell(point);
                let wins = self.follow(rest);
                self.undo_cell();
                wins
            });
        self.undo_cell();
        wins
    }

    /// Lets the other side move, or takes that back.
    fn pass(&mut self) {
        self.side = self.side.other();
        self.hash ^= zobrist::SECOND_TO_MOVE as u64;
    }
}

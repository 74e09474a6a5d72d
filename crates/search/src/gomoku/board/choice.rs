//! Which cells of a board are to be searched, and in what order.

use kagetsu_game::gomoku::Rule;
use kagetsu_game::{Move, Side};

use super::super::kind::Kind;
use super::super::places::{places, strides};
use super::super::shape::{CENTRE, completions};
use super::Board;
use crate::EngineOptions;

impl<R: Rule> Board<R> {
    pub(super) fn moves_of(&self, side: Side, wanted: impl Fn(Kind) -> bool) -> Vec<Move> {
        self.cells_of(side, wanted).into_iter().map(|cell| Move::new(cell as u16)).collect()
    }

    /// The moves against an opponent who can make two completion points: those that answer each of his ways to do it, and
    /// every four of one's own.
    pub(super) fn answers(&self) -> Vec<Move> {
        let (me, other) = (self.side, self.side.other());
        let mut common: Option<Vec<usize>> = None;
        for threat in self.cells_of(other, |kind| kind == Kind::Winning) {
            let mut answers = self.completions(other, threat);
            answers.push(threat);
            common = Some(match common {
                None => answers,
                Some(common) => common.into_iter().filter(|cell| answers.contains(cell)).collect(),
            });
        }
        let mut cells = common.unwrap_or_default();
        cells.extend(self.cells_of(me, Kind::is_four));
        cells.sort_unstable();
        cells.dedup();
        cells.sort_by_key(|&cell| (-self.worth(cell), cell));
        cells.into_iter().map(|cell| Move::new(cell as u16)).collect()
    }

    /// Worth of a stone on an empty cell, for whoever moves: what it makes, and what it takes from the opponent.
    fn worth(&self, cell: usize) -> i32 {
        let value = |side: Side| self.weights.values[usize::from(self.crosses[side.index()][cell])];
        let urgency = |side: Side| (self.kind(side, cell) as i32) * 2_000;
        let (me, other) = (self.side, self.side.other());
        2 * value(me) + value(other) * self.weights.defence / 100 + 2 * urgency(me) + urgency(other)
    }

    /// The cells worth a thought, best first.
    pub(super) fn candidates(&self) -> Vec<Move> {
        let mut moves: Vec<(i32, usize)> = Vec::new();
        for cell in (0..self.cells()).filter(|&cell| self.is_empty[cell] && self.near[cell] > 0) {
            moves.push((-self.worth(cell), cell));
        }
        moves.sort_unstable();
        moves.truncate(self.most);
        if moves.is_empty() {
            return self.central();
        }
        moves.into_iter().map(|(_, cell)| Move::new(cell as u16)).collect()
    }

    /// Where there is nothing to be near to: the empty cells nearest to the centre.
    fn central(&self) -> Vec<Move> {
        let middle = self.size as isize - 1;
        let distance = |cell: usize| {
            let (x, y) = ((cell % self.size) as isize, (cell / self.size) as isize);
            (2 * x - middle).abs().max((2 * y - middle).abs())
        };
        let mut cells: Vec<usize> = (0..self.cells()).filter(|&cell| self.is_empty[cell]).collect();
        cells.sort_by_key(|&cell| (distance(cell), cell));
        cells.truncate(self.most);
        cells.into_iter().map(|cell| Move::new(cell as u16)).collect()
    }

    /// The cells that complete five together with a stone of `side` on `cell`.
    fn completions(&self, side: Side, cell: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let (x, y) = (cell % self.size, cell / self.size);
        for ((line, place), stride) in places(x, y).into_iter().zip(strides(self.size)) {
            let own = self.stones[side.index()][line] >> place;
            let free = self.empty[line] >> place & !(1 << CENTRE);
            for at in completions::<R>(own & !(1 << CENTRE), free) {
                found.push((cell as isize + (at as isize - CENTRE as isize) * stride) as usize);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The cells near each cell of the board, by its number.
pub(super) fn neighbours(size: usize, options: &EngineOptions) -> Vec<Vec<u16>> {
    let offsets = options.neighbourhood.offsets();
    let on_board = |at: isize| (0..size as isize).contains(&at);
    let near = |cell: usize| {
        let (x, y) = ((cell % size) as isize, (cell / size) as isize);
        let all = offsets.iter().map(|&(dx, dy)| (x + isize::from(dx), y + isize::from(dy)));
        let all = all.filter(|&(x, y)| on_board(x) && on_board(y));
        all.map(|(x, y)| (y * size as isize + x) as u16).collect()
    };
    (0..size * size).map(near).collect()
}

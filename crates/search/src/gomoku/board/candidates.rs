//! Candidate moves and their order.

use arrayvec::ArrayVec;
use kagetsu_game::Move;
use kagetsu_game::Side;
use kagetsu_game::gomoku::Rule;

use super::{Board, ROOM, half, spread};
use crate::gomoku::cells::Cells;
use crate::gomoku::patterns::kind::CellKind;
use crate::gomoku::patterns::network::Hidden;
use crate::gomoku::patterns::order::MoveOrder;
use crate::gomoku::patterns::shape::{CENTRE, completions};
use crate::heuristics::Moves;

/// Worth of one rank of a threat in the move order, in the units of promises. It is small, so that
/// a four without a use comes after a good open three, and is left out where moves are many.
const RANK_WORTH: i32 = 10;

impl<R: Rule> Board<R> {
    /// Lists the points that stop all fives.
    pub(super) fn list_stop(&self, moves: &mut Moves) {
        moves.complete = true;
        self.list(self.stops(self.side.other()).iter(), moves);
    }

    /// Lists the moves against an opponent who can make two completion points.
    pub(super) fn list_answers(&self, moves: &mut Moves) {
        moves.complete = true;
        self.list(self.defences().iter(), moves);
    }

    /// Returns the cells that meet each of the opponent's ways to make two completion points, and
    /// every four of the side to move. Some may be forbidden.
    pub(in crate::gomoku) fn defences(&self) -> Cells {
        let (me, other) = (self.side, self.side.other());
        let mut common: Option<Cells> = None;
        for threat in self
            .cells_of(other, |kind| kind == CellKind::Winning)
            .iter()
        {
            let answers = self.answers(other, threat);
            common = Some(common.map_or(answers, |common| common.and(&answers)));
        }
        let mut cells = common.unwrap_or_default();
        cells.add(&self.cells_of(me, CellKind::is_four), self.geometry.words());
        cells
    }

    /// Returns the cells where a stone of the opponent leaves no two completion points, or no five,
    /// of a stone of `side` on `cell`.
    pub(in crate::gomoku) fn answers(&self, side: Side, cell: usize) -> Cells {
        let mut answers: Cells = [cell].into_iter().collect();
        let kind = self.kind(side, cell);
        if !R::CLOSES {
            if kind != CellKind::Five {
                self.completions(side, cell)
                    .into_iter()
                    .for_each(|point| answers.insert(point));
            }
            return answers;
        }
        let stone = side.other().index() as u32 + 1;
        for (direction, at) in self.geometry.places[cell].into_iter().enumerate() {
            let window = self.lines[usize::from(at.line)].window(at.place.into());
            let others = self.crosses[cell % ROOM] & !(0x000f_000f << (4 * direction));
            let places = (0..=2 * CENTRE).filter(|&place| {
                let made = self.shapes.get::<R>(window | stone << (2 * place));
                let after = half(others | spread(made) << (4 * direction), side.index());
                window >> (2 * place) & 3 == 0
                    && self.weights[side.index()].grades[usize::from(after)].kind() < kind
            });
            for place in places {
                let steps = place as isize - CENTRE as isize;
                answers.insert((cell as isize + steps * self.geometry.strides[direction]) as usize);
            }
        }
        answers
    }

    /// Returns the cells where a stone of the opponent stops all fives of `side`, which has one to
    /// make.
    pub(in crate::gomoku) fn stops(&self, side: Side) -> Cells {
        let fives = self.cells_of(side, |kind| kind == CellKind::Five);
        let answers = fives.iter().map(|five| self.answers(side, five));
        answers
            .reduce(|common, answers| common.and(&answers))
            .unwrap_or_default()
    }

    /// Returns the moves that meet every four-three of the opponent, and every four of the side to
    /// move, if the opponent threatens to win by a four-three.
    pub(super) fn answers_to_four_three(&mut self) -> Option<Moves> {
        let other = self.side.other();
        // A four that can be closed has more answers.
        if self.count(other, CellKind::FourThree) == 0 || R::CLOSES {
            return None;
        }
        let mut common: Option<Cells> = None;
        for four in self
            .cells_of(other, |kind| kind == CellKind::FourThree)
            .iter()
        {
            if let Some(answers) = self.answers_to(four) {
                common = Some(common.map_or(answers, |common| common.and(&answers)));
            }
        }
        let mut cells = common?;
        cells.add(
            &self.cells_of(self.side, CellKind::is_four),
            self.geometry.words(),
        );
        let mut moves = Moves::new(false);
        self.list(cells.iter(), &mut moves);
        Some(moves)
    }

    /// Returns the cells that meet the opponent's four-three on `four`: that cell, the completion
    /// point, and the cells that keep the three from becoming two completion points. `None` if the
    /// four-three does not win.
    fn answers_to(&mut self, four: usize) -> Option<Cells> {
        let (me, other) = (self.side, self.side.other());
        if self.is_forbidden(other, four) {
            return None;
        }
        let point = *self.completions(other, four).first()?;
        self.pass();
        self.play_cell(four);
        self.play_cell(point);
        let mut common: Option<Cells> = None;
        if self.count(me, CellKind::Five) == 0 {
            for threat in self
                .cells_of(other, |kind| kind == CellKind::Winning)
                .iter()
            {
                let mut answers = self.answers(other, threat);
                [four, point]
                    .into_iter()
                    .for_each(|cell| answers.insert(cell));
                common = Some(common.map_or(answers, |common| common.and(&answers)));
            }
        }
        self.undo_cell();
        self.undo_cell();
        self.pass();
        common
    }

    /// Returns the moves outside `searched` after which the opponent's VCF may fail.
    pub(super) fn list_replies(&mut self, line: &[Move], searched: &[Move]) -> Moves {
        let cells = self.replies_to(line);
        let searched: Cells = searched.iter().map(|m| m.index()).collect();
        let mut moves = Moves::new(true);
        self.list(
            cells.iter().filter(|&cell| !searched.contains(cell)),
            &mut moves,
        );
        moves
    }

    /// Lists the candidate moves where nothing forces.
    pub(super) fn list_candidates(&self, moves: &mut Moves) {
        let near = if self.most == usize::MAX {
            self.empty
        } else {
            self.near.and(&self.empty)
        };
        self.list(near.iter(), moves);
        let is_all = if moves.is_empty() {
            self.list_by_distance(moves);
            true
        } else {
            near == self.empty
        };
        moves.complete = is_all && moves.len() <= self.most;
        moves.limit(self.most);
    }

    /// Adds the legal moves among empty cells, each with its worth.
    fn list(&self, cells: impl Iterator<Item = usize>, moves: &mut Moves) {
        let cells = cells.filter(|&cell| !self.is_forbidden(self.side, cell));
        let mut add = |cell, worth| moves.push(worth, Move::new(cell as u16));
        match self.orders.zip(self.units()) {
            Some((orders, units)) => {
                let order = orders[self.side.index()];
                cells.for_each(|cell| add(cell, self.learned_worth(order, &units, cell)));
            }
            None => cells.for_each(|cell| add(cell, self.worth(cell))),
        }
    }

    /// Returns the worth of a move to the cell in the learned order.
    #[inline]
    fn learned_worth(&self, order: &MoveOrder, units: &Hidden, cell: usize) -> i32 {
        let grades = self.grades[cell % ROOM];
        let of = |side: Side| grades[side.index()].class();
        order.worth(of(self.side), of(self.side.other()), units)
    }

    /// Returns the worth of a move to the cell: the shapes that it makes, and those that it takes
    /// from the opponent.
    #[inline]
    fn worth(&self, cell: usize) -> i32 {
        let grades = self.grades[cell];
        let (me, other) = (self.side.index(), self.side.other().index());
        let promise = |side: usize| self.weights[side].promise(grades[side]);
        2 * (promise(me) + RANK_WORTH * grades[me].kind().rank())
            + promise(other)
            + RANK_WORTH * grades[other].kind().rank()
    }

    /// Adds the empty cells by their distance to the centre, for boards without stones nearby.
    fn list_by_distance(&self, moves: &mut Moves) {
        let (size, middle) = (self.geometry.size, self.geometry.size as isize - 1);
        let distance = |cell: usize| {
            let (x, y) = ((cell % size) as isize, (cell / size) as isize);
            (2 * x - middle).abs().max((2 * y - middle).abs())
        };
        for cell in self
            .empty
            .iter()
            .filter(|&cell| !self.is_forbidden(self.side, cell))
        {
            moves.push(-distance(cell) as i32, Move::new(cell as u16));
        }
    }

    /// The cells that complete five together with a stone of `side` on `cell`.
    pub(in crate::gomoku) fn completions(&self, side: Side, cell: usize) -> ArrayVec<usize, 40> {
        let mut found = ArrayVec::new();
        for (at, stride) in self.geometry.places[cell]
            .into_iter()
            .zip(self.geometry.strides)
        {
            let window = self.lines[usize::from(at.line)].window(at.place.into());
            for place in completions::<R>(side, window) {
                found.push((cell as isize + (place as isize - CENTRE as isize) * stride) as usize);
            }
        }
        found
    }
}

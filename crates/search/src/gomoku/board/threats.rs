//! What the search for continuous threats asks of the board.

use kagetsu_game::Side;
use kagetsu_game::gomoku::{Lines, Rule};

use super::super::cells::Cells;
use super::super::kind::Kind;
use super::super::places::{Geometry, Line};
use super::super::shape::Shape;
use super::{Board, NUMBERS, ROOM, half};

impl<R: Rule> Board<R> {
    /// Empty cells that may make a four or an open three of `side`, or both; those that win at once are among them.
    pub(in super::super) fn threats(&self, side: Side) -> Cells {
        self.cells_of(side, |kind| {
            !matches!(kind, Kind::Quiet | Kind::Forbidden | Kind::Five)
        })
    }

    /// Empty cells that make neither a four nor an open three of `side`, but on some line a sleeping three (`XOOO__`), or a two
    /// if so little is wanted by `least`.
    pub(in super::super) fn hidden_threats(&self, side: Side, least: Shape) -> Cells {
        let makes = |cell: usize| {
            let cross = half(self.crosses[cell % ROOM], side.index());
            let mut shapes =
                (0..4).map(|direction| Shape::of((cross >> (4 * direction) & 0xf) as u8));
            shapes.any(|shape| (least..=Shape::SleepingThree).contains(&shape))
        };
        self.empty
            .iter()
            .filter(|&cell| self.kind(side, cell) == Kind::Quiet && makes(cell))
            .collect()
    }

    /// Whether the side to move has a four to make.
    pub(in super::super) fn has_four(&self) -> bool {
        let fours = [Kind::Tangle, Kind::Four, Kind::FourThree, Kind::Winning];
        fours.iter().any(|&kind| self.count(self.side, kind) > 0)
    }

    /// An empty cell of the kind for `side`.
    pub(in super::super) fn one(&self, side: Side, kind: Kind) -> Option<usize> {
        self.cells_of(side, |other| other == kind).first()
    }

    /// Rows, columns and diagonals, by the numbers of [`Geometry::places`].
    pub(in super::super) const fn lines(&self) -> &[Line; 256] {
        &self.lines
    }

    pub(in super::super) const fn geometry(&self) -> &'static Geometry {
        self.geometry
    }

    /// Black's stones and the empty cells, for the judge of renju.
    pub(in super::super) const fn judged(&self) -> &(Lines, Lines) {
        &self.judged
    }

    /// What a stone of the side on the cell adds to the hash.
    #[inline]
    pub(in super::super) fn number(side: Side, cell: usize) -> u64 {
        NUMBERS[side.index()][cell] as u64
    }

    /// A hash of stones and side to move.
    pub(in super::super) const fn hash_now(&self) -> u64 {
        self.hash
    }

    /// Cells without a stone, forbidden ones among them.
    pub(in super::super) const fn empties(&self) -> Cells {
        self.empty
    }

    /// Some legal move of the side to move.
    pub(in super::super) fn any_legal(&self) -> Option<usize> {
        self.empty
            .iter()
            .find(|&cell| !self.is_forbidden(self.side, cell))
    }
}

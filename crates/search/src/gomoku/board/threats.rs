//! Queries of the VCF and VCT searches.

use kagetsu_game::Side;
use kagetsu_game::gomoku::{self, Lines, Rule};

use super::{Board, ROOM, half};
use crate::gomoku::cells::Cells;
use crate::gomoku::patterns::kind::CellKind;
use crate::gomoku::patterns::shape::Shape;
use crate::gomoku::places::{Geometry, Line};

impl<R: Rule> Board<R> {
    /// Empty cells that may make a four or an open three of `side`, or both; those that win at once
    /// are among them.
    pub(in crate::gomoku) fn threats(&self, side: Side) -> Cells {
        self.cells_of(side, |kind| {
            !matches!(kind, CellKind::Quiet | CellKind::Forbidden | CellKind::Five)
        })
    }

    /// Returns the empty cells that make neither a four nor an open three of `side`, but on some
    /// line a shape between `least` and a sleeping three (`XOOO__`).
    pub(in crate::gomoku) fn hidden_threats(&self, side: Side, least: Shape) -> Cells {
        let makes = |cell: usize| {
            let cross = half(self.crosses[cell % ROOM], side.index());
            let mut shapes =
                (0..4).map(|direction| Shape::of((cross >> (4 * direction) & 0xf) as u8));
            shapes.any(|shape| (least..=Shape::SleepingThree).contains(&shape))
        };
        self.empty
            .iter()
            .filter(|&cell| self.kind(side, cell) == CellKind::Quiet && makes(cell))
            .collect()
    }

    /// Counts the cells where `side` makes a four.
    pub(in crate::gomoku) fn fours(&self, side: Side) -> u16 {
        let fours = [
            CellKind::Tangle,
            CellKind::Four,
            CellKind::FourThree,
            CellKind::Winning,
        ];
        fours.map(|kind| self.count(side, kind)).into_iter().sum()
    }

    /// An empty cell of the kind for `side`.
    pub(in crate::gomoku) fn one(&self, side: Side, kind: CellKind) -> Option<usize> {
        self.cells_of(side, |other| other == kind).first()
    }

    /// Rows, columns and diagonals, by the numbers of [`Geometry::places`].
    pub(in crate::gomoku) const fn lines(&self) -> &[Line; 256] {
        &self.lines
    }

    pub(in crate::gomoku) const fn geometry(&self) -> &'static Geometry {
        self.geometry
    }

    /// Black's stones and the empty cells, for the test of forbidden points.
    pub(in crate::gomoku) const fn judged(&self) -> &(Lines, Lines) {
        &self.judged
    }

    /// Returns the Zobrist key of a stone.
    #[inline]
    pub(in crate::gomoku) fn number(side: Side, cell: usize) -> u64 {
        gomoku::number(side, cell) as u64
    }

    /// A hash of stones and side to move.
    pub(in crate::gomoku) const fn hash_now(&self) -> u64 {
        self.hash
    }

    /// Cells without a stone, forbidden ones among them.
    pub(in crate::gomoku) const fn empties(&self) -> Cells {
        self.empty
    }

    /// Some legal move of the side to move.
    pub(in crate::gomoku) fn any_legal(&self) -> Option<usize> {
        self.empty
            .iter()
            .find(|&cell| !self.is_forbidden(self.side, cell))
    }
}

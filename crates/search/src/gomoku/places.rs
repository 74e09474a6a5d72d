use std::sync::OnceLock;

use kagetsu_game::Side;
use kagetsu_game::gomoku::MAX_SIZE;

use crate::Neighbourhood;

use super::cells::{Cells, WORDS};

/// Cells beyond the edge at both ends of a line, so that no window of 11 leaves its word.
const MARGIN: u32 = 5;

/// The lowest bit of every place of a line.
const EVERY: u64 = 0x5555_5555_5555_5555;

/// Rows, columns and the two kinds of diagonals of the largest board are numbered in a byte.
const _: () = assert!(2 * MAX_SIZE + 2 * (2 * MAX_SIZE - 1) <= 256);

/// A row, column or diagonal, two bits a place: 0 empty, 1 a stone of the first side, 2 of the
/// second side, 3 beyond the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line(u64);

impl Line {
    /// A line without a place on the board.
    pub(super) const BEYOND: Self = Self(u64::MAX);

    /// Changes the content of a place by exclusive or.
    #[inline]
    pub(super) const fn flip(&mut self, place: u8, content: u64) {
        self.0 ^= content << (2 * (place as u32 + MARGIN));
    }

    /// The lowest bits of the places with a stone of the side.
    #[inline]
    pub(super) const fn stones(self, side: Side) -> u64 {
        let (low, high) = (self.0 & EVERY, self.0 >> 1 & EVERY);
        match side {
            Side::First => low & !high,
            Side::Second => high & !low,
        }
    }

    /// The lowest bits of the empty places.
    #[inline]
    pub(super) const fn empty(self) -> u64 {
        !(self.0 | self.0 >> 1) & EVERY
    }

    /// The place that has this bit.
    #[inline]
    pub(super) const fn place_of(bit: u32) -> isize {
        (bit / 2) as isize - MARGIN as isize
    }

    /// The place and five more on either side, the lowest first: 22 bits.
    #[inline]
    pub(super) const fn window(self, place: u32) -> u32 {
        (self.0 >> (2 * place)) as u32 & 0x3f_ffff
    }
}

/// The lowest bits of the empty places of a window, the centre's among them if it is.
#[inline]
pub(super) const fn empty(window: u32) -> u32 {
    !(window | window >> 1) & 0x15_5555
}

/// The line through a cell in one direction, and the cell's place on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinePlace {
    pub(super) line: u8,
    pub(super) place: u8,
}

/// The lines and neighbourhoods of a board of one size.
#[derive(Debug)]
pub(super) struct Geometry {
    pub(super) size: usize,
    /// By cell and direction.
    pub(super) places: Vec<[LinePlace; 4]>,
    /// From one cell of a line to the next, by direction.
    pub(super) strides: [isize; 4],
    /// Candidate cells around a stone, by the stone's cell.
    pub(super) near: Vec<Cells>,
}

impl Geometry {
    /// The geometry of a board, made once.
    pub(super) fn of(size: u8, neighbourhood: Neighbourhood) -> &'static Self {
        static MADE: [[OnceLock<Geometry>; 4]; MAX_SIZE + 1] =
            [const { [const { OnceLock::new() }; 4] }; MAX_SIZE + 1];
        let size = usize::from(size);
        MADE[size][neighbourhood as usize].get_or_init(|| Self::new(size, neighbourhood))
    }

    fn new(size: usize, neighbourhood: Neighbourhood) -> Self {
        let stride = size as isize;
        Self {
            size,
            places: (0..size * size)
                .map(|cell| places(cell % size, cell / size))
                .collect(),
            strides: [1, stride, stride + 1, 1 - stride],
            near: near(size, neighbourhood),
        }
    }

    pub(super) const fn cells(&self) -> usize {
        self.size * self.size
    }

    /// Words of a set of cells that are in use.
    pub(super) const fn words(&self) -> usize {
        let words = self.cells().div_ceil(64);
        if words < WORDS { words } else { WORDS }
    }
}

const fn places(x: usize, y: usize) -> [LinePlace; 4] {
    const RISING: usize = 2 * MAX_SIZE;
    const FALLING: usize = 4 * MAX_SIZE - 1;
    const fn at(line: usize, place: usize) -> LinePlace {
        LinePlace {
            line: line as u8,
            place: place as u8,
        }
    }
    [
        at(y, x),
        at(MAX_SIZE + x, y),
        at(RISING + x + MAX_SIZE - 1 - y, x),
        at(FALLING + x + y, x),
    ]
}

fn near(size: usize, neighbourhood: Neighbourhood) -> Vec<Cells> {
    let offsets = neighbourhood.offsets();
    let on_board = |at: isize| (0..size as isize).contains(&at);
    let near = |cell: usize| {
        let (x, y) = ((cell % size) as isize, (cell / size) as isize);
        let all = offsets
            .iter()
            .map(|&(dx, dy)| (x + isize::from(dx), y + isize::from(dy)));
        let all = all.filter(|&(x, y)| on_board(x) && on_board(y));
        all.map(|(x, y)| (y * size as isize + x) as usize).collect()
    };
    (0..size * size).map(near).collect()
}

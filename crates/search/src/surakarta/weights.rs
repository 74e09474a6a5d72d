use kagetsu_game::surakarta::{POINTS, SIZE};

use crate::Constants;

/// What a stone is worth, in centi-units, by one set of constants.
#[derive(Debug)]
pub(super) struct Weights {
    /// By point.
    pub(super) points: [i16; POINTS],
    /// For being to move.
    pub(super) turn: i32,
    /// For each capture that could be made.
    pub(super) capture: i32,
    /// For each end of an arc where the side's stone is the first to be met.
    pub(super) end: i32,
    /// For each pair of a stone and an empty point beside it.
    pub(super) step: i32,
    /// For each stone more than the opponent when all others are gone; nothing at the start, in between in proportion.
    pub(super) lead: i32,
}

/// A value for each of the six sorts of points that the symmetries leave apart: the corner, its neighbours b1 and c1 on the
/// edge, b2, c2 and c3.
type Sorts = [i16; 6];

/// Li, Hu and Wang's matrix.
const MATRIX: Sorts = [5, 20, 20, 30, 50, 40];

const NOTHING: Weights = Weights {
    points: [0; POINTS],
    turn: 0,
    capture: 0,
    end: 0,
    step: 0,
    lead: 0,
};
/// A set of ours, fitted to games of the engine against itself.
const OWN: Weights = Weights {
    points: board([74, 96, 97, 119, 105, 109], 0),
    turn: 6,
    capture: 11,
    end: 7,
    step: 4,
    lead: 40,
};
/// The matrix alone: a stone is worth its point.
const VALUE: Weights = Weights {
    points: board(MATRIX, 0),
    ..NOTHING
};
/// The number of stones alone. The paper counts its own; the difference of both sides is meant, for a move of one's own
/// never changes one's own number.
const COUNT: Weights = Weights {
    points: board([0; 6], 100),
    ..NOTHING
};
/// Matrix and number together. The paper does not say in what proportion; here a stone weighs as much as two of its best
/// points.
const EVALUE: Weights = Weights {
    points: board(MATRIX, 100),
    ..NOTHING
};

impl Weights {
    /// The weights of a set; Kagetsu's own where the set is of another game.
    pub(super) const fn of(constants: Constants) -> &'static Self {
        match constants {
            Constants::Matrix => &VALUE,
            Constants::Count => &COUNT,
            Constants::Evalue => &EVALUE,
            _ => &OWN,
        }
    }
}

const fn board(sorts: Sorts, stone: i16) -> [i16; POINTS] {
    let mut points = [0; POINTS];
    let mut point = 0;
    while point < POINTS {
        points[point] = stone + sorts[sort(point)];
        point += 1;
    }
    points
}

/// The sort of a point.
const fn sort(point: usize) -> usize {
    let (x, y) = (from_edge(point % SIZE), from_edge(point / SIZE));
    let (near, far) = if x < y { (x, y) } else { (y, x) };
    match (near, far) {
        (0, far) => far,
        (1, far) => 2 + far,
        _ => 5,
    }
}

const fn from_edge(at: usize) -> usize {
    if at < SIZE / 2 { at } else { SIZE - 1 - at }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix_is_that_of_the_paper() {
        let rows = [
            [5, 20, 20, 20, 20, 5],
            [20, 30, 50, 50, 30, 20],
            [20, 50, 40, 40, 50, 20],
        ];
        let rows = [rows[0], rows[1], rows[2], rows[2], rows[1], rows[0]];
        assert_eq!(VALUE.points.as_slice(), rows.concat());
    }
}

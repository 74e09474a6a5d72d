use kagetsu_game::surakarta::{POINTS, SIZE};

use crate::Constants;

/// Values of the evaluation terms in centi-units, by one set of constants.
#[derive(Debug)]
pub(super) struct PointWeights {
    /// Value of a stone, by point.
    pub(super) points: [i16; POINTS],
    /// Value of being to move.
    pub(super) turn: i32,
    /// Value of each possible capture.
    pub(super) capture: i32,
    /// Value of each arc end where the side's stone is the first to be met.
    pub(super) end: i32,
    /// Value of each pair of a stone and an adjacent empty point.
    pub(super) step: i32,
    /// Value of each extra stone with no other stones left; zero at the start and proportional in
    /// between.
    pub(super) lead: i32,
}

/// Values of the six classes of points under symmetry: the corner, its neighbours b1 and c1 on the
/// edge, b2, c2 and c3.
type Sorts = [i16; 6];

/// Li, Hu and Wang's matrix.
const MATRIX: Sorts = [5, 20, 20, 30, 50, 40];

const NOTHING: PointWeights = PointWeights {
    points: [0; POINTS],
    turn: 0,
    capture: 0,
    end: 0,
    step: 0,
    lead: 0,
};
/// Kagetsu's own set, fitted to games against itself.
const OWN: PointWeights = PointWeights {
    points: board([74, 96, 97, 119, 105, 109], 0),
    turn: 6,
    capture: 11,
    end: 7,
    step: 4,
    lead: 40,
};
/// The matrix alone: a stone is worth its point.
const VALUE: PointWeights = PointWeights {
    points: board(MATRIX, 0),
    ..NOTHING
};
/// The number of stones alone. The paper counts one's own stones, but must mean the difference of
/// both sides, since a move never changes one's own number.
const COUNT: PointWeights = PointWeights {
    points: board([0; 6], 100),
    ..NOTHING
};
/// Matrix and number together. The paper gives no proportion; here a stone weighs as much as two of
/// its best points.
const EVALUE: PointWeights = PointWeights {
    points: board(MATRIX, 100),
    ..NOTHING
};

impl PointWeights {
    /// Returns the weights of a set.
    pub(super) const fn of(constants: Constants) -> &'static Self {
        match constants {
            Constants::Matrix => &VALUE,
            Constants::Count => &COUNT,
            Constants::Evalue => &EVALUE,
            Constants::Own => &OWN,
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

/// Returns the class of a point.
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

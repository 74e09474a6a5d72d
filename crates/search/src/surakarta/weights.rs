use kagetsu_game::surakarta::{POINTS, SIZE};

/// Values of the evaluation terms in centi-units.
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

/// The weights, fitted to games of Kagetsu against itself.
pub(super) static WEIGHTS: PointWeights = PointWeights {
    points: board([74, 96, 97, 119, 105, 109]),
    turn: 6,
    capture: 11,
    end: 7,
    step: 4,
    lead: 40,
};

const fn board(sorts: Sorts) -> [i16; POINTS] {
    let mut points = [0; POINTS];
    let mut point = 0;
    while point < POINTS {
        points[point] = sorts[sort(point)];
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

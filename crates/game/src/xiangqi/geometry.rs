//! Move tables of the pieces on an empty board, computed at compile time.

use super::{FILES, RANKS, SQUARES, Square, Squares};
use crate::Side;

/// The four jumps of a piece: the point that must be empty, and the target.
type Jumps = [Jump; 4];

#[derive(Clone, Copy)]
pub(super) struct Jump {
    pub(super) over: Squares,
    pub(super) ends: Squares,
}

/// One set for each point.
type Table = [Squares; SQUARES];

/// Directions: up, right, down, left. The first two lead to higher numbers.
pub(super) const DIRECTIONS: usize = 4;
const WAYS: [(i8, i8); DIRECTIONS] = [(0, 1), (1, 0), (0, -1), (-1, 0)];
const DIAGONALS: [(i8, i8); 4] = [(1, 1), (1, -1), (-1, -1), (-1, 1)];

/// All points in a direction from each point.
pub(super) static RAYS: [Table; DIRECTIONS] =
    [rays(WAYS[0]), rays(WAYS[1]), rays(WAYS[2]), rays(WAYS[3])];
/// All points on the file and the rank of each point, but itself.
pub(super) static CROSS: Table = cross();
/// The four diagonal neighbours of each point: the legs of horses that jump to it.
pub(super) static ASLANT: Table = steps(DIAGONALS, Squares::ALL);
/// A general's steps inside its palace; none from points outside.
pub(super) static GENERAL: Table = steps(WAYS, PALACES);
/// An advisor's steps.
pub(super) static ADVISOR: Table = steps(DIAGONALS, PALACES);
/// An elephant's leaps, over its eyes.
pub(super) static ELEPHANT: [Jumps; SQUARES] = leaps(DIAGONALS, Leap::Elephant);
/// A horse's jumps from each point, over its legs.
pub(super) static HORSE: [Jumps; SQUARES] = leaps(WAYS, Leap::Horse);
/// The jumps of horses to each point: `ends` are their origins, `over` the leg that they share.
pub(super) static HORSE_TO: [Jumps; SQUARES] = leaps(DIAGONALS, Leap::HorseTo);
/// A soldier's steps, by side.
pub(super) static SOLDIER: [Table; 2] = [soldier(Side::First), soldier(Side::Second)];
/// The points from which a soldier of a side steps to each point.
pub(super) static SOLDIER_TO: [Table; 2] = [
    inverse(&soldier(Side::First)),
    inverse(&soldier(Side::Second)),
];

/// `d0` to `f2` and `d7` to `f9`.
pub(super) const PALACES: Squares = Squares(box_of(0) | box_of(7));
/// The points of all advisors: corners and centres of the palaces.
pub(super) const ADVISOR_POINTS: Squares = Squares(star(1) | star(8));
/// The points of all elephants.
pub(super) const ELEPHANT_POINTS: Squares = elephant_points();

/// Three files and three ranks from `rank` up.
const fn box_of(rank: i8) -> u128 {
    let row = bit(3, 0) | bit(4, 0) | bit(5, 0);
    (row | row << FILES | row << (2 * FILES)) << (rank as usize * FILES)
}

/// Returns the centre of a palace and its four diagonal neighbours.
const fn star(rank: i8) -> u128 {
    bit(4, rank) | bit(3, rank - 1) | bit(5, rank - 1) | bit(3, rank + 1) | bit(5, rank + 1)
}

const fn elephant_points() -> Squares {
    let near = bit(2, 0) | bit(6, 0) | bit(0, 2) | bit(4, 2) | bit(8, 2) | bit(2, 4) | bit(6, 4);
    let far = bit(2, 9) | bit(6, 9) | bit(0, 7) | bit(4, 7) | bit(8, 7) | bit(2, 5) | bit(6, 5);
    Squares(near | far)
}

/// Returns one point, or nothing where the board has none.
const fn bit(file: i8, rank: i8) -> u128 {
    let on_board = file >= 0 && rank >= 0 && file < FILES as i8 && rank < RANKS as i8;
    if on_board {
        1 << (rank * FILES as i8 + file)
    } else {
        0
    }
}

const fn place(square: usize) -> (i8, i8) {
    ((square % FILES) as i8, (square / FILES) as i8)
}

const fn rays((right, up): (i8, i8)) -> Table {
    let mut table = [Squares::NONE; SQUARES];
    let mut square = 0;
    while square < SQUARES {
        let (file, rank) = place(square);
        let mut step = 1;
        while step < RANKS as i8 {
            table[square].0 |= bit(file + step * right, rank + step * up);
            step += 1;
        }
        square += 1;
    }
    table
}

const fn cross() -> Table {
    let mut table = [Squares::NONE; SQUARES];
    let mut square = 0;
    while square < SQUARES {
        let mut direction = 0;
        while direction < DIRECTIONS {
            table[square].0 |= rays(WAYS[direction])[square].0;
            direction += 1;
        }
        square += 1;
    }
    table
}

/// Returns single steps from points of `home` to points of `home`.
const fn steps(ways: [(i8, i8); 4], home: Squares) -> Table {
    let mut table = [Squares::NONE; SQUARES];
    let mut square = 0;
    while square < SQUARES {
        let (file, rank) = place(square);
        let mut way = 0;
        while way < 4 && home.0 >> square & 1 != 0 {
            table[square].0 |= bit(file + ways[way].0, rank + ways[way].1) & home.0;
            way += 1;
        }
        square += 1;
    }
    table
}

/// A way to leap over a point.
#[derive(Clone, Copy)]
enum Leap {
    /// Diagonally, on the own side of the river.
    Elephant,
    /// One point straight, then one diagonally.
    Horse,
    /// A horse's jump seen from its target: first diagonally, then straight in either of two ways.
    HorseTo,
}

/// Returns the leaps from each point, whose first step is one of `ways`.
const fn leaps(ways: [(i8, i8); 4], leap: Leap) -> [Jumps; SQUARES] {
    let mut table = [[Jump {
        over: Squares::NONE,
        ends: Squares::NONE,
    }; 4]; SQUARES];
    let mut square = 0;
    while square < SQUARES {
        let (file, rank) = place(square);
        let mut way = 0;
        while way < 4 {
            let (right, up) = ways[way];
            let ends = match leap {
                Leap::Elephant if (rank < 5) != (rank + 2 * up < 5) => 0,
                Leap::Elephant => bit(file + 2 * right, rank + 2 * up),
                // `up` is the sidestep of a way to the right, and the other way round.
                Leap::Horse => {
                    bit(file + 2 * right + up, rank + 2 * up + right)
                        | bit(file + 2 * right - up, rank + 2 * up - right)
                }
                Leap::HorseTo => {
                    bit(file + 2 * right, rank + up) | bit(file + right, rank + 2 * up)
                }
            };
            table[square][way] = Jump {
                over: Squares(bit(file + right, rank + up)),
                ends: Squares(ends),
            };
            way += 1;
        }
        square += 1;
    }
    table
}

const fn soldier(side: Side) -> Table {
    let mut table = [Squares::NONE; SQUARES];
    let mut square = 0;
    while square < SQUARES {
        let (file, rank) = place(square);
        let up = if matches!(side, Side::First) { 1 } else { -1 };
        table[square].0 = bit(file, rank + up);
        if has_crossed(side, rank as usize) {
            table[square].0 |= bit(file - 1, rank) | bit(file + 1, rank);
        }
        square += 1;
    }
    table
}

/// Whether a rank lies beyond the river for the side.
pub(super) const fn has_crossed(side: Side, rank: usize) -> bool {
    matches!(side, Side::First) == (rank >= 5)
}

const fn inverse(table: &Table) -> Table {
    let mut inverse = [Squares::NONE; SQUARES];
    let mut pair = 0;
    while pair < SQUARES * SQUARES {
        let (from, to) = (pair / SQUARES, pair % SQUARES);
        if table[from].0 >> to & 1 != 0 {
            inverse[to].0 |= 1 << from;
        }
        pair += 1;
    }
    inverse
}

/// Returns the targets of the jumps that are not blocked.
pub(super) fn reach(jumps: &Jumps, occupied: Squares) -> Squares {
    let free = jumps
        .iter()
        .filter(|jump| (jump.over & occupied).is_empty());
    free.fold(Squares::NONE, |ends, jump| ends | jump.ends)
}

/// Returns the points between two on one file or rank.
#[must_use]
pub fn between(one: Square, two: Square) -> Squares {
    let (low, high) = if one < two { (one, two) } else { (two, one) };
    let (away, back) = if low.file() == high.file() {
        (0, 2)
    } else {
        (1, 3)
    };
    RAYS[away][low.index()] & RAYS[back][high.index()]
}

/// Returns the nearest point of a set on a ray.
pub(super) fn nearest(direction: usize, set: Squares) -> Option<Square> {
    if direction < 2 {
        set.lowest()
    } else {
        set.highest()
    }
}

/// Returns the points that a rook goes to, captures included.
pub(super) fn rook(from: Square, occupied: Squares) -> Squares {
    let mut reached = Squares::NONE;
    for (direction, rays) in RAYS.iter().enumerate() {
        let ray = rays[from.index()];
        reached |= match nearest(direction, ray & occupied) {
            Some(first) => Squares(ray.0 ^ rays[first.index()].0),
            None => ray,
        };
    }
    reached
}

/// Returns the points that a cannon goes to: `empty` along the lines, and captures behind one
/// screen.
pub(super) fn cannon(from: Square, occupied: Squares) -> Squares {
    let mut reached = Squares::NONE;
    for (direction, rays) in RAYS.iter().enumerate() {
        let ray = rays[from.index()];
        let Some(screen) = nearest(direction, ray & occupied) else {
            reached |= ray;
            continue;
        };
        let behind = rays[screen.index()];
        reached |= Squares(ray.0 ^ behind.0 ^ 1 << screen.index());
        if let Some(target) = nearest(direction, behind & occupied) {
            reached |= Squares::one(target);
        }
    }
    reached
}

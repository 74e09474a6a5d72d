//! Relevance zones: the points that matter to a way to win (Thomsen, "Lambda-search in game trees",
//! 2000; Wu and Lin, "Relevance-zone-oriented proof search for Connect6", 2010).
//!
//! The loser may *pass* in place of a reply. A pass stands for a stone of the loser on any point
//! that does not matter. With stones of the loser on any such points, one for each pass, the same
//! answers win. So one walk through the answers after a pass stands for most replies.

use std::collections::HashMap;

use kagetsu_game::{Move, Position, RuleName, Side, Symmetry, Variant};

use crate::ProofDag;
use crate::tree::Reference;

/// Points of the largest board with zones.
const MAX_POINTS: usize = 256;
const WORDS: usize = MAX_POINTS / 64;

/// Passes of the loser at a time. With more of them nearly every point matters.
const MAX_PASSES: u8 = 2;

/// Checked positions that are remembered, about 200 bytes each.
const MAX_REMEMBERED: usize = 1 << 20;

/// A set of points, by the code of the move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Zone([u64; WORDS]);

impl Zone {
    /// Whether a point is in the set.
    #[must_use]
    pub const fn contains(&self, m: Move) -> bool {
        self.has(m.index())
    }

    /// Returns the number of points.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        let [a, b, c, d] = self.0;
        a | b | c | d == 0
    }

    const fn has(&self, at: usize) -> bool {
        self.0[at / 64 % WORDS] >> (at % 64) & 1 != 0
    }

    const fn with(mut self, at: usize) -> Self {
        self.0[at / 64 % WORDS] |= 1 << (at % 64);
        self
    }

    fn combine(self, other: Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|at| combine(self.0[at], other.0[at])))
    }

    fn or(self, other: Self) -> Self {
        self.combine(other, |a, b| a | b)
    }

    fn and(self, other: Self) -> Self {
        self.combine(other, |a, b| a & b)
    }

    fn without(self, other: Self) -> Self {
        self.combine(other, |a, b| a & !b)
    }

    fn xor(self, other: Self) -> Self {
        self.combine(other, |a, b| a ^ b)
    }

    /// Returns the points at which a point of this set is `steps` further on.
    fn back(self, steps: usize) -> Self {
        let (words, bits) = (steps / 64, steps % 64);
        let word = |at: usize| self.0.get(at).copied().unwrap_or_default();
        Self(std::array::from_fn(|at| {
            let (low, high) = (word(at + words), word(at + words + 1));
            low >> bits | high.checked_shl(64 - bits as u32).unwrap_or_default()
        }))
    }

    /// Returns the points `steps` further on than those of this set.
    fn ahead(self, steps: usize) -> Self {
        let (words, bits) = (steps / 64, steps % 64);
        let word = |at: Option<usize>| at.map(|at| self.0[at]).unwrap_or_default();
        Self(std::array::from_fn(|at| {
            let (high, low) = (word(at.checked_sub(words)), word(at.checked_sub(words + 1)));
            high << bits | low.checked_shr(64 - bits as u32).unwrap_or_default()
        }))
    }

    fn points(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(at, mut word)| {
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros() as usize;
                (word != 0).then(|| {
                    word &= word - 1;
                    64 * at + bit
                })
            })
        })
    }
}

/// The stones of a position, and passes of the loser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ZoneBoard {
    /// Stones of the winner.
    own: Zone,
    /// Stones of the loser.
    foe: Zone,
    passes: u8,
}

impl ZoneBoard {
    /// Returns a position, with passes of the loser behind it.
    fn new(position: &Position, winner: Side, passes: u8) -> Option<Self> {
        let of = |stones: &[Move]| {
            let stones = stones.iter().map(|m| m.index());
            stones.fold(Zone::default(), Zone::with)
        };
        let [first, second] = position.stones()?;
        let (first, second) = (of(&first), of(&second));
        let (own, foe) = if winner == Side::First {
            (first, second)
        } else {
            (second, first)
        };
        Some(Self { own, foe, passes })
    }

    fn stones(self) -> Zone {
        self.own.or(self.foe)
    }

    fn with_own(self, point: usize) -> Self {
        let own = self.own.with(point);
        Self { own, ..self }
    }

    fn with_foe(self, point: usize) -> Self {
        let foe = self.foe.with(point);
        Self { foe, ..self }
    }

    fn with_pass(self) -> Self {
        let passes = self.passes + 1;
        Self { passes, ..self }
    }
}

/// The rows of five points of one direction.
#[derive(Debug)]
struct Rows {
    /// The distance of two neighbours, by the code of the move.
    step: usize,
    /// The first point of each row.
    first: Zone,
}

/// Checks nodes of a graph by their zones. It plays far fewer positions than a check of every
/// reply. It knows freestyle and standard gomoku on boards of at most 256 points.
#[derive(Debug)]
pub struct ZoneChecker {
    size: usize,
    /// Whether six in a row are no win.
    is_exact: bool,
    full: Zone,
    /// All rows of five points, by direction.
    rows: [Rows; 4],
    /// The points that matter to nodes under a symmetry, at a position with the winner to move.
    known: HashMap<(Reference, ZoneBoard), Zone>,
    /// Positions with the winner to move that the current check may still visit.
    left: u64,
    /// Positions that the last check visited.
    visited: u64,
}

impl ZoneChecker {
    /// Returns a checker; `None` for a variant without zones.
    #[must_use]
    pub fn new(variant: Variant) -> Option<Self> {
        let (rule, size) = variant.gomoku()?;
        let size = usize::from(size);
        if size * size > MAX_POINTS || rule == RuleName::Renju {
            return None;
        }
        Some(Self {
            size,
            is_exact: rule == RuleName::Standard,
            full: (0..size * size).fold(Zone::default(), Zone::with),
            rows: rows_of_five(size),
            known: HashMap::new(),
            left: 0,
            visited: 0,
        })
    }

    /// Returns the number of positions with the winner to move that the last check visited.
    #[must_use]
    pub const fn visited(&self) -> u64 {
        self.visited
    }

    /// Returns the points that matter where the loser, who is to move, passes and the node answers:
    /// it answers a reply on each other empty point as well. `None` if it does not win after the
    /// pass, needs more than `positions`, or if the loser can make a five.
    pub fn after_pass(
        &mut self,
        dag: &ProofDag,
        position: &Position,
        answer: Reference,
        positions: u64,
    ) -> Option<Zone> {
        let board = ZoneBoard::new(position, position.side().other(), 1)?;
        if self.loser_has_five(board.foe, self.loser_rows(board).0) {
            return None;
        }
        self.check(dag, answer, board, positions)
    }

    /// Whether the node wins for the side to move, within this many positions.
    pub fn wins(
        &mut self,
        dag: &ProofDag,
        position: &Position,
        node: Reference,
        positions: u64,
    ) -> bool {
        ZoneBoard::new(position, position.side(), 0)
            .is_some_and(|board| self.check(dag, node, board, positions).is_some())
    }

    fn check(
        &mut self,
        dag: &ProofDag,
        at: Reference,
        board: ZoneBoard,
        positions: u64,
    ) -> Option<Zone> {
        self.left = positions;
        let zone = self.node(dag, at, board);
        self.visited = positions - self.left;
        zone
    }

    /// Checks a node, and returns the points that matter; `None` if it fails.
    fn node(&mut self, dag: &ProofDag, at: Reference, board: ZoneBoard) -> Option<Zone> {
        if let Some(known) = self.known.get(&(at, board)) {
            return Some(*known);
        }
        self.left = self.left.checked_sub(1)?;
        let point = self.image(dag.node(at.node).at?, at.turn)?;
        if board.stones().has(point) {
            return None;
        }
        let stone = Zone::default().with(point);
        let after = board.with_own(point);
        let zone = if self.makes_five(after.own, point) {
            stone
        } else {
            stone.or(self.replies(dag, at, after)?)
        };
        if self.known.len() >= MAX_REMEMBERED {
            self.known.clear();
        }
        self.known.insert((at, board), zone);
        Some(zone)
    }

    /// Checks all replies of the loser, who is to move, and returns the points that matter.
    fn replies(&mut self, dag: &ProofDag, at: Reference, board: ZoneBoard) -> Option<Zone> {
        let node = dag.node(at.node);
        let mut empty = self.full.without(board.stones());
        let (fives, mut zone) = self.loser_rows(board);
        if self.loser_has_five(board.foe, fives) || empty.len() <= 1 + u32::from(board.passes) {
            return None;
        }
        for (reply, next) in &node.replies {
            let point = self.image(*reply, at.turn);
            let Some(point) = point.filter(|point| empty.has(*point)) else {
                continue;
            };
            empty = empty.without(Zone::default().with(point));
            let next = next.turned(at.turn);
            zone = zone.or(self.node(dag, next, board.with_foe(point))?);
        }
        if empty.is_empty() {
            return Some(zone);
        }
        let next = node.otherwise?.turned(at.turn);
        Some(zone.or(self.others(dag, next, empty, board)?))
    }

    /// Checks one answer to a reply on any of these points.
    fn others(
        &mut self,
        dag: &ProofDag,
        next: Reference,
        points: Zone,
        board: ZoneBoard,
    ) -> Option<Zone> {
        let point = self.image(dag.node(next.node).at?, next.turn)?;
        if self.makes_five(board.own.with(point), point) {
            // It answers every reply but the one on its own point.
            let is_taken = board.stones().or(points).has(point);
            return (!is_taken).then(|| Zone::default().with(point));
        }
        let (mut zone, mut explicit) = (Zone::default(), points);
        if board.passes < MAX_PASSES
            && let Some(known) = self.node(dag, next, board.with_pass())
        {
            // A reply may do worse than a pass; without a win after the pass all are played.
            (zone, explicit) = (known, points.and(known));
        }
        for point in explicit.points() {
            zone = zone.or(self.node(dag, next, board.with_foe(point))?);
        }
        Some(zone)
    }

    /// Returns the points on which the loser may make a five, and those that matter since the loser
    /// may make one with its passes and a reply.
    fn loser_rows(&self, board: ZoneBoard) -> (Zone, Zone) {
        let ZoneBoard { own, foe, passes } = board;
        let (mut fives, mut zone) = (Zone::default(), Zone::default());
        for Rows { step, first } in &self.rows {
            // The rows without a stone of the winner, by their first points, and the binary digits
            // of the number of the loser's stones in each row.
            let mut open = *first;
            let [mut ones, mut twos, mut fours] = [Zone::default(); 3];
            for at in 0..5 {
                let stones = foe.back(at * step);
                let carry = ones.and(stones);
                ones = ones.xor(stones);
                fours = fours.or(twos.and(carry));
                twos = twos.xor(carry);
                open = open.without(own.back(at * step));
            }
            let near = match passes {
                0 => Zone::default(),
                1 => fours.or(twos.and(ones)),
                2 => fours.or(twos),
                _ => *first,
            };
            for at in 0..5 {
                fives = fives.or(open.and(fours).ahead(at * step));
                zone = zone.or(open.and(near).ahead(at * step));
            }
        }
        (fives.without(foe), zone.without(foe))
    }

    /// Whether a stone of the loser on one of these points makes a five.
    fn loser_has_five(&self, stones: Zone, points: Zone) -> bool {
        points
            .points()
            .any(|point| self.makes_five(stones.with(point), point))
    }

    /// Whether the stone on a point belongs to a five.
    fn makes_five(&self, stones: Zone, point: usize) -> bool {
        let size = self.size as isize;
        let (column, row) = ((point % self.size) as isize, (point / self.size) as isize);
        let run = |right: isize, up: isize| {
            let on = |step: isize| {
                let (column, row) = (column + step * right, row + step * up);
                (0..size).contains(&column)
                    && (0..size).contains(&row)
                    && stones.has((row * size + column) as usize)
            };
            (1_isize..).take_while(|step| on(*step)).count()
                + (1_isize..).take_while(|step| on(-step)).count()
        };
        let directions = [(1, 0), (0, 1), (1, 1), (1, -1)];
        directions.into_iter().any(|(right, up)| {
            let length = 1 + run(right, up);
            if self.is_exact {
                length == 5
            } else {
                length >= 5
            }
        })
    }

    /// Returns the point of a move under a symmetry; `None` if it is not on the board.
    fn image(&self, m: Move, turn: Symmetry) -> Option<usize> {
        if m.index() >= self.size * self.size {
            return None;
        }
        if turn == Symmetry::IDENTITY {
            return Some(m.index());
        }
        let size = self.size as u8;
        let (column, row) = turn.square(
            size,
            (m.index() % self.size) as u8,
            (m.index() / self.size) as u8,
        );
        Some(usize::from(row) * self.size + usize::from(column))
    }
}

fn rows_of_five(size: usize) -> [Rows; 4] {
    // Columns to the right, and rows up.
    [(1, 0), (0, 1), (1, 1), (-1, 1)].map(|(right, up): (isize, usize)| {
        let on_board = |column: usize, row: usize| {
            let last = column as isize + 4 * right;
            (0..size as isize).contains(&last) && row + 4 * up < size
        };
        let points = (0..size * size).filter(|at| on_board(at % size, at / size));
        Rows {
            step: (up * size).wrapping_add_signed(right),
            first: points.fold(Zone::default(), Zone::with),
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same as [`ZoneChecker::loser_rows`], row by row.
    fn row_by_row(size: usize, board: ZoneBoard) -> (Zone, Zone) {
        let (mut fives, mut zone) = (Zone::default(), Zone::default());
        let limit = size as isize;
        let on = |at: isize| (0..limit).contains(&at);
        for (right, up) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
            for (column, row) in (0..limit).flat_map(|c| (0..limit).map(move |r| (c, r))) {
                if !on(column + 4 * right) || !on(row + 4 * up) {
                    continue;
                }
                let point = |step| ((row + step * up) * limit + column + step * right) as usize;
                let row: Vec<usize> = (0..5).map(point).collect();
                let count = row.iter().filter(|at| board.foe.has(**at)).count();
                if row.iter().any(|at| board.own.has(*at)) {
                    continue;
                }
                let empty = row.into_iter().filter(|at| !board.foe.has(*at));
                let empty = empty.fold(Zone::default(), Zone::with);
                if count >= 4 {
                    fives = fives.or(empty);
                }
                if board.passes > 0 && count + usize::from(board.passes) + 1 >= 5 {
                    zone = zone.or(empty);
                }
            }
        }
        (fives, zone)
    }

    proptest! {
        #[test]
        fn rows_of_the_loser_are_those_found_one_by_one(
            stones in proptest::collection::vec(0_u8..4, 256),
            size in 5_usize..=16,
            passes in 0..=MAX_PASSES,
        ) {
            let variant = format!("freestyle-{size}").parse().expect("a variant");
            let checker = ZoneChecker::new(variant).expect("freestyle");
            let of = |kinds: &[u8]| {
                let points = (0..size * size).filter(|at| kinds.contains(&stones[*at]));
                points.fold(Zone::default(), Zone::with)
            };
            // Many stones of the loser, as full rows are rare otherwise.
            let board = ZoneBoard { own: of(&[0]), foe: of(&[1, 2]), passes };
            prop_assert_eq!(checker.loser_rows(board), row_by_row(size, board));
        }
    }
}

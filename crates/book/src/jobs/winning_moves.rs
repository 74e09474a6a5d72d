//! Moves that were proven to win, by the stones of the side that wins. They are candidates in other
//! positions with the same stones of that side, wherever the other side's stones are: under all
//! symmetries, and moved along the board.

use std::collections::{BTreeMap, HashMap};

use kagetsu_game::{Move, Position, Side, Symmetry, Variant};

/// A point by column and row.
type Point = (i16, i16);

/// The stones of one side, with the least column and row at 0, in ascending order.
type Shape = Vec<Point>;

/// Winning moves by the winner's stones, each with the number of positions that it won.
#[derive(Debug, Default)]
pub(crate) struct WinningMoves {
    moves: HashMap<(Side, Shape), BTreeMap<Point, u32>>,
}

impl WinningMoves {
    /// Adds a move that wins for `side` in a position with these stones of that side.
    fn add(&mut self, side: Side, variant: Variant, stones: &[Move], m: Move) {
        let Some((shape, frames)) = canonical(variant, stones) else {
            return;
        };
        let known = self.moves.entry((side, shape)).or_default();
        // A shape that is its own image has each move in all of its images.
        let mut images: Vec<Point> = frames.iter().map(|frame| frame.inward(m)).collect();
        images.sort_unstable();
        images.dedup();
        for image in images {
            *known.entry(image).or_default() += 1;
        }
    }

    /// Adds what follows from a position that the side to move has lost: each stone of the winner
    /// may have been the last one.
    pub(crate) fn add_lost(&mut self, position: &Position) {
        let winner = position.side().other();
        let stones = stones_of(position, winner);
        for last in 0..stones.len() {
            let mut before = stones.clone();
            let m = before.remove(last);
            self.add(winner, position.variant(), &before, m);
        }
    }

    /// Adds a move of the side to move that a hint names as a good one.
    pub(crate) fn add_named(&mut self, position: &Position, m: Move) {
        let (side, variant) = (position.side(), position.variant());
        self.add(side, variant, &stones_of(position, side), m);
    }

    /// Returns the legal moves that won with the stones of the side to move, the most frequent
    /// first.
    pub(crate) fn of(&self, position: &Position) -> Vec<Move> {
        let side = position.side();
        let stones = stones_of(position, side);
        let Some((shape, frames)) = canonical(position.variant(), &stones) else {
            return Vec::new();
        };
        let Some(known) = self.moves.get(&(side, shape)) else {
            return Vec::new();
        };
        let mut counts: BTreeMap<Point, (Move, u32)> = BTreeMap::new();
        for (image, count) in known {
            for frame in &frames {
                counts.extend(frame.outward(*image).map(|(at, m)| (at, (m, *count))));
            }
        }
        let mut counts: Vec<(Move, u32)> = counts.into_values().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let legal = position.legal_moves();
        let moves = counts.into_iter().map(|(m, _)| m);
        moves.filter(|m| legal.contains(m)).collect()
    }
}

/// A symmetry, and the corner of the shape that it makes.
struct Frame {
    variant: Variant,
    size: i16,
    symmetry: Symmetry,
    corner: Point,
}

impl Frame {
    /// Returns a point of the board as a point of the shape.
    fn inward(&self, m: Move) -> Point {
        let (column, row) = point(self.size, self.variant.image(m, self.symmetry));
        (column - self.corner.0, row - self.corner.1)
    }

    /// Returns a point of the shape as a point of the board and its move; `None` off the board.
    fn outward(&self, (column, row): Point) -> Option<(Point, Move)> {
        let (column, row) = (column + self.corner.0, row + self.corner.1);
        let on_board = 0..self.size;
        if !on_board.contains(&column) || !on_board.contains(&row) {
            return None;
        }
        let image = Move::new((row * self.size + column) as u16);
        let m = self
            .variant
            .image(image, self.variant.inverse(self.symmetry));
        Some((point(self.size, m), m))
    }
}

/// Returns the least image of some stones, and all frames that make it; `None` without stones.
fn canonical(variant: Variant, stones: &[Move]) -> Option<(Shape, Vec<Frame>)> {
    let size = i16::from(variant.gomoku()?.1);
    let mut least: Option<(Shape, Vec<Frame>)> = None;
    for symmetry in variant.symmetries() {
        let image = |m: &Move| point(size, variant.image(*m, symmetry));
        let points: Shape = stones.iter().map(image).collect();
        let corner = (
            points.iter().map(|(column, _)| *column).min()?,
            points.iter().map(|(_, row)| *row).min()?,
        );
        let frame = Frame {
            variant,
            size,
            symmetry,
            corner,
        };
        let mut shape: Shape = stones.iter().map(|m| frame.inward(*m)).collect();
        shape.sort_unstable();
        match &mut least {
            Some((known, frames)) if *known == shape => frames.push(frame),
            Some((known, _)) if *known < shape => {}
            _ => least = Some((shape, vec![frame])),
        }
    }
    least
}

/// Returns the stones of a side; none for games that move pieces.
fn stones_of(position: &Position, side: Side) -> Vec<Move> {
    let [first, second] = position.stones().unwrap_or_default();
    if side == Side::First { first } else { second }
}

fn point(size: i16, m: Move) -> Point {
    let code = m.code() as i16;
    (code % size, code / size)
}

#[cfg(test)]
mod tests {
    use kagetsu_game::Variant;

    use super::*;

    fn moves(table: &WinningMoves, line: &str) -> Vec<String> {
        let position = Position::from_line(Variant::FREESTYLE_15, line).expect("legal");
        let mut found: Vec<String> = table
            .of(&position)
            .iter()
            .map(|m| position.write_move(*m))
            .collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn lost_position_names_moves_of_its_images() {
        let mut table = WinningMoves::default();
        let lost = Position::from_line(Variant::FREESTYLE_15, "h8 a1 i9 a2 j8").expect("legal");
        table.add_lost(&lost);
        // Each of the three stones may come last. Other stones of the defender do not count.
        assert_eq!(moves(&table, "h8 o15 i9 o14"), ["g9", "h10", "i7", "j8"]);
        assert_eq!(moves(&table, "h8 o15 j8 o14"), ["i7", "i9"]);
        // Turned by a quarter, and moved to the border, where one move lies outside.
        assert_eq!(moves(&table, "a5 o15 a7 o14"), ["b6"]);
        // A taken point is no move.
        assert_eq!(moves(&table, "h8 i7 j8 o14"), ["i9"]);
        assert!(moves(&table, "h8 o15 k8 o14").is_empty());
        assert!(moves(&table, "").is_empty());
    }

    #[test]
    fn frequent_moves_come_first() {
        let mut table = WinningMoves::default();
        let read = |line: &str| Position::from_line(Variant::FREESTYLE_15, line).expect("legal");
        let position = read("h8 a1 k9 a3");
        let name = |text: &str| position.parse_move(text).expect("legal");
        table.add_named(&position, name("j9"));
        table.add_named(&position, name("g6"));
        table.add_named(&position, name("g6"));
        // Two stones are their own image around their middle.
        let found = table.of(&position);
        assert_eq!(found.len(), 4);
        assert!(found[..2].contains(&name("g6")) && found[2..].contains(&name("j9")));
        assert!(table.of(&read("h8 a1 k9 a3 o1")).is_empty());
    }
}

use kagetsu_engines::gomocup::Point;
use kagetsu_game::{Move, Position, RuleName, Side, Variant};

/// The owner of a stone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The brain's.
    Own,
    /// Its opponent's.
    Other,
}

/// The stones of a game as a manager sends them: with owners, without colours.
#[derive(Clone, Debug)]
pub(super) struct GomocupGame {
    pub(super) size: u8,
    stones: Vec<(Move, Owner)>,
}

impl GomocupGame {
    /// An empty board.
    ///
    /// # Errors
    /// A size that is not searched.
    pub(super) fn new(size: u32) -> Result<Self, String> {
        let sizes = Variant::GOMOKU_SIZES;
        let known = u8::try_from(size).ok().filter(|size| sizes.contains(size));
        let size = known.ok_or_else(|| {
            format!(
                "boards are {} to {} points wide, not {size}",
                sizes.start(),
                sizes.end()
            )
        })?;
        Ok(Self {
            size,
            stones: Vec::new(),
        })
    }

    pub(super) fn clear(&mut self) {
        self.stones.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.stones.is_empty()
    }

    /// Returns the points of the stones, as they were sent.
    pub(super) fn points(&self) -> Vec<Point> {
        let point = |(m, _): &(Move, Owner)| Point::of(*m, self.size);
        self.stones.iter().map(point).collect()
    }

    /// Puts a stone on an empty point.
    ///
    /// # Errors
    /// If the point is not there, or taken.
    pub(super) fn put(&mut self, point: Point, owner: Owner) -> Result<(), String> {
        let size = self.size;
        let m = point
            .to_move(size)
            .ok_or_else(|| format!("{point} is off the board of {size} by {size} points"))?;
        if self.stones.iter().any(|(taken, _)| *taken == m) {
            return Err(format!("{point} is taken"));
        }
        self.stones.push((m, owner));
        Ok(())
    }

    /// Returns an empty point for Black, where only the forbidden points of renju have ended the
    /// game.
    pub(super) fn foul(&self) -> Option<Point> {
        let without = self.position(RuleName::Freestyle).ok()?;
        // None are legal where five in a row or a full board has ended it.
        let moves = without.legal_moves();
        let m = *moves.first().filter(|_| without.side() == Side::First)?;
        Some(Point::of(m, self.size))
    }

    /// Takes a stone off the board.
    ///
    /// # Errors
    /// If none is there.
    pub(super) fn take(&mut self, point: Point) -> Result<(), String> {
        let at = point
            .to_move(self.size)
            .and_then(|m| self.stones.iter().position(|(taken, _)| *taken == m));
        self.stones
            .remove(at.ok_or_else(|| format!("there is no stone on {point}"))?);
        Ok(())
    }

    /// Returns the position with the brain to move.
    ///
    /// The colours follow from the numbers of stones, or, in a game with handicap, from the first
    /// stone, which is black then. If the stones can have been played in turn, in the order in
    /// which they were sent, the position has these moves.
    ///
    /// # Errors
    /// If the stones are no position.
    pub(super) fn position(&self, rule: RuleName) -> Result<Position, String> {
        let variant = Variant::Gomoku {
            rule,
            size: self.size,
        };
        let of = |owner: Owner| {
            self.stones
                .iter()
                .filter(move |(_, own)| *own == owner)
                .map(|(m, _)| *m)
        };
        let (own, other) = (of(Owner::Own).count(), of(Owner::Other).count());
        let is_black = match () {
            () if own == other => true,
            () if own + 1 == other => false,
            () => self
                .stones
                .first()
                .is_some_and(|(_, owner)| *owner == Owner::Own),
        };
        let (first, second) = if is_black {
            (Owner::Own, Owner::Other)
        } else {
            (Owner::Other, Owner::Own)
        };
        let in_turn = own == other || own + 1 == other;
        if in_turn {
            let mut seconds = of(second);
            let moves: Vec<Move> = of(first)
                .flat_map(|m| [Some(m), seconds.next()])
                .flatten()
                .collect();
            if let Ok(position) = Position::new(variant, None, &moves) {
                return Ok(position);
            }
        }
        let side = Side::first_if(is_black);
        let stones = [first, second].map(|owner| of(owner).collect());
        Position::from_stones(variant, &stones, side).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(stones: &[(i32, i32, Owner)]) -> GomocupGame {
        let mut game = GomocupGame::new(15).expect("a size");
        for &(x, y, owner) in stones {
            game.put(Point { x, y }, owner).expect("empty");
        }
        game
    }

    #[test]
    fn colours_follow_from_the_numbers() {
        use Owner::{Other, Own};
        let line = |stones: &[(i32, i32, Owner)]| {
            let position = game(stones)
                .position(RuleName::Freestyle)
                .expect("a position");
            let moves: Vec<String> = position
                .moves()
                .iter()
                .map(|m| position.write_move(*m))
                .collect();
            (moves.join(" "), position.side(), position.setup().is_some())
        };
        assert_eq!(line(&[]), (String::new(), Side::First, false));
        assert_eq!(line(&[(7, 7, Other)]), ("h8".into(), Side::Second, false));
        // White's stones come first.
        let stones = [
            (8, 6, Own),
            (7, 7, Other),
            (6, 6, Own),
            (7, 8, Other),
            (7, 9, Other),
        ];
        assert_eq!(
            line(&stones),
            ("h8 i9 h7 g9 h6".into(), Side::Second, false)
        );
        // A handicap of two stones.
        assert_eq!(
            line(&[(7, 7, Own), (7, 9, Own)]),
            (String::new(), Side::First, true)
        );
        assert_eq!(
            line(&[(7, 7, Other), (7, 9, Other)]),
            (String::new(), Side::Second, true)
        );
    }

    #[test]
    fn impossible_moves_are_refused() {
        let mut game = game(&[(7, 7, Owner::Other)]);
        for (x, y) in [(7, 7), (15, 0), (0, -1), (i32::MAX, i32::MIN)] {
            assert!(game.put(Point { x, y }, Owner::Own).is_err(), "{x},{y}");
        }
        assert!(game.take(Point { x: 0, y: 0 }).is_err());
        assert!(game.take(Point { x: 7, y: 7 }).is_ok() && game.is_empty());
        assert!(
            GomocupGame::new(4).is_err()
                && GomocupGame::new(23).is_err()
                && GomocupGame::new(u32::MAX).is_err()
        );
    }
}

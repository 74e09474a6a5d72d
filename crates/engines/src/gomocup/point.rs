use std::fmt;
use std::str::FromStr;

use kagetsu_game::Move;

/// Column from the left and row from the **top**, both from 0. Yixin writes a pass as `-1,-1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    /// The column.
    pub x: i32,
    /// The row.
    pub y: i32,
}

impl Point {
    /// Returns the point of a gomoku move on a board of this size.
    #[must_use]
    pub fn of(m: Move, size: u8) -> Self {
        let size = i32::from(size);
        let code = i32::from(m.code());
        Self {
            x: code % size,
            y: size - 1 - code / size,
        }
    }

    /// Returns the move, if the board has the point.
    #[must_use]
    pub fn to_move(self, size: u8) -> Option<Move> {
        let size = i32::from(size);
        let is_inside = (0..size).contains(&self.x) && (0..size).contains(&self.y);
        let code = is_inside.then(|| (size - 1 - self.y) * size + self.x)?;
        u16::try_from(code).ok().map(Move::new)
    }
}

/// Writes `7,7`.
impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.x, self.y)
    }
}

/// Text that is not a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a point as in 7,7")]
pub struct PointError;

impl FromStr for Point {
    type Err = PointError;

    fn from_str(text: &str) -> Result<Self, PointError> {
        let (x, y) = text.split_once(',').ok_or(PointError)?;
        let number = |text: &str| text.trim().parse::<i32>().map_err(|_| PointError);
        Ok(Self {
            x: number(x)?,
            y: number(y)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use kagetsu_game::{Position, Variant};

    use super::*;

    #[test]
    fn points_are_moves_counted_from_the_top() {
        for size in Variant::GOMOKU_SIZES {
            let variant: Variant = format!("freestyle-{size}").parse().expect("a variant");
            let start = Position::start(variant);
            for m in start.legal_moves() {
                let point = Point::of(m, size);
                assert_eq!(point.to_move(size), Some(m));
                assert_eq!(start.parse_move(&point.to_string()), Ok(m));
            }
            let most = i32::from(size);
            for (x, y) in [(-1, -1), (most, 0), (0, most), (i32::MAX, i32::MIN)] {
                assert_eq!(Point { x, y }.to_move(size), None);
            }
        }
    }
}

use super::around::{Around, MARGIN, is_closed, row};
use super::geometry::MAX_SIZE;
use super::point::{LINES, Point};

/// A set of points, stored once for each of the four directions, so that the window of a point
/// costs four shifts.
///
/// May panic for points beyond [`MAX_SIZE`] columns or rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines([u32; LINES]);

/// By size; precomputed, because boards are created often.
static FULL: [Lines; MAX_SIZE + 1] = {
    let mut full = [const { Lines::NONE }; MAX_SIZE + 1];
    let mut size = 1;
    while size <= MAX_SIZE {
        full[size] = Lines::with_all_points(size as u8);
        size += 1;
    }
    full
};

/// Collects points of which none comes twice.
impl FromIterator<Point> for Lines {
    fn from_iter<I: IntoIterator<Item = Point>>(points: I) -> Self {
        let mut lines = Self::NONE;
        points.into_iter().for_each(|point| lines.flip(point));
        lines
    }
}

impl Lines {
    /// The empty set.
    pub const NONE: Self = Self([0; LINES]);

    /// Returns all points of a board of this size.
    #[must_use]
    pub fn full(size: u8) -> Self {
        FULL[usize::from(size)].clone()
    }

    const fn with_all_points(size: u8) -> Self {
        let mut lines = [0; LINES];
        let mut point = Point { x: 0, y: 0 };
        while point.y < size {
            let (places, mut direction) = (point.places(), 0);
            while direction < places.len() {
                let (line, place) = places[direction];
                lines[line] |= 1 << (place + MARGIN);
                direction += 1;
            }
            let is_last = point.x + 1 == size;
            point = if is_last {
                Point {
                    x: 0,
                    y: point.y + 1,
                }
            } else {
                Point {
                    x: point.x + 1,
                    y: point.y,
                }
            };
        }
        Self(lines)
    }

    /// Adds the point, or removes it if it is in the set.
    pub fn flip(&mut self, point: Point) {
        for (line, place) in point.places() {
            self.0[line] ^= 1 << (place + MARGIN);
        }
    }

    /// Returns the window of the point.
    #[must_use]
    pub fn around(&self, point: Point) -> Around {
        Around::new(point.places().map(|(line, place)| self.0[line] >> place))
    }

    /// Returns the points, row by row from `a1`.
    pub fn points(&self) -> impl Iterator<Item = Point> {
        self.0[..MAX_SIZE].iter().zip(0..).flat_map(|(&row, y)| {
            let bits = core::iter::successors(Some(row), |&rest| Some(rest & rest.wrapping_sub(1)));
            bits.take_while(|&rest| rest != 0).map(move |rest| Point {
                x: rest.trailing_zeros() as u8 - MARGIN,
                y,
            })
        })
    }

    /// Whether an unbroken row of the set is a five by its length, which is at least 5, and by
    /// whether stones of the other set stand at both ends.
    pub(super) fn has_five(&self, other: &Self, is_five: impl Fn(usize, bool) -> bool) -> bool {
        self.0.iter().zip(other.0).any(|(&line, other)| {
            // Most lines have no five stones in a row; only the others are measured.
            let mut long = line & line >> 1 & line >> 2 & line >> 3 & line >> 4;
            long &= !(long << 1);
            let mut starts = (0..u32::BITS).filter(|start| long >> start & 1 != 0);
            starts.any(|start| {
                let row = row(line, start);
                is_five(row.len(), is_closed(row, other))
            })
        })
    }
}

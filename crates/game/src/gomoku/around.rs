use core::ops::Range;

/// The radius of a window, and the free bits at both ends of a line, so that no window leaves the
/// word.
pub(super) const MARGIN: u8 = 5;
/// Bit of the point itself in a window.
pub(super) const CENTRE: u32 = MARGIN as u32;
/// Bits of a lane, which holds one window.
const LANE: usize = 16;
/// One bit in every lane.
const EVERY_LANE: u64 = 0x0001_0001_0001_0001;

/// A point and the five points on either side of it in the four directions: row, column, rising and
/// falling diagonal. Each direction has a lane of 16 bits; bit 5 is the point, bit 6 the next one.
///
/// Shifts by at most five places move foreign bits only above the window, where no pattern looks,
/// so one operation on the word works in all four directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Around(u64);

/// Possible first bits of a row through the centre: bits 1 to 5 for five, bits 2 to 5 for four.
const FIVE_STARTS: u64 = 0b11_1110 * EVERY_LANE;
const FOUR_STARTS: u64 = 0b11_1100 * EVERY_LANE;

/// Returns the places of the unbroken row of a line's stones through one of them.
pub(super) const fn row(stones: u32, place: u32) -> Range<u32> {
    Range {
        start: place + 1 - (stones << (31 - place)).leading_ones(),
        end: place + (stones >> place).trailing_ones(),
    }
}

/// Whether stones of the other side stand at both ends of a row. The edge closes nothing.
pub(super) const fn is_closed(row: Range<u32>, other: u32) -> bool {
    other << 1 >> row.start & other >> row.end & 1 != 0
}

impl Around {
    /// The empty set.
    pub(super) const NONE: Self = Self(0);

    /// Takes the windows that begin at bit 0 of each line.
    pub(super) fn new(lines: [u32; 4]) -> Self {
        const WINDOW: u32 = (1 << (2 * MARGIN + 1)) - 1;
        let [row, column, rising, falling] = lines.map(|line| u64::from(line & WINDOW));
        Self(row | column << LANE | rising << (2 * LANE) | falling << (3 * LANE))
    }

    /// Returns the set with the point itself.
    #[must_use]
    pub const fn with_centre(self) -> Self {
        Self(self.0 | EVERY_LANE << CENTRE)
    }

    /// Returns the set without the point itself.
    #[must_use]
    pub const fn without_centre(self) -> Self {
        Self(self.0 & !(EVERY_LANE << CENTRE))
    }

    /// Returns the window of one direction, 11 bits.
    #[must_use]
    pub const fn window(self, direction: usize) -> u32 {
        (self.0 >> (LANE * direction)) as u32 & 0xffff
    }

    /// Returns the length of the unbroken row through the centre, which must be in the set. Exact
    /// up to 5, then a lower bound.
    #[must_use]
    pub const fn run(self, direction: usize) -> usize {
        let row = row(self.window(direction), CENTRE);
        (row.end - row.start) as usize
    }

    /// Whether stones of the `other` side stand at both ends of the row through the centre, which
    /// has at most five stones.
    pub(super) const fn is_closed(self, direction: usize, other: Self) -> bool {
        is_closed(row(self.window(direction), CENTRE), other.window(direction))
    }

    /// Counts the fours of black stones through the centre, by the definition of
    /// [`Forbidden`](super::Forbidden): four stones that one more makes an exact five. `.XXXX.` is
    /// one four with two such points; `X_XXX_X` is two.
    pub(super) const fn fours(self, empty: Self) -> u32 {
        let b = self.0;
        // Bit n of word p: the five that begins at n lacks only its stone p.
        let lacks = [
            empty.0 & b >> 1 & b >> 2 & b >> 3 & b >> 4,
            b & empty.0 >> 1 & b >> 2 & b >> 3 & b >> 4,
            b & b >> 1 & empty.0 >> 2 & b >> 3 & b >> 4,
            b & b >> 1 & b >> 2 & empty.0 >> 3 & b >> 4,
            b & b >> 1 & b >> 2 & b >> 3 & empty.0 >> 4,
        ];
        let exact = !(b << 1) & !(b >> 5) & FIVE_STARTS;
        let fives = (lacks[0] | lacks[1] | lacks[2] | lacks[3] | lacks[4]) & exact;
        // `_XXXX_`: the five without its first stone and the next one without its last are the same
        // four.
        let straight = lacks[0] & lacks[4] >> 1 & exact & exact >> 1;
        fives.count_ones() - straight.count_ones()
    }

    /// Returns the empty points where one more black stone makes a straight four with the centre:
    /// `_XXXX_` without a further black stone at either end.
    pub(super) const fn straight_fours(self, empty: Self) -> Self {
        let (b, e) = (self.0, empty.0);
        let open = e << 1 & e >> 4 & !(b << 2) & !(b >> 5) & FOUR_STARTS;
        let lacks = [
            e & b >> 1 & b >> 2 & b >> 3 & open,
            b & e >> 1 & b >> 2 & b >> 3 & open,
            b & b >> 1 & e >> 2 & b >> 3 & open,
            b & b >> 1 & b >> 2 & e >> 3 & open,
        ];
        Self(lacks[0] | lacks[1] << 1 | lacks[2] << 2 | lacks[3] << 3)
    }

    /// Counts the directions with at least one point.
    pub(super) fn directions(self) -> usize {
        (0..4)
            .filter(|&direction| self.window(direction) != 0)
            .count()
    }

    /// Returns the steps from the centre to the points in one direction.
    pub(super) fn steps(self, direction: usize) -> impl Iterator<Item = i8> {
        let window = self.window(direction);
        (0..2 * MARGIN as i8 + 1)
            .filter(move |bit| window >> bit & 1 != 0)
            .map(|bit| bit - MARGIN as i8)
    }

    /// Whether the point can be forbidden at all: two directions have two stones within four steps
    /// of the centre (not counting it), or one direction has four.
    pub(super) const fn is_crowded(self) -> bool {
        let near = 0b11_1101_1110;
        let mut pairs = 0;
        let mut direction = 0;
        while direction < 4 {
            match (self.window(direction) & near).count_ones() {
                0 | 1 => {}
                2 | 3 => pairs += 1,
                _ => pairs += 2,
            }
            direction += 1;
        }
        pairs >= 2
    }
}

//! Captures from the two circuits as rings of bits.
//!
//! A stone captures the first stone that it meets around an arc, and any capture works in both
//! directions. So all captures of both sides are among the pairs of stones adjacent on a ring with
//! an arc between them. A ring has four arcs, so there are at most four such pairs.

use arrayvec::ArrayVec;
use kagetsu_game::Side;
use kagetsu_game::surakarta::{CIRCUITS, POINTS};

/// Places of a ring.
const LENGTH: u32 = CIRCUITS[0].len() as u32;
/// Places between two arcs.
const STRAIGHT: u32 = 6;

/// Occupied places of the inner and the outer circuit, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rings([u32; 2]);

/// The places of each point on both rings.
static PLACES: [[u32; 2]; POINTS] = places();

const fn places() -> [[u32; 2]; POINTS] {
    let mut places = [[0; 2]; POINTS];
    let mut i = 0;
    while i < 2 * LENGTH as usize {
        let (circuit, at) = (i / LENGTH as usize, i % LENGTH as usize);
        places[CIRCUITS[circuit][at] as usize][circuit] |= 1 << at;
        i += 1;
    }
    places
}

/// The captures on the rings, by side.
#[derive(Clone, Debug, Default)]
pub(super) struct RingView {
    /// Possible captures of each side.
    pub(super) captures: [Captures; 2],
    /// Number of the 16 arc ends where the side's stone is the first to be met.
    pub(super) ends: [u8; 2],
}

/// Captures of one side as start and end, each once: at most two for each arc.
pub(super) type Captures = ArrayVec<(u8, u8), 16>;

impl Rings {
    /// Puts a stone on the point, or takes it off.
    #[inline]
    pub(super) fn flip(&mut self, point: u8) {
        let [inner, outer] = PLACES[usize::from(point)];
        self.0[0] ^= inner;
        self.0[1] ^= outer;
    }

    /// Returns the captures of both sides; `first` are the first side's stones.
    #[inline]
    pub(super) fn view(self, first: u64) -> RingView {
        let RingView {
            captures: mut found,
            mut ends,
        } = RingView::default();
        let mut note = |from: u8, to: u8| {
            let side = owner(first, from);
            let list = &mut found[side];
            // A pair of stones may meet around several arcs.
            if side != owner(first, to) && !list.contains(&(from, to)) {
                list.push((from, to));
            }
        };
        for (circuit, taken) in CIRCUITS.iter().zip(self.0) {
            if taken == 0 {
                continue;
            }
            // Twice around, so that nothing wraps.
            let twice = u64::from(taken) | u64::from(taken) << LENGTH;
            let point = |place: u32| circuit[(place % LENGTH) as usize];
            let (next, last) = (
                |place: u32| place + (twice >> place).trailing_zeros(),
                |place: u32| place - (twice << (63 - place)).leading_zeros(),
            );
            for arc in 1..=LENGTH / STRAIGHT {
                let (right, left) = (next(arc * STRAIGHT), last(arc * STRAIGHT + LENGTH - 1));
                let (after, before) = (point(right), point(left));
                ends[owner(first, after)] += 1;
                ends[owner(first, before)] += 1;
                if after != before {
                    note(before, after);
                    note(after, before);
                    continue;
                }
                // A stone on a crossing, or alone on the ring, may return to its start, which
                // counts as empty.
                let (beyond, behind) = (
                    point(next(right % LENGTH + 1)),
                    point(last(left % LENGTH + LENGTH - 1)),
                );
                note(before, beyond);
                note(before, behind);
            }
        }
        RingView {
            captures: found,
            ends,
        }
    }
}

#[inline]
fn owner(first: u64, point: u8) -> usize {
    if first >> point & 1 != 0 {
        Side::First.index()
    } else {
        Side::Second.index()
    }
}

/// Iterates over the bits that are set, ascending.
pub(super) fn points(mut set: u64) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let point = set.trailing_zeros() as u8;
        let rest = set & set.wrapping_sub(1);
        (std::mem::replace(&mut set, rest) != 0).then_some(point)
    })
}

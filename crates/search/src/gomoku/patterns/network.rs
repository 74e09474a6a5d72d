//! A small network that adds to the fitted values of crosses: what the shapes of a board are worth
//! together.
//!
//! The example `learn` makes the weights in `data/` from games of `selfplay` and positions of
//! `leaves`.

use std::sync::LazyLock;

use kagetsu_game::RuleName;

use super::files::places;
use super::fitted::CLASSES;
use super::kind::KINDS;

/// Number of hidden units.
pub(crate) const UNITS: usize = 16;

/// Numbers of cells of a kind that differ; the last stands for all greater ones.
pub(crate) const COUNTS: usize = 8;

/// Slots for classes. A power of two makes index checks cheap.
const ROOM: usize = CLASSES.next_power_of_two();

/// Sums of the hidden units for one side's view.
pub(in crate::gomoku) type Hidden = [i16; UNITS];

/// Vectors of weights in a file: by class as the mover's and as the opponent's, by kind and number
/// for both, the bias, the output.
const VECTORS: usize = 2 * CLASSES + 2 * KINDS * COUNTS + 2;

/// Weights of the network for one rule and the side that it values the board for.
///
/// A hidden unit sums weights of the classes of all empty cells for the mover and for the opponent,
/// and weights of the numbers of cells of each kind. The value is the weighted sum of the positive
/// units.
#[derive(Debug)]
pub(in crate::gomoku) struct Network {
    /// By class: as one's own and as the opponent's.
    rows: Box<[[Hidden; 2]; ROOM]>,
    /// By kind, own ones first, and number of cells.
    times: Box<[[Hidden; COUNTS]; 2 * KINDS]>,
    bias: Hidden,
    /// In centi-units, times 65,536.
    out: Hidden,
}

/// Adds `plus` and subtracts `minus`. The sums wrap around, so that undoing is exact.
#[inline]
fn shift(hidden: &mut Hidden, plus: &Hidden, minus: &Hidden) {
    for unit in 0..UNITS {
        hidden[unit] = hidden[unit].wrapping_add(plus[unit].wrapping_sub(minus[unit]));
    }
}

impl Network {
    /// Returns the networks of a rule for both sides. Where the rules are the same for both sides,
    /// so are the weights.
    pub(in crate::gomoku) fn of(rule: RuleName) -> [&'static Self; 2] {
        static NETWORKS: [LazyLock<Network>; 4] = [
            LazyLock::new(|| Network::expect(include_bytes!("../../../data/freestyle.bin"))),
            LazyLock::new(|| Network::expect(include_bytes!("../../../data/standard.bin"))),
            LazyLock::new(|| Network::expect(include_bytes!("../../../data/renju-first.bin"))),
            LazyLock::new(|| Network::expect(include_bytes!("../../../data/renju-second.bin"))),
        ];
        places(rule).map(|at| &*NETWORKS[at])
    }

    fn expect(bytes: &[u8]) -> Self {
        Self::read(bytes).expect("the weights are read by a test")
    }

    /// Reads [`VECTORS`] vectors of 16-bit numbers, the low byte first.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (numbers, rest) = bytes.as_chunks::<2>();
        let numbers: Vec<i16> = numbers.iter().map(|&b| i16::from_le_bytes(b)).collect();
        let (vectors, more) = numbers.as_chunks::<UNITS>();
        if vectors.len() != VECTORS || !rest.is_empty() || !more.is_empty() {
            return None;
        }
        let (own, vectors) = vectors.split_at(CLASSES);
        let (other, vectors) = vectors.split_at(CLASSES);
        let (counts, last) = vectors.split_at(2 * KINDS * COUNTS);
        let mut rows = vec![[[0; UNITS]; 2]; ROOM];
        for (row, (&own, &other)) in rows.iter_mut().zip(own.iter().zip(other)) {
            *row = [own, other];
        }
        let mut times = Box::new([[[0; UNITS]; COUNTS]; 2 * KINDS]);
        times.as_flattened_mut().copy_from_slice(counts);
        Some(Self {
            rows: rows.into_boxed_slice().try_into().ok()?,
            times,
            bias: last[0],
            out: last[1],
        })
    }

    /// Returns the sums of a board without empty cells for the view of both sides.
    pub(in crate::gomoku) fn start(networks: [&Self; 2]) -> [Hidden; 2] {
        networks.map(|network| network.bias)
    }

    /// Replaces the class of a cell for `side` in both views. A cell that is not empty counts like
    /// one of class 0.
    #[inline(always)]
    pub(in crate::gomoku) fn replace(
        networks: [&Self; 2],
        hidden: &mut [Hidden; 2],
        side: usize,
        old: usize,
        new: usize,
    ) {
        for (view, place) in [(side % 2, 0), ((side + 1) % 2, 1)] {
            let row = |class: usize| &networks[view].rows[class % ROOM][place];
            shift(&mut hidden[view], row(new), row(old));
        }
    }

    /// Returns the positive hidden units for the side with these sums, own numbers of cells by
    /// kind and the opponent's; negative ones are 0.
    #[inline]
    pub(in crate::gomoku) fn units(&self, hidden: &Hidden, kinds: [&[u16; KINDS]; 2]) -> Hidden {
        let mut sums = *hidden;
        for (kinds, times) in kinds.into_iter().zip(self.times.chunks_exact(KINDS)) {
            for (&count, times) in kinds.iter().zip(times).skip(1) {
                if count > 0 {
                    shift(
                        &mut sums,
                        &times[usize::from(count).min(COUNTS - 1)],
                        &[0; UNITS],
                    );
                }
            }
        }
        sums.map(|sum| sum.max(0))
    }

    /// Returns the value in centi-units for the side with these units.
    #[inline]
    pub(in crate::gomoku) fn value(&self, units: &Hidden) -> i32 {
        let products = units.iter().zip(&self.out);
        let value: i32 = products
            .map(|(&unit, &out)| i32::from(unit) * i32::from(out))
            .sum();
        value >> 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_read_or_refused() {
        for rule in [RuleName::Freestyle, RuleName::Standard, RuleName::Renju] {
            let [first, second] = Network::of(rule);
            assert_eq!(std::ptr::eq(first, second), rule != RuleName::Renju);
        }
        let bytes = include_bytes!("../../../data/freestyle.bin");
        assert!(Network::read(&bytes[1..]).is_none());
        assert!(Network::read(&[]).is_none());
    }

    #[test]
    fn value_sums_positive_units() {
        let mut bytes = vec![0; 2 * UNITS * VECTORS];
        let mut set = |vector: usize, unit: usize, weight: i16| {
            bytes[2 * (vector * UNITS + unit)..][..2].copy_from_slice(&weight.to_le_bytes());
        };
        set(VECTORS - 2, 0, 100);
        set(VECTORS - 2, 1, -100);
        set(VECTORS - 1, 0, 16_384);
        set(VECTORS - 1, 1, 16_384);
        // Three cells of kind 2 of the opponent.
        set(2 * CLASSES + (KINDS + 2) * COUNTS + 3, 1, 140);
        let network = Network::read(&bytes).expect("weights");
        let [hidden, _] = Network::start([&network; 2]);
        let mut other = [0; KINDS];
        let value = |own: &[u16; KINDS], other: &[u16; KINDS]| {
            network.value(&network.units(&hidden, [own, other]))
        };
        assert_eq!(value(&[0; KINDS], &other), 25);
        other[2] = 3;
        assert_eq!(value(&[0; KINDS], &other), 35);
        assert_eq!(value(&other, &[0; KINDS]), 25);
    }
}

//! The learned evaluation: a small network on the lines through the empty cells.
//!
//! The example `learn` makes the weights in `data/` from games of `selfplay` and positions of
//! `leaves`.

use std::sync::LazyLock;

use kagetsu_game::RuleName;

use super::kind::KINDS;
use super::line::LINE_CLASSES;
use crate::networks::weights::{content, numbers, places};
use crate::networks::{product, vectorized};

/// Number of channels of a cell.
pub const CHANNELS: usize = 16;

/// Number of hidden units of the first layer.
pub const UNITS: usize = 16;

/// Number of hidden units of the second layer.
pub const DEEP_UNITS: usize = 32;

/// Numbers of cells of a kind that differ; the last stands for all greater ones.
pub const COUNTS: usize = 8;

/// Slots for classes of lines. A power of two makes index checks cheap.
const ROOM: usize = LINE_CLASSES.next_power_of_two();

type Channels = [i16; CHANNELS];

/// The channels of an empty cell, by view.
pub(in crate::gomoku) type CellChannels = [Channels; 2];

/// Sums of the positive channels of all empty cells, by view, in eighths of their unit.
pub(in crate::gomoku) type Pool = [Channels; 2];

/// The hidden units of the first layer for one side's view.
pub(in crate::gomoku) type Hidden = [i16; UNITS];

type Deep = [i16; DEEP_UNITS];

/// Vectors of channels in a file: by class of line as the mover's and as the opponent's, the bias.
const CHANNEL_VECTORS: usize = 2 * LINE_CLASSES + 1;

/// Vectors of units in a file: by channel of the mover and of the opponent, by kind and number for
/// both, the bias, the output.
const UNIT_VECTORS: usize = 2 * CHANNELS + 2 * KINDS * COUNTS + 2;

/// Vectors of the second layer in a file: by unit of the first, the bias, the output.
const DEEP_VECTORS: usize = UNITS + 2;

/// Numbers in a file; those between the vectors of the two layers are the outputs of the pool.
const NUMBERS: usize =
    CHANNEL_VECTORS * CHANNELS + UNIT_VECTORS * UNITS + 2 * CHANNELS + DEEP_VECTORS * DEEP_UNITS;

/// Weights of the network for one rule and the side that it values the board for.
///
/// A channel of an empty cell sums weights of the four lines through it, for the mover and for the
/// opponent. The pool sums the positive channels of all empty cells. A hidden unit is a weighted
/// sum of both sides' pools, each with the weights of its own side, and of the numbers of cells of
/// each kind. A unit of the second layer is a weighted sum of the positive units of the first. The
/// value is a weighted sum of the pools and the positive units of both layers.
#[derive(Debug)]
pub(in crate::gomoku) struct Network {
    /// By class of line: as one's own and as the opponent's.
    rows: [Box<[Channels; ROOM]>; 2],
    channel_bias: Channels,
    /// By channel of the own pool, then of the opponent's.
    heads: [Hidden; 2 * CHANNELS],
    /// By kind, own ones first, and number of cells.
    times: Box<[[Hidden; COUNTS]; 2 * KINDS]>,
    bias: Hidden,
    /// In centi-units, times 16,384.
    out: Hidden,
    /// Outputs of the own pool and of the opponent's.
    direct: [Channels; 2],
    /// By unit of the first layer.
    deep: [Deep; UNITS],
    deep_bias: Deep,
    /// In centi-units, times 16,384.
    deep_out: Deep,
}

/// Returns what a channel adds to the pool.
#[inline(always)]
const fn share(channel: i16) -> i16 {
    let positive = if channel > 0 { channel } else { 0 };
    positive.wrapping_add(4) >> 3
}

impl Network {
    /// Returns the networks of a rule for both sides. Where the rules are the same for both sides,
    /// so are the weights.
    pub(in crate::gomoku) fn of(rule: RuleName) -> [&'static Self; 2] {
        static NETWORKS: [LazyLock<Network>; 4] = [
            LazyLock::new(|| Network::own(0)),
            LazyLock::new(|| Network::own(1)),
            LazyLock::new(|| Network::own(2)),
            LazyLock::new(|| Network::own(3)),
        ];
        places(rule).map(|at| &*NETWORKS[at])
    }

    fn own(at: usize) -> Self {
        Self::read(content(at)).expect("the weights are there before a search")
    }

    /// Reads [`NUMBERS`] numbers.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let numbers = numbers(bytes, NUMBERS)?;
        let (channels, numbers) = numbers.split_at(CHANNEL_VECTORS * CHANNELS);
        let (units, direct) = numbers.split_at(UNIT_VECTORS * UNITS);
        let (channels, _) = channels.as_chunks::<CHANNELS>();
        let (units, _) = units.as_chunks::<UNITS>();
        let (direct, deep) = direct.split_at(2 * CHANNELS);
        let (direct, _) = direct.as_chunks::<CHANNELS>();
        let (deep, _) = deep.as_chunks::<DEEP_UNITS>();
        let (deep, last_deep) = deep.split_at(UNITS);
        let row = |place: usize| {
            let mut rows = channels[place * LINE_CLASSES..][..LINE_CLASSES].to_vec();
            rows.resize(ROOM, [0; CHANNELS]);
            rows.into_boxed_slice().try_into().ok()
        };
        let (pool, units) = units.split_at(2 * CHANNELS);
        let (counts, last) = units.split_at(2 * KINDS * COUNTS);
        let mut times = Box::new([[[0; UNITS]; COUNTS]; 2 * KINDS]);
        times.as_flattened_mut().copy_from_slice(counts);
        Some(Self {
            rows: [row(0)?, row(1)?],
            channel_bias: channels[2 * LINE_CLASSES],
            heads: pool.try_into().ok()?,
            times,
            bias: last[0],
            out: last[1],
            direct: [direct[0], direct[1]],
            deep: deep.try_into().ok()?,
            deep_bias: last_deep[0],
            deep_out: last_deep[1],
        })
    }

    /// Returns the channels of a cell by the classes of its lines.
    pub(in crate::gomoku) fn cell(networks: [&Self; 2], classes: [[u16; 2]; 4]) -> CellChannels {
        let mut cell = networks.map(|network| network.channel_bias);
        for class in classes {
            for (view, channels) in cell.iter_mut().enumerate() {
                let rows = networks[view].line(class, view);
                for (at, channel) in channels.iter_mut().enumerate() {
                    *channel = channel.wrapping_add(rows[0][at].wrapping_add(rows[1][at]));
                }
            }
        }
        cell
    }

    /// The weights of a line as the mover's and as the opponent's, by its classes for both sides.
    #[inline(always)]
    fn line(&self, class: [u16; 2], view: usize) -> [&Channels; 2] {
        let [own, other] = [class[view], class[1 - view]].map(usize::from);
        [&self.rows[0][own % ROOM], &self.rows[1][other % ROOM]]
    }

    /// Changes the channels of an empty cell and the pool by the old and the new classes of one of
    /// its lines. The sums wrap around.
    #[inline(always)]
    pub(in crate::gomoku) fn replace(
        networks: [&Self; 2],
        cell: &mut CellChannels,
        pool: &mut Pool,
        [old, new]: [[u16; 2]; 2],
    ) {
        for view in 0..2 {
            let minus = networks[view].line(old, view);
            let plus = networks[view].line(new, view);
            for at in 0..CHANNELS {
                let was = cell[view][at];
                let more = plus[0][at].wrapping_add(plus[1][at]);
                let less = minus[0][at].wrapping_add(minus[1][at]);
                let is = was.wrapping_add(more.wrapping_sub(less));
                cell[view][at] = is;
                let change = share(is).wrapping_sub(share(was));
                pool[view][at] = pool[view][at].wrapping_add(change);
            }
        }
    }

    /// Adds a cell that is empty to the pool.
    pub(in crate::gomoku) fn count_in(cell: &CellChannels, pool: &mut Pool) {
        for (channel, sum) in cell.as_flattened().iter().zip(pool.as_flattened_mut()) {
            *sum = sum.wrapping_add(share(*channel));
        }
    }

    /// Removes a cell that is no longer empty from the pool.
    #[inline]
    pub(in crate::gomoku) fn count_out(cell: &CellChannels, pool: &mut Pool) {
        for (channel, sum) in cell.as_flattened().iter().zip(pool.as_flattened_mut()) {
            *sum = sum.wrapping_sub(share(*channel));
        }
    }

    /// Returns the positive hidden units for the view of a side, by its own numbers of cells of
    /// each kind and the opponent's; negative ones are 0.
    #[inline]
    pub(in crate::gomoku) fn units(
        &self,
        pool: &Pool,
        view: usize,
        kinds: [&[u16; KINDS]; 2],
    ) -> Hidden {
        vectorized!({
            let mut sums = self.bias.map(i32::from);
            for (kinds, times) in kinds.into_iter().zip(self.times.chunks_exact(KINDS)) {
                for (&count, times) in kinds.iter().zip(times).skip(1) {
                    if count > 0 {
                        let times = &times[usize::from(count).min(COUNTS - 1)];
                        for unit in 0..UNITS {
                            sums[unit] += i32::from(times[unit]);
                        }
                    }
                }
            }
            let mut products = [0; UNITS];
            let inputs = [pool[view], pool[1 - view]];
            for (&input, head) in inputs.as_flattened().iter().zip(&self.heads) {
                for unit in 0..UNITS {
                    products[unit] += i32::from(input) * i32::from(head[unit]);
                }
            }
            std::array::from_fn(|unit| {
                (sums[unit] + (products[unit] >> 9)).clamp(0, i16::MAX.into()) as i16
            })
        })
    }

    /// Returns the value in centi-units for the view of a side, by its units.
    #[inline]
    pub(in crate::gomoku) fn value(&self, pool: &Pool, view: usize, units: &Hidden) -> i32 {
        vectorized!({
            let inputs = [pool[view], pool[1 - view]];
            let direct = product(inputs.as_flattened(), self.direct.as_flattened());
            let mut sums = [0; DEEP_UNITS];
            for (&unit, weights) in units.iter().zip(&self.deep) {
                for deep in 0..DEEP_UNITS {
                    sums[deep] += i32::from(unit) * i32::from(weights[deep]);
                }
            }
            let deep: Deep = std::array::from_fn(|deep| {
                let sum = i32::from(self.deep_bias[deep]) + (sums[deep] >> 9);
                sum.clamp(0, i16::MAX.into()) as i16
            });
            (direct + product(units, &self.out) + product(&deep, &self.deep_out)) >> 14
        })
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
    fn second_layer_sums_positive_units() {
        let mut bytes = vec![0; 2 * NUMBERS];
        let mut set = |number: usize, weight: i16| {
            bytes[2 * number..][..2].copy_from_slice(&weight.to_le_bytes());
        };
        let deep = NUMBERS - DEEP_VECTORS * DEEP_UNITS;
        let [bias, out] = [deep + UNITS * DEEP_UNITS, deep + (UNITS + 1) * DEEP_UNITS];
        set(deep + 3 * DEEP_UNITS + 7, 1_024);
        set(bias + 7, -100);
        set(out + 7, 8_192);
        set(out + 8, 8_192);
        set(bias + 9, 40);
        set(out + 9, -4_096);
        let network = Network::read(&bytes).expect("weights");
        let mut units = [0; UNITS];
        let value = |units: &Hidden| network.value(&[[0; CHANNELS]; 2], 0, units);
        assert_eq!(value(&units), -10);
        units[3] = 200;
        assert_eq!(value(&units), (2 * 200 - 100) / 2 - 10);
    }

    #[test]
    fn value_sums_pools_and_positive_units() {
        let mut bytes = vec![0; 2 * NUMBERS];
        let mut set = |number: usize, weight: i16| {
            bytes[2 * number..][..2].copy_from_slice(&weight.to_le_bytes());
        };
        let unit = |vector: usize| CHANNEL_VECTORS * CHANNELS + vector * UNITS;
        set(unit(UNIT_VECTORS - 2), 100);
        set(unit(UNIT_VECTORS - 2) + 1, -100);
        set(unit(UNIT_VECTORS - 1), 4_096);
        set(unit(UNIT_VECTORS - 1) + 1, 4_096);
        // The opponent's pool: for unit 1, and directly.
        set(unit(CHANNELS) + 1, 512);
        set(unit(UNIT_VECTORS) + CHANNELS, -4_096);
        // Three cells of kind 2 of the opponent.
        set(unit(2 * CHANNELS + (KINDS + 2) * COUNTS + 3) + 1, 140);
        let network = Network::read(&bytes).expect("weights");
        let (mut pool, mut other) = ([[0; CHANNELS]; 2], [0; KINDS]);
        let value = |pool: &Pool, other: &[u16; KINDS]| {
            network.value(pool, 0, &network.units(pool, 0, [&[0; KINDS], other]))
        };
        assert_eq!(value(&pool, &other), 25);
        other[2] = 3;
        assert_eq!(value(&pool, &other), 35);
        pool[1][0] = 200;
        assert_eq!(value(&pool, &other), 35);
        other[2] = 0;
        assert_eq!(value(&pool, &other), 0);
        pool[0][0] = 200;
        assert_eq!(value(&pool, &other), 0);
    }

    #[test]
    fn pool_counts_positive_channels() {
        let cell = [[-30; CHANNELS], [44; CHANNELS]];
        let mut pool = [[0; CHANNELS]; 2];
        Network::count_in(&cell, &mut pool);
        assert_eq!(pool, [[0; CHANNELS], [6; CHANNELS]]);
        Network::count_out(&cell, &mut pool);
        assert_eq!(pool, [[0; CHANNELS]; 2]);
    }
}

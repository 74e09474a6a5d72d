//! The learned evaluation: a small network on the pieces and their points.
//!
//! The example `learn` makes the weights in `data/` from games of `selfplay`.

use std::sync::LazyLock;

use kagetsu_game::Side;
use kagetsu_game::xiangqi::{FILES, Kind, Piece, RANKS, SQUARES, Square};

use super::values::WHOLE;
use crate::networks::weights::{XIANGQI, content, numbers};
use crate::networks::{product, vectorized};

/// Kinds of pieces of a side.
const KINDS: usize = Kind::ALL.len();

/// Number of inputs: kinds of pieces of both sides, by point.
pub const INPUTS: usize = 2 * KINDS * SQUARES;

/// Number of units of the first layer for each view.
pub const UNITS: usize = 64;

/// Number of units of the second layer.
pub const DEEP_UNITS: usize = 16;

/// The value of a unit that stands for 1.
const ONE: i16 = 256;

/// Number of heads: parts of the network behind the first layer, of which the phase of the game
/// selects one.
pub const HEADS: usize = 4;

/// Numbers of a head in a file.
const HEAD_NUMBERS: usize = (2 * UNITS + 2) * DEEP_UNITS + 2 * UNITS;

/// Numbers in a file.
const NUMBERS: usize = (INPUTS + 1) * UNITS + HEADS * HEAD_NUMBERS;

type Units = [i16; UNITS];

/// The sums of the first layer, by view of a side and by board: as it stands, and mirrored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(super) struct Sums([[Units; 2]; 2]);

/// The views of both sides, each of the board as it stands and mirrored.
const VIEWS: [(Side, bool); 4] = [
    (Side::First, false),
    (Side::First, true),
    (Side::Second, false),
    (Side::Second, true),
];

impl Sums {
    /// Returns the sums of a view and a board.
    #[inline(always)]
    const fn of(&mut self, view: Side, is_mirrored: bool) -> &mut Units {
        &mut self.0[view.index()][is_mirrored as usize]
    }
}

/// A piece on its point.
#[derive(Clone, Copy, Debug)]
pub(super) struct PiecePoint(pub(super) Piece, pub(super) Square);

/// The weights.
///
/// A unit of the first layer sums the weights of all pieces on their points, once for the board and
/// once for its mirror image, and both positive sums are added. So a position and its image have
/// the same value. A unit of the second layer is a weighted sum of the units for the view of the
/// mover and for the view of the opponent. The value is a weighted sum of the units of both layers.
/// Each phase of the game has weights of its own for these sums.
#[derive(Debug)]
pub(crate) struct PieceNetwork {
    inputs: Box<[Units; INPUTS]>,
    bias: Units,
    /// From the last phase of the game to the first.
    heads: [Head; HEADS],
}

/// The weights of the second layer and of the output.
#[derive(Debug)]
struct Head {
    /// By unit of the second layer.
    deep: [[i16; 2 * UNITS]; DEEP_UNITS],
    deep_bias: [i16; DEEP_UNITS],
    /// In centi-units, times 16.
    deep_out: [i16; DEEP_UNITS],
    /// Outputs of the first layer, in centi-units, times 16.
    out: [i16; 2 * UNITS],
}

/// Returns the input of a piece for the view of a side: the opponent's pieces follow its own, and
/// its own side of the board lies at the bottom.
pub(super) fn input(view: Side, PiecePoint(piece, square): PiecePoint) -> u16 {
    let kind = piece.side.index() * KINDS + piece.kind.index();
    let input = (kind * SQUARES + square.index()) as u16;
    match view {
        Side::First => input,
        Side::Second => turned_input(input),
    }
}

/// Returns the input of the same piece of xiangqi for the view of the other side.
#[must_use]
pub fn turned_input(input: u16) -> u16 {
    let input = usize::from(input);
    let (kind, square) = (input / SQUARES, input % SQUARES);
    let (rank, file) = (square / FILES, square % FILES);
    (((kind + KINDS) % (2 * KINDS)) * SQUARES + (RANKS - 1 - rank) * FILES + file) as u16
}

/// Returns the input of the same piece of xiangqi on the mirrored board.
#[must_use]
pub fn mirrored_input(input: u16) -> u16 {
    let input = usize::from(input);
    let (row, file) = (input / FILES, input % FILES);
    (row * FILES + FILES - 1 - file) as u16
}

impl PieceNetwork {
    /// Returns the engine's own network.
    pub(super) fn own() -> &'static Self {
        static NETWORK: LazyLock<PieceNetwork> = LazyLock::new(|| {
            let bytes = content(XIANGQI);
            PieceNetwork::read(bytes).expect("the weights are there before a search")
        });
        &NETWORK
    }

    /// Reads [`NUMBERS`] numbers.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let numbers = numbers(bytes, NUMBERS)?;
        let (inputs, numbers) = numbers.split_at(INPUTS * UNITS);
        let (bias, numbers) = numbers.split_at(UNITS);
        let heads: Option<Vec<Head>> = numbers.chunks(HEAD_NUMBERS).map(Head::read).collect();
        Some(Self {
            inputs: inputs
                .as_chunks::<UNITS>()
                .0
                .to_vec()
                .into_boxed_slice()
                .try_into()
                .ok()?,
            bias: bias.try_into().ok()?,
            heads: heads?.try_into().ok()?,
        })
    }

    /// Returns the sums of the pieces.
    pub(super) fn sums(&self, pieces: impl Iterator<Item = PiecePoint>) -> Sums {
        let mut sums = Sums([[self.bias; 2]; 2]);
        for piece in pieces {
            for (view, is_mirrored) in VIEWS {
                let row = self.row(piece, view, is_mirrored);
                for (sum, weight) in sums.of(view, is_mirrored).iter_mut().zip(row) {
                    *sum = sum.wrapping_add(*weight);
                }
            }
        }
        sums
    }

    /// Returns the sums after a move, and perhaps a capture.
    pub(super) fn moved(
        &self,
        before: &Sums,
        from: PiecePoint,
        to: PiecePoint,
        captured: Option<PiecePoint>,
    ) -> Sums {
        vectorized!({
            let mut sums = *before;
            for (view, is_mirrored) in VIEWS {
                let sums = sums.of(view, is_mirrored);
                let [minus, plus] = [from, to].map(|piece| self.row(piece, view, is_mirrored));
                for at in 0..UNITS {
                    sums[at] = sums[at].wrapping_add(plus[at].wrapping_sub(minus[at]));
                }
                if let Some(captured) = captured {
                    let row = self.row(captured, view, is_mirrored);
                    for at in 0..UNITS {
                        sums[at] = sums[at].wrapping_sub(row[at]);
                    }
                }
            }
            sums
        })
    }

    /// The weights of a piece for a view.
    #[inline(always)]
    fn row(&self, piece: PiecePoint, view: Side, is_mirrored: bool) -> &Units {
        let input = input(view, piece);
        let input = if is_mirrored {
            mirrored_input(input)
        } else {
            input
        };
        &self.inputs[usize::from(input)]
    }

    /// Returns the value for a side to move, in centi-units. The phase is the share of the middle
    /// game that remains, up to [`WHOLE`].
    pub(super) fn value(&self, sums: &Sums, side: Side, phase: i32) -> i32 {
        let head = &self.heads[head_at(phase)];
        vectorized!({
            let mut units = [0; 2 * UNITS];
            for (units, view) in units.chunks_exact_mut(UNITS).zip([side, side.other()]) {
                let [board, mirror] = &sums.0[view.index()];
                for at in 0..UNITS {
                    units[at] = board[at].clamp(0, ONE) + mirror[at].clamp(0, ONE);
                }
            }
            let mut value = product(&units, &head.out);
            for at in 0..DEEP_UNITS {
                let sum = i32::from(head.deep_bias[at]) + (product(&units, &head.deep[at]) >> 9);
                value += sum.clamp(0, ONE.into()) * i32::from(head.deep_out[at]);
            }
            value >> 12
        })
    }
}

impl Head {
    /// Reads [`HEAD_NUMBERS`] numbers.
    fn read(numbers: &[i16]) -> Option<Self> {
        let (deep, numbers) = numbers.split_at_checked(2 * UNITS * DEEP_UNITS)?;
        let (deep_bias, numbers) = numbers.split_at_checked(DEEP_UNITS)?;
        let (deep_out, out) = numbers.split_at_checked(DEEP_UNITS)?;
        Some(Self {
            deep: deep.as_chunks().0.try_into().ok()?,
            deep_bias: deep_bias.try_into().ok()?,
            deep_out: deep_out.try_into().ok()?,
            out: out.try_into().ok()?,
        })
    }
}

/// Returns the number of the head that values a phase of the game.
pub(crate) fn head_at(phase: i32) -> usize {
    (phase * HEADS as i32 / (WHOLE + 1)).clamp(0, HEADS as i32 - 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_read_or_refused() {
        let bytes = include_bytes!("../../data/xiangqi.bin");
        assert!(PieceNetwork::read(bytes).is_some());
        assert!(PieceNetwork::read(&bytes[1..]).is_none());
        assert!(PieceNetwork::read(&[]).is_none());
    }

    #[test]
    fn inputs_turn_and_mirror_back() {
        for input in 0..INPUTS as u16 {
            let (turned, mirrored) = (turned_input(input), mirrored_input(input));
            assert!(turned != input && usize::from(turned.max(mirrored)) < INPUTS);
            assert_eq!(turned_input(turned), input);
            assert_eq!(mirrored_input(mirrored), input);
            assert_eq!(turned_input(mirrored), mirrored_input(turned));
        }
    }

    #[test]
    fn value_sums_positive_units_of_both_layers() {
        let mut network = PieceNetwork {
            inputs: vec![[0; UNITS]; INPUTS]
                .into_boxed_slice()
                .try_into()
                .expect("all inputs"),
            bias: [-40; UNITS],
            heads: [(); HEADS].map(|()| Head {
                deep: [[0; 2 * UNITS]; DEEP_UNITS],
                deep_bias: [-10; DEEP_UNITS],
                deep_out: [0; DEEP_UNITS],
                out: [0; 2 * UNITS],
            }),
        };
        let soldier = Piece {
            side: Side::First,
            kind: Kind::Soldier,
        };
        let at = PiecePoint(soldier, Square::new(30).expect("a point"));
        network.inputs[usize::from(input(Side::First, at))][3] = 140;
        let head = &mut network.heads[HEADS - 1];
        head.out[3] = 64;
        head.deep[5][3] = 256;
        head.deep_out[5] = 128;
        let value = |network: &PieceNetwork, side| {
            network.value(&network.sums([at].into_iter()), side, WHOLE)
        };
        // A unit of 100, and 40 in the second layer.
        assert_eq!(value(&network, Side::First), (100 * 64 + 40 * 128) >> 12);
        assert_eq!(value(&network, Side::Second), 0);
        network.bias[3] = 400;
        assert_eq!(value(&network, Side::First), (512 * 64 + 246 * 128) >> 12);
        let sums = network.sums([at].into_iter());
        assert_eq!(network.value(&sums, Side::First, WHOLE / 2), 0);
    }
}

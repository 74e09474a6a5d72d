//! The lines of games, the optimiser and the held-out share of the examples `learn` and `order`.

use std::error::Error;

use kagetsu_game::{Move, Position, Variant};
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;

const DECAY: f32 = 1e-6;

/// Adam (Kingma and Ba, 2015) with weight decay and a cosine rate.
pub(crate) struct Adam {
    /// Rate of the first step.
    pub(crate) rate: f32,
    /// Rows of a step.
    pub(crate) batch: usize,
    /// Times that every row is seen.
    pub(crate) epochs: usize,
}

impl Adam {
    /// Changes the parameters to reduce the loss of the rows, which it shuffles. `learn` adds the
    /// gradient of a row's loss; `report` sees each epoch's number and parameters.
    pub(crate) fn fit<Row>(
        &self,
        parameters: &mut [f32],
        rows: &mut [Row],
        dice: &mut SmallRng,
        learn: impl Fn(&[f32], &Row, &mut [f32]),
        report: impl Fn(usize, &[f32]),
    ) {
        let end = parameters.len();
        let (mut mean, mut square) = (vec![0.0_f32; end], vec![0.0_f32; end]);
        let mut gradient = vec![0.0; end];
        let steps = self.epochs * rows.len().div_ceil(self.batch);
        let mut step = 0;
        for epoch in 1..=self.epochs {
            rows.shuffle(dice);
            for batch in rows.chunks(self.batch) {
                gradient.fill(0.0);
                for row in batch {
                    learn(parameters, row, &mut gradient);
                }
                step += 1;
                let done = step as f32 / steps as f32;
                let rate = self.rate * 0.5 * (1.0 + (std::f32::consts::PI * done).cos());
                let (first, second) = (1.0 - 0.9_f32.powi(step), 1.0 - 0.999_f32.powi(step));
                for at in 0..end {
                    let slope = gradient[at] / batch.len() as f32 + DECAY * parameters[at];
                    mean[at] = 0.9 * mean[at] + 0.1 * slope;
                    square[at] = 0.999 * square[at] + 0.001 * slope * slope;
                    parameters[at] -=
                        rate * (mean[at] / first) / ((square[at] / second).sqrt() + 1e-8);
                }
            }
            report(epoch, parameters);
        }
    }
}

/// Reads a line of the examples `selfplay` and `leaves`: `result;moves;scores;variant`, or without
/// the last where the variant is known. Calls `see` with each position before a move that has a
/// score, that move, and the score in centi-units for the side to move.
pub(crate) fn read_scores(
    variant: Variant,
    line: &str,
    mut see: impl FnMut(&Position, Move, f32),
) -> Result<(), Box<dyn Error>> {
    let mut parts = line.split(';').skip(1);
    let (moves, scores) = parts.next().zip(parts.next()).ok_or(line)?;
    let variant = parts.next().map_or(Ok(variant), str::parse)?;
    let mut position = Position::start(variant);
    for (m, score) in moves.split(' ').zip(scores.split(' ')) {
        let m = position.parse_move(m)?;
        if let Ok(score) = score.parse() {
            see(&position, m, score);
        }
        position = position.play(m)?;
    }
    Ok(())
}

/// Returns the winning chance of a value in logits.
#[allow(dead_code, reason = "not every example has a winning chance")]
pub(crate) fn chance(logits: f32) -> f32 {
    1.0 / (1.0 + (-logits).exp())
}

/// Returns the lines of a block of leaves. Leaves of one game follow each other; 50 blocks keep
/// them together.
pub(crate) fn leaf_block(lines: usize) -> usize {
    lines.div_ceil(50).max(1)
}

/// Whether a line is held out: one block in ten is.
pub(crate) fn is_aside(line: usize, block: usize) -> bool {
    line / block % 10 == 3
}

/// Returns the loss of a value in logits: the cross entropy of its winning chance and the target.
#[allow(dead_code, reason = "not every example has a winning chance")]
pub(crate) fn loss(value: f32, target: f32) -> f64 {
    let p = chance(value).clamp(1e-6, 1.0 - 1e-6);
    f64::from(-(target * p.ln() + (1.0 - target) * (1.0 - p).ln()))
}

/// Returns a digest of bytes (Fowler, Noll and Vo's FNV-1a).
#[cfg(test)]
#[allow(dead_code, reason = "not every example writes weights")]
pub(crate) fn digest(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes
        .into_iter()
        .fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
            (digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        })
}

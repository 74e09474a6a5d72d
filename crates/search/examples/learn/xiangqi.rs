//! The network of xiangqi as it is trained, and its file.

use std::error::Error;

use kagetsu_game::xiangqi::{Xiangqi, ends};
use kagetsu_game::{Move, Position, Variant};
use kagetsu_search::tuning::{
    self, PIECE_DEEP_UNITS as DEEP_UNITS, PIECE_HEADS as HEADS, PIECE_INPUTS as INPUTS,
    PIECE_LOGIT_CENTI as LOGIT_CENTI, PIECE_UNITS as UNITS, PieceFeatures, mirrored_input,
    turned_input,
};
use rand::RngExt;
use rand::SeedableRng;

use crate::model::{add, vector, vector_mut};
use crate::training::{self, Adam, chance};

const BATCH: usize = 512;
/// Rate of the first step from random weights, and from others.
const STEPS: [f32; 2] = [0.001, 0.0005];

/// Greatest magnitude of the first weights.
const FIRST: f32 = 0.12;
/// The first bias.
const FIRST_BIAS: f32 = 0.3;

/// Greatest magnitude of a score that is a target, in centi-units.
const MAX_SCORE: f32 = 3_000.0;
/// Fixed point of the units in the file.
const ONE: f32 = 256.0;
/// Fixed point of the weights of the second layer in the file.
const DEEP_ONE: f32 = 512.0;
/// Fixed point of the weights of the output in the file, whose value is in centi-units.
const RESULT: f32 = LOGIT_CENTI * 4_096.0 / ONE;

// Parameters in their order: those of the first layer, then those of each head.
const BIAS: usize = INPUTS * UNITS;
const FIRST_HEAD: usize = BIAS + UNITS;
const END: usize = FIRST_HEAD + HEADS * HEAD;

// Parameters of a head. The file has the transpose of the weights, which come first.
const DEEP_BIAS: usize = 2 * UNITS * DEEP_UNITS;
const DEEP_OUT: usize = DEEP_BIAS + DEEP_UNITS;
const OUT: usize = DEEP_OUT + DEEP_UNITS;
const HEAD: usize = OUT + 2 * UNITS;

type Units = [f32; UNITS];
type Deep = [f32; DEEP_UNITS];

/// One position: its inputs for both views on the board as it stands and mirrored, the value of its
/// pieces in logits, and the chance of the side to move.
struct Row {
    inputs: Vec<[[u16; 2]; 2]>,
    base: f32,
    /// Where the parameters of its head begin.
    head: usize,
    target: f32,
}

fn row(features: &PieceFeatures, target: f32) -> Row {
    let inputs = features.inputs.iter();
    let inputs = inputs
        .map(|&input| [input, turned_input(input)].map(|input| [input, mirrored_input(input)]));
    Row {
        inputs: inputs.collect(),
        base: features.base as f32 / LOGIT_CENTI,
        head: FIRST_HEAD + features.head * HEAD,
        target,
    }
}

/// The sums of a position on the way to its value.
struct Sums {
    /// By view and board.
    first: [[Units; 2]; 2],
    /// The units of the mover's view and of the opponent's.
    units: [Units; 2],
    deep: Deep,
    /// In logits.
    value: f32,
}

fn evaluate(parameters: &[f32], row: &Row) -> Sums {
    let mut first = [[*vector(parameters, BIAS); 2]; 2];
    for inputs in &row.inputs {
        for (sums, &input) in first
            .as_flattened_mut()
            .iter_mut()
            .zip(inputs.as_flattened())
        {
            add(sums, 1.0, vector(parameters, usize::from(input) * UNITS));
        }
    }
    let units = first.map(|[board, mirror]| {
        std::array::from_fn(|at| board[at].clamp(0.0, 1.0) + mirror[at].clamp(0.0, 1.0))
    });
    let (mut deep, mut value) = (*vector(parameters, row.head + DEEP_BIAS), row.base);
    for (at, &unit) in units.as_flattened().iter().enumerate() {
        let weights = vector(parameters, row.head + at * DEEP_UNITS);
        add(&mut deep, unit, weights);
        value += unit * parameters[row.head + OUT + at];
    }
    for (unit, out) in deep.iter().zip(&parameters[row.head + DEEP_OUT..]) {
        value += unit.clamp(0.0, 1.0) * out;
    }
    Sums {
        first,
        units,
        deep,
        value,
    }
}

/// Whether a unit changes with its sum.
fn is_free(sum: f32) -> bool {
    sum > 0.0 && sum < 1.0
}

/// Adds the gradient of the loss of a row.
fn learn(parameters: &[f32], row: &Row, gradient: &mut [f32]) {
    let sums = evaluate(parameters, row);
    let (error, head) = (chance(sums.value) - row.target, row.head);
    let mut deep: Deep = [0.0; DEEP_UNITS];
    for (unit, slope) in deep.iter_mut().enumerate() {
        gradient[head + DEEP_OUT + unit] += error * sums.deep[unit].clamp(0.0, 1.0);
        if is_free(sums.deep[unit]) {
            *slope = error * parameters[head + DEEP_OUT + unit];
        }
    }
    add(vector_mut(gradient, head + DEEP_BIAS), 1.0, &deep);
    let mut slopes = [[0.0; UNITS]; 2];
    let units = sums.units.as_flattened().iter();
    for (at, (&unit, slope)) in units.zip(slopes.as_flattened_mut()).enumerate() {
        let from = head + at * DEEP_UNITS;
        add(vector_mut(gradient, from), unit, &deep);
        gradient[head + OUT + at] += error * unit;
        let weights: &Deep = vector(parameters, from);
        let products = weights
            .iter()
            .zip(&deep)
            .map(|(weight, slope)| weight * slope);
        *slope = error * parameters[head + OUT + at] + products.sum::<f32>();
    }
    for view in 0..2 {
        for board in 0..2 {
            let first = &sums.first[view][board];
            let slope: Units = std::array::from_fn(|at| {
                if is_free(first[at]) {
                    slopes[view][at]
                } else {
                    0.0
                }
            });
            add(vector_mut(gradient, BIAS), 1.0, &slope);
            for inputs in &row.inputs {
                let from = usize::from(inputs[view][board]) * UNITS;
                add(vector_mut(gradient, from), 1.0, &slope);
            }
        }
    }
}

fn loss(parameters: &[f32], rows: &[Row]) -> f64 {
    let of = |row: &Row| training::loss(evaluate(parameters, row).value, row.target);
    rows.iter().map(of).sum::<f64>() / rows.len() as f64
}

/// Reads a line of games, and calls `see` with each position before a quiet move that has a score,
/// and its target: the winning chance of the side to move by the score.
fn read_targets(
    variant: Variant,
    line: &str,
    mut see: impl FnMut(PieceFeatures, f32),
) -> Result<(), Box<dyn Error>> {
    training::read_scores(variant, line, |position, m, score| {
        if score.abs() < MAX_SCORE
            && !is_capture(position, m)
            && let Some(features) = tuning::pieces(position)
        {
            see(features, chance(score / LOGIT_CENTI));
        }
    })
}

fn is_capture(position: &Position, m: Move) -> bool {
    let game: Xiangqi = position.game();
    ends(m).is_some_and(|(_, to)| game.board().at(to).is_some())
}

/// Returns the parameters, trained with texts of games from those of a file or from random ones.
/// One block of 50 games in ten is held out.
pub(crate) fn train(
    variant: Variant,
    texts: &[String],
    epochs: usize,
    start: Option<&[u8]>,
) -> Result<Vec<f32>, Box<dyn Error>> {
    let (mut rows, mut aside) = (Vec::new(), Vec::new());
    for (number, line) in texts.iter().flat_map(|text| text.lines()).enumerate() {
        let to = if training::is_aside(number, 50) {
            &mut aside
        } else {
            &mut rows
        };
        read_targets(variant, line, |features, target| {
            to.push(row(&features, target));
        })?;
    }
    println!("{} positions, {} aside", rows.len(), aside.len());
    let mut dice = rand::rngs::SmallRng::seed_from_u64(1);
    let mut parameters = vec![0.0; END];
    for weight in &mut parameters {
        *weight = dice.random_range(-FIRST..FIRST);
    }
    parameters[BIAS..FIRST_HEAD].fill(FIRST_BIAS);
    for head in parameters[FIRST_HEAD..].chunks_mut(HEAD) {
        head[DEEP_BIAS..DEEP_OUT].fill(FIRST_BIAS);
        head[OUT..].fill(0.0);
    }
    if let Some(start) = start {
        let numbers = start.as_chunks::<2>().0.iter();
        for ((at, scale), number) in places().zip(numbers) {
            parameters[at] = f32::from(i16::from_le_bytes(*number)) / scale;
        }
    }
    println!("aside {:.5} before", loss(&parameters, &aside));
    let adam = Adam {
        rate: STEPS[usize::from(start.is_some())],
        batch: BATCH,
        epochs,
    };
    adam.fit(
        &mut parameters,
        &mut rows,
        &mut dice,
        learn,
        |epoch, now| {
            println!("epoch {epoch}: aside {:.5}", loss(now, &aside));
        },
    );
    Ok(parameters)
}

/// Iterates over the parameters in the order of the file, each with what stands for 1 in the file.
fn places() -> impl Iterator<Item = (usize, f32)> {
    let head = |head: usize| {
        let start = FIRST_HEAD + head * HEAD;
        (0..DEEP_UNITS)
            .flat_map(|unit| (0..2 * UNITS).map(move |input| input * DEEP_UNITS + unit))
            .map(|at| (at, DEEP_ONE))
            .chain((DEEP_BIAS..DEEP_OUT).map(|at| (at, ONE)))
            .chain((DEEP_OUT..HEAD).map(|at| (at, RESULT)))
            .map(move |(at, scale)| (start + at, scale))
    };
    (0..FIRST_HEAD)
        .map(|at| (at, ONE))
        .chain((0..HEADS).flat_map(head))
}

/// Returns the weights of the network as the search reads them.
pub(crate) fn network(parameters: &[f32]) -> Vec<u8> {
    places()
        .flat_map(|(at, scale)| ((parameters[at] * scale).round() as i16).to_le_bytes())
        .collect()
}

#[cfg(test)]
mod tests {
    use kagetsu_game::Position;

    use super::*;

    const GAMES: &str = "\
1;b0c2 b7b4 c2e1 h7h6 g3g4 b9a7 i0i2 e9e8;- - - - 78 -92 104 -92
0;b2b4 a9a7 i0i2 h7h5 b4c4 c6c5 i3i4 b7b3 c4e4 d9e8 c3c4 a7f7;\
- - 11 12 -12 44 -49 90 -65 106 -68 88";

    fn trained() -> Vec<f32> {
        train(Variant::XIANGQI, &[GAMES.to_string()], 20, None).expect("positions")
    }

    #[test]
    fn engine_values_as_trained() {
        let parameters = trained();
        let weights = network(&parameters);
        let mut position = Position::start(Variant::XIANGQI);
        for m in [
            "h2e2", "h9g7", "h0g2", "i9h9", "b2b6", "c6c5", "b6d6", "d9e8",
        ] {
            position = position
                .play(position.parse_move(m).expect("a move"))
                .expect("legal");
            let Some(features) = tuning::pieces(&position) else {
                continue;
            };
            let trained = evaluate(&parameters, &row(&features, 0.5)).value * LOGIT_CENTI;
            let value = tuning::piece_value(&position, Some(&weights)).expect("a value");
            let difference = (trained - value as f32).abs();
            assert!(difference < 5.0, "{m}: {trained} {value}");
        }
    }

    #[test]
    fn same_games_give_the_same_weights() {
        assert_eq!(
            training::digest(network(&trained())),
            17_075_234_162_878_571_255
        );
    }
}

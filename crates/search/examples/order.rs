//! Trains the move order and writes it:
//!
//! ```text
//! cargo run --release -p kagetsu-search --example order -- VARIANT LEAVES EPOCHS FOLDER
//! ```
//!
//! LEAVES is a file of the example `leaves`, whose last moves are the best moves of short searches.
//! The example writes an `.order` file to FOLDER, in renju one for each side. The worth of a move
//! is its logit; the loss is the cross-entropy of the best move among the candidates. The weights
//! depend on the units of the network in FOLDER, or of the one in use where FOLDER has none, so
//! `learn` comes first. The optimiser is Adam (Kingma and Ba, 2015) with weight decay and a cosine
//! rate. One block of LEAVES in ten is held out; the program prints the loss on it and how often
//! the best move is among the first. The same file gives the same weights.

use std::error::Error;
use std::path::Path;

use kagetsu_game::Variant;
use kagetsu_search::Evaluation;
use kagetsu_search::tuning::{self, CELL_CLASSES, HIDDEN_UNITS, OrderFeatures};
use rand::{RngExt, SeedableRng};

use crate::training::Adam;

mod training;

const BATCH: usize = 256;
const STEP: f32 = 0.02;
/// Fixed point of the worth in the file.
const WORTH: f32 = 128.0;
/// Fixed point of the factors of the units in the file, whose own is 512.
const FACTOR: f32 = 256.0;

// Parameters of a side in their order, as in the file.
const OTHER: usize = CELL_CLASSES;
const OWN_FACTORS: usize = OTHER + CELL_CLASSES;
const OTHER_FACTORS: usize = OWN_FACTORS + CELL_CLASSES * HIDDEN_UNITS;
const END: usize = OTHER_FACTORS + CELL_CLASSES * HIDDEN_UNITS;

/// One position: where the parameters of the mover begin, the classes of each candidate, the units
/// of the network, and the place of the best candidate.
struct Row {
    side: usize,
    classes: Vec<[u16; 2]>,
    units: [f32; HIDDEN_UNITS],
    best: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [variant, leaves, epochs, folder] = arguments.as_slice() else {
        return Err("order VARIANT LEAVES EPOCHS FOLDER".into());
    };
    let variant: Variant = variant.parse()?;
    let Variant::Gomoku { rule, .. } = variant else {
        return Err("only gomoku has a learned move order".into());
    };
    let names = tuning::weight_names(rule);
    let text = std::fs::read_to_string(leaves)?;
    let network = |name: &str| {
        let file = name.ends_with(".bin").then(|| Path::new(folder).join(name));
        file.and_then(|file| std::fs::read(file).ok())
    };
    let evaluation = Evaluation::read(rule, network)?;
    let parameters = train(
        variant,
        &text,
        Some(evaluation),
        names.len(),
        epochs.parse()?,
    )?;
    for (name, parameters) in names.iter().zip(parameters.chunks(END)) {
        let path = Path::new(folder).join(name);
        std::fs::write(path.with_extension("order"), written(parameters))?;
    }
    Ok(())
}

/// Returns the parameters of each side, trained with a text of leaves.
fn train(
    variant: Variant,
    text: &str,
    evaluation: Option<Evaluation>,
    sides: usize,
    epochs: usize,
) -> Result<Vec<f32>, Box<dyn Error>> {
    let (mut rows, mut aside) = (Vec::new(), Vec::new());
    let lines: Vec<&str> = text.lines().collect();
    let block = training::leaf_block(lines.len());
    for (number, line) in lines.into_iter().enumerate() {
        let to = if training::is_aside(number, block) {
            &mut aside
        } else {
            &mut rows
        };
        training::read_scores(variant, line, |position, best, _| {
            let features = tuning::order_features(position, evaluation);
            to.extend(features.and_then(|features| row(&features, best.code(), sides)));
        })?;
    }
    println!("{} positions, {} aside", rows.len(), aside.len());
    Ok(fit(sides, &mut rows, &aside, epochs))
}

/// Returns a position as a row, if there is a choice and the best move is a candidate.
fn row(features: &OrderFeatures, best: u16, sides: usize) -> Option<Row> {
    let mut cells = features.candidates.iter();
    let best = cells.position(|(m, _)| m.code() == best)?;
    let classes = features.candidates.iter().map(|&(_, classes)| classes);
    (features.candidates.len() > 1).then(|| Row {
        side: features.side.index() % sides * END,
        classes: classes.collect(),
        units: features.units,
        best,
    })
}

/// Returns the logit of each candidate.
fn logits(parameters: &[f32], row: &Row) -> Vec<f32> {
    let side = &parameters[row.side..];
    let of = |&[own, other]: &[u16; 2]| {
        let (own, other) = (usize::from(own), usize::from(other));
        let mut logit = side[own] + side[OTHER + other];
        for (unit, value) in row.units.iter().enumerate() {
            let factor = side[OWN_FACTORS + own * HIDDEN_UNITS + unit]
                + side[OTHER_FACTORS + other * HIDDEN_UNITS + unit];
            logit += value * factor;
        }
        logit
    };
    row.classes.iter().map(of).collect()
}

/// Turns logits into chances. Returns the cross-entropy of the best move.
fn normalise(logits: &mut [f32], best: usize) -> f32 {
    let most = logits.iter().copied().fold(f32::MIN, f32::max);
    logits
        .iter_mut()
        .for_each(|logit| *logit = (*logit - most).exp());
    let sum: f32 = logits.iter().sum();
    logits.iter_mut().for_each(|chance| *chance /= sum);
    -logits[best].max(1e-9).ln()
}

/// Adds the gradient of the loss of a row.
fn learn(parameters: &[f32], row: &Row, gradient: &mut [f32]) {
    let mut chances = logits(parameters, row);
    normalise(&mut chances, row.best);
    chances[row.best] -= 1.0;
    let gradient = &mut gradient[row.side..];
    for (&error, &[own, other]) in chances.iter().zip(&row.classes) {
        // Candidates that are almost impossible teach nothing.
        if error.abs() < 1e-5 {
            continue;
        }
        let (own, other) = (usize::from(own), usize::from(other));
        gradient[own] += error;
        gradient[OTHER + other] += error;
        for (unit, value) in row.units.iter().enumerate() {
            gradient[OWN_FACTORS + own * HIDDEN_UNITS + unit] += error * value;
            gradient[OTHER_FACTORS + other * HIDDEN_UNITS + unit] += error * value;
        }
    }
}

/// Prints the mean loss, and how often the best move is among the first 1, 2, 4, 8 and 16.
fn report(epoch: usize, parameters: &[f32], rows: &[Row]) {
    let (mut loss, mut ranks) = (0.0, Vec::new());
    for row in rows {
        let mut chances = logits(parameters, row);
        let best = chances[row.best];
        ranks.push(chances.iter().filter(|&&logit| logit > best).count());
        loss += f64::from(normalise(&mut chances, row.best));
    }
    let within = |most: usize| {
        let count = ranks.iter().filter(|&&rank| rank < most).count();
        format!("{:.1} %", 100.0 * count as f64 / rows.len().max(1) as f64)
    };
    let shares = [1, 2, 4, 8, 16].map(within).join(", ");
    let loss = loss / rows.len().max(1) as f64;
    println!("epoch {epoch}: aside {loss:.4}, best among 1, 2, 4, 8, 16: {shares}");
}

/// Returns the parameters of all sides, trained from small random factors of the units.
fn fit(sides: usize, rows: &mut [Row], aside: &[Row], epochs: usize) -> Vec<f32> {
    let mut dice = rand::rngs::SmallRng::seed_from_u64(1);
    let end = sides * END;
    let mut parameters = vec![0.0; end];
    for side in parameters.chunks_mut(END) {
        side[OWN_FACTORS..].fill_with(|| dice.random_range(-0.02..0.02));
    }
    report(0, &parameters, aside);
    let adam = Adam {
        rate: STEP,
        batch: BATCH,
        epochs,
    };
    adam.fit(
        &mut parameters,
        rows,
        &mut dice,
        learn,
        |epoch, parameters| report(epoch, parameters, aside),
    );
    parameters
}

/// Returns the weights of a side as the search reads them.
fn written(parameters: &[f32]) -> Vec<u8> {
    let scale = |at: usize| if at < OWN_FACTORS { WORTH } else { FACTOR };
    let numbers = parameters.iter().enumerate();
    numbers
        .flat_map(|(at, value)| ((value * scale(at)).round() as i16).to_le_bytes())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAVES: &str = "\
-;d8 i4 d4 d2 e9 f4 f10 g11 f8 e8 b6 c7 d6;- - - - - - - - - - - - 531
-;d8 i4 d4 d2 e9 f4 f10 g11 f8 g4 h4 e3 c7;- - - - - - - - - - - - 851";

    #[test]
    fn training_puts_the_best_move_first() {
        for (variant, sides) in [("freestyle-15", 1), ("renju-15", 2)] {
            let variant: Variant = variant.parse().expect("a variant");
            let parameters = train(variant, LEAVES, None, sides, 40).expect("positions");
            let again = train(variant, LEAVES, None, sides, 40).expect("positions");
            assert!(parameters == again, "{variant}: other weights");
            let mut rows = Vec::new();
            for line in LEAVES.lines() {
                training::read_scores(variant, line, |position, best, _| {
                    let features = tuning::order_features(position, None);
                    rows.extend(features.and_then(|features| row(&features, best.code(), sides)));
                })
                .expect("a line");
            }
            for row in &rows {
                let logits = logits(&parameters, row);
                assert!(logits.iter().all(|&logit| logit <= logits[row.best]));
            }
        }
    }
}

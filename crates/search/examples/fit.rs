//! Fits the evaluation of standard or renju to games of `selfplay` or to positions of `leaves`, and
//! writes its tables; the example `learn` trains that of freestyle:
//!
//! ```text
//! cargo run --release -p kagetsu-search --example fit -- VARIANT GAMES_FILE FOLDER
//! ```
//!
//! A logistic regression: the winning chance of the side to move is `1 / (1 + exp(-v / 200))` for a
//! value of v centi-units. The value is the sum over the classes of all empty cells, own minus the
//! opponent's, and of the set of threats. The target is the game's result, if known, and the score
//! of the search. The fit begins with the tables in use. The optimiser is Adam (Kingma and Ba,
//! 2015) with weight decay. One line in ten is held out, and the program prints the loss on it.

use std::collections::BTreeMap;
use std::path::Path;

use kagetsu_game::{RuleName, Side, Variant};
use kagetsu_search::tuning::{self, CELL_CLASSES, CellFeatures, LOGIT_CENTI, THREAT_SETS, chance};

/// How much the search's own opinion counts beside the result.
const OPINION: f32 = 0.4;
const EPOCHS: usize = 40;
const BATCH: usize = 4_096;
const STEP: f32 = 0.003;
const DECAY: f32 = 1e-6;

/// One position: which parameters are added and how often, and the chance of the side to move.
struct Row {
    features: Vec<(u16, f32)>,
    target: f32,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [variant, games, folder] = arguments.as_slice() else {
        return Err("fit VARIANT GAMES_FILE FOLDER".into());
    };
    let variant: Variant = variant.parse()?;
    let Variant::Gomoku { rule, .. } = variant else {
        return Err("only gomoku is fitted".into());
    };
    if rule == RuleName::Freestyle {
        return Err("freestyle has a network; use the example learn".into());
    }
    // Where both sides have the same rule, they have the same parameters.
    let tables = if rule == RuleName::Renju { 2 } else { 1 };
    let (mut rows, mut aside) = (Vec::new(), Vec::new());
    for (number, line) in std::fs::read_to_string(games)?.lines().enumerate() {
        let to = if number % 10 == 0 {
            &mut aside
        } else {
            &mut rows
        };
        tuning::read_targets(variant, line, OPINION, |features, target| {
            to.push(row(&features, target, tables));
        })?;
    }
    println!("{} positions, {} aside", rows.len(), aside.len());
    let mut parameters = in_use(rule, tables);
    println!("before: aside {:.4}", loss(&parameters, &aside));
    fit(&mut parameters, &mut rows, &aside);
    let names: &[(&str, usize)] = match rule {
        RuleName::Freestyle => &[("freestyle", 0)],
        RuleName::Standard => &[("standard", 0)],
        RuleName::Renju => &[("renju-first", 0), ("renju-second", 1)],
    };
    for &(name, table) in names {
        let centi = |from: usize, count: usize| {
            parameters[from..from + count]
                .iter()
                .map(|value| (value * LOGIT_CENTI).round() as i16)
                .collect()
        };
        let threats = tables * CELL_CLASSES + table * THREAT_SETS;
        let text = tuning::write(
            centi(table * CELL_CLASSES, CELL_CLASSES),
            centi(threats, THREAT_SETS),
        );
        std::fs::write(Path::new(folder).join(name).with_extension("txt"), text)?;
    }
    Ok(())
}

/// Returns the tables in use as parameters.
fn in_use(rule: RuleName, tables: usize) -> Vec<f32> {
    let sides = [Side::First, Side::Second];
    let tables: Vec<_> = sides[..tables]
        .iter()
        .map(|&side| tuning::table(rule, side))
        .collect();
    let values = tables.iter().flat_map(|(values, _)| values);
    let threats = tables.iter().flat_map(|(_, threats)| threats);
    values
        .chain(threats)
        .map(|&value| f32::from(value) / LOGIT_CENTI)
        .collect()
}

/// Returns a position and its target as a row, with so many tables.
fn row(features: &CellFeatures, target: f32, tables: usize) -> Row {
    let mover = features.side.index();
    let table = |side: usize| if tables == 2 { side * CELL_CLASSES } else { 0 };
    let mut counts = BTreeMap::new();
    for (side, sign) in [(mover, 1.0), (1 - mover, -1.0)] {
        for classes in features.classes.iter().filter(|classes| classes[side] > 0) {
            let at = table(side) + usize::from(classes[side]);
            *counts.entry(at).or_insert(0.0) += sign;
        }
    }
    let threats = tables * CELL_CLASSES + if tables == 2 { mover * THREAT_SETS } else { 0 };
    counts.insert(threats + usize::from(features.threats), 1.0);
    let counts = counts.into_iter().filter(|(_, count)| *count != 0.0);
    Row {
        features: counts.map(|(at, count)| (at as u16, count)).collect(),
        target,
    }
}

fn value(parameters: &[f32], row: &Row) -> f32 {
    row.features
        .iter()
        .map(|&(at, count)| parameters[usize::from(at)] * count)
        .sum()
}

fn loss(parameters: &[f32], rows: &[Row]) -> f32 {
    let of = |row: &Row| {
        let p = chance(value(parameters, row)).clamp(1e-6, 1.0 - 1e-6);
        -(row.target * p.ln() + (1.0 - row.target) * (1.0 - p).ln())
    };
    rows.iter().map(of).sum::<f32>() / rows.len() as f32
}

fn fit(parameters: &mut [f32], rows: &mut [Row], aside: &[Row]) {
    let (mut mean, mut square) = (vec![0.0; parameters.len()], vec![0.0; parameters.len()]);
    let (mut dice, mut step) = (1_u64, 0);
    for epoch in 0..EPOCHS {
        shuffle(rows, &mut dice);
        let rate = STEP * (1.0 - epoch as f32 / EPOCHS as f32);
        for batch in rows.chunks(BATCH) {
            let mut gradient = vec![0.0; parameters.len()];
            for row in batch {
                let error = chance(value(parameters, row)) - row.target;
                row.features
                    .iter()
                    .for_each(|&(at, count)| gradient[usize::from(at)] += error * count);
            }
            step += 1;
            for at in 0..parameters.len() {
                let slope = gradient[at] / batch.len() as f32 + DECAY * parameters[at];
                mean[at] = 0.9 * mean[at] + 0.1 * slope;
                square[at] = 0.999 * square[at] + 0.001 * slope * slope;
                let (m, s) = (
                    mean[at] / (1.0 - 0.9_f32.powi(step)),
                    square[at] / (1.0 - 0.999_f32.powi(step)),
                );
                parameters[at] -= rate * m / (s.sqrt() + 1e-8);
            }
        }
        if epoch % 10 == 9 {
            println!(
                "epoch {}: loss {:.4}, aside {:.4}",
                epoch + 1,
                loss(parameters, rows),
                loss(parameters, aside)
            );
        }
    }
}

/// Fisher and Yates, with a small generator, so that a fit can be repeated.
fn shuffle(rows: &mut [Row], dice: &mut u64) {
    for at in (1..rows.len()).rev() {
        *dice = dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        rows.swap(at, (*dice >> 33) as usize % (at + 1));
    }
}

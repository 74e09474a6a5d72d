//! Trains the networks of the evaluation and the tables beside them, and writes both:
//!
//! ```text
//! cargo run --release -p kagetsu-search --example learn -- VARIANT GAMES LEAVES EPOCHS FOLDER
//! ```
//!
//! GAMES is a file of the example `selfplay`, LEAVES one of `leaves`. The example writes a `.txt`
//! and a `.bin` file to FOLDER, in renju one of each for both sides. The winning chance of the side
//! to move is `1 / (1 + exp(-v / 200))` for a value of v centi-units. The target is the score of
//! the search and, in games, the result. The optimiser is Adam (Kingma and Ba, 2015) with weight
//! decay and a cosine rate. One block of 100 games in ten, and the same share of LEAVES, is held
//! out, and the program prints the loss on it. The same files give the same weights.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use kagetsu_game::Variant;
use kagetsu_search::tuning::{
    self, CELL_CLASSES, CELL_KINDS, CellFeatures, HIDDEN_UNITS, KIND_COUNTS, LOGIT_CENTI,
    THREAT_SETS, chance,
};
use rand::{RngExt, SeedableRng};

use crate::training::Adam;

mod training;

/// How much the search's own opinion counts beside the result.
const OPINION: f32 = 0.6;
const BATCH: usize = 512;
const STEP: f32 = 0.005;
/// Weight of one cell in the hidden units.
const CELL: f32 = 0.125;
/// Fixed point of the hidden units in the file.
const ONE: f32 = 512.0;

// Parameters of a side in their order. The file of the network begins with `OWN`.
const THREATS: usize = CELL_CLASSES;
const OWN: usize = THREATS + THREAT_SETS;
const OTHER: usize = OWN + CELL_CLASSES * HIDDEN_UNITS;
const TIMES: usize = OTHER + CELL_CLASSES * HIDDEN_UNITS;
const BIAS: usize = TIMES + 2 * CELL_KINDS * KIND_COUNTS * HIDDEN_UNITS;
const OUT: usize = BIAS + HIDDEN_UNITS;
const END: usize = OUT + HIDDEN_UNITS;

type Vector = [f32; HIDDEN_UNITS];

/// One position: where the parameters of the mover and of the opponent begin, how often each class
/// occurs for them, the vectors of the numbers of kinds, and the chance of the side to move.
struct Row {
    sides: [usize; 2],
    classes: [Vec<(u16, u8)>; 2],
    times: Vec<u16>,
    threats: u16,
    target: f32,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [variant, games, leaves, epochs, folder] = arguments.as_slice() else {
        return Err("learn VARIANT GAMES LEAVES EPOCHS FOLDER".into());
    };
    let variant: Variant = variant.parse()?;
    let Variant::Gomoku { rule, .. } = variant else {
        return Err("only gomoku has a network".into());
    };
    let names = tuning::weight_names(rule);
    let texts = [
        std::fs::read_to_string(games)?,
        std::fs::read_to_string(leaves)?,
    ];
    let parameters = train(variant, &texts, names.len(), epochs.parse()?)?;
    for (name, parameters) in names.iter().zip(parameters.chunks(END)) {
        let path = Path::new(folder).join(name);
        std::fs::write(path.with_extension("txt"), tables(parameters))?;
        std::fs::write(path.with_extension("bin"), network(parameters))?;
    }
    Ok(())
}

/// Returns the parameters of each side, trained with a text of games and one of leaves.
fn train(
    variant: Variant,
    texts: &[String; 2],
    sides: usize,
    epochs: usize,
) -> Result<Vec<f32>, Box<dyn Error>> {
    let (mut rows, mut aside) = (Vec::new(), Vec::new());
    for (text, is_leaves) in texts.iter().zip([false, true]) {
        let lines: Vec<&str> = text.lines().collect();
        let block = if is_leaves {
            training::leaf_block(lines.len())
        } else {
            100
        };
        for (number, line) in lines.into_iter().enumerate() {
            let to = if training::is_aside(number, block) {
                &mut aside
            } else {
                &mut rows
            };
            tuning::read_targets(variant, line, OPINION, |features, target| {
                to.push(row(&features, target, sides));
            })?;
        }
    }
    println!("{} positions, {} aside", rows.len(), aside.len());
    Ok(fit(sides, &mut rows, &aside, epochs))
}

/// Returns a position and its target as a row. Where both sides have the same rule, they have the
/// same parameters: then `tables` is 1.
fn row(features: &CellFeatures, target: f32, tables: usize) -> Row {
    let sides = [features.side.index(), features.side.other().index()];
    let classes = sides.map(|side| {
        let mut counts = BTreeMap::new();
        let live = features.classes.iter().map(|classes| classes[side]);
        live.filter(|&class| class > 0)
            .for_each(|class| *counts.entry(class).or_insert(0_u8) += 1);
        counts.into_iter().collect()
    });
    let times = sides.iter().enumerate().flat_map(|(view, &side)| {
        let kinds = features.kinds[side].iter().enumerate().skip(1);
        kinds
            .filter(|(_, count)| **count > 0)
            .map(move |(kind, &count)| {
                let count = usize::from(count).min(KIND_COUNTS - 1);
                ((view * CELL_KINDS + kind) * KIND_COUNTS + count) as u16
            })
    });
    Row {
        sides: sides.map(|side| side % tables * END),
        times: times.collect(),
        classes,
        threats: features.threats,
        target,
    }
}

/// Calls `see` with each parameter of the linear part and how often it is added.
fn linear(row: &Row, mut see: impl FnMut(usize, f32)) {
    see(row.sides[0] + THREATS + usize::from(row.threats), 1.0);
    let signs = row.sides.iter().zip([1.0, -1.0]);
    for (classes, (side, sign)) in row.classes.iter().zip(signs) {
        for &(class, count) in classes {
            see(side + usize::from(class), sign * f32::from(count));
        }
    }
}

/// Calls `see` with the place of each vector of the hidden units and its weight.
fn vectors(row: &Row, mut see: impl FnMut(usize, f32)) {
    let side = row.sides[0];
    see(side + BIAS, 1.0);
    for (classes, start) in row.classes.iter().zip([OWN, OTHER]) {
        for &(class, count) in classes {
            let at = side + start + usize::from(class) * HIDDEN_UNITS;
            see(at, CELL * f32::from(count));
        }
    }
    for &at in &row.times {
        see(side + TIMES + usize::from(at) * HIDDEN_UNITS, 1.0);
    }
}

fn vector(values: &[f32], at: usize) -> &Vector {
    values[at..].first_chunk().expect("a whole vector")
}

fn add(to: &mut Vector, times: f32, vector: &Vector) {
    for unit in 0..HIDDEN_UNITS {
        to[unit] += times * vector[unit];
    }
}

/// Returns the value in logits and the hidden units.
fn value(parameters: &[f32], row: &Row) -> (f32, Vector) {
    let mut hidden = [0.0; HIDDEN_UNITS];
    vectors(row, |at, times| {
        add(&mut hidden, times, vector(parameters, at))
    });
    let mut value = 0.0;
    linear(row, |at, times| value += times * parameters[at]);
    for (unit, out) in hidden.iter().zip(&parameters[row.sides[0] + OUT..]) {
        value += unit.max(0.0) * out;
    }
    (value, hidden)
}

/// Adds the gradient of the loss of a row.
fn learn(parameters: &[f32], row: &Row, gradient: &mut [f32]) {
    let (value, hidden) = value(parameters, row);
    let error = chance(value) - row.target;
    linear(row, |at, times| gradient[at] += error * times);
    let mut slope = [0.0; HIDDEN_UNITS];
    for (unit, slope) in slope.iter_mut().enumerate() {
        if hidden[unit] > 0.0 {
            let out = row.sides[0] + OUT + unit;
            gradient[out] += error * hidden[unit];
            *slope = error * parameters[out];
        }
    }
    vectors(row, |at, times| {
        let to = gradient[at..].first_chunk_mut().expect("a whole vector");
        add(to, times, &slope);
    });
}

fn loss(parameters: &[f32], rows: &[Row]) -> f64 {
    let of = |row: &Row| {
        let p = chance(value(parameters, row).0).clamp(1e-6, 1.0 - 1e-6);
        f64::from(-(row.target * p.ln() + (1.0 - row.target) * (1.0 - p).ln()))
    };
    rows.iter().map(of).sum::<f64>() / rows.len() as f64
}

/// Returns the parameters of all sides, trained from small random weights of the networks.
fn fit(sides: usize, rows: &mut [Row], aside: &[Row], epochs: usize) -> Vec<f32> {
    let mut dice = rand::rngs::SmallRng::seed_from_u64(1);
    let end = sides * END;
    let mut parameters = vec![0.0; end];
    for side in parameters.chunks_mut(END) {
        for at in (OWN..TIMES).chain(OUT..END) {
            side[at] = dice.random_range(-0.2..0.2);
        }
    }
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
        |epoch, parameters| {
            println!("epoch {epoch}: aside {:.4}", loss(parameters, aside));
        },
    );
    parameters
}

/// Returns the tables of a side as the search reads them.
fn tables(parameters: &[f32]) -> String {
    let centi = |values: &[f32]| {
        let values = values.iter().map(|value| value * LOGIT_CENTI);
        values.map(|value| value.round() as i16).collect()
    };
    tuning::write(
        centi(&parameters[..THREATS]),
        centi(&parameters[THREATS..OWN]),
    )
}

/// Returns the weights of the network as the search reads them.
fn network(parameters: &[f32]) -> Vec<u8> {
    let scale = |at: usize| match at {
        // Dead cells, quiet cells and no cell have no weight.
        _ if (OWN..OWN + HIDDEN_UNITS).contains(&at) => 0.0,
        _ if (OTHER..OTHER + HIDDEN_UNITS).contains(&at) => 0.0,
        _ if at < TIMES => ONE * CELL,
        _ if at < BIAS => {
            let vector = (at - TIMES) / HIDDEN_UNITS;
            let (kind, count) = (vector / KIND_COUNTS % CELL_KINDS, vector % KIND_COUNTS);
            if kind > 0 && count > 0 { ONE } else { 0.0 }
        }
        _ if at < OUT => ONE,
        _ => LOGIT_CENTI * 65_536.0 / ONE,
    };
    (OWN..END)
        .flat_map(|at| ((parameters[at] * scale(at)).round() as i16).to_le_bytes())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAMES: &str = "\
0;h8 h9 j8 g8 i7 k9;- - - 41 -90 120
1;h12 g6 d12 f6 g11 h6 i6 g7 e9 f10;- - - 121 13 192 -306 357 -248 430";
    const LEAVES: &str = "\
-;d8 i4 d4 d2 e9 f4 f10 g11 f8 e8 b6 c7 d6;- - - - - - - - - - - - 531
-;d8 i4 d4 d2 e9 f4 f10 g11 f8 g4 h4 e3 c7;- - - - - - - - - - - - 851";

    /// Returns a digest of the files (Fowler, Noll and Vo's FNV-1a).
    fn digest(variant: &str, sides: usize) -> u64 {
        let variant = variant.parse().expect("a variant");
        let texts = [GAMES.to_string(), LEAVES.to_string()];
        let parameters = train(variant, &texts, sides, 20).expect("positions");
        let files = parameters.chunks(END).flat_map(|parameters| {
            let mut bytes = tables(parameters).into_bytes();
            bytes.extend(network(parameters));
            bytes
        });
        files.fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
            (digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        })
    }

    #[test]
    fn same_games_give_the_same_weights() {
        let digests = [digest("freestyle-15", 1), digest("renju-15", 2)];
        assert_eq!(
            digests,
            [11_749_492_883_717_331_922, 13_073_826_163_637_685_416]
        );
    }
}

//! Trains the networks of the evaluation and the tables beside them, and writes both:
//!
//! ```text
//! cargo run --release -p kagetsu-search --example learn -- \
//!     VARIANT GAMES LEAVES EPOCHS FOLDER [START...]
//! ```
//!
//! GAMES is a file of the example `selfplay`, LEAVES one of `leaves`. The example writes a `.txt`
//! and a `.bin` file to FOLDER, in renju one of each for both sides. The winning chance of the side
//! to move is `1 / (1 + exp(-v / 200))` for a value of v centi-units. The target is the score of
//! the search and, in games, the result. The optimiser is Adam (Kingma and Ba, 2015) with weight
//! decay and a cosine rate. The weights begin as small random numbers, or as those of START, with a
//! lower rate: a `.bin` file of any rule beside its `.txt` file, or two for both sides of renju.
//! One block of 100 games in ten, and the same share of LEAVES, is held out, and the program prints
//! the loss on it. The same files give the same weights.
//!
//! In xiangqi LEAVES is another file of games, and the only file that the example writes is
//! `xiangqi.bin`. The chance is `1 / (1 + exp(-v / 400))`. The target is the score alone, and START
//! is such a file.

use std::error::Error;
use std::path::Path;

use kagetsu_game::{Side, Variant};
use kagetsu_search::tuning::{self, CellFeatures, LOGIT_CENTI};
use rand::{RngExt, SeedableRng};

use crate::files::{network, read, tables};
use crate::model::{
    CELL_BIAS, DEEP, DEEP_BIAS, DEEP_OUT, DIRECT, END, HEADS, OUT, OWN, Row, TIMES, learn, loss,
    row,
};
use crate::training::Adam;

mod files;
mod model;
#[path = "../training/mod.rs"]
mod training;
mod xiangqi;

/// How much the search's own opinion counts beside the result.
const OPINION: f32 = 0.6;
const BATCH: usize = 512;
/// Rate of the first step from random weights, and from others.
const STEPS: [f32; 2] = [0.005, 0.001];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [variant, games, leaves, epochs, folder, start @ ..] = arguments.as_slice() else {
        return Err("learn VARIANT GAMES LEAVES EPOCHS FOLDER [START...]".into());
    };
    let variant: Variant = variant.parse()?;
    let texts = [
        std::fs::read_to_string(games)?,
        std::fs::read_to_string(leaves)?,
    ];
    let rule = match variant {
        Variant::Gomoku { rule, .. } => rule,
        Variant::Xiangqi { .. } => {
            let start = start.first().map(std::fs::read).transpose()?;
            let parameters = xiangqi::train(variant, &texts, epochs.parse()?, start.as_deref())?;
            let path = Path::new(folder).join("xiangqi.bin");
            return Ok(std::fs::write(path, xiangqi::network(&parameters))?);
        }
        Variant::Surakarta { .. } => return Err("surakarta has no network".into()),
    };
    let names = tuning::weight_names(rule);
    let start = start.iter().map(|file| read(file));
    let start = start.collect::<Result<Vec<_>, _>>()?;
    let parameters = train(variant, &texts, names.len(), epochs.parse()?, start)?;
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
    start: Vec<Vec<f32>>,
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
            read_targets(variant, line, |features, target| {
                to.push(row(&features, target, sides));
            })?;
        }
    }
    println!("{} positions, {} aside", rows.len(), aside.len());
    Ok(fit(sides, &mut rows, &aside, epochs, start))
}

/// Reads a line of games, and calls `see` with each position before a move that has a score and is
/// evaluated, and its target: the winning chance of the side to move by the score, and by the
/// result, if known. Results are 1 to 0 for the first side.
fn read_targets(
    variant: Variant,
    line: &str,
    mut see: impl FnMut(CellFeatures, f32),
) -> Result<(), Box<dyn Error>> {
    let result = match line.split(';').next() {
        None | Some("-") => None,
        Some(result) => Some(result.parse::<f32>()?),
    };
    training::read_scores(variant, line, |position, _, score| {
        let Some(features) = tuning::features(position) else {
            return;
        };
        let found = training::chance(score / LOGIT_CENTI);
        let target = result.map_or(found, |result| {
            let is_first = features.side == Side::First;
            let won = if is_first { result } else { 1.0 - result };
            OPINION * found + (1.0 - OPINION) * won
        });
        see(features, target);
    })
}

/// Returns the parameters of all sides, trained from those of `start` or from small random weights
/// of the networks.
fn fit(
    sides: usize,
    rows: &mut [Row],
    aside: &[Row],
    epochs: usize,
    start: Vec<Vec<f32>>,
) -> Vec<f32> {
    let mut dice = rand::rngs::SmallRng::seed_from_u64(1);
    let end = sides * END;
    let mut parameters = vec![0.0; end];
    for side in parameters.chunks_mut(END) {
        let first = (OWN..CELL_BIAS).chain(HEADS..TIMES).chain(OUT..DIRECT);
        for at in first.chain(DEEP..DEEP_BIAS).chain(DEEP_OUT..END) {
            side[at] = dice.random_range(-0.25..0.25);
        }
        side[CELL_BIAS..HEADS].fill(0.1);
    }
    for (side, start) in parameters.chunks_mut(END).zip(start.iter().cycle()) {
        side.copy_from_slice(start);
    }
    println!("aside {:.4} before", loss(&parameters, aside));
    let adam = Adam {
        rate: STEPS[usize::from(!start.is_empty())],
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

#[cfg(test)]
mod tests {
    use kagetsu_game::Position;
    use kagetsu_search::Evaluation;

    use super::*;
    use crate::model::{Sums, evaluate};

    const GAMES: &str = "\
0;h8 h9 j8 g8 i7 k9;- - - 41 -90 120
1;h12 g6 d12 f6 g11 h6 i6 g7 e9 f10;- - - 121 13 192 -306 357 -248 430";
    const LEAVES: &str = "\
-;d8 i4 d4 d2 e9 f4 f10 g11 f8 e8 b6 c7 d6;- - - - - - - - - - - - 531
-;d8 i4 d4 d2 e9 f4 f10 g11 f8 g4 h4 e3 c7;- - - - - - - - - - - - 851";

    fn digest(variant: &str, sides: usize) -> u64 {
        let variant = variant.parse().expect("a variant");
        let texts = [GAMES.to_string(), LEAVES.to_string()];
        let parameters = train(variant, &texts, sides, 20, Vec::new()).expect("positions");
        let files = parameters.chunks(END).flat_map(|parameters| {
            let mut bytes = tables(parameters).into_bytes();
            bytes.extend(network(parameters));
            bytes
        });
        training::digest(files)
    }

    #[test]
    fn engine_values_as_trained() {
        for (variant, sides) in [("freestyle-15", 1), ("standard-15", 1), ("renju-15", 2)] {
            let variant: Variant = variant.parse().expect("a variant");
            let Variant::Gomoku { rule, .. } = variant else {
                panic!("gomoku");
            };
            let texts = [GAMES.to_string(), LEAVES.to_string()];
            let parameters = train(variant, &texts, sides, 20, Vec::new()).expect("positions");
            let names = tuning::weight_names(rule);
            let evaluation = Evaluation::read(rule, |file| {
                let side = names.iter().position(|name| file.starts_with(*name))?;
                let parameters = &parameters[side * END..][..END];
                match Path::new(file).extension()?.to_str()? {
                    "bin" => Some(network(parameters)),
                    "txt" => Some(tables(parameters).into_bytes()),
                    _ => None,
                }
            });
            let evaluation = evaluation.expect("weights");
            let mut position = Position::start(variant);
            for m in ["h8", "g7", "i9", "j8", "i7", "g9", "k8", "f6"] {
                position = position
                    .play(position.parse_move(m).expect("a move"))
                    .expect("legal");
                let features = tuning::features(&position).expect("features");
                let mut sums = Sums::default();
                evaluate(&parameters, &row(&features, 0.5, sides), &mut sums);
                let trained = sums.value * LOGIT_CENTI;
                let value = tuning::value(&position, Some(evaluation)).expect("a value");
                assert!(
                    (trained - value as f32).abs() < 20.0,
                    "{m}: {trained} {value}"
                );
            }
        }
    }

    #[test]
    #[cfg_attr(
        not(target_os = "linux"),
        ignore = "other systems round exp and cos otherwise"
    )]
    fn same_games_give_the_same_weights() {
        let digests = [digest("freestyle-15", 1), digest("renju-15", 2)];
        assert_eq!(
            digests,
            [7_500_327_573_651_559_527, 18_431_544_062_821_841_317]
        );
    }
}

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

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use kagetsu_game::{RuleName, Variant};
use kagetsu_search::tuning::{
    self, CELL_CLASSES, CELL_KINDS, CHANNELS, CellFeatures, DEEP_UNITS, HIDDEN_UNITS, KIND_COUNTS,
    LINE_CLASSES, LOGIT_CENTI, THREAT_SETS, chance,
};
use rand::{RngExt, SeedableRng};

use crate::training::Adam;

mod training;

/// How much the search's own opinion counts beside the result.
const OPINION: f32 = 0.6;
const BATCH: usize = 512;
/// Rate of the first step from random weights, and from others.
const STEPS: [f32; 2] = [0.005, 0.001];
/// Weight of one cell in the pool.
const POOL: f32 = 1.0 / 16.0;
/// Fixed point of the channels in the file.
const CHANNEL: f32 = 256.0;
/// Fixed point of the hidden units in the file, and of the weights of the pool.
const ONE: f32 = 512.0;
/// Fixed point of the weights of the output in the file, whose value is in centi-units.
const RESULT: f32 = LOGIT_CENTI * 16_384.0 / ONE;

// Parameters of a side in their order. The file of the network begins with `OWN`.
const THREATS: usize = CELL_CLASSES;
const OWN: usize = THREATS + THREAT_SETS;
const OTHER: usize = OWN + LINE_CLASSES * CHANNELS;
const CELL_BIAS: usize = OTHER + LINE_CLASSES * CHANNELS;
const HEADS: usize = CELL_BIAS + CHANNELS;
const TIMES: usize = HEADS + 2 * CHANNELS * HIDDEN_UNITS;
const BIAS: usize = TIMES + 2 * CELL_KINDS * KIND_COUNTS * HIDDEN_UNITS;
const OUT: usize = BIAS + HIDDEN_UNITS;
const DIRECT: usize = OUT + HIDDEN_UNITS;
const DEEP: usize = DIRECT + 2 * CHANNELS;
const DEEP_BIAS: usize = DEEP + HIDDEN_UNITS * DEEP_UNITS;
const DEEP_OUT: usize = DEEP_BIAS + DEEP_UNITS;
const END: usize = DEEP_OUT + DEEP_UNITS;

type Channels = [f32; CHANNELS];
type Units = [f32; HIDDEN_UNITS];

/// One position: where the parameters of the mover and of the opponent begin, how often each class
/// occurs for them, the lines of its cells, the vectors of the numbers of kinds, and the chance of
/// the side to move.
struct Row {
    sides: [usize; 2],
    classes: [Vec<(u16, u8)>; 2],
    cells: Vec<LineCell>,
    times: Vec<u16>,
    threats: u16,
    target: f32,
}

/// Empty cells whose lines have the same classes.
struct LineCell {
    count: u16,
    /// For the mover and for the opponent.
    lines: [[u16; 4]; 2],
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [variant, games, leaves, epochs, folder, start @ ..] = arguments.as_slice() else {
        return Err("learn VARIANT GAMES LEAVES EPOCHS FOLDER [START...]".into());
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

/// Returns the parameters of a network and of the tables beside it. A line of five free cells on a
/// side, which no position of freestyle has, gets freestyle's weights of the line of four.
fn read(file: &str) -> Result<Vec<f32>, Box<dyn Error>> {
    let file = Path::new(file);
    let mut parameters = parameters(&std::fs::read(file)?)?;
    let [freestyle] = tuning::weight_names(RuleName::Freestyle) else {
        unreachable!("both sides have one rule");
    };
    if file.file_stem() == Path::new(freestyle).file_stem() {
        for row in (OWN..CELL_BIAS).step_by(CHANNELS) {
            let class = (row - OWN) / CHANNELS % LINE_CLASSES;
            let from = row + tuning::shorter_line(class) * CHANNELS - class * CHANNELS;
            let vector: Channels = *vector(&parameters, from);
            *vector_mut(&mut parameters, row) = vector;
        }
    }
    let text = std::fs::read_to_string(file.with_extension("txt"))?;
    let (values, threats) = tuning::read(&text).ok_or("tables of another form")?;
    for (to, value) in parameters.iter_mut().zip(values.into_iter().chain(threats)) {
        *to = f32::from(value) / LOGIT_CENTI;
    }
    Ok(parameters)
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
            tuning::read_targets(variant, line, OPINION, |features, target| {
                to.push(row(&features, target, sides));
            })?;
        }
    }
    println!("{} positions, {} aside", rows.len(), aside.len());
    Ok(fit(sides, &mut rows, &aside, epochs, start))
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
    let mut cells = BTreeMap::new();
    for lines in &features.lines {
        let lines = sides.map(|side| {
            let mut lines = lines.map(|classes| classes[side]);
            lines.sort_unstable();
            lines
        });
        *cells.entry(lines).or_insert(0) += 1;
    }
    let cells = cells.into_iter();
    Row {
        sides: sides.map(|side| side % tables * END),
        cells: cells
            .map(|(lines, count)| LineCell { count, lines })
            .collect(),
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

fn vector<const N: usize>(values: &[f32], at: usize) -> &[f32; N] {
    values[at..].first_chunk().expect("a whole vector")
}

fn vector_mut<const N: usize>(values: &mut [f32], at: usize) -> &mut [f32; N] {
    values[at..].first_chunk_mut().expect("a whole vector")
}

fn add<const N: usize>(to: &mut [f32; N], times: f32, vector: &[f32; N]) {
    for at in 0..N {
        to[at] += times * vector[at];
    }
}

/// Calls `see` with the place of the weights of each line of a cell for one view: 0 is the
/// mover's.
fn lines(row: &Row, cell: &LineCell, view: usize, mut see: impl FnMut(usize)) {
    let side = row.sides[view];
    for (lines, start) in [(cell.lines[view], OWN), (cell.lines[1 - view], OTHER)] {
        for class in lines {
            see(side + start + usize::from(class) * CHANNELS);
        }
    }
}

/// The sums of a position on the way to its value.
#[derive(Default)]
struct Sums {
    /// By cell: the channels of the mover's view and of the opponent's.
    cells: Vec<[Channels; 2]>,
    pool: [Channels; 2],
    hidden: Units,
    deep: [f32; DEEP_UNITS],
    /// In logits.
    value: f32,
}

fn evaluate(parameters: &[f32], row: &Row, sums: &mut Sums) {
    sums.cells.clear();
    sums.pool = [[0.0; CHANNELS]; 2];
    for cell in &row.cells {
        let mut channels = [[0.0; CHANNELS]; 2];
        for (view, channels) in channels.iter_mut().enumerate() {
            *channels = *vector(parameters, row.sides[view] + CELL_BIAS);
            lines(row, cell, view, |at| {
                add(channels, 1.0, vector(parameters, at))
            });
            let positive = channels.map(|channel| channel.max(0.0));
            add(
                &mut sums.pool[view],
                f32::from(cell.count) * POOL,
                &positive,
            );
        }
        sums.cells.push(channels);
    }
    let side = row.sides[0];
    sums.hidden = *vector(parameters, side + BIAS);
    for &at in &row.times {
        let times = vector(parameters, side + TIMES + usize::from(at) * HIDDEN_UNITS);
        add(&mut sums.hidden, 1.0, times);
    }
    sums.value = 0.0;
    linear(row, |at, times| sums.value += times * parameters[at]);
    for (at, input) in sums.pool.as_flattened().iter().enumerate() {
        let head = vector(parameters, side + HEADS + at * HIDDEN_UNITS);
        add(&mut sums.hidden, *input, head);
        sums.value += input * parameters[side + DIRECT + at];
    }
    sums.deep = *vector(parameters, side + DEEP_BIAS);
    for (at, unit) in sums.hidden.map(|unit| unit.max(0.0)).iter().enumerate() {
        let weights = vector(parameters, side + DEEP + at * DEEP_UNITS);
        add(&mut sums.deep, *unit, weights);
        sums.value += unit * parameters[side + OUT + at];
    }
    for (unit, out) in sums.deep.iter().zip(&parameters[side + DEEP_OUT..]) {
        sums.value += unit.max(0.0) * out;
    }
}

/// Adds the gradient of the loss of a row.
fn learn(parameters: &[f32], row: &Row, gradient: &mut [f32]) {
    let mut sums = Sums::default();
    evaluate(parameters, row, &mut sums);
    let error = chance(sums.value) - row.target;
    linear(row, |at, times| gradient[at] += error * times);
    let side = row.sides[0];
    let mut deep = [0.0; DEEP_UNITS];
    for (unit, slope) in deep.iter_mut().enumerate() {
        if sums.deep[unit] > 0.0 {
            gradient[side + DEEP_OUT + unit] += error * sums.deep[unit];
            *slope = error * parameters[side + DEEP_OUT + unit];
        }
    }
    add(vector_mut(gradient, side + DEEP_BIAS), 1.0, &deep);
    let mut slope = [0.0; HIDDEN_UNITS];
    for (unit, slope) in slope.iter_mut().enumerate() {
        if sums.hidden[unit] > 0.0 {
            gradient[side + OUT + unit] += error * sums.hidden[unit];
            let at = side + DEEP + unit * DEEP_UNITS;
            add(vector_mut(gradient, at), sums.hidden[unit], &deep);
            let weights: &[f32; DEEP_UNITS] = vector(parameters, at);
            let products = weights
                .iter()
                .zip(&deep)
                .map(|(weight, slope)| weight * slope);
            let of_deep: f32 = products.sum();
            *slope = error * parameters[side + OUT + unit] + of_deep;
        }
    }
    add(vector_mut(gradient, side + BIAS), 1.0, &slope);
    for &at in &row.times {
        let to = side + TIMES + usize::from(at) * HIDDEN_UNITS;
        add(vector_mut(gradient, to), 1.0, &slope);
    }
    let mut pool = [[0.0; CHANNELS]; 2];
    for (at, input) in sums.pool.as_flattened().iter().enumerate() {
        let to = side + HEADS + at * HIDDEN_UNITS;
        add(vector_mut(gradient, to), *input, &slope);
        gradient[side + DIRECT + at] += error * input;
        let head: &Units = vector(parameters, to);
        let products = head.iter().zip(&slope).map(|(head, slope)| head * slope);
        let of_units: f32 = products.sum();
        let direct = error * parameters[side + DIRECT + at];
        pool[at / CHANNELS][at % CHANNELS] = POOL * (of_units + direct);
    }
    for (cell, channels) in row.cells.iter().zip(&sums.cells) {
        for view in 0..2 {
            let mut slope = [0.0; CHANNELS];
            for channel in 0..CHANNELS {
                if channels[view][channel] > 0.0 {
                    slope[channel] = f32::from(cell.count) * pool[view][channel];
                }
            }
            add(
                vector_mut(gradient, row.sides[view] + CELL_BIAS),
                1.0,
                &slope,
            );
            lines(row, cell, view, |at| {
                add(vector_mut(gradient, at), 1.0, &slope)
            });
        }
    }
}

fn loss(parameters: &[f32], rows: &[Row]) -> f64 {
    let mut sums = Sums::default();
    let of = |row: &Row| {
        evaluate(parameters, row, &mut sums);
        let p = chance(sums.value).clamp(1e-6, 1.0 - 1e-6);
        f64::from(-(row.target * p.ln() + (1.0 - row.target) * (1.0 - p).ln()))
    };
    rows.iter().map(of).sum::<f64>() / rows.len() as f64
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

/// Returns the fixed point of a parameter in the file of the network.
fn scale(at: usize) -> f32 {
    match at {
        _ if at < HEADS => CHANNEL,
        _ if at < TIMES => ONE,
        _ if at < BIAS => {
            // Quiet cells and no cell have no weight.
            let vector = (at - TIMES) / HIDDEN_UNITS;
            let (kind, count) = (vector / KIND_COUNTS % CELL_KINDS, vector % KIND_COUNTS);
            if kind > 0 && count > 0 { ONE } else { 0.0 }
        }
        _ if at < OUT || (DEEP..DEEP_OUT).contains(&at) => ONE,
        _ => RESULT,
    }
}

/// Returns the weights of the network as the search reads them.
fn network(parameters: &[f32]) -> Vec<u8> {
    (OWN..END)
        .flat_map(|at| ((parameters[at] * scale(at)).round() as i16).to_le_bytes())
        .collect()
}

/// Returns the parameters of a file of the network, with empty tables.
fn parameters(network: &[u8]) -> Result<Vec<f32>, Box<dyn Error>> {
    let (numbers, rest) = network.as_chunks::<2>();
    if numbers.len() != END - OWN || !rest.is_empty() {
        return Err("a network of another size".into());
    }
    let mut parameters = vec![0.0; OWN];
    parameters.extend(numbers.iter().zip(OWN..).map(|(&bytes, at)| {
        let scale = scale(at);
        if scale > 0.0 {
            f32::from(i16::from_le_bytes(bytes)) / scale
        } else {
            0.0
        }
    }));
    Ok(parameters)
}

#[cfg(test)]
mod tests {
    use kagetsu_game::Position;
    use kagetsu_search::Evaluation;

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
        let parameters = train(variant, &texts, sides, 20, Vec::new()).expect("positions");
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
    fn same_games_give_the_same_weights() {
        let digests = [digest("freestyle-15", 1), digest("renju-15", 2)];
        assert_eq!(
            digests,
            [7_500_327_573_651_559_527, 18_431_544_062_821_841_317]
        );
    }
}

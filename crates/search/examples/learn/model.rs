//! The network as it is trained: its parameters, its value and the gradient of its loss.

use std::collections::BTreeMap;

use kagetsu_search::tuning::{
    CELL_CLASSES, CELL_KINDS, CHANNELS, CellFeatures, DEEP_UNITS, HIDDEN_UNITS, KIND_COUNTS,
    LINE_CLASSES, THREAT_SETS,
};

use crate::training::{self, chance};

/// Weight of one cell in the pool.
const POOL: f32 = 1.0 / 16.0;

// Parameters of a side in their order. The file of the network begins with `OWN`.
pub(crate) const THREATS: usize = CELL_CLASSES;
pub(crate) const OWN: usize = THREATS + THREAT_SETS;
const OTHER: usize = OWN + LINE_CLASSES * CHANNELS;
pub(crate) const CELL_BIAS: usize = OTHER + LINE_CLASSES * CHANNELS;
pub(crate) const HEADS: usize = CELL_BIAS + CHANNELS;
pub(crate) const TIMES: usize = HEADS + 2 * CHANNELS * HIDDEN_UNITS;
pub(crate) const BIAS: usize = TIMES + 2 * CELL_KINDS * KIND_COUNTS * HIDDEN_UNITS;
pub(crate) const OUT: usize = BIAS + HIDDEN_UNITS;
pub(crate) const DIRECT: usize = OUT + HIDDEN_UNITS;
pub(crate) const DEEP: usize = DIRECT + 2 * CHANNELS;
pub(crate) const DEEP_BIAS: usize = DEEP + HIDDEN_UNITS * DEEP_UNITS;
pub(crate) const DEEP_OUT: usize = DEEP_BIAS + DEEP_UNITS;
pub(crate) const END: usize = DEEP_OUT + DEEP_UNITS;

pub(crate) type Channels = [f32; CHANNELS];
type Units = [f32; HIDDEN_UNITS];

/// One position: where the parameters of the mover and of the opponent begin, how often each class
/// occurs for them, the lines of its cells, the vectors of the numbers of kinds, and the chance of
/// the side to move.
pub(crate) struct Row {
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

/// Returns a position and its target as a row. Where both sides have the same rule, they have the
/// same parameters: then `tables` is 1.
pub(crate) fn row(features: &CellFeatures, target: f32, tables: usize) -> Row {
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

pub(crate) fn vector<const N: usize>(values: &[f32], at: usize) -> &[f32; N] {
    values[at..].first_chunk().expect("a whole vector")
}

pub(crate) fn vector_mut<const N: usize>(values: &mut [f32], at: usize) -> &mut [f32; N] {
    values[at..].first_chunk_mut().expect("a whole vector")
}

pub(crate) fn add<const N: usize>(to: &mut [f32; N], times: f32, vector: &[f32; N]) {
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
pub(crate) struct Sums {
    /// By cell: the channels of the mover's view and of the opponent's.
    cells: Vec<[Channels; 2]>,
    pool: [Channels; 2],
    hidden: Units,
    deep: [f32; DEEP_UNITS],
    /// In logits.
    pub(crate) value: f32,
}

pub(crate) fn evaluate(parameters: &[f32], row: &Row, sums: &mut Sums) {
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
pub(crate) fn learn(parameters: &[f32], row: &Row, gradient: &mut [f32]) {
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

pub(crate) fn loss(parameters: &[f32], rows: &[Row]) -> f64 {
    let mut sums = Sums::default();
    let of = |row: &Row| {
        evaluate(parameters, row, &mut sums);
        training::loss(sums.value, row.target)
    };
    rows.iter().map(of).sum::<f64>() / rows.len() as f64
}

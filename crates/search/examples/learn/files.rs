//! The files of the weights, as the search reads them.

use std::error::Error;
use std::path::Path;

use kagetsu_game::RuleName;
use kagetsu_search::tuning::{
    self, CELL_KINDS, CHANNELS, HIDDEN_UNITS, KIND_COUNTS, LINE_CLASSES, LOGIT_CENTI,
};

use crate::model::{
    BIAS, CELL_BIAS, Channels, DEEP, DEEP_OUT, END, HEADS, OUT, OWN, THREATS, TIMES, vector,
    vector_mut,
};

/// Fixed point of the channels in the file.
const CHANNEL: f32 = 256.0;
/// Fixed point of the hidden units in the file, and of the weights of the pool.
const ONE: f32 = 512.0;
/// Fixed point of the weights of the output in the file, whose value is in centi-units.
const RESULT: f32 = LOGIT_CENTI * 16_384.0 / ONE;

/// Returns the parameters of a network and of the tables beside it. A line of five free cells on a
/// side, which no position of freestyle has, gets freestyle's weights of the line of four.
pub(crate) fn read(file: &str) -> Result<Vec<f32>, Box<dyn Error>> {
    let file = Path::new(file);
    let mut parameters = parameters(&std::fs::read(file)?)?;
    let freestyle = tuning::weight_names(RuleName::Freestyle)[0];
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

/// Returns the tables of a side as the search reads them.
pub(crate) fn tables(parameters: &[f32]) -> String {
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
pub(crate) fn network(parameters: &[f32]) -> Vec<u8> {
    (OWN..END)
        .flat_map(|at| ((parameters[at] * scale(at)).round() as i16).to_le_bytes())
        .collect()
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

mod gomoku;
mod surakarta;

use std::io::Write;

use anyhow::Result;
use kagetsu_search::EngineOptions;
use serde::Serialize;

use crate::report;

/// Tables of the founding documents, side by side with Kagetsu's figures on this machine
///
/// Example: kagetsu bench seeds --depth 2,4
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Game of the documents
    #[arg(long, default_value = "gomoku", value_name = "GAME")]
    game: SeedGame,
    /// Plies to search [default: 2,4,6 for gomoku, 7 for surakarta]
    #[arg(long, value_delimiter = ',', value_name = "N", value_parser = clap::value_parser!(u8).range(1..=20))]
    depth: Vec<u8>,
    /// Settings of the engine that the documents leave open, as in leaf-fours=0; see `bench
    /// match --help`
    #[arg(long = "settings", default_value = "default", value_name = "SETTINGS")]
    engine: EngineOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum SeedGame {
    Gomoku,
    Surakarta,
}

/// Mean, median and geometric mean of some values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Averages {
    mean: f64,
    median: f64,
    geometric: f64,
}

impl Averages {
    /// Returns the averages; `None` without values.
    fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let middle = values.get(values.len() / 2)? + values.get((values.len() - 1) / 2)?;
        let mean = |values: &mut dyn Iterator<Item = f64>, count| values.sum::<f64>() / count;
        let count = values.len() as f64;
        let mut logarithms = values.iter().map(|value| value.max(f64::MIN_POSITIVE).ln());
        Some(Self {
            mean: mean(&mut values.iter().copied(), count),
            median: middle / 2.0,
            geometric: mean(&mut logarithms, count).exp(),
        })
    }
}

pub(crate) fn run(args: &Args, is_json: bool, out: &mut dyn Write) -> Result<()> {
    let depths = |usual: &[u8]| match &args.depth[..] {
        [] => usual.to_vec(),
        given => given.to_vec(),
    };
    match args.game {
        SeedGame::Gomoku => {
            let mut seeds = gomoku::GomokuSeeds::default();
            for depth in depths(&[2, 4, 6]) {
                seeds.add(args.engine, depth)?;
            }
            report::write(out, is_json, &gomoku::method(), &seeds)
        }
        SeedGame::Surakarta => {
            let mut seeds = surakarta::SurakartaSeeds::default();
            for depth in depths(&[7]) {
                seeds.add(args.engine, depth)?;
            }
            report::write(out, is_json, surakarta::METHOD, &seeds)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_are_mean_median_and_geometric_mean() {
        let found = Averages::of([8.0, 1.0, 1.0, 2.0].into_iter()).expect("of something");
        assert_eq!((found.mean, found.median), (3.0, 1.5));
        assert!((found.geometric - 2.0).abs() < 1e-12);
        assert_eq!(Averages::of(std::iter::empty()), None);
    }
}

mod documents;
mod figures;
mod gomoku;
mod surakarta;

use std::io::Write;

use anyhow::Result;
use kagetsu_search::EngineOptions;
use kagetsu_terminal::json::write_json;

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
    /// Settings of the engine that the documents leave open, as in constants=paper; see `bench
    /// match
    /// --help`
    #[arg(long = "settings", default_value = "default", value_name = "SETTINGS")]
    engine: EngineOptions,
    /// Prints one JSON array with an object for each depth
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum SeedGame {
    Gomoku,
    Surakarta,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let depths = |default: &[u8]| {
        if args.depth.is_empty() {
            default.to_vec()
        } else {
            args.depth.clone()
        }
    };
    match (args.game, args.json) {
        (SeedGame::Gomoku, false) => gomoku::write_all(args.engine, &depths(&[2, 4, 6]), out),
        (SeedGame::Gomoku, true) => {
            let measured = depths(&[2, 4, 6])
                .iter()
                .map(|&depth| Ok(gomoku::measure(args.engine, depth)?.into()))
                .collect::<Result<Vec<gomoku::GomokuSeedsJson>>>()?;
            write_json(out, &measured)
        }
        (SeedGame::Surakarta, false) => depths(&[7])
            .iter()
            .try_for_each(|&depth| surakarta::measure(args.engine, depth)?.write(out)),
        (SeedGame::Surakarta, true) => {
            let measured = depths(&[7])
                .iter()
                .map(|&depth| surakarta::measure(args.engine, depth))
                .collect::<Result<Vec<_>>>()?;
            write_json(out, &measured)
        }
    }
}

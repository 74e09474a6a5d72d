use std::io::Write;
use std::time::Instant;

use anyhow::Result;
use kagetsu_game::{divide, perft, with_game};
use kagetsu_program::Exit;
use serde::Serialize;

use crate::arguments::position::PositionArgs;
use crate::output::OutputArgs;

/// Counts the legal move sequences of a length
///
/// As usual for perft, the count ignores endings that depend on the history of the game, such as
/// repetition.
///
/// Example: kagetsu perft --variant xiangqi --depth 4 --divide
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    place: PositionArgs,
    /// Length of the sequences, in plies
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(..=20))]
    depth: u8,
    /// Shows the count for each first move
    #[arg(long)]
    divide: bool,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Serialize)]
struct PerftJson {
    nodes: u64,
    time_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    moves: Option<Vec<MoveJson>>,
}

#[derive(Serialize)]
struct MoveJson {
    r#move: String,
    nodes: u64,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let position = args.place.position()?;
    let depth = u32::from(args.depth);
    let begun = Instant::now();
    let (nodes, moves) = with_game!(position.variant(), G => {
        let mut game = position.game::<G>();
        if args.divide && depth > 0 {
            let moves = divide(&mut game, depth);
            (moves.iter().map(|(_, nodes)| nodes).sum(), Some(moves))
        } else {
            (perft(&mut game, depth), None)
        }
    });
    let time = begun.elapsed();
    let moves = moves.map(|moves| {
        let row = |(m, nodes)| MoveJson {
            r#move: position.write_move(m),
            nodes,
        };
        moves.into_iter().map(row).collect::<Vec<_>>()
    });
    let json = PerftJson {
        nodes,
        time_ms: time.as_millis() as u64,
        moves,
    };
    let out = &mut args.output.report(out, &json)?;
    for MoveJson { r#move, nodes } in json.moves.iter().flatten() {
        writeln!(out, "{move} {nodes}")?;
    }
    let rate = nodes as f64 / time.as_secs_f64().max(1e-6) / 1e6;
    writeln!(
        out,
        "{nodes} nodes in {:.3} s, {rate:.1} M/s",
        time.as_secs_f64()
    )?;
    Ok(Exit::Done)
}

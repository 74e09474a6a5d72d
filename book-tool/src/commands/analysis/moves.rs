use std::io::Write;

use anyhow::Result;
use kagetsu_api::ForbiddenJson;
use kagetsu_game::{Notation, Position};
use kagetsu_program::Exit;
use serde::Serialize;

use crate::arguments::position::PositionArgs;
use crate::output::OutputArgs;

/// Lists the legal moves, and the forbidden points of renju with reasons
///
/// Example: kagetsu moves --variant renju-15 --moves "h8 h9 i8"
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    place: PositionArgs,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Serialize)]
struct MovesJson {
    legal: Vec<String>,
    forbidden: Vec<ForbiddenJson>,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let position = args.place.position()?;
    let out = &mut args
        .output
        .report(out, &moves(&position, Notation::Engine))?;
    let moves = moves(&position, args.place.notation);
    writeln!(
        out,
        "{} legal: {}",
        moves.legal.len(),
        moves.legal.join(" ")
    )?;
    for ForbiddenJson { r#move, reason } in &moves.forbidden {
        writeln!(out, "{move} is forbidden: {reason}")?;
    }
    Ok(Exit::Done)
}

fn moves(position: &Position, notation: Notation) -> MovesJson {
    let name = |m| position.write_move_in(m, notation);
    MovesJson {
        legal: position.legal_moves().into_iter().map(name).collect(),
        forbidden: ForbiddenJson::all(position, notation),
    }
}

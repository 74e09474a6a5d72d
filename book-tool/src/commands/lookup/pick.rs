use std::io::Write;

use anyhow::{Context, Result};
use kagetsu_api::ValueJson;
use kagetsu_book::Choice;
use kagetsu_game::{Move, Position};
use kagetsu_program::Exit;
use serde::Serialize;

use crate::books::{Asked, Source};
use crate::output::json::write_json;

/// Chooses one book move, as an engine would
///
/// Without a temperature the best move; with one, a move by chance, where a move that is T centi-units worse than the
/// best is e times less likely; a proven win is always taken, a proven loss never while there is another move.
/// Only a move whose value is known, exactly or from below, is chosen; those that may be better, as far as the book knows,
/// are told on stderr. Exit code 1 if the book has no move, or ends too soon behind it (--before-edge).
///
/// Example: kagetsu pick --book h8.book --variant freestyle-15 --moves h8 --temperature 20 --seed 7
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    asked: Asked,
    /// Centi-units of value that make a move e times less likely; 0 takes the best
    #[arg(long, default_value_t = 0.0, value_name = "T", value_parser = temperature)]
    temperature: f64,
    /// Makes the chance the same every time
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Leaves out moves that were searched less deeply and are not proven
    #[arg(long, default_value_t = 0, value_name = "N")]
    min_depth: u8,
    /// Leaves out moves that are more than N centi-units worse than the best
    #[arg(long, value_name = "N")]
    margin: Option<u16>,
    /// Leaves the book N plies before its edge: no move behind which its best line is shorter
    #[arg(long, default_value_t = 0, value_name = "N")]
    before_edge: u8,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn temperature(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    if value.is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        Err("must be 0 or more".into())
    }
}

#[derive(Serialize)]
struct PickJson {
    r#move: String,
    #[serde(flatten)]
    value: ValueJson,
    depth: u8,
    /// Moves that may be better: only an upper bound of them is known.
    rivals: Vec<String>,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let (position, mut source) = args.asked.open()?;
    let answer = source.lookup(&position, false)?;
    let Args {
        temperature,
        seed,
        min_depth,
        margin,
        ..
    } = *args;
    let choice = Choice {
        temperature,
        seed,
        min_depth,
        margin,
    };
    let answer = answer.unwrap_or_default();
    let Some((m, verdict)) = choice.pick(&answer) else {
        if (Choice {
            min_depth: 0,
            ..choice
        })
        .pick(&answer)
        .is_some()
        {
            let what = format!(
                "moves for {position}, all of them searched less deeply than {min_depth} plies"
            );
            writeln!(
                std::io::stderr(),
                "the book has {what}; --min-depth leaves them out"
            )?;
        } else {
            writeln!(std::io::stderr(), "the book has no move for {position}")?;
        }
        return Ok(Exit::No);
    };
    let plies = plies_behind(&mut source, &position, *m, args.before_edge)?;
    if plies < args.before_edge {
        writeln!(
            std::io::stderr(),
            "the book ends {plies} plies behind {}",
            position.write_move(*m)
        )?;
        return Ok(Exit::No);
    }
    let rivals = choice
        .rivals(&answer)
        .into_iter()
        .filter(|(rival, _)| rival != m);
    let rivals: Vec<String> = rivals.map(|(m, _)| position.write_move(*m)).collect();
    let r#move = position.write_move(*m);
    if args.json {
        let value = ValueJson::of(verdict);
        write_json(
            out,
            &PickJson {
                r#move,
                value,
                depth: verdict.depth,
                rivals,
            },
        )?;
        return Ok(Exit::Done);
    }
    writeln!(out, "{}", r#move)?;
    if !rivals.is_empty() {
        let rivals = rivals.join(" ");
        writeln!(
            std::io::stderr(),
            "in doubt: {rivals} may be better, the book has only an upper bound; build on"
        )?;
    }
    Ok(Exit::Done)
}

/// For how many plies the book goes on with best moves after a move, `most` at most. A game that ends there was known to its end.
fn plies_behind(source: &mut Source, position: &Position, m: Move, most: u8) -> Result<u8> {
    let (mut at, mut next) = (position.clone(), m);
    for plies in 0..most {
        at = at
            .play(next)
            .with_context(|| format!("the book has an illegal move in {at}"))?;
        if at.outcome().is_some() {
            return Ok(most);
        }
        let answer = source.lookup(&at, false)?.unwrap_or_default();
        let Some((best, _)) = Choice::default().pick(&answer) else {
            return Ok(plies);
        };
        next = *best;
    }
    Ok(most)
}

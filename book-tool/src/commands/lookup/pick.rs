use std::io::Write;

use anyhow::{Context, Result};
use kagetsu_api::{PickJson, ValueJson};
use kagetsu_book::Choice;
use kagetsu_game::{Move, Position};
use kagetsu_program::Exit;

use crate::arguments::query::BookPosition;
use kagetsu_reader::{BookReader, not_held};
use kagetsu_terminal::json::write_json;

/// Chooses one book move, as an engine would
///
/// Without --temperature it picks the best move; with it, a random one, in which a move T
/// centi-units worse than the best is e times less likely. A proven win is always chosen, a proven
/// loss only if every move loses. Moves with only an upper bound are never chosen; they are listed
/// on stderr if they may be better.
///
/// The exit code is 1 if the book has no move, or ends too soon after it (--before-edge).
///
/// Example: kagetsu pick --book h8.book --variant freestyle-15 --moves h8 --temperature 20 --seed 7
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    book_position: BookPosition,
    /// Loss of value, in centi-units, that makes a move e times less likely; 0 picks the best move
    #[arg(long, default_value_t = 0.0, value_name = "T", value_parser = kagetsu_brain::temperature)]
    temperature: f64,
    /// Seed of the random generator
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Skips unproven moves that were searched less deeply than N plies
    #[arg(long, default_value_t = 0, value_name = "N")]
    min_depth: u8,
    /// Skips moves more than N centi-units worse than the best
    #[arg(long, value_name = "N")]
    margin: Option<u16>,
    /// Skips moves after which the book's best line is shorter than N plies
    #[arg(long, default_value_t = 0, value_name = "N")]
    before_edge: u8,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let (position, mut source) = args.book_position.open()?;
    let answer = source.lookup(&position)?;
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
            if answer.is_empty() {
                writeln!(std::io::stderr(), "{}", not_held(&mut *source, &position)?)?;
            } else {
                writeln!(std::io::stderr(), "the book has no move for {position}")?;
            }
        }
        return Ok(Exit::No);
    };
    let plies = plies_behind(&mut *source, &position, *m, args.before_edge)?;
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
                depth: verdict.depth.into(),
                rivals,
            },
        )?;
        return Ok(Exit::Done);
    }
    let notation = args.book_position.notation();
    writeln!(out, "{}", position.write_move_in(*m, notation))?;
    if !rivals.is_empty() {
        let rivals = rivals.join(" ");
        writeln!(
            std::io::stderr(),
            "in doubt: {rivals} may be better, the book has only an upper bound; build on"
        )?;
    }
    Ok(Exit::Done)
}

/// Returns the length of the book's best line after a move, up to `most` plies. A line that ends
/// the game counts as long enough.
fn plies_behind(source: &mut dyn BookReader, position: &Position, m: Move, most: u8) -> Result<u8> {
    let (mut at, mut next) = (position.clone(), m);
    for plies in 0..most {
        at = at
            .play(next)
            .with_context(|| format!("the book has an illegal move in {at}"))?;
        if at.outcome().is_some() {
            return Ok(most);
        }
        let answer = source.lookup(&at)?.unwrap_or_default();
        let Some((best, _)) = Choice::default().pick(&answer) else {
            return Ok(plies);
        };
        next = *best;
    }
    Ok(most)
}

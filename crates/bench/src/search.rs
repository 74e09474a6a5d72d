use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::Result;
use kagetsu_game::{Effort, Position, Question, Variant};
use kagetsu_search::{Control, Engine, EngineOptions, seeds};
use kagetsu_terminal::arguments::effort::parse_time;
use serde::Serialize;

use crate::report;

/// Middle games that Kagetsu played against itself, 12 to 44 stones.
const MIDDLE_GAMES: [&str; 4] = [
    "h8 i8 h7 g7 i9 g9 h10 h9 g10 f9 e9 f10",
    "h8 i7 h6 g7 j10 h7 j7 g8 g9 g6 j9 j8 f7 f5 i8 g4 g5 e4",
    "h8 i9 g7 f6 i7 g9 f8 h7 h6 i5 e8 g8 f9 g10 f11 f10 e10 e11 d9 c8 g12 h13 j6 i10 e9 d10 c9 \
     b9 k6 i6",
    "h8 g7 i8 j8 h9 h10 i9 i7 j7 g10 h6 g9 g8 i10 j10 h7 e7 e8 k6 l5 j12 k11 i6 j6 k9 k8 l8 m7 \
     l7 h11 i12 g12 j9 l9 h12 i11 g11 f10 e10 k12 d7 k5 j11 j13",
];
/// Times that the candidates of each position are played and taken back.
const ROUNDS: u32 = 2_000;

/// Nodes a second and depth reached in a time, position by position, and the time of a move with
/// its undo
///
/// Example: kagetsu bench search --time 2s --settings selective=off
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Time for each position
    #[arg(long, default_value = "1s", value_name = "TIME", value_parser = parse_time)]
    time: Duration,
    /// Settings of the engine; see `bench match --help`
    #[arg(long = "settings", default_value = "default", value_name = "SETTINGS")]
    engine: EngineOptions,
}

/// One position.
#[derive(Serialize)]
struct SearchedJson {
    stones: usize,
    depth: u8,
    nodes: u64,
    time_ms: f64,
    /// For playing a candidate and taking it back.
    move_ns: u64,
    best: String,
    value: String,
}

/// All positions.
#[derive(Serialize)]
struct SpeedJson {
    engine: String,
    positions: Vec<SearchedJson>,
    mean_depth: f64,
    nodes_per_second: f64,
    mean_move_ns: f64,
}

pub(crate) fn run(args: &Args, is_json: bool, out: &mut dyn Write) -> Result<()> {
    let method = format!(
        "The positions after each move of {}, and four middle games of Kagetsu against itself; {} \
         each. Depth is that of the last iteration that was finished, 0 where threats decided \
         before the first; move ns are for playing a candidate and taking it back.",
        seeds::LINE.join(" "),
        humantime::format_duration(args.time)
    );
    report::write(out, is_json, &method, &measure(args)?)
}

fn measure(args: &Args) -> Result<SpeedJson> {
    let mut all = seeds::positions()?;
    for line in MIDDLE_GAMES {
        all.push(Position::from_line(Variant::FREESTYLE_15, line)?);
    }
    let mut engine = Engine::new(args.engine)?;
    let search = |position: &Position| search(&mut engine, position, args.time);
    let positions = all.iter().map(search).collect::<Result<Vec<_>>>()?;
    let mean = |of: fn(&SearchedJson) -> f64| {
        positions.iter().map(of).sum::<f64>() / positions.len() as f64
    };
    let time = mean(|position| position.time_ms);
    Ok(SpeedJson {
        engine: args.engine.to_string(),
        mean_depth: mean(|position| position.depth.into()),
        nodes_per_second: 1e3 * mean(|position| position.nodes as f64) / time.max(1e-3),
        mean_move_ns: mean(|position| position.move_ns as f64),
        positions,
    })
}

fn search(engine: &mut Engine, position: &Position, time: Duration) -> Result<SearchedJson> {
    let question = Question::new(position.clone(), Effort::time(time));
    let (control, mut depth) = (Control::new(), 0);
    let begun = Instant::now();
    let answer = engine.answer(&question, &control, &mut |progress| depth = progress.depth)?;
    let time_ms = begun.elapsed().as_secs_f64() * 1e3;
    let best = answer
        .best()
        .map(|(m, verdict)| (position.write_move(m), verdict.score.to_string()));
    let (best, value) = best.unwrap_or_default();
    Ok(SearchedJson {
        stones: position.moves().len(),
        depth,
        nodes: control.nodes().max(answer.nodes()),
        time_ms,
        move_ns: seeds::play_and_undo(position, ROUNDS)?.as_nanos() as u64,
        best,
        value,
    })
}

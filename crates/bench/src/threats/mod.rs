mod puzzles;

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use kagetsu_game::{Claim, Effort, Position, Question, Side, Variant};
use kagetsu_search::threats::{ThreatClass, ThreatOutcome, ThreatSearch};
use kagetsu_search::{Control, Engine, EngineOptions};
use serde::Serialize;

use crate::report;
use kagetsu_terminal::arguments::effort::parse_time;
use puzzles::{Mark, Puzzle};

/// The files of puzzles below the folder of data.
const SETS: [&str; 4] = [
    "gomoku/puzzles/own_vcf_from_engine_games.jsonl",
    "gomoku/puzzles/own_vcf_random_positions.jsonl",
    "renju/puzzles/lfz084_vcf_verified.jsonl",
    "renju/puzzles/lfz084_vct_quintet.jsonl",
];

/// By the rule of exactly five Black, to move, wins by fours in 15 plies, not sooner.
const FIFTEEN: &str = "
    ...............
    ...............
    ...X.O...O.....
    .....XXO.X.....
    ......XO.......
    ...............
    ..X.....O......
    ..O...X...O....
    ....O..OXX.....
    .......O..X....
    ....X....O.....
    ...............
    ...............
    ...............
    ...............";
/// Number of repetitions; the median time counts.
const RUNS: usize = 2_001;
/// Limit of fours to try, about a second of work.
const FOURS: u64 = 2_000_000;
/// Bytes of the table of the search for continuous threats.
const TABLE: usize = 64 << 20;

/// Puzzles solved by the search for continuous fours (VCF), for continuous threats (VCT), and by
/// the whole engine
///
/// Example: kagetsu bench threats --time 60s --set vct
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Time for each puzzle
    #[arg(long, default_value = "10s", value_name = "TIME", value_parser = parse_time)]
    time: Duration,
    /// The folder with the folders of puzzles
    #[arg(long, default_value = "../shared/data", value_name = "DIR")]
    data: PathBuf,
    /// Only the sets whose file has this in its name
    #[arg(
        long,
        default_value = "",
        value_name = "TEXT",
        hide_default_value = true
    )]
    set: String,
    /// Only the puzzles that have this in their name
    #[arg(
        long,
        default_value = "",
        value_name = "TEXT",
        hide_default_value = true
    )]
    puzzle: String,
    /// Settings of the engine; see `bench match --help`
    #[arg(long = "settings", default_value = "default", value_name = "SETTINGS")]
    engine: EngineOptions,
}

#[derive(Serialize)]
struct ThreatsReport {
    time_limit_ms: u64,
    fifteen: Fifteen,
    sets: Vec<Set>,
}

/// The search for a win of 15 plies by fours.
#[derive(Serialize)]
struct Fifteen {
    plies: u16,
    nodes: u64,
    median_us: f64,
    least_us: f64,
}

/// The results of one file.
#[derive(Default, Serialize)]
struct Set {
    file: String,
    /// Puzzles marked as won, and those of them that each way solved.
    won: usize,
    vcf: usize,
    vct: usize,
    engine: usize,
    /// Time of the solved puzzles.
    mean_ms: f64,
    median_ms: f64,
    worst_ms: f64,
    /// Puzzles marked as not won by so many fours, and those of them without a found win by fours.
    no_fours: usize,
    none_found: usize,
    unsolved: Vec<String>,
}

/// The search that solved a puzzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Vcf,
    Vct,
    Engine,
}

pub(crate) fn run(args: &Args, is_json: bool, out: &mut dyn Write) -> Result<()> {
    let fifteen = fifteen()?;
    let (mut sets, mut skipped) = (Vec::new(), Vec::new());
    for file in SETS.into_iter().filter(|file| file.contains(&args.set)) {
        let path = args.data.join(file);
        if path.is_file() {
            let mut puzzles = puzzles::read(&path)?;
            puzzles.retain(|puzzle| puzzle.name.contains(&args.puzzle));
            sets.push(solve_all(args, file, &puzzles)?);
        } else {
            skipped.push(path);
        }
    }
    let report = ThreatsReport {
        time_limit_ms: args.time.as_millis() as u64,
        fifteen,
        sets,
    };
    let method = format!(
        "Positions marked as won, at most {} each: searched for a win by continuous fours (VCF), \
         for one by continuous threats (VCT) for half of the time, then by the engine, {}, on one \
         thread. Milliseconds are wall-clock, of the positions solved. Fifteen: a win by fours in \
         15 plies, {RUNS} runs.",
        humantime::format_duration(args.time),
        args.engine
    );
    report::write(out, is_json, &method, &report)?;
    if !is_json {
        for set in report.sets.iter().filter(|set| !set.unsolved.is_empty()) {
            writeln!(out, "unsolved of {}: {}", set.file, set.unsolved.join(" "))?;
        }
        for path in skipped {
            let path = path.display();
            writeln!(out, "skipped: no file {path}; --data names its folder")?;
        }
    }
    Ok(())
}

/// Solves the one puzzle that needs no file, many times.
fn fifteen() -> Result<Fifteen> {
    let position = Position::from_board(
        "standard-15".parse::<Variant>()?,
        FIFTEEN,
        Some(Side::First),
    )?;
    let (mut threats, control) = (ThreatSearch::new(0), Control::new());
    let (mut times, mut plies, mut nodes) = (Vec::with_capacity(RUNS), 0, 0);
    for _ in 0..RUNS {
        let found = threats.search(&position, ThreatClass::Vcf, Effort::nodes(FOURS), &control)?;
        if let ThreatOutcome::Win { plies: found, .. } = found.outcome {
            plies = found;
        }
        nodes = found.nodes;
        times.push(found.time.as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(Fifteen {
        plies,
        nodes,
        median_us: times[RUNS / 2],
        least_us: times[0],
    })
}

fn solve_all(args: &Args, file: &str, puzzles: &[Puzzle]) -> Result<Set> {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} puzzles, {eta} left, {msg}")
        .expect("a fixed template");
    let bar = ProgressBar::new(puzzles.len() as u64).with_style(style);
    let mut set = Set {
        file: file.to_owned(),
        ..Set::default()
    };
    let (mut engine, mut threats) = (Engine::new(args.engine)?, ThreatSearch::new(TABLE));
    let mut times = Vec::new();
    for puzzle in puzzles {
        bar.set_message(puzzle.name.clone());
        match puzzle.mark {
            Mark::Won => {
                set.won += 1;
                threats.clear();
                let begun = Instant::now();
                let way = solve(&mut engine, &mut threats, &puzzle.position, args.time)
                    .with_context(|| format!("{} of {file}", puzzle.name))?;
                match way {
                    Some(Way::Vcf) => set.vcf += 1,
                    Some(Way::Vct) => set.vct += 1,
                    Some(Way::Engine) => set.engine += 1,
                    None => set.unsolved.push(puzzle.name.clone()),
                }
                times.extend(way.map(|_| begun.elapsed().as_secs_f64() * 1e3));
            }
            Mark::NoFours(fours) => {
                set.no_fours += 1;
                let effort = Effort {
                    depth: Some(2 * fours + 1),
                    ..Effort::nodes(FOURS)
                };
                let found =
                    threats.search(&puzzle.position, ThreatClass::Vcf, effort, &Control::new())?;
                set.none_found += usize::from(!matches!(found.outcome, ThreatOutcome::Win { .. }));
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    times.sort_by(f64::total_cmp);
    set.mean_ms = times.iter().sum::<f64>() / times.len().max(1) as f64;
    set.median_ms = times.get(times.len() / 2).copied().unwrap_or_default();
    set.worst_ms = times.last().copied().unwrap_or_default();
    Ok(set)
}

/// By fours, then by threats for half of the time that is left, then by the engine for the rest.
fn solve(
    engine: &mut Engine,
    threats: &mut ThreatSearch,
    position: &Position,
    time: Duration,
) -> Result<Option<Way>> {
    let (begun, control) = (Instant::now(), Control::new());
    let mut is_won = |class, effort| -> Result<bool> {
        let found = threats.search(position, class, effort, &control)?;
        Ok(matches!(found.outcome, ThreatOutcome::Win { .. }))
    };
    if is_won(ThreatClass::Vcf, Effort::nodes(FOURS))? {
        return Ok(Some(Way::Vcf));
    }
    if is_won(
        ThreatClass::Vct,
        Effort::time(time.saturating_sub(begun.elapsed()) / 2),
    )? {
        return Ok(Some(Way::Vct));
    }
    let left = time
        .saturating_sub(begun.elapsed())
        .max(Duration::from_millis(1));
    let answer = engine.answer(
        &Question::new(position.clone(), Effort::time(left)),
        &control,
        &mut |_| {},
    )?;
    let is_proven = answer
        .best()
        .and_then(|(_, best)| best.proof)
        .is_some_and(|proof| proof.claim == Claim::Win);
    Ok(is_proven.then_some(Way::Engine))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(clap::Parser)]
    struct Program {
        #[command(flatten)]
        args: Args,
    }

    fn report(flags: &[&str], is_json: bool) -> String {
        let program: Program = clap::Parser::parse_from(["bench"].iter().chain(flags));
        let mut out = Vec::new();
        run(&program.args, is_json, &mut out).expect("a report");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn win_of_the_built_in_puzzle_has_15_plies() {
        let found = fifteen().expect("a puzzle");
        assert_eq!(found.plies, 15);
        assert!(found.nodes > 0);
    }

    #[test]
    fn puzzles_are_solved_and_absent_ones_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let flags = [
            "--time",
            "1s",
            "--data",
            folder.path().to_str().expect("a path"),
        ];
        let empty = report(&flags, false);
        assert_eq!(
            empty.matches("skipped: no file").count(),
            SETS.len(),
            "{empty}"
        );

        let path = folder.path().join(SETS[0]);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        let row = |name: &str, black: &str, white: &str, vcf: bool| {
            let board = r#""rule": "freestyle", "size": 15, "side": "black""#;
            format!(
                r#"{{"id": "{name}", {board}, "black": [{black}], "white": [{white}], "vcf": {vcf}}}"#
            )
        };
        let rows = [
            row("fours", r#""h8", "i8", "j8""#, r#""a1", "a4", "a7""#, true),
            row(
                "threats",
                r#""h8", "i9", "h10", "i7""#,
                r#""a1", "a4", "a7", "a10""#,
                true,
            ),
            row("nothing", r#""h8""#, r#""a1""#, false),
            row(
                "hopeless",
                r#""a1", "c1""#,
                r#""h8", "i8", "j8", "k8""#,
                true,
            ),
        ];
        std::fs::write(&path, rows.join("\n")).expect("a file");
        let json = report(&[&flags[..], &["--set", "games"]].concat(), true);
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let [set] = &json["sets"].as_array().expect("sets")[..] else {
            panic!("{json}")
        };
        for (name, count) in [
            ("won", 3),
            ("vcf", 1),
            ("vct", 1),
            ("engine", 0),
            ("no_fours", 1),
            ("none_found", 1),
        ] {
            assert_eq!(set[name], count, "{name}: {json}");
        }
        assert_eq!(set["unsolved"], serde_json::json!(["hopeless"]));
    }
}

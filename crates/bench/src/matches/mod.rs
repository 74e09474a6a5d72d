pub(crate) mod elo;
pub(crate) mod pair;
pub(crate) mod player;
mod sprt;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use indicatif::{ProgressBar, ProgressStyle};
use kagetsu_book::RootOverview;
use kagetsu_game::{Effort, Outcome, Position, Variant};
use kagetsu_program::take_file;
use kagetsu_proto::Access;
use kagetsu_search::{Control, Engine, EngineOptions, Evaluation, give_end_tables};

use crate::openings::{Balanced, MARGIN};
use crate::report;
use elo::Tally;
use kagetsu_engines::EngineAddress;
use kagetsu_formats::openings;
use kagetsu_terminal::arguments::effort::{EffortArgs, parse_time};
use kagetsu_terminal::echo::EchoOff;
use kagetsu_terminal::runtime::runtime;
use pair::{EngineJson, Pair, Players, SearchWork};
use player::{PlayerEngine, PlayerSettings};
use serde::Serialize;
use sprt::{Sprt, SprtResult};

/// Games between two engines, in pairs of one opening with colours changed, and the difference in
/// Elo
///
/// An engine is `default` or key=value settings with commas between them. `--against` plays against
/// another program instead. Both engines keep their tables through a game. Ctrl-C ends the match
/// with the pairs played so far.
///
/// Examples:
///   kagetsu bench match default candidates=12,table=16MiB --nodes 20000 --pairs 200
///   kagetsu bench match default --against gomocup:./pbrain-other --time 500ms --sprt 0,50
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The first engine; the result is from its view
    #[arg(value_name = "A")]
    a: EngineOptions,
    /// The second engine
    #[arg(
        value_name = "B",
        required_unless_present = "against",
        conflicts_with = "against"
    )]
    b: Option<EngineOptions>,
    /// Another program as the second engine: a protocol and a command, as in gomocup:./pbrain-x
    #[arg(long, value_name = "PROTOCOL:COMMAND")]
    against: Option<EngineAddress>,
    /// Nodes of each move of the other program, in place of the common limits
    #[arg(long, value_name = "N", requires = "against", conflicts_with = "b", value_parser = clap::value_parser!(u64).range(1..))]
    against_nodes: Option<u64>,
    /// Time of each move of the other program, as in 50ms, in place of the common limits
    #[arg(long, value_name = "TIME", requires = "against", conflicts_with = "b", value_parser = parse_time)]
    against_time: Option<Duration>,
    /// A folder of weights that the examples `learn` and `order` wrote, for A in place of its own
    #[arg(long, value_name = "DIR")]
    evaluation: Option<PathBuf>,
    /// The weights of B
    #[arg(long, value_name = "DIR", conflicts_with = "against")]
    against_evaluation: Option<PathBuf>,
    /// End tables of surakarta, from `kagetsu tables`; with end-tables=0 an engine uses none
    #[arg(long, value_name = "FILE",
        value_parser = |path: &str| take_file(path, give_end_tables))]
    tables: Option<PathBuf>,
    /// A book folder, a compiled book or a URL that A plays from, as long as it has a move, and
    /// its searches behind the move visited at least --nodes
    #[arg(long, value_name = "BOOK")]
    book: Option<String>,
    /// The book that B plays from
    #[arg(long, value_name = "BOOK")]
    against_book: Option<String>,
    /// Stop when a sequential test of two differences in Elo is decided, with errors of 5 %
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    sprt: Option<Sprt>,
    /// Variant to play
    #[arg(long, default_value = "freestyle-15", value_name = "VARIANT")]
    variant: Variant,
    /// Pairs of games; with --openings, at most one for each opening
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    #[command(flatten)]
    effort: EffortArgs,
    /// Time for each move, as in 100ms [default: 100ms, if neither --depth nor --nodes is given]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time: Option<Duration>,
    /// Games to play side by side [default: as many as there are cores for their threads]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Openings to play from, one a line, as for `build --roots`, or a book folder, of whose first
    /// 100 roots those with a value within 0.30 are played; without, balanced ones are made
    #[arg(long, value_name = "FILE|DIR")]
    openings: Option<PathBuf>,
    /// Makes other openings
    #[arg(long, default_value_t = 1, value_name = "S")]
    seed: u64,
    /// Plays every game to its end, instead of ending it where a side has proven how it ends
    #[arg(long)]
    play_out: bool,
}

/// The result of a match, from the view of A.
#[derive(Serialize)]
struct MatchJson {
    pairs: u32,
    wins: u32,
    draws: u32,
    losses: u32,
    /// The share of the points, 0 to 1.
    score: f64,
    /// The difference in Elo with its 95 % interval; null where it is infinite.
    elo: f64,
    elo_low: f64,
    elo_high: f64,
    /// Pairs in which A had 0, 1/2, 1, 1 1/2 and 2 points.
    pentanomial: String,
    /// The state of the sequential test, if one was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    sprt: Option<String>,
    /// Share of the games that the side won which moved first after the opening.
    mover_wins: f64,
    plies_a_game: f64,
    engines: [EngineJson; 2],
}

/// The match as it stands.
#[derive(Default)]
struct MatchStanding {
    tally: Tally,
    /// Won, drawn and lost by A.
    games: [u32; 3],
    mover_wins: u32,
    plies: usize,
    work: [SearchWork; 2],
}

pub(crate) fn run(args: &Args, is_json: bool, out: &mut dyn Write) -> Result<()> {
    if !Engine::supports(args.variant) {
        bail!(
            "no search for {} yet: only its rules are known",
            args.variant
        );
    }
    if let Some(address) = &args.against
        && !address.protocol.supports(args.variant)
    {
        bail!(
            "--against: the protocol {} does not play {}",
            address.protocol,
            args.variant
        );
    }
    let openings = args
        .openings
        .as_deref()
        .map(|path| read_openings(path, args.variant))
        .transpose()?;
    let pairs = openings
        .as_ref()
        .map_or(args.pairs, |all| args.pairs.min(all.len() as u32));
    let (control, _keys) = (Control::new(), EchoOff::start());
    let runtime = runtime()?;
    let stopped = control.clone();
    runtime.spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            stopped.stop();
        }
    });
    let standing = play_all(args, pairs, openings.as_deref(), &control)?;
    runtime.shutdown_background();
    report::write(out, is_json, &method(args, pairs), &standing.json(args))
}

impl Args {
    fn effort(&self) -> Effort {
        let usual = Duration::from_millis(100);
        self.effort.within(self.time, usual)
    }

    /// The limits of the other program, where it has its own.
    fn against_effort(&self) -> Option<Effort> {
        let effort = Effort {
            nodes: self.against_nodes,
            time: self.against_time,
            ..Effort::default()
        };
        (effort != Effort::default()).then_some(effort)
    }

    /// The settings of A and of B.
    ///
    /// # Errors
    /// If there are no weights of gomoku to read.
    fn players(&self) -> Result<[PlayerSettings; 2]> {
        let effort = self.effort();
        let own = |options: EngineOptions, folder: &Option<PathBuf>| -> Result<_> {
            let read = |folder: &PathBuf| read_evaluation(folder, self.variant);
            Ok(PlayerEngine::Own(EngineOptions {
                evaluation: folder.as_ref().map(read).transpose()?,
                ..options
            }))
        };
        let engine = match &self.against {
            Some(address) => PlayerEngine::External(address.clone()),
            None => own(self.b.unwrap_or_default(), &self.against_evaluation)?,
        };
        let b = PlayerSettings {
            engine,
            effort: self.against_effort().unwrap_or(effort),
            book: self.against_book.clone(),
        };
        let a = PlayerSettings {
            engine: own(self.a, &self.evaluation)?,
            effort,
            book: self.book.clone(),
        };
        Ok([a, b])
    }

    /// Returns B with its own limits, as it is printed.
    fn second(&self) -> String {
        let limits = self.against_effort().map_or_else(String::new, |effort| {
            format!(", {} a move", written_effort(effort))
        });
        match &self.against {
            Some(address) => format!("{}{limits}", written(address)),
            None => self.b.unwrap_or_default().to_string(),
        }
    }

    fn games_at_once(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let other = self.b.map_or(1, |b| b.threads);
        let threads = self.a.threads.max(other);
        self.threads.map_or((cores / threads).max(1), usize::from)
    }
}

/// Reads the weights of a gomoku variant from a folder. Those without a file stay.
fn read_evaluation(folder: &Path, variant: Variant) -> Result<Evaluation> {
    let Some((rule, _)) = variant.gomoku() else {
        bail!("only gomoku has weights to read");
    };
    let read = Evaluation::read(rule, |name| std::fs::read(folder.join(name)).ok());
    read.map_err(|name| anyhow!("{}: no weights", folder.join(name).display()))
}

/// Reads the openings of a file, or the balanced roots of a book.
fn read_openings(path: &Path, variant: Variant) -> Result<Vec<Position>> {
    if !path.is_dir() {
        return openings::read(path, variant);
    }
    let book = kagetsu_reader::open(&path.to_string_lossy(), &Access::default())?;
    let overview = book.overview()?;
    let roots = overview.variant(variant).map(|held| &held.roots[..]);
    let mut balanced = Vec::new();
    for RootOverview { position, .. } in roots.unwrap_or_default() {
        let answer = book.lookup(position)?.unwrap_or_default();
        let value = answer.best().map(|(_, verdict)| verdict.score.raw());
        if value.is_some_and(|value| i32::from(value).abs() <= MARGIN) {
            balanced.push(position.clone());
        }
    }
    if balanced.is_empty() {
        bail!(
            "{} has no root of {variant} with a value within 0.30; `kagetsu build --roots` makes a \
             book of openings",
            path.display()
        );
    }
    Ok(balanced)
}

/// Returns an engine's address as it is given.
fn written(address: &EngineAddress) -> String {
    let command = [std::slice::from_ref(&address.program), &address.arguments].concat();
    format!("{}:{}", address.protocol, command.join(" "))
}

/// Returns limits as they are printed, as in `depth 8 and 20000 nodes`.
fn written_effort(effort: Effort) -> String {
    let limits = [
        effort.depth.map(|depth| format!("depth {depth}")),
        effort.nodes.map(|nodes| format!("{nodes} nodes")),
        effort
            .time
            .map(|time| humantime::format_duration(time).to_string()),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    limits.join(" and ")
}

fn method(args: &Args, pairs: u32) -> String {
    let openings = match &args.openings {
        Some(path) => format!("the first openings of {}", path.display()),
        None => format!("balanced openings made with seed {}", args.seed),
    };
    let end = if args.play_out {
        "to the end"
    } else {
        "until a side has proven how they end"
    };
    format!(
        "{}, at most {pairs} pairs of games with colours changed, from {openings}, {} a move, \
         played {end}; {} games at once. Elo by the logistic curve with its 95 % interval, \
         pentanomial: from the spread of the pairs' points, of which 0, 1/2, 1, 1 1/2 and 2 are \
         counted.",
        args.variant,
        written_effort(args.effort()),
        args.games_at_once()
    )
}

/// Plays pairs until all are played or `control` stops them.
fn play_all(
    args: &Args,
    pairs: u32,
    openings: Option<&[Position]>,
    control: &Control,
) -> Result<MatchStanding> {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} pairs, {eta} left, {msg}")
        .expect("a fixed template");
    let bar = ProgressBar::new(pairs.into()).with_style(style);
    let (next, mut standing) = (AtomicU32::new(0), MatchStanding::default());
    let settings = args.players()?;
    std::thread::scope(|scope| {
        let (sender, played) = mpsc::channel();
        for _ in 0..args.games_at_once() {
            let (sender, next, settings) = (sender.clone(), &next, &settings);
            scope.spawn(move || {
                let work = || -> Result<()> {
                    let mut balanced = Balanced::new(args.variant, args.seed)?;
                    let mut players = Players::new(settings, args.play_out, control)?;
                    while let Some(number) =
                        Some(next.fetch_add(1, Relaxed)).filter(|&number| number < pairs)
                    {
                        let opening = match openings {
                            Some(read) => read[number as usize].clone(),
                            None => balanced.opening(number)?,
                        };
                        let Some(pair) = players.pair(&opening, control)? else {
                            break;
                        };
                        // The receiver is gone where another game has failed.
                        let _ = sender.send(Ok(pair));
                    }
                    Ok(())
                };
                if let Err(error) = work() {
                    let _ = sender.send(Err(error));
                }
            });
        }
        drop(sender);
        for pair in played {
            standing.add(&pair.inspect_err(|_| control.stop())?);
            bar.inc(1);
            bar.set_message(standing.summary());
            let is_decided = |sprt: &Sprt| sprt.result(&standing.tally) != SprtResult::Open;
            if args.sprt.as_ref().is_some_and(is_decided) {
                control.stop();
            }
        }
        bar.finish_and_clear();
        Ok(standing)
    })
}

impl MatchStanding {
    fn add(&mut self, pair: &Pair) {
        self.tally.add(pair.halves().iter().sum());
        for (outcome, halves) in pair.outcomes.into_iter().zip(pair.halves()) {
            self.games[2 - usize::from(halves)] += 1;
            self.mover_wins += u32::from(outcome == Outcome::Win(pair.mover));
        }
        self.plies += pair.plies;
        self.work
            .iter_mut()
            .zip(pair.work)
            .for_each(|(work, more)| work.add(more));
    }

    /// `+12 =3 -9, Elo +34.9 (from -60.1 to +140.2)`.
    fn summary(&self) -> String {
        let [wins, draws, losses] = self.games;
        format!("+{wins} ={draws} -{losses}, Elo {}", self.tally.elo())
    }

    fn json(&self, args: &Args) -> MatchJson {
        let [wins, draws, losses] = self.games;
        let elo = self.tally.elo();
        let games = f64::from(2 * self.tally.pairs()).max(1.0);
        let [a, b] = self.work;
        MatchJson {
            pairs: self.tally.pairs(),
            wins,
            draws,
            losses,
            score: self.tally.score(),
            elo: elo.difference,
            elo_low: elo.low,
            elo_high: elo.high,
            pentanomial: self.tally.to_string(),
            sprt: args.sprt.map(|sprt| sprt.report(&self.tally)),
            mover_wins: f64::from(self.mover_wins) / games,
            plies_a_game: self.plies as f64 / games,
            engines: [a.json(args.a.to_string()), b.json(args.second())],
        }
    }
}

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use kagetsu_book::Book;
use kagetsu_game::{Answer, Effort, Position, Question};
use kagetsu_program::Exit;
use kagetsu_search::{Control, Engine, EngineOptions, Progress};

use crate::cli::{runtime, write_json};
use crate::effort::{EffortArgs, parse_time};
use crate::json::AnswerJson;
use crate::place::Place;
use crate::remote::Shown;
use crate::source::open_book;
use crate::{remote, table};

/// Analyses one position deeply, here or on a cluster
///
/// Stops at the first of --depth, --nodes and --time (10s where none is given), or at Ctrl-C, with the best answer so
/// far. Values are from the view of the side to move.
///
/// Example: kagetsu analyze --variant freestyle-15 --moves "h8 i9 h9" --depth 10 --top 3
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    effort: EffortArgs,
    /// Wall-clock time, as in 10s or 2m
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time: Option<Duration>,
    /// How many best moves get an exact value
    #[arg(long, default_value_t = 1, value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    top: u16,
    /// Threads to search with; 1 gives the same answer every time for --depth and --nodes [default: one for each core]
    #[arg(long, value_name = "N", conflicts_with = "coordinator", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Memory for the transposition table, in MiB
    #[arg(long, default_value_t = 256, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    table_mib: u64,
    /// Asks the cluster of this coordinator, as in http://127.0.0.1:7615
    #[arg(long, value_name = "URL")]
    coordinator: Option<String>,
    /// Keeps the answer in this book; it is made if it is not there
    #[arg(long, value_name = "DIR")]
    book: Option<PathBuf>,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: Args, out: &mut dyn Write) -> Result<Exit> {
    let position = args.place.position()?;
    let question = Question { width: args.top, ..Question::new(position.clone(), args.effort()) };
    let book = args.book.as_deref().map(|path| open_book(path, true)).transpose()?;
    let bar = progress_bar();
    let begun = Instant::now();
    let shown = |shown: &Shown| bar.set_message(message(&position, shown));
    let answer = match &args.coordinator {
        Some(url) => runtime()?.block_on(remote::analyze(url, &question, &shown))?,
        None => here(&args, &question, &shown)?,
    };
    let time = begun.elapsed();
    bar.finish_and_clear();
    if let Some(book) = book {
        keep(book, &position, &answer)?;
    }
    write_answer(out, &args, &position, &answer, time)
}

impl Args {
    fn effort(&self) -> Effort {
        let effort = Effort { time: self.time, ..self.effort.effort() };
        if effort == Effort::default() { Effort::time(Duration::from_secs(10)) } else { effort }
    }
}

/// Searches in this process; Ctrl-C ends it with what is known by then.
fn here(args: &Args, question: &Question, shown: &dyn Fn(&Shown)) -> Result<Answer> {
    let threads = args.threads.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    let table_bytes = usize::try_from(args.table_mib << 20).context("--table-mib")?;
    let mut engine = Engine::new(EngineOptions { threads, table_bytes, ..EngineOptions::default() })?;
    let control = Control::new();
    let runtime = runtime()?;
    let stopped = control.clone();
    runtime.spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            stopped.stop();
        }
    });
    let answer = engine.answer(question, &control, &mut |progress| shown(&progress.clone().into()))?;
    runtime.shutdown_background();
    Ok(answer)
}

fn keep(mut book: Book, position: &Position, answer: &Answer) -> Result<()> {
    book.learn(position, answer)?;
    book.close()?;
    Ok(())
}

fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::with_template("{spinner} {elapsed} {msg}").expect("a fixed template"));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn message(position: &Position, shown: &Shown) -> String {
    if shown.workers == 0 {
        return "waiting for workers: start one with `kagetsu-worker --coordinator URL`".into();
    }
    let rate = shown.nodes as f64 / shown.time.as_secs_f64().max(1e-3) / 1e3;
    let best = shown.answer.best().map_or_else(String::new, |(_, v)| {
        format!("depth {}  {}  {}  ", v.depth, v.score, table::line(position, &v.line))
    });
    format!("{best}{} nodes, {rate:.0} k/s", shown.nodes)
}

impl From<Progress> for Shown {
    fn from(progress: Progress) -> Self {
        Self { answer: progress.answer, nodes: progress.nodes, time: progress.elapsed, workers: 1 }
    }
}

fn write_answer(
    out: &mut dyn Write,
    args: &Args,
    position: &Position,
    answer: &Answer,
    time: Duration,
) -> Result<Exit> {
    if args.json {
        write_json(out, &AnswerJson::new(position, answer, time.as_millis() as u64))?;
        return Ok(Exit::Done);
    }
    write!(out, "{}", position.draw())?;
    match answer.best() {
        Some((best, verdict)) => {
            let best = position.write_move(best);
            writeln!(out, "{}: best {best}, {}, depth {}", position.side(), verdict.score, verdict.depth)?;
            table::write_answer(out, position, answer, usize::from(args.top).max(5))?;
            let rate = answer.nodes() as f64 / time.as_secs_f64().max(1e-3) / 1e3;
            writeln!(out, "{} nodes in {:.2} s, {rate:.0} k/s", answer.nodes(), time.as_secs_f64())?;
        }
        None => writeln!(out, "the game is over")?,
    }
    Ok(Exit::Done)
}

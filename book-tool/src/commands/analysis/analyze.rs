use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use kagetsu_api::AnswerJson;
use kagetsu_book::{Book, without_password};
use kagetsu_game::{Answer, Move, Position, Question};
use kagetsu_postgres::BookUrl;
use kagetsu_program::{Exit, shown};
use kagetsu_proto::Access;
use kagetsu_proto::v1;
use kagetsu_search::{Control, Engine, EngineOptions, Progress, ThreadSplit, shallow};
use kagetsu_worker::{EngineArgs, EngineRunner};
use tokio::sync::{mpsc, oneshot};

use crate::arguments::position::PositionArgs;
use crate::client::{self as remote, AnalysisEnd};
use crate::output::OutputArgs;
use crate::output::progress::{AnalysisState, LiveProgress, waiting};
use kagetsu_reader::{COORDINATOR_FLAG, in_database, open_book, with_hint};
use kagetsu_terminal::arguments::effort::{EffortArgs, parse_time};
use kagetsu_terminal::colours::Colours;
use kagetsu_terminal::runtime::runtime;
use kagetsu_terminal::table;

/// The error for --engine together with --coordinator.
pub(crate) const ENGINE_OF_A_CLUSTER: &str = "--engine searches in this process; to let a cluster search with it, give it to `kagetsu-worker --engine`";
/// The longest wait for a search to end after Ctrl-C; it needs a few milliseconds.
const STOP_TIMEOUT: Duration = Duration::from_millis(40);

/// Analyses one position deeply, here or on a cluster
///
/// The search stops at the first limit of --depth, --nodes and --time, or at Ctrl-C, and prints the
/// best answer so far. The default is 10 seconds. Progress is shown on stderr.
///
/// The board shows X for the first player and O for the second; [X] is the last move, 1 to 9 are
/// the best moves. Values are from the view of the side to move.
///
/// Example: kagetsu analyze --variant freestyle-15 --moves "h8 i9 h9" --depth 10 --top 3
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    place: PositionArgs,
    #[command(flatten)]
    effort: EffortArgs,
    /// Maximum time, as in 10s or 2m [default: 10s without --depth and --nodes]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time: Option<Duration>,
    /// Number of best moves that get an exact value
    #[arg(long, default_value_t = 1, value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    top: u16,
    /// Number of search threads; 1 makes results reproducible with --depth and --nodes [default:
    /// all cores]
    #[arg(long, value_name = "N", conflicts_with = "coordinator", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// How threads, or the workers of a cluster, share the position: `shared` (each searches all
    /// moves, and they share what they find) or `seeded` (the root moves are divided, the best of a
    /// 2-ply search first)
    #[arg(long, default_value_t = ThreadSplit::Shared, value_name = "SPLIT")]
    split: ThreadSplit,
    /// Memory for the transposition table, in MiB
    #[arg(long, default_value_t = 256, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    table_mib: u64,
    #[command(flatten)]
    engine: EngineArgs,
    /// Searches on the cluster of this coordinator, such as http://127.0.0.1:7615
    #[arg(long, value_name = "URL")]
    coordinator: Option<String>,
    #[command(flatten)]
    access: Access,
    /// Stores the answer in this book, which is created if missing; with --coordinator, --book URL
    /// stores it in the coordinator's book
    #[arg(long, value_name = "DIR|URL")]
    book: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(args: Args, out: &mut dyn Write) -> Result<Exit> {
    let position = args.place.position()?;
    if args.engine.engine.is_some() && args.coordinator.is_some() {
        bail!(ENGINE_OF_A_CLUSTER);
    }
    let is_ours = args.engine.engine.is_none() && args.coordinator.is_none();
    if is_ours && !Engine::supports(position.variant()) {
        bail!(
            "no search for {} yet: only its rules are known (see `kagetsu moves` and `kagetsu perft`); --engine takes \
             another program's",
            position.variant()
        );
    }
    let effort = args.effort.within(args.time, Duration::from_secs(10));
    let question = Question {
        width: args.top,
        ..Question::new(position.clone(), effort)
    };
    let kept = args.kept()?;
    let book = kept
        .map(|path| open_book(path, true))
        .transpose()
        .map_err(|error| with_hint(error, COORDINATOR_FLAG))?;
    let mut live = LiveProgress::new(
        &position,
        args.place.notation,
        args.top.into(),
        args.output.json,
    );
    let begun = Instant::now();
    let runtime = runtime()?;
    let answer = match &args.coordinator {
        Some(url) => runtime.block_on(remote::analyze(
            &args.access.connector(url)?,
            &question,
            match args.split {
                ThreadSplit::Shared => v1::Split::Shared,
                ThreadSplit::Seeded => v1::Split::Seeded,
            },
            args.book.is_some(),
            &mut live,
        )),
        None => runtime
            .block_on(here(&args, &question, &mut live))
            .map(|answer| (answer, AnalysisEnd::Final)),
    };
    let time = begun.elapsed();
    let visited = live.clear();
    // A search that did not stop in time ends with the process.
    runtime.shutdown_background();
    let (answer, end) = answer?;
    if let AnalysisEnd::Waited(why) = &end {
        writeln!(std::io::stderr(), "the time is up: {}", waiting(why))?;
    }
    if args.book.is_some() && !matches!(end, AnalysisEnd::Final) {
        writeln!(
            std::io::stderr(),
            "stopped: the coordinator's book keeps only what a search has ended with"
        )?;
    }
    if answer.is_empty() && position.outcome().is_none() {
        writeln!(std::io::stderr(), "stopped before anything was found")?;
        return Ok(Exit::No);
    }
    if let Some(book) = book {
        keep(book, &position, &answer)?;
    }
    write_answer(out, &args, &position, &answer, visited, time)
}

impl Args {
    /// Returns the folder that stores the answer, unless that is the coordinator's book.
    fn kept(&self) -> Result<Option<&Path>> {
        let Some(book) = self.book.as_deref() else {
            return Ok(None);
        };
        let name = book.to_str().filter(|name| name.contains("://"));
        match (&self.coordinator, name) {
            (None, None) => Ok(Some(book)),
            (None, Some(url)) if BookUrl::is_one(url) => {
                bail!(in_database(&BookUrl::parse(url)?))
            }
            (None, Some(url)) => {
                bail!(
                    "--book {url} is a coordinator's: give --coordinator {url} too, which searches then"
                )
            }
            (Some(url), Some(other)) if url != other => {
                let other = without_password(other);
                bail!("--book {other} is not the book of --coordinator {url}; give one of the two")
            }
            (Some(_), Some(_)) => Ok(None),
            (Some(url), None) => {
                let book = shown(book);
                writeln!(
                    std::io::stderr(),
                    "kagetsu: --book {book} is not used: the answer goes into the book of {url}"
                )?;
                Ok(None)
            }
        }
    }
}

/// Searches in this process. Ctrl-C ends the search with its answer so far; if the search does not
/// stop at once, with that of its last iteration or of the 2-ply search.
async fn here(args: &Args, question: &Question, live: &mut LiveProgress<'_>) -> Result<Answer> {
    let threads = args.threads.map_or_else(
        || std::thread::available_parallelism().map_or(1, usize::from),
        usize::from,
    );
    let table_bytes = usize::try_from(args.table_mib << 20).context("--table-mib")?;
    let options = EngineOptions {
        threads,
        table_bytes,
        split: args.split,
        ..EngineOptions::default()
    };
    let external = args
        .engine
        .settings(u16::try_from(threads).unwrap_or(u16::MAX), args.table_mib);
    let is_ours = external.is_none();
    let control = Control::new();
    let (sender, mut iterations) = mpsc::unbounded_channel();
    let (answers, mut answered) = oneshot::channel();
    let search = {
        let (question, control) = (question.clone(), control.clone());
        move || {
            let thinker = match external {
                Some(settings) => {
                    EngineRunner::external(settings, question.position.variant(), &control)
                }
                None => Engine::new(options)
                    .map(EngineRunner::own)
                    .map_err(Into::into),
            };
            let mut thinker = match thinker {
                Ok(thinker) => thinker,
                Err(error) => return drop(answers.send(Err(error))),
            };
            // The receiver is gone once the answer is taken from the last iteration.
            let answer = thinker.answer(&question, &control, &mut |progress| {
                drop(sender.send(progress.clone()))
            });
            drop(answers.send(answer));
            // Freeing the table takes longer than stopping, so the answer is sent first.
            drop(thinker);
        }
    };
    tokio::task::spawn_blocking(search);
    let searchers = if threads == 1 {
        "1 thread".into()
    } else {
        format!("{threads} threads")
    };
    let mut tick = tokio::time::interval(Duration::from_millis(100));
    let mut last = Answer::new();
    let interrupted = async {
        // Without a handler, Ctrl-C ends the process as usual.
        if tokio::signal::ctrl_c().await.is_ok() {
            control.stop();
            tokio::time::sleep(STOP_TIMEOUT).await;
        } else {
            std::future::pending::<()>().await;
        }
    };
    tokio::pin!(interrupted);
    loop {
        tokio::select! {
            biased;
            () = &mut interrupted => {
                return if last.is_empty() && is_ours { Ok(shallow(&question.position)?) } else { Ok(last) };
            }
            Some(Progress { answer, nodes, elapsed: time, .. }) = iterations.recv() => {
                live.show(&AnalysisState { answer: answer.clone(), nodes, time, searchers: Ok(searchers.clone()) })?;
                last = answer;
            }
            answer = &mut answered => return answer.context("the search failed")?,
            _ = tick.tick() => live.count(control.nodes()),
        }
    }
}

fn keep(mut book: Book, position: &Position, answer: &Answer) -> Result<()> {
    book.learn(position, answer)?;
    book.close()?;
    Ok(())
}

fn write_answer(
    out: &mut dyn Write,
    args: &Args,
    position: &Position,
    answer: &Answer,
    visited: u64,
    time: Duration,
) -> Result<Exit> {
    let json = AnswerJson::new(position, answer, time.as_millis() as u64);
    let out = &mut args.output.report(out, &json)?;
    let (paint, top) = (Colours::stdout(), usize::from(args.top));
    let ranked = answer.verdicts().iter().take(top);
    let marks: Vec<(Move, char)> = ranked
        .zip('1'..='9')
        .map(|((m, _), rank)| (*m, rank))
        .collect();
    write!(out, "{}", paint.board(&position.draw_marked(&marks)))?;
    let Some((best, verdict)) = answer.best() else {
        writeln!(out, "the game is over")?;
        return Ok(Exit::Done);
    };
    let (best, value) = (
        position.write_move_in(best, args.place.notation),
        paint.valued(verdict.score, verdict.score),
    );
    writeln!(
        out,
        "{}: best {}, {value}, depth {}",
        position.side(),
        paint.bold(best),
        verdict.depth
    )?;
    table::write_ranked(out, paint, position, answer, top, args.place.notation)?;
    // The answer of a stopped search counts only the nodes of whole iterations.
    let nodes = visited.max(answer.nodes());
    let rate = nodes as f64 / time.as_secs_f64().max(1e-3) / 1e3;
    writeln!(
        out,
        "{nodes} nodes in {:.2} s, {rate:.0} k/s",
        time.as_secs_f64()
    )?;
    Ok(Exit::Done)
}

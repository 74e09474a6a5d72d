use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use kagetsu_api::AnswerJson;
use kagetsu_book::Book;
use kagetsu_game::{Answer, Effort, Move, Position, Question};
use kagetsu_program::Exit;
use kagetsu_proto::Access;
use kagetsu_search::{Control, Engine, EngineOptions, Progress, shallow};
use kagetsu_worker::{EngineArgs, Thinker};
use tokio::sync::{mpsc, oneshot};

use crate::arguments::effort::{EffortArgs, parse_time};
use crate::arguments::position::Place;
use crate::arguments::split::Sharing;
use crate::books::{BY_FLAG, open_book, or_ask};
use crate::client::{self as remote, End};
use crate::output::colours::Paint;
use crate::output::json::write_json;
use crate::output::progress::{Live, Shown, waiting};
use crate::output::table;
use crate::runtime::runtime;

/// Why --engine and --coordinator do not go together.
pub(crate) const ENGINE_OF_A_CLUSTER: &str = "--engine searches in this process; to let a cluster search with it, give it to `kagetsu-worker --engine`";
/// How long a search may take to end after Ctrl-C; it needs a few milliseconds.
const PATIENCE: Duration = Duration::from_millis(40);

/// Analyses one position deeply, here or on a cluster
///
/// Stops at the first of --depth, --nodes and --time, or at Ctrl-C, with the best answer so far; where none of the three
/// is given, after 10 seconds; on a cluster without workers it waits for one no longer than --time. While it thinks, stderr shows how far it is. The board is drawn with X for the first
/// player and O for the second, [X] being the last move; 1 to 9 are the best moves. Values are from the view of the side
/// to move.
///
/// Example: kagetsu analyze --variant freestyle-15 --moves "h8 i9 h9" --depth 10 --top 3
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    effort: EffortArgs,
    /// Wall-clock time, as in 10s or 2m [default: 10s, if neither --depth nor --nodes is given]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time: Option<Duration>,
    /// How many best moves get an exact value
    #[arg(long, default_value_t = 1, value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    top: u16,
    /// Threads to search with; 1 gives the same answer every time for --depth and --nodes [default: one for each core]
    #[arg(long, value_name = "N", conflicts_with = "coordinator", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// How threads, or the workers of a cluster, share the position
    #[arg(long, value_enum, default_value_t = Sharing::Shared, value_name = "SPLIT")]
    split: Sharing,
    /// Memory for the transposition table, in MiB
    #[arg(long, default_value_t = 256, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    table_mib: u64,
    #[command(flatten)]
    engine: EngineArgs,
    /// Asks the cluster of this coordinator, as in http://127.0.0.1:7615
    #[arg(long, value_name = "URL")]
    coordinator: Option<String>,
    #[command(flatten)]
    access: Access,
    /// Keeps the answer in this book; it is made if it is not there. With --coordinator: in the coordinator's own book, which
    /// needs the rights to analyse and to build
    #[arg(long, value_name = "DIR|URL")]
    book: Option<PathBuf>,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
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
             somebody else's",
            position.variant()
        );
    }
    let question = Question {
        width: args.top,
        ..Question::new(position.clone(), args.effort())
    };
    let kept = args.kept()?;
    let book = kept
        .map(|path| open_book(path, true))
        .transpose()
        .map_err(|error| or_ask(error, BY_FLAG))?;
    let mut live = Live::new(&position, args.top.into(), args.json);
    let begun = Instant::now();
    let runtime = runtime()?;
    let answer = match &args.coordinator {
        Some(url) => runtime.block_on(remote::analyze(
            &args.access.connector(url)?,
            &question,
            args.split.into(),
            args.book.is_some(),
            &mut live,
        )),
        None => runtime
            .block_on(here(&args, &question, &mut live))
            .map(|answer| (answer, End::Final)),
    };
    let time = begun.elapsed();
    let visited = live.clear();
    // A search that was left behind after Ctrl-C ends with the process.
    runtime.shutdown_background();
    let (answer, end) = answer?;
    if let End::Waited(why) = &end {
        writeln!(std::io::stderr(), "the time is up: {}", waiting(why))?;
    }
    if args.book.is_some() && !matches!(end, End::Final) {
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
    /// The folder that the answer goes into, if it is not the coordinator's.
    fn kept(&self) -> Result<Option<&Path>> {
        let Some(book) = self.book.as_deref() else {
            return Ok(None);
        };
        let name = book.to_str().filter(|name| name.contains("://"));
        match (&self.coordinator, name) {
            (None, None) => Ok(Some(book)),
            (None, Some(url)) => {
                bail!(
                    "--book {url} is a coordinator's: give --coordinator {url} too, which searches then"
                )
            }
            (Some(url), Some(other)) if url != other => {
                bail!("--book {other} is not the book of --coordinator {url}; give one of the two")
            }
            (Some(_), Some(_)) => Ok(None),
            (Some(url), None) => {
                let book = book.display();
                writeln!(
                    std::io::stderr(),
                    "kagetsu: --book {book} is not used: the answer goes into the book of {url}"
                )?;
                Ok(None)
            }
        }
    }

    fn effort(&self) -> Effort {
        let effort = Effort {
            time: self.time,
            ..self.effort.effort()
        };
        if effort == Effort::default() {
            Effort::time(Duration::from_secs(10))
        } else {
            effort
        }
    }
}

/// Searches in this process. Ctrl-C ends it with what is known by then; where the search does not end at once, with what
/// its last iteration found, or the 2-ply search.
async fn here(args: &Args, question: &Question, live: &mut Live<'_>) -> Result<Answer> {
    let threads = args.threads.map_or_else(
        || std::thread::available_parallelism().map_or(1, usize::from),
        usize::from,
    );
    let table_bytes = usize::try_from(args.table_mib << 20).context("--table-mib")?;
    let options = EngineOptions {
        threads,
        table_bytes,
        split: args.split.into(),
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
                    Thinker::external(settings, question.position.variant(), &control)
                }
                None => Engine::new(options).map(Thinker::Own).map_err(Into::into),
            };
            let mut thinker = match thinker {
                Ok(thinker) => thinker,
                Err(error) => return drop(answers.send(Err(error))),
            };
            // Nobody listens any more once the answer is taken from the last iteration.
            let answer = thinker.answer(&question, &control, &mut |progress| {
                drop(sender.send(progress.clone()))
            });
            drop(answers.send(answer));
            // Only now is the table given back, which takes longer than it takes to stop.
            drop(thinker);
        }
    };
    tokio::task::spawn_blocking(search);
    let who = if threads == 1 {
        "1 thread".into()
    } else {
        format!("{threads} threads")
    };
    let mut tick = tokio::time::interval(Duration::from_millis(100));
    let mut last = Answer::new();
    let interrupted = async {
        // Without a handler the system ends the process at Ctrl-C, as it does with any other.
        if tokio::signal::ctrl_c().await.is_ok() {
            control.stop();
            tokio::time::sleep(PATIENCE).await;
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
                live.show(&Shown { answer: answer.clone(), nodes, time, who: Ok(who.clone()) })?;
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
    if args.json {
        write_json(
            out,
            &AnswerJson::new(position, answer, time.as_millis() as u64),
        )?;
        return Ok(Exit::Done);
    }
    let (paint, top) = (Paint::stdout(), usize::from(args.top));
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
        position.write_move(best),
        paint.valued(verdict.score, verdict.score),
    );
    writeln!(
        out,
        "{}: best {}, {value}, depth {}",
        position.side(),
        paint.bold(best),
        verdict.depth
    )?;
    table::write_ranked(out, paint, position, answer, top)?;
    // Of a search that was stopped the answer tells only what its last whole iteration visited.
    let nodes = visited.max(answer.nodes());
    let rate = nodes as f64 / time.as_secs_f64().max(1e-3) / 1e3;
    writeln!(
        out,
        "{nodes} nodes in {:.2} s, {rate:.0} k/s",
        time.as_secs_f64()
    )?;
    Ok(Exit::Done)
}

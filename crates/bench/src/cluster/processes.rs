//! Real processes over real sockets, compared with engines outside a cluster. Where two threads
//! share a core, two engines side by side are not twice as fast as one.

use std::collections::VecDeque;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use kagetsu_book::{Book, BookOptions};
use kagetsu_game::{Effort, Position, Question};
use kagetsu_proto::v1::workers_client::WorkersClient;
use kagetsu_proto::{Connector, explain, v1};
use kagetsu_schedule::{Idle, Options};
use kagetsu_search::Control;
use serde::Serialize;

use super::alone::{Sharing, engine, search};
use super::ratios::Ratios;
use super::{Args, CoordinatorProcess, Folder, Process};
use kagetsu_terminal::runtime::runtime;

/// Time for workers to connect and to pass the examination.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// Seconds of all runs together: with one worker, with several, with one engine outside a cluster,
/// and with as many engines.
#[derive(Clone, Copy, Debug, Default)]
struct RunTimes {
    one: f64,
    many: f64,
    alone: f64,
    beside: f64,
}

/// The comparison as JSON.
#[derive(Serialize)]
pub(super) struct ProcessesJson {
    workers: u16,
    depth: u8,
    /// Positions of each run.
    positions: usize,
    rounds: Vec<RoundJson>,
    /// The speed of all workers over that of one.
    ratio: f64,
    /// The speed of engines side by side over that of one engine, without a cluster.
    possible: f64,
    /// The speed of one worker over that of an engine outside a cluster.
    one_of_engine: f64,
    /// With --position: the geometric mean of each position's ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    each: Option<Ratios>,
}

/// Positions a minute in one round.
#[derive(Serialize)]
struct RoundJson {
    one_worker: f64,
    all_workers: f64,
    one_engine: f64,
    all_engines: f64,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<ProcessesJson> {
    let (workers, depth) = (args.workers, args.depth);
    writeln!(
        out,
        "One coordinator process with an empty book, then 1 and {workers} worker processes of one slot each on"
    )?;
    if args.position {
        writeln!(
            out,
            "loopback; {}, one after another, at depth {depth}, each timed from the",
            args.openings.map_or_else(
                || "the ten positions of `bench seeds`".into(),
                |openings| format!("{openings} balanced openings")
            )
        )?;
        writeln!(
            out,
            "start of `analyze` to its end; then the same by 1 engine without a cluster, and by {workers} side by side,"
        )?;
        writeln!(
            out,
            "each of which searches all. Workers share one position: what is possible is that they divide it as if"
        )?;
    } else {
        writeln!(
            out,
            "loopback; {} positions from h8 at depth {depth}, timed from the start of the build to its end;",
            args.positions
        )?;
        writeln!(
            out,
            "then the same searches by 1 engine without a cluster, and by {workers} side by side that divide them. What"
        )?;
        writeln!(
            out,
            "is possible is what those gain; the workers have connected and were examined before, as if"
        )?;
    }
    writeln!(
        out,
        "no message had to be sent. Runs alternate, ratios are those of the sums.\n"
    )?;
    let positions = if args.position {
        super::positions(args.openings)?
    } else {
        Vec::new()
    };
    let mut questions: Vec<Question> = positions
        .into_iter()
        .map(|position| Question::new(position, Effort::depth(depth)))
        .collect();
    let (mut sum, mut rounds) = (RunTimes::default(), Vec::new());
    let mut each = vec![(0.0, 0.0); questions.len().max(1)];
    for round in 1..=args.rounds {
        let one = cluster(args, 1, &mut questions)?;
        let many = cluster(args, workers, &mut questions)?;
        for (sum, (one, many)) in each.iter_mut().zip(one.iter().zip(&many)) {
            *sum = (sum.0 + one, sum.1 + many);
        }
        let (one, many): (f64, f64) = (one.iter().sum(), many.iter().sum());
        let sharing = if args.position {
            Sharing::Repeated
        } else {
            Sharing::Divided
        };
        let alone = search(1, &questions, sharing)?.as_secs_f64();
        let beside = search(workers, &questions, sharing)?.as_secs_f64();
        // Engines that repeat every question have done that many times the work.
        let beside = if args.position {
            beside / f64::from(workers)
        } else {
            beside
        };
        let rate = |seconds: f64| 60.0 * questions.len() as f64 / seconds;
        let rates = RoundJson {
            one_worker: rate(one),
            all_workers: rate(many),
            one_engine: rate(alone),
            all_engines: rate(beside),
        };
        writeln!(
            out,
            "round {round}: 1 worker {:.0} positions/min, {workers} workers {:.0}; 1 engine {:.0}, {workers} side by side {:.0}",
            rates.one_worker, rates.all_workers, rates.one_engine, rates.all_engines
        )?;
        out.flush()?;
        rounds.push(rates);
        sum = RunTimes {
            one: sum.one + one,
            many: sum.many + many,
            alone: sum.alone + alone,
            beside: sum.beside + beside,
        };
    }
    let (ratio, possible) = (sum.one / sum.many, sum.alone / sum.beside);
    writeln!(
        out,
        "ratio {ratio:.2} of {possible:.2} possible here: {:.2} of it",
        ratio / possible
    )?;
    let ratios: Option<Ratios> = args
        .position
        .then(|| each.iter().map(|(one, many)| one / many).collect());
    if let Some(ratios) = &ratios {
        writeln!(out, "geometric mean over the positions: {ratios}")?;
    }
    let one_of_engine = sum.alone / sum.one;
    writeln!(
        out,
        "1 worker {one_of_engine:.2} of an engine outside a cluster"
    )?;
    Ok(ProcessesJson {
        workers,
        depth,
        positions: questions.len(),
        rounds,
        ratio,
        possible,
        one_of_engine,
        each: ratios,
    })
}

/// Returns the seconds of one cluster for a build or for each position. Empty `questions` become
/// those of the book that it has built.
fn cluster(args: &Args, workers: u16, questions: &mut Vec<Question>) -> Result<Vec<f64>> {
    let folder = Folder::new()?;
    let book = folder.0.join("book");
    let mut coordinator = CoordinatorProcess::start(&book)?;
    let url = coordinator.address()?;
    let crew = (0..workers)
        .map(|_| Process::worker(&url))
        .collect::<Result<Vec<_>>>()?;
    wait_for(&url, workers)?;
    if args.position {
        return questions
            .iter()
            .map(|question| analyze(&url, &question.position, args.depth))
            .collect();
    }
    let seconds = build(args, &url)?;
    drop((crew, coordinator));
    if questions.is_empty() {
        *questions = questions_of(&book)?;
    }
    Ok(vec![seconds])
}

/// Waits until this many workers can take tasks.
fn wait_for(url: &str, workers: u16) -> Result<()> {
    let (connector, begun) = (Connector::to_url(url)?, Instant::now());
    let examined = Idle::Qualifying.to_string();
    runtime()?.block_on(async {
        let mut client = WorkersClient::new(connector.connect().await?);
        loop {
            let request = v1::ListWorkersRequest { with_absent: true };
            let all = client
                .list(request)
                .await
                .map_err(|status| anyhow!(explain(url, &status)))?;
            let all = all.into_inner().workers;
            let ready = all
                .iter()
                .filter(|worker| worker.quarantine.is_empty() && worker.idle != examined)
                .count();
            if ready == usize::from(workers) {
                return Ok(());
            }
            if begun.elapsed() > CONNECT_TIMEOUT {
                bail!(
                    "{ready} of {workers} workers were ready after {} s",
                    CONNECT_TIMEOUT.as_secs()
                );
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
}

fn build(args: &Args, url: &str) -> Result<f64> {
    let begun = Instant::now();
    Process::building(url, args.positions, args.depth.into())?.finish("the build")?;
    Ok(begun.elapsed().as_secs_f64())
}

/// Returns the time of an answer in seconds.
fn analyze(url: &str, position: &Position, depth: u8) -> Result<f64> {
    let moves: Vec<String> = position
        .moves()
        .iter()
        .map(|m| position.write_move(*m))
        .collect();
    let (moves, depth) = (moves.join(" "), depth.to_string());
    let words = [
        "analyze",
        "--coordinator",
        url,
        "--variant",
        "freestyle-15",
        "--moves",
        &moves,
    ];
    let begun = Instant::now();
    Process::start(
        "kagetsu",
        &[&words[..], &["--depth", &depth, "--json"]].concat(),
    )?
    .finish("an analysis")?;
    Ok(begun.elapsed().as_secs_f64())
}

/// Returns the questions that one worker answered to build the book: each position, and some a
/// second time for more of their moves.
fn questions_of(book: &Path) -> Result<Vec<Question>> {
    let (built, _) =
        Book::open(book, &BookOptions::default()).context("cannot open what was built")?;
    let job = built.jobs()?.pop().context("the build has left no job")?;
    let folder = Folder::new()?;
    let (mut book, _) = Book::open(
        &folder.0,
        &BookOptions {
            create: true,
            ..BookOptions::default()
        },
    )?;
    let id = book.create_job(&job.spec)?;
    let mut engine = engine()?;
    // One running task, and the queued ones.
    let most_at_hand = 1 + Options::default().prefetch as usize;
    let (mut questions, mut at_hand) = (Vec::new(), VecDeque::new());
    loop {
        at_hand.extend(book.next_work(id, most_at_hand - at_hand.len())?);
        let Some(work) = at_hand.pop_front() else {
            return Ok(questions);
        };
        let answer = engine.answer(&work.question, &Control::new(), &mut |_| {})?;
        book.finish(&work, &answer)?;
        questions.push(work.question);
    }
}

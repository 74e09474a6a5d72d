//! Measures the bookkeeping of a coordinator: task round trips a second over streams of workers
//! that do not search.
//!
//! `cargo run --release -p kagetsu-bench --example streams -- 64 10` starts the coordinator that
//! lies beside the other programs, with an empty book, and 64 streams of this process for 10 s.
//! They answer every task of a build at once, with 8 moves of made-up value; every answer is
//! learned, journaled and synced. A round trip is from a report to the task that follows it.

#[allow(dead_code, reason = "the command uses the rest")]
#[path = "../src/cluster/process.rs"]
mod process;
#[allow(dead_code, reason = "the command uses the rest")]
#[path = "../src/scratch.rs"]
mod scratch;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use kagetsu_game::{Answer, Bound, Move, Provenance, Question, Score, Verdict};
use kagetsu_proto::v1::from_worker::Message as WorkerMessage;
use kagetsu_proto::v1::to_worker::Message as CoordinatorMessage;
use kagetsu_proto::v1::workers_client::WorkersClient;
use kagetsu_proto::{Connector, FIRST_CALIBRATION_TASK, PROTOCOL, v1};
use kagetsu_search::{Control, Engine, EngineOptions};
use kagetsu_terminal::runtime::runtime;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::process::Process;
use crate::scratch::Folder;

/// Time between two heartbeats of an idle worker, as the coordinator asks for them.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// Moves in the answer to a task.
const MOVES: usize = 8;

/// The counts of all streams together.
#[derive(Default)]
struct StreamCounts {
    tasks: AtomicU64,
    is_over: AtomicBool,
}

fn main() -> Result<()> {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse::<u64>());
    let streams = numbers.next().transpose()?.unwrap_or(64);
    let length = Duration::from_secs(numbers.next().transpose()?.unwrap_or(10));
    let folder = Folder::new()?;
    let (coordinator, url) = Process::coordinator(&folder.path().join("book"))?;
    let _build = Process::build(&url, 100_000_000, 2)?;
    let seen = Arc::new(StreamCounts::default());
    let (mut trips, tasks, cpu, passed) = runtime()?.block_on(async {
        let all: Vec<_> = (0..streams)
            .map(|number| tokio::spawn(answer_all(url.clone(), number, Arc::clone(&seen))))
            .collect();
        // The first tasks are few: a book grows from one position.
        tokio::time::sleep(length / 4).await;
        let (before, begun) = (seen.tasks.load(Relaxed), Instant::now());
        let cpu = coordinator.cpu()?;
        tokio::time::sleep(length).await;
        let (tasks, passed) = (seen.tasks.load(Relaxed) - before, begun.elapsed());
        let cpu = coordinator.cpu()? - cpu;
        seen.is_over.store(true, Relaxed);
        let mut trips = Vec::new();
        for stream in all {
            trips.extend(stream.await.context("a stream panicked")??);
        }
        anyhow::Ok((trips, tasks, cpu, passed))
    })?;
    trips.sort_unstable();
    let quantile = |share: f64| {
        let at = ((trips.len() as f64 * share) as usize).min(trips.len().saturating_sub(1));
        trips.get(at).copied().unwrap_or_default()
    };
    println!(
        "round trips a second {:.0}",
        tasks as f64 / passed.as_secs_f64()
    );
    println!(
        "cores of the coordinator {:.2}",
        cpu.as_secs_f64() / passed.as_secs_f64()
    );
    println!(
        "CPU of the coordinator for a round trip {:?}",
        cpu / tasks.max(1) as u32
    );
    let [median, late, longest] = [0.5, 0.99, 1.0].map(quantile);
    println!("median {median:?}, 99th percentile {late:?}, longest {longest:?}");
    Ok(())
}

fn hello(number: u64) -> v1::FromWorker {
    let hello = v1::Hello {
        protocol: PROTOCOL,
        name: format!("stream {number}"),
        instance: 1 + number,
        engine: "none".into(),
        slots: 1,
        threads: 1,
        ..v1::Hello::default()
    };
    from_worker(WorkerMessage::Hello(hello))
}

async fn open(
    url: &str,
    number: u64,
) -> Result<(mpsc::Sender<v1::FromWorker>, tonic::Streaming<v1::ToWorker>)> {
    let channel = Connector::to_url(url)?.connect().await?;
    let (outgoing, messages) = mpsc::channel(64);
    outgoing
        .send(hello(number))
        .await
        .context("the stream ended at once")?;
    let incoming = WorkersClient::new(channel)
        .work(ReceiverStream::new(messages))
        .await?
        .into_inner();
    Ok((outgoing, incoming))
}

/// Answers tasks until the end. Returns the time from each report to the next task.
async fn answer_all(url: String, number: u64, seen: Arc<StreamCounts>) -> Result<Vec<Duration>> {
    let (outgoing, mut incoming) = open(&url, number).await?;
    let (mut trips, mut reported) = (Vec::new(), VecDeque::new());
    while !seen.is_over.load(Relaxed) {
        let Ok(message) = tokio::time::timeout(HEARTBEAT, incoming.message()).await else {
            let heartbeat = WorkerMessage::Heartbeat(v1::Heartbeat::default());
            outgoing.send(from_worker(heartbeat)).await?;
            continue;
        };
        let Some(v1::ToWorker {
            message: Some(message),
        }) = message?
        else {
            break;
        };
        let CoordinatorMessage::Task(task) = message else {
            continue;
        };
        trips.extend(reported.pop_front().map(|at: Instant| at.elapsed()));
        let question = Question::try_from(
            task.question
                .as_ref()
                .context("a task without a question")?,
        )?;
        // Before it gets a task of the build a worker is examined.
        let answer = if task.task >= FIRST_CALIBRATION_TASK {
            Engine::new(EngineOptions {
                table_bytes: 1 << 20,
                ..EngineOptions::default()
            })?
            .answer(&question, &Control::new(), &mut |_| {})?
        } else {
            seen.tasks.fetch_add(1, Relaxed);
            first_moves(&question)
        };
        let outcome = Some(v1::report::Outcome::Answer((&answer).into()));
        let report = v1::Report {
            task: task.task,
            attempt: task.attempt,
            outcome,
            strategies: Vec::new(),
        };
        reported.push_back(Instant::now());
        outgoing
            .send(from_worker(WorkerMessage::Report(report)))
            .await?;
    }
    Ok(trips)
}

/// The first legal moves, the best first.
fn first_moves(question: &Question) -> Answer {
    let moves = question.position.distinct_moves().into_iter().take(MOVES);
    let width = i32::from(question.width);
    moves
        .zip(0..)
        .map(|(m, rank)| made_up(m, -10 * rank.min(width), rank < width))
        .collect()
}

/// Returns a verdict that no search has found: exact with a line of the move, or an upper bound.
fn made_up(m: Move, score: i32, is_exact: bool) -> (Move, Verdict) {
    let verdict = Verdict {
        score: Score::opinion(score),
        bound: if is_exact { Bound::Exact } else { Bound::Upper },
        depth: 2,
        nodes: 50,
        line: if is_exact { vec![m] } else { Vec::new() },
        proof: None,
        by: Provenance {
            engine: "bench".into(),
            day: 20_000,
        },
    };
    (m, verdict)
}

fn from_worker(message: WorkerMessage) -> v1::FromWorker {
    v1::FromWorker {
        message: Some(message),
    }
}

//! Real processes over real sockets.

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use kagetsu_proto::v1::workers_client::WorkersClient;
use kagetsu_proto::{Connector, explain, v1};
use kagetsu_schedule::Idle;
use kagetsu_terminal::runtime::runtime;
use serde::Serialize;

use super::Args;
use super::process::Process;

/// Time for workers to connect and to pass the examination.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// One worker and several, compared.
#[derive(Serialize)]
pub(super) struct Comparison {
    workers: u16,
    depth: u8,
    /// Positions of each run.
    positions: u32,
    rounds: Vec<Round>,
    /// The speed of all workers over that of one, by the sums.
    ratio: f64,
}

/// One round: positions a minute, and CPU time for each of them.
#[derive(Serialize)]
struct Round {
    one_worker_a_minute: f64,
    all_workers_a_minute: f64,
    one_worker_cpu_ms: f64,
    all_workers_cpu_ms: f64,
    coordinator_cpu_ms: f64,
}

/// The times of one run.
struct Run {
    seconds: f64,
    coordinator: Duration,
    workers: Duration,
}

pub(super) fn method(args: &Args) -> String {
    format!(
        "One coordinator process with an empty book, then 1 and {} worker processes of one slot \
         each on loopback, connected and examined before: a build from h8, timed from its start to \
         its end. Runs alternate. CPU times are those of the processes for each position: where \
         two threads share a core, a worker needs more of it beside another.",
        args.workers
    )
}

pub(super) fn run(args: &Args) -> Result<Comparison> {
    let count = f64::from(args.positions);
    let (mut rounds, mut totals) = (Vec::new(), [0.0; 2]);
    for _ in 0..args.rounds {
        let one = cluster(args, 1)?;
        let all = cluster(args, args.workers)?;
        totals = [totals[0] + one.seconds, totals[1] + all.seconds];
        let ms_each = |time: Duration| time.as_secs_f64() * 1e3 / count;
        rounds.push(Round {
            one_worker_a_minute: 60.0 * count / one.seconds,
            all_workers_a_minute: 60.0 * count / all.seconds,
            one_worker_cpu_ms: ms_each(one.workers),
            all_workers_cpu_ms: ms_each(all.workers),
            coordinator_cpu_ms: ms_each(all.coordinator),
        });
    }
    Ok(Comparison {
        workers: args.workers,
        depth: args.depth,
        positions: args.positions,
        rounds,
        ratio: totals[0] / totals[1],
    })
}

/// Times a build on one cluster.
fn cluster(args: &Args, workers: u16) -> Result<Run> {
    let folder = tempfile::tempdir()?;
    let (coordinator, url) = Process::coordinator(&folder.path().join("book"))?;
    let crew: Vec<Process> = (0..workers)
        .map(|_| Process::worker(&url))
        .collect::<Result<_>>()?;
    wait_for(&url, workers)?;
    let cpu = || -> Result<_> {
        let all = crew.iter().map(Process::cpu).sum::<Result<Duration>>()?;
        Ok((coordinator.cpu()?, all))
    };
    let before = cpu()?;
    let begun = Instant::now();
    Process::build(&url, args.positions, args.depth)?.finish("the build")?;
    let seconds = begun.elapsed().as_secs_f64();
    let after = cpu()?;
    Ok(Run {
        seconds,
        coordinator: after.0 - before.0,
        workers: after.1 - before.1,
    })
}

/// Waits until this many workers can take tasks.
fn wait_for(url: &str, workers: u16) -> Result<()> {
    let (connector, begun) = (Connector::to_url(url)?, Instant::now());
    let examined = Idle::Qualifying.to_string();
    runtime()?.block_on(async {
        let mut client = WorkersClient::new(connector.connect().await?);
        loop {
            let request = v1::ListWorkersRequest { with_absent: true };
            let all = client.list(request).await;
            let all = all
                .map_err(|status| anyhow!(explain(url, &status)))?
                .into_inner();
            let is_ready =
                |worker: &&v1::Worker| worker.quarantine.is_empty() && worker.idle != examined;
            let ready = all.workers.iter().filter(is_ready).count();
            if ready == usize::from(workers) {
                return Ok(());
            }
            if begun.elapsed() > CONNECT_TIMEOUT {
                let seconds = CONNECT_TIMEOUT.as_secs();
                bail!("{ready} of {workers} workers were ready after {seconds} s");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
}

//! Real processes over real sockets.

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use kagetsu_game::{Position, Variant};
use kagetsu_proto::v1::workers_client::WorkersClient;
use kagetsu_proto::{Connector, explain, v1};
use kagetsu_schedule::Idle;
use kagetsu_search::seeds;
use kagetsu_terminal::runtime::runtime;
use serde::Serialize;

use super::Args;
use super::process::Process;
use crate::openings::Balanced;
use crate::scratch::Folder;

/// Time for workers to connect and to pass the examination.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// One worker and several, compared.
#[derive(Serialize)]
pub(super) struct Comparison {
    workers: u16,
    depth: u8,
    /// Positions of each run.
    positions: usize,
    rounds: Vec<Round>,
    /// The speed of all workers over that of one, by the sums.
    ratio: f64,
    /// With --position: the geometric mean of each position's ratio, and its standard error as a
    /// factor. One position says little: the order of messages changes the path of a selective
    /// search, and its time by a factor of two either way.
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio_of_each: Option<[f64; 2]>,
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
    /// Seconds of the build, or of each position.
    seconds: Vec<f64>,
    coordinator: Duration,
    workers: Duration,
}

pub(super) fn method(args: &Args) -> String {
    let what = match (args.position, args.openings) {
        (false, _) => "a build from h8, timed from its start to its end",
        (true, None) => {
            "the ten positions of `bench seeds`, one after another, each timed from the start of \
             `analyze` to its end"
        }
        (true, Some(_)) => {
            "balanced openings, one after another, each timed from the start of `analyze` to its \
             end"
        }
    };
    format!(
        "One coordinator process with an empty book, then 1 and {} worker processes of one slot \
         each on loopback, connected and examined before: {what}. Runs alternate. CPU times are \
         those of the processes for each position: where two threads share a core, a worker needs \
         more of it beside another.",
        args.workers
    )
}

pub(super) fn run(args: &Args) -> Result<Comparison> {
    let positions = match (args.position, args.openings) {
        (false, _) => Vec::new(),
        (true, None) => seeds::positions()?,
        (true, Some(openings)) => {
            let mut balanced = Balanced::new(Variant::FREESTYLE_15, 1)?;
            let openings = 0..openings;
            openings
                .map(|number| balanced.opening(number))
                .collect::<Result<_>>()?
        }
    };
    let count = if args.position {
        positions.len()
    } else {
        args.positions as usize
    };
    let mut rounds = Vec::new();
    let mut sums = vec![[0.0; 2]; positions.len().max(1)];
    for _ in 0..args.rounds {
        let one = cluster(args, 1, &positions)?;
        let all = cluster(args, args.workers, &positions)?;
        for (sum, (one, all)) in sums.iter_mut().zip(one.seconds.iter().zip(&all.seconds)) {
            *sum = [sum[0] + one, sum[1] + all];
        }
        let rate = |run: &Run| 60.0 * count as f64 / run.seconds.iter().sum::<f64>();
        let ms_each = |time: Duration| time.as_secs_f64() * 1e3 / count as f64;
        rounds.push(Round {
            one_worker_a_minute: rate(&one),
            all_workers_a_minute: rate(&all),
            one_worker_cpu_ms: ms_each(one.workers),
            all_workers_cpu_ms: ms_each(all.workers),
            coordinator_cpu_ms: ms_each(all.coordinator),
        });
    }
    let total = |at: usize| sums.iter().map(|sum| sum[at]).sum::<f64>();
    let ratios = || sums.iter().map(|[one, all]| one / all);
    Ok(Comparison {
        workers: args.workers,
        depth: args.depth,
        positions: count,
        rounds,
        ratio: total(0) / total(1),
        ratio_of_each: args.position.then(|| geometric_mean(ratios().collect())),
    })
}

/// Returns the geometric mean of ratios and its standard error as a factor, 1 for fewer than two.
fn geometric_mean(ratios: Vec<f64>) -> [f64; 2] {
    let count = ratios.len().max(1) as f64;
    let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / count;
    let squares = ratios.iter().map(|ratio| (ratio.ln() - mean).powi(2));
    let variance = squares.sum::<f64>() / (count - 1.0).max(1.0);
    [mean.exp(), (variance / count).sqrt().exp()]
}

/// Times a build, or each position, on one cluster.
fn cluster(args: &Args, workers: u16, positions: &[Position]) -> Result<Run> {
    let folder = Folder::new()?;
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
    let seconds = if args.position {
        let each = positions.iter();
        each.map(|position| analyze(&url, position, args.depth))
            .collect::<Result<_>>()?
    } else {
        let begun = Instant::now();
        Process::build(&url, args.positions, args.depth)?.finish("the build")?;
        vec![begun.elapsed().as_secs_f64()]
    };
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

/// Returns the time of an answer in seconds.
fn analyze(url: &str, position: &Position, depth: u8) -> Result<f64> {
    let names = position.moves().iter().map(|m| position.write_move(*m));
    let (moves, depth) = (names.collect::<Vec<_>>().join(" "), depth.to_string());
    let server = ["analyze", "--coordinator", url, "--json"];
    let question = [
        "--variant",
        "freestyle-15",
        "--moves",
        &moves,
        "--depth",
        &depth,
    ];
    let begun = Instant::now();
    Process::start("kagetsu", &[&server[..], &question].concat())?.finish("an analysis")?;
    Ok(begun.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_of_two_and_a_half_cancel_out() {
        assert_eq!(geometric_mean(Vec::new()), [1.0, 1.0]);
        assert_eq!(geometric_mean(vec![2.0; 9]), [2.0, 1.0]);
        let [mean, error] = geometric_mean(vec![2.0, 0.5]);
        assert!((mean - 1.0).abs() < 1e-9 && (error - 2.0).abs() < 1e-9);
    }
}

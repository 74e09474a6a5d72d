//! Runs a build to its end: in this process, or on a cluster.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use indicatif::ProgressBar;
use kagetsu_api::{JobJson, start_request};
use kagetsu_book::{JobChange, JobSpec, Policy};
use kagetsu_coordinator::Server;
use kagetsu_files::read_file;
use kagetsu_formats::{Format, Importer};
use kagetsu_game::{Bound, Move, Score, Side, Variant, Verdict};
use kagetsu_postgres::BookUrl;
use kagetsu_proto::{Connector, v1};
use tokio_util::sync::CancellationToken;

use super::arguments::Args;
use super::proofs::{self, ProofJson};
use crate::client::Builds;
use crate::client::embedded::Embedded;
use crate::output::progress::{bar, waiting};
use kagetsu_reader::{BookFolder, COORDINATOR_FLAG, fill, in_database, with_hint};
use kagetsu_terminal::echo::EchoOff;

/// How the build ended.
pub(super) struct Ended {
    pub(super) job: v1::Job,
    /// By Ctrl-C, or because the time is up; else the job is over.
    pub(super) is_stopped: bool,
    /// The proofs of the roots, with `--policy prove`.
    pub(super) proofs: Option<Vec<ProofJson>>,
}

impl Args {
    /// Returns the workers of this process: one for each core, or one with a process of another
    /// engine for each core.
    fn workers(&self) -> Vec<kagetsu_worker::Config> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.map_or(cores, usize::from);
        let config = |name: String| kagetsu_worker::Config::embedded(name, self.table_mib);
        if self.engine.engine.is_none() {
            return (0..threads)
                .map(|n| config(format!("worker-{n}")))
                .collect();
        }
        let slots = threads as u32;
        vec![kagetsu_worker::Config {
            slots,
            table_mib: self.table_mib.saturating_mul(slots.into()),
            engine: self.engine.clone(),
            variant: self.variant.into_iter().collect(),
            ..config("worker-0".into())
        }]
    }
}

/// Builds with a cluster inside this process, until the time is up.
pub(super) async fn here(args: &Args, request: &JobSpec) -> Result<Ended> {
    let address = args.book.as_deref().and_then(Path::to_str);
    if let Some(text) = address.filter(|text| BookUrl::is_one(text)) {
        bail!(in_database(&BookUrl::parse(text)?));
    }
    if let Some(path) = args
        .book
        .as_ref()
        .filter(|path| args.deepen && !path.join("journal").exists())
    {
        bail!(
            "there is no book at {}, and --deepen searches anew what a book has; build one without it",
            path.display()
        );
    }
    let room = args.book.as_deref().map(BookFolder::at);
    if let (Some(hints), Some(book)) = (&args.hints, &args.book) {
        learn_hints(hints, args.variant()?, request.build.side, book)?;
    }
    let shutdown = CancellationToken::new();
    let book = args.book.clone();
    let config = kagetsu_coordinator::Config {
        book,
        cache_mib: 128,
        trusts_workers: true,
        ..Default::default()
    };
    let started = Server::start(&config, shutdown.clone())
        .map_err(|error| with_hint(error, COORDINATOR_FLAG));
    let mut cluster = Embedded::start(started?, args.workers());
    let connector = cluster.connector().clone();
    let built = tokio::select! {
        built = follow(args, &connector, request) => built,
        failed = cluster.failed() => failed.map(|never| match never {}),
    };
    let built = cluster.end(&shutdown, built).await;
    if let (Err(_), Some(room)) = (&built, room) {
        room.tidy();
    }
    built
}

/// Writes a line to stderr. A closed stderr is no reason to stop.
pub(super) fn write_notice(line: String) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Puts hints into a book: those of a file of hints, or the moves of `side` in a tree of games. A
/// file that is read again changes nothing.
fn learn_hints(path: &Path, variant: Variant, side: Side, book: &Path) -> Result<()> {
    let about = || path.display().to_string();
    let bytes = read_file(path).with_context(|| format!("cannot read {}", about()))?;
    let tree = Format::of_file(path).filter(|own| matches!(own, Format::Lib | Format::Sgf));
    let mut importer = Importer::new(tree.unwrap_or(Format::Hints), Some(variant));
    importer.add(&bytes).with_context(about)?;
    let mut hints = importer.finish().answers;
    hints.retain(|(position, _)| position.side() == side);
    // A value in the file proves nothing.
    let silent = |(m, verdict): &(Move, Verdict)| {
        let silent = Verdict {
            score: -Score::OPINION_MAX,
            bound: Bound::Lower,
            proof: None,
            ..verdict.clone()
        };
        (*m, silent)
    };
    fill(book, |book| {
        for (position, answer) in &hints {
            book.suggest(position, &answer.verdicts().iter().map(silent).collect())?;
        }
        Ok(())
    })
}

/// Starts the job and watches it to its end, or until it is to stop. Then it is paused, unless
/// Ctrl-C leaves it at work on a cluster.
pub(super) async fn follow(args: &Args, connector: &Connector, request: &JobSpec) -> Result<Ended> {
    let name = request.name.clone();
    let mut builds = Builds::connect(connector).await?;
    let first = builds
        .start(connector, start_request(request, usize::MAX), write_notice)
        .await?;
    let (bar, _keys) = (progress_bar(&first), EchoOff::start());
    let stop = stopped(args.time);
    let (mut waits, mut last) = (String::new(), first);
    let mut shown = |job: &v1::Job| {
        job.clone_into(&mut last);
        // The workers of this process connect without the user's help.
        let why = if args.coordinator.is_some() {
            job.waits_for.as_str()
        } else {
            ""
        };
        show(&bar, job, why);
        // Without a bar, a build that waits says so, unless a program reads its output.
        if bar.is_hidden() && !args.json && why != waits {
            why.clone_into(&mut waits);
            if !why.is_empty() {
                write_notice(format!("{name}: {}", waiting(why)));
            }
        }
    };
    let tell = |line: String| bar.suspend(|| write_notice(line));
    let ended = tokio::select! {
        job = builds.follow(connector, &name, &mut shown, &tell) => Some(job),
        () = stop => None,
    };
    bar.finish_and_clear();
    let (job, is_stopped) = match ended {
        Some(job) => (job?, false),
        None if args.coordinator.is_none() || args.time.is_some() => {
            let mut builds = Builds::connect(connector).await?;
            (builds.change(&name, JobChange::Pause).await?, true)
        }
        // A stopped build does not wait for a coordinator that is away.
        None => match Builds::connect(connector).await {
            Ok(mut builds) => (builds.get(&name).await?, true),
            Err(error) => {
                writeln!(std::io::stderr(), "{error:#}")?;
                return Ok(Ended {
                    job: last,
                    is_stopped: true,
                    proofs: None,
                });
            }
        },
    };
    let proofs = if request.build.policy == Policy::PROVE {
        Some(proofs::of(connector, &request.roots, request.build.side).await?)
    } else {
        None
    };
    Ok(Ended {
        job,
        is_stopped,
        proofs,
    })
}

/// Waits for Ctrl-C, or until the time is up.
async fn stopped(time: Option<Duration>) {
    let time_is_up = async {
        match time {
            Some(time) => tokio::time::sleep(time).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = time_is_up => {}
    }
}

/// Returns a bar for a job on stderr.
pub(super) fn progress_bar(job: &v1::Job) -> ProgressBar {
    let template = match job.target {
        Some(_) => "{bar:30} {pos}/{len} positions, {msg}",
        None => "{spinner} {pos} positions, {msg}",
    };
    bar(job.target, template)
}

/// Shows a job; `why` is the reason that it waits for, if it does.
pub(super) fn show(bar: &ProgressBar, job: &v1::Job, why: &str) {
    bar.set_position(job.positions);
    bar.set_message(match why {
        "" => pace(&JobJson::from(job)),
        _ => waiting(why),
    });
}

/// Says how fast a job is and how long it takes, as in `2.0/s, 1234 waiting, 25s left`.
pub(super) fn pace(job: &JobJson) -> String {
    let left = job.time_left().map_or_else(String::new, |left| {
        format!(", {} left", humantime::format_duration(left))
    });
    format!("{:.1}/s, {} waiting{left}", job.rate, job.frontier)
}

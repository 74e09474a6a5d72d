mod alone;
mod processes;
mod ratios;
mod simulation;
mod streams;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use kagetsu_game::{Position, Variant};
use kagetsu_search::seeds;
use kagetsu_terminal::json::write_json;
use serde::Serialize;

use crate::openings::Balanced;

/// The log level of the programs that are measured.
const QUIET: &str = "warn";

/// Speed-up of several worker processes over one, over real sockets, with a book or with one
/// position
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Worker processes to compare with one
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=64))]
    workers: u16,
    /// In place of a book, all workers together search the ten positions of `bench seeds`, one
    /// after another
    #[arg(long, conflicts_with_all = ["simulate", "streams", "idle"])]
    position: bool,
    /// With --position, this many balanced openings in place of those ten
    #[arg(long, value_name = "N", conflicts_with_all = ["streams", "idle"],
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    openings: Option<u32>,
    /// Positions of each build
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    positions: u32,
    /// Plies to search in each
    #[arg(long, default_value_t = 6, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=100))]
    depth: u8,
    /// Rounds of runs
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Measures task round trips a second of a coordinator over this many streams that answer at
    /// once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    streams: Option<u16>,
    /// Measures the cost of this many idle connected workers to a coordinator
    #[arg(long, value_name = "N", conflicts_with = "streams", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    idle: Option<u16>,
    #[command(flatten)]
    simulation: simulation::SimulationArgs,
    /// Prints one JSON value in place of text
    #[arg(long, conflicts_with = "record")]
    json: bool,
}

/// The result of real programs as JSON.
#[derive(Serialize)]
#[serde(tag = "what", rename_all = "lowercase")]
enum MeasuredJson {
    Processes(processes::ProcessesJson),
    Streams(streams::StreamsJson),
    Idle(streams::IdleJson),
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    if args.openings.is_some() && !args.position && !args.simulation.is_of_positions() {
        bail!("--openings is for positions: add --position or --simulate=position");
    }
    if args
        .simulation
        .run(args.depth, args.openings, args.json, out)?
    {
        return Ok(());
    }
    // The text appears while the programs run.
    let mut silence = std::io::sink();
    let text: &mut dyn Write = if args.json { &mut silence } else { &mut *out };
    let length = args.simulation.length();
    let measured = match (args.streams, args.idle) {
        (Some(streams), _) => MeasuredJson::Streams(streams::busy(streams, length, text)?),
        (_, Some(workers)) => MeasuredJson::Idle(streams::idle(workers, length, text)?),
        (None, None) => MeasuredJson::Processes(processes::run(args, text)?),
    };
    if args.json {
        write_json(out, &measured)?;
    }
    Ok(())
}

/// Returns the ten positions of `bench seeds`, or so many balanced openings, the same every time.
fn positions(openings: Option<u32>) -> Result<Vec<Position>> {
    let Some(openings) = openings else {
        return Ok(seeds::positions()?);
    };
    let mut balanced = Balanced::new(Variant::FREESTYLE_15, 1)?;
    (0..openings)
        .map(|number| balanced.opening(number))
        .collect()
}

/// A temporary folder, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self> {
        let name = format!(
            "kagetsu-bench-{}-{}",
            std::process::id(),
            rand::random::<u32>()
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Files that stay in the system's temporary folder do no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A child process, killed at the end.
struct Process(Child);

impl Process {
    /// A worker of one slot.
    fn worker(url: &str) -> Result<Self> {
        Self::start(
            "kagetsu-worker",
            &["--coordinator", url, "--slots", "1", "--log-level", QUIET],
        )
    }

    /// Runs to its end, which is to be a good one.
    fn finish(mut self, what: &str) -> Result<()> {
        match self.0.wait()? {
            status if status.success() => Ok(()),
            status => bail!("{what} ended with {status}"),
        }
    }

    /// Starts the program of this name that lies beside the one that runs.
    fn start(name: &str, arguments: &[&str]) -> Result<Self> {
        let path = std::env::current_exe()?.with_file_name(name);
        let mut command = Command::new(&path);
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let build = "build all programs first: cargo build --release";
        command
            .spawn()
            .map(Self)
            .with_context(|| format!("cannot start {}; {build}", path.display()))
    }

    /// Starts a build from h8 on the coordinator at `url`, and follows it.
    fn building(url: &str, positions: u32, depth: u32) -> Result<Self> {
        let line = format!(
            "build --coordinator {url} --variant freestyle-15 --moves h8 --positions {positions} --depth {depth} --json"
        );
        Self::start("kagetsu", &line.split(' ').collect::<Vec<_>>())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct CoordinatorProcess(Process);

impl CoordinatorProcess {
    fn start(book: &Path) -> Result<Self> {
        let book = book
            .to_str()
            .context("the folder for temporary files has no plain name")?;
        // It may print its address alone, because nothing reads further output.
        let quiet = ["--http", "off", "--log-level", QUIET];
        let arguments = [&["--book", book, "--listen", "127.0.0.1:0"][..], &quiet].concat();
        Process::start("kagetsu-coordinator", &arguments).map(Self)
    }

    /// Returns the CPU time of its threads so far.
    fn cpu(&self) -> Result<Duration> {
        // Fields 14 and 15 of proc(5), counted after the name, which may hold any character. The
        // unit is a hundredth of a second.
        let stat = self.read("stat")?;
        let (_, fields) = stat
            .rsplit_once(')')
            .context("/proc tells nothing of the coordinator")?;
        let ticks: u64 = fields
            .split_whitespace()
            .skip(11)
            .take(2)
            .filter_map(|ticks| ticks.parse::<u64>().ok())
            .sum();
        Ok(Duration::from_millis(10 * ticks))
    }

    /// Returns the bytes of memory that it occupies.
    fn memory(&self) -> Result<u64> {
        let status = self.read("status")?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .context("/proc tells no memory")?;
        let kib: u64 = line
            .trim()
            .trim_end_matches(" kB")
            .parse()
            .context("/proc tells no memory")?;
        Ok(kib << 10)
    }

    fn read(&self, what: &str) -> Result<String> {
        let path = format!("/proc/{}/{what}", self.0.0.id());
        std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {path}; this needs Linux"))
    }

    fn address(&mut self) -> Result<String> {
        let stdout = self
            .0
            .0
            .stdout
            .take()
            .context("its stdout was read before")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let address = line
            .trim()
            .strip_prefix("listening on ")
            .context("the coordinator did not start")?;
        Ok(format!("http://{address}"))
    }
}

mod simulation;
mod streams;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// The log level of the programs that are measured: what they say of themselves is not what is measured.
const QUIET: &str = "warn";

/// Positions per minute of a build by one worker process, and by several, over real sockets
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many worker processes to compare with one
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=64))]
    workers: u16,
    /// Positions of each build
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    positions: u32,
    /// Plies to search in each
    #[arg(long, default_value_t = 6, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=100))]
    depth: u8,
    /// Pairs of runs
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Instead: task round trips a second of a coordinator over so many streams that answer at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    streams: Option<u16>,
    /// Instead: what so many connected workers cost a coordinator that has nothing for them to do
    #[arg(long, value_name = "N", conflicts_with = "streams", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    idle: Option<u16>,
    #[command(flatten)]
    simulation: simulation::SimulationArgs,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    if args.simulation.run(args.depth, out)? {
        return Ok(());
    }
    match (args.streams, args.idle) {
        (Some(streams), _) => return streams::busy(streams, args.simulation.length(), out),
        (_, Some(streams)) => return streams::idle(streams, args.simulation.length(), out),
        (None, None) => {}
    }
    writeln!(
        out,
        "One coordinator process with an empty book, then 1 and {} worker processes of one slot each on",
        args.workers
    )?;
    writeln!(out, "loopback; {} positions from h8 at depth {}, timed from the start of", args.positions, args.depth)?;
    writeln!(out, "the build to its end; runs alternate, the ratio is that of the sums.\n")?;
    let (mut one, mut many) = (0.0, 0.0);
    for round in 1..=args.rounds {
        let (a, b) = (seconds(args, 1)?, seconds(args, args.workers)?);
        let rate = |seconds: f64| 60.0 * f64::from(args.positions) / seconds;
        writeln!(out, "round {round}: 1 worker {:.0} positions/min, {} workers {:.0}", rate(a), args.workers, rate(b))?;
        out.flush()?;
        one += a;
        many += b;
    }
    writeln!(out, "ratio {:.2}", one / many)?;
    Ok(())
}

/// How long one build takes with this many workers.
fn seconds(args: &Args, workers: u16) -> Result<f64> {
    let folder = Folder::new()?;
    let book = folder.0.join("book");
    let mut coordinator = Server::start(&book)?;
    let url = coordinator.address()?;
    let worker = |_| Process::start("kagetsu-worker", &["--coordinator", &url, "--slots", "1", "--log-level", QUIET]);
    let _workers = (0..workers).map(worker).collect::<Result<Vec<_>>>()?;
    let (positions, depth) = (args.positions.to_string(), args.depth.to_string());
    let begun = Instant::now();
    let build = [
        "build",
        "--coordinator",
        &url,
        "--variant",
        "freestyle-15",
        "--moves",
        "h8",
        "--positions",
        &positions,
        "--depth",
        &depth,
        "--json",
    ];
    let mut client = Process::start("kagetsu", &build)?;
    let status = client.0.wait()?;
    if !status.success() {
        bail!("the build ended with {status}");
    }
    Ok(begun.elapsed().as_secs_f64())
}

/// A temporary folder, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self> {
        let name = format!("kagetsu-bench-{}-{}", std::process::id(), rand::random::<u32>());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left in the system's folder for temporary files does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A child process, killed at the end.
struct Process(Child);

impl Process {
    /// Starts the program of this name that lies beside the one that runs.
    fn start(name: &str, arguments: &[&str]) -> Result<Self> {
        let path = std::env::current_exe()?.with_file_name(name);
        let mut command = Command::new(&path);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
        let build = "build all programs first: cargo build --release";
        command.spawn().map(Self).with_context(|| format!("cannot start {}; {build}", path.display()))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Server(Process);

impl Server {
    fn start(book: &Path) -> Result<Self> {
        let book = book.to_str().context("the folder for temporary files has no plain name")?;
        // It says no more than its address: nobody reads on.
        let quiet = ["--http", "off", "--log-level", QUIET];
        let arguments = [&["--book", book, "--listen", "127.0.0.1:0"][..], &quiet].concat();
        Process::start("kagetsu-coordinator", &arguments).map(Self)
    }

    /// Time that its threads have worked so far.
    fn cpu(&self) -> Result<Duration> {
        // Fields 14 and 15 of proc(5), counted after the name, which may hold anything; in hundredths of a second.
        let stat = self.read("stat")?;
        let (_, fields) = stat.rsplit_once(')').context("/proc tells nothing of the coordinator")?;
        let ticks: u64 = fields.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
        Ok(Duration::from_millis(10 * ticks))
    }

    /// Bytes of memory that it occupies.
    fn memory(&self) -> Result<u64> {
        let status = self.read("status")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("/proc tells no memory")?;
        let kib: u64 = line.trim().trim_end_matches(" kB").parse().context("/proc tells no memory")?;
        Ok(kib << 10)
    }

    fn read(&self, what: &str) -> Result<String> {
        let path = format!("/proc/{}/{what}", self.0.0.id());
        std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}; this needs Linux"))
    }

    fn address(&mut self) -> Result<String> {
        let stdout = self.0.0.stdout.take().context("its stdout was read before")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let address = line.trim().strip_prefix("listening on ").context("the coordinator did not start")?;
        Ok(format!("http://{address}"))
    }
}

//! The programs of a cluster as child processes.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// The log level of the programs that are measured.
const QUIET: &str = "warn";

/// A child process, killed at the end.
pub(super) struct Process(Child);

impl Process {
    /// Starts the program of this name that lies beside the one that runs.
    pub(super) fn start(name: &str, arguments: &[&str]) -> Result<Self> {
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

    /// Starts a coordinator, and returns it with its URL.
    pub(super) fn coordinator(book: &Path) -> Result<(Self, String)> {
        let book = book
            .to_str()
            .context("the folder for temporary files has no plain name")?;
        // It may print its address alone, because nothing reads further output.
        let quiet = ["--http", "off", "--log-level", QUIET];
        let arguments = [&["--book", book, "--listen", "127.0.0.1:0"][..], &quiet].concat();
        let mut coordinator = Self::start("kagetsu-coordinator", &arguments)?;
        let stdout = coordinator.0.stdout.take();
        let mut line = String::new();
        BufReader::new(stdout.context("its output is piped")?).read_line(&mut line)?;
        let address = line.trim().strip_prefix("listening on ");
        let address = address.context("the coordinator did not start")?;
        Ok((coordinator, format!("http://{address}")))
    }

    /// A worker of one slot.
    pub(super) fn worker(url: &str) -> Result<Self> {
        Self::start(
            "kagetsu-worker",
            &["--coordinator", url, "--slots", "1", "--log-level", QUIET],
        )
    }

    /// Starts a build from h8 on the coordinator at `url`, and follows it.
    pub(super) fn build(url: &str, positions: u32, depth: u8) -> Result<Self> {
        let line = format!(
            "build --coordinator {url} --variant freestyle-15 --moves h8 --positions {positions} \
             --depth {depth} --json"
        );
        Self::start("kagetsu", &line.split(' ').collect::<Vec<_>>())
    }

    /// Waits for its end, which is to be a good one.
    pub(super) fn finish(mut self, what: &str) -> Result<()> {
        match self.0.wait()? {
            status if status.success() => Ok(()),
            status => bail!("{what} ended with {status}"),
        }
    }

    /// Returns the CPU time of its threads so far.
    pub(super) fn cpu(&self) -> Result<Duration> {
        // Fields 14 and 15 of proc(5), counted after the name, which may hold any character. The
        // unit is a hundredth of a second.
        let path = format!("/proc/{}/stat", self.0.id());
        let stat = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {path}; this needs Linux"))?;
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        let times = fields.split_whitespace().skip(11).take(2);
        let ticks: u64 = times.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
        Ok(Duration::from_millis(10 * ticks))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

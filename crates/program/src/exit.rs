use std::io::{self, Write};
use std::process::{Command, ExitCode};
use std::time::SystemTime;

use anyhow::ensure;
use kagetsu_game::quote_message;

/// How a command ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done: exit code 0.
    Done,
    /// Nothing was found, or a check did not pass: exit code 1.
    No,
}

impl Exit {
    /// Returns how a check ended.
    #[must_use]
    pub fn passed(is_passed: bool) -> Self {
        if is_passed { Self::Done } else { Self::No }
    }
}

/// Runs a program's body and turns its end into an exit code: [`Exit::Done`] 0, [`Exit::No`] 1, an
/// error 2 with its chain of causes on stderr, where nothing that a cause quotes changes a
/// terminal. A broken pipe is success: a reader that stops has seen enough.
pub fn run(name: &str, body: impl FnOnce() -> anyhow::Result<Exit>) -> ExitCode {
    let ended = prepare().and_then(|()| body());
    match ended {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::No) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // If stderr is closed as well, no reader is left.
            let text = chain(&error);
            let _ = writeln!(io::stderr(), "{name}: {}", quote_message(&text));
            ExitCode::from(2)
        }
    }
}

fn prepare() -> anyhow::Result<()> {
    refuse_large_writes()?;
    check_clock(SystemTime::now())
}

/// Lets a write beyond the limit of file sizes fail instead of ending the process.
#[cfg(unix)]
fn refuse_large_writes() -> anyhow::Result<()> {
    use anyhow::Context;
    // A signal with a handler does not end the process; the write returns its error.
    let ignored = std::sync::Arc::default();
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, ignored)
        .context("cannot set a signal handler")?;
    Ok(())
}

/// Does nothing: Windows has no limit of file sizes.
#[cfg(windows)]
fn refuse_large_writes() -> anyhow::Result<()> {
    Ok(())
}

/// Replaces this process by a program, and returns only with an error.
#[cfg(unix)]
pub fn replace_process(command: &mut Command) -> io::Error {
    std::os::unix::process::CommandExt::exec(command)
}

/// Runs a program and ends with its exit code; returns only with an error.
#[cfg(windows)]
pub fn replace_process(command: &mut Command) -> io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(2)),
        Err(error) => error,
    }
}

fn check_clock(now: SystemTime) -> anyhow::Result<()> {
    ensure!(
        now >= SystemTime::UNIX_EPOCH,
        "the system's clock shows a time before 1970, and books store dates; set the clock"
    );
    Ok(())
}

/// Joins the error and its causes by colons, each once.
fn chain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let of_io = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().map(io::Error::kind)
    };
    error
        .chain()
        .filter_map(of_io)
        .any(|kind| kind == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_is_told_once() {
        let inner = anyhow::anyhow!("no such file");
        assert_eq!(
            chain(&inner.context("cannot read a.toml")),
            "cannot read a.toml: no such file"
        );
        let wrapped = anyhow::anyhow!("disk full").context("cannot write: disk full");
        assert_eq!(chain(&wrapped), "cannot write: disk full");
    }

    #[test]
    fn clock_before_1970_is_an_error() {
        let second = std::time::Duration::from_secs(1);
        let before = SystemTime::UNIX_EPOCH - second;
        let error = check_clock(before).expect_err("too early").to_string();
        assert!(error.contains("before 1970"), "{error}");
        assert!(check_clock(SystemTime::UNIX_EPOCH).is_ok());
    }

    #[test]
    fn a_broken_pipe_is_success() {
        let broken = || {
            Err(anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe)).context("writing"))
        };
        assert_eq!(run("test", broken), ExitCode::SUCCESS);
        assert_eq!(run("test", || Ok(Exit::No)), ExitCode::from(1));
    }
}

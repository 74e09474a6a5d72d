//! `doctor`: looks for what keeps Kagetsu from working well on a machine.

mod coordinator;
mod files;

use std::io::Write;
use std::path::PathBuf;

use crate::output::OutputArgs;
use anyhow::Result;
use kagetsu_program::Exit;
use kagetsu_proto::Access;
use kagetsu_terminal::table::one_line;
use serde::Serialize;

/// Open files that a coordinator of a middling cluster needs: three for each of 1,000 workers.
const MIN_OPEN_FILES: u64 = 4_096;

/// Looks for faults of the machine, a book and a coordinator
///
/// It changes nothing. It always checks the limit of open files; each flag adds its own checks.
/// `kagetsu check` reads every position of a book instead. The exit code is 1 if something does not
/// work; warnings do not count.
///
/// Example: kagetsu doctor --book h8.book
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A book's folder: whether it can be opened, and which process has it open
    #[arg(long, value_name = "DIR")]
    book: Option<PathBuf>,
    /// The URL of a coordinator: the connection, its workers and its jobs
    #[arg(long, value_name = "URL")]
    coordinator: Option<String>,
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    output: OutputArgs,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    /// Nothing is wrong.
    Ok,
    /// It works, but not well, or not for long.
    Warning,
    /// It does not work, or is not safe.
    Fault,
}

/// The result of one check.
#[derive(Debug, Serialize)]
struct HealthFinding {
    level: Level,
    /// The thing that was checked, as in `open files` or `job h8`.
    subject: String,
    /// The state of the thing.
    found: String,
    /// The way out; none where nothing is wrong, or where the state names it.
    advice: Option<String>,
}

impl HealthFinding {
    fn new(level: Level, subject: impl Into<String>, found: impl ToString) -> Self {
        Self {
            level,
            subject: subject.into(),
            found: found.to_string(),
            advice: None,
        }
    }

    fn advise(self, advice: impl Into<String>) -> Self {
        Self {
            advice: Some(advice.into()),
            ..self
        }
    }
}

#[derive(Serialize)]
struct DoctorJson {
    healthy: bool,
    findings: Vec<HealthFinding>,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let mut findings: Vec<HealthFinding> = open_files().into_iter().collect();
    findings.extend(args.book.iter().map(|book| files::folder(book)));
    if let Some(url) = &args.coordinator {
        findings.extend(coordinator::check(url, &args.access));
    }
    let healthy = findings.iter().all(|finding| finding.level < Level::Fault);
    let exit = Exit::passed(healthy);
    let report = DoctorJson { healthy, findings };
    let out = &mut args.output.report(out, &report)?;
    for finding in &report.findings {
        let level = match finding.level {
            Level::Ok => "ok     ",
            Level::Warning => "warning",
            Level::Fault => "FAULT  ",
        };
        let (subject, found) = (one_line(&finding.subject), one_line(&finding.found));
        writeln!(out, "{level}  {subject}: {found}")?;
        if let Some(advice) = &finding.advice {
            writeln!(out, "         {}", one_line(advice))?;
        }
    }
    Ok(exit)
}

/// Judges the limit to which a coordinator raises its own.
fn open_files() -> Option<HealthFinding> {
    let most = rlimit::increase_nofile_limit(u64::MAX).ok()?;
    let found = format!("{most} allowed at most");
    Some(if most >= MIN_OPEN_FILES {
        HealthFinding::new(Level::Ok, "open files", found)
    } else {
        HealthFinding::new(Level::Warning, "open files", found)
            .advise("workers get a third of it: raise LimitNOFILE (systemd) or `ulimit -Hn`")
    })
}

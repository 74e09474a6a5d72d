//! `doctor`: looks for what keeps Kagetsu from working well on a machine.

mod certificates;
mod coordinator;
mod database;
mod finding;
mod folder;
mod machine;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use kagetsu_postgres::BookUrl;
use kagetsu_program::Exit;
use kagetsu_proto::Access;
use serde::Serialize;

use self::finding::{HealthFinding, Level};
use kagetsu_terminal::json::write_json;
use kagetsu_terminal::table::one_line;

/// Looks for faults of the machine, a book, certificates and a coordinator
///
/// It changes nothing. It always checks limits, cores and memory; each flag adds its own checks.
/// `kagetsu check` reads every position of a book instead. The exit code is 1 if something does not
/// work; warnings do not count.
///
/// Example: kagetsu doctor --book h8.book --certs certs
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A book's folder: its files, its disk, the process that has it open, and the clock; or a book
    /// in PostgreSQL: the connection, the tables, and what the server may lose
    #[arg(long, value_name = "DIR|URL")]
    book: Option<PathBuf>,
    /// A folder of certificates: their validity, their names, and the permissions of the keys
    #[arg(long, value_name = "DIR")]
    certs: Option<PathBuf>,
    /// The URL of a coordinator: the connection, its workers and its jobs
    #[arg(long, value_name = "URL")]
    coordinator: Option<String>,
    #[command(flatten)]
    access: Access,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct DoctorJson {
    healthy: bool,
    findings: Vec<HealthFinding>,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let mut findings = machine::check();
    if let Some(book) = &args.book {
        findings.extend(match book.to_str().filter(|text| BookUrl::is_one(text)) {
            Some(text) => database::check(text),
            None => folder::check(book),
        });
    }
    if let Some(certs) = &args.certs {
        findings.extend(certificates::check(certs));
    }
    if let Some(url) = &args.coordinator {
        findings.extend(coordinator::check(url, &args.access));
    }
    let healthy = findings.iter().all(|finding| finding.level < Level::Fault);
    let exit = if healthy { Exit::Done } else { Exit::No };
    if args.json {
        write_json(out, &DoctorJson { healthy, findings })?;
        return Ok(exit);
    }
    for finding in &findings {
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

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args as Flags, Subcommand};
use kagetsu_api::{AsideJson, JobJson, SettingsJson, settings};
use kagetsu_book::{BUILD_FIELDS, Book, BuildField, JobChange};
use kagetsu_program::Exit;
use kagetsu_proto::{Access, Connector, v1};
use serde_json::{Map, Value};

use super::execution::{pace, progress_bar, show};
use crate::client::{Builds, tell_leader};
use crate::output::progress::waiting;
use kagetsu_reader::{COORDINATOR_FLAG, open_book, read_book, with_hint};
use kagetsu_terminal::echo::EchoOff;
use kagetsu_terminal::json::write_json;
use kagetsu_terminal::runtime::runtime;
use kagetsu_terminal::table;

/// Shows and changes the build jobs of a coordinator, or of a book folder
///
/// Example: kagetsu jobs list --book h8.book
#[derive(Debug, Flags)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: JobsAction,
}

#[derive(Debug, Subcommand)]
enum JobsAction {
    /// Lists all jobs
    ///
    /// Example: kagetsu jobs list --book h8.book
    List(JobPlace),
    /// Shows a job, its settings, and the positions that it skipped, with reasons
    ///
    /// Example: kagetsu jobs show freestyle-15-1b2c3d4e --book h8.book
    Show(NamedJob),
    /// Follows a job until it ends
    ///
    /// On a terminal the job is drawn in place; else there is a line at each change.
    ///
    /// Example: kagetsu jobs watch freestyle-15-1b2c3d4e
    Watch(NamedJob),
    /// Pauses a job: it gives out no new positions until it is resumed
    ///
    /// Example: kagetsu jobs pause freestyle-15-1b2c3d4e
    Pause(NamedJob),
    /// Resumes a paused job
    ///
    /// Example: kagetsu jobs resume freestyle-15-1b2c3d4e
    Resume(NamedJob),
    /// Cancels a job; the book keeps what it has, and a job that is done stays done
    ///
    /// Example: kagetsu jobs cancel freestyle-15-1b2c3d4e
    Cancel(NamedJob),
    /// Queues the positions again that a job skipped; a job that was done goes on
    ///
    /// Example: kagetsu jobs retry freestyle-15-1b2c3d4e
    Retry(NamedJob),
    /// Changes the priority of a job: a greater one is served first
    ///
    /// Example: kagetsu jobs priority freestyle-15-1b2c3d4e --priority 10
    Priority {
        #[command(flatten)]
        named: NamedJob,
        /// The new priority, from -100 to 100
        #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i8).range(-100..=100))]
        priority: i8,
    },
}

/// The location of jobs.
#[derive(Debug, Flags)]
struct JobPlace {
    /// The URL of the coordinator
    #[arg(long, default_value = "http://127.0.0.1:7615", value_name = "URL")]
    coordinator: String,
    #[command(flatten)]
    access: Access,
    /// The folder of a book that no process has open
    #[arg(long, value_name = "DIR", conflicts_with = "coordinator")]
    book: Option<PathBuf>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Flags)]
struct NamedJob {
    /// The name of the job
    name: String,
    #[command(flatten)]
    at: JobPlace,
}

/// The most skipped positions that are listed.
const MAX_LISTED_SKIPS: usize = 20;

pub(crate) fn run(args: Args, out: &mut dyn Write) -> Result<Exit> {
    match args.action {
        JobsAction::List(at) => {
            let jobs = match &at.book {
                Some(path) => {
                    let jobs = open_folder(path, false)?.jobs()?;
                    jobs.iter().map(JobJson::from).collect()
                }
                None => runtime()?.block_on(async {
                    let jobs = Builds::connect(&at.connector()?).await?.list().await?;
                    if !at.json {
                        tell_leader(at.access.leader(&at.coordinator).await);
                    }
                    anyhow::Ok(jobs.iter().map(JobJson::from).collect::<Vec<_>>())
                })?,
            };
            if at.json {
                write_json(out, &jobs)?
            } else if jobs.is_empty() {
                writeln!(std::io::stderr(), "no job yet; `kagetsu build` starts one")?;
            } else {
                write_table(out, &jobs)?
            }
        }
        JobsAction::Show(named) => {
            let job = named.ask(None)?;
            named.write(out, &job)?;
            if !named.at.json {
                write_settings(out, &job)?;
                write_limits(out, &job)?;
                write_asides(out, &job)?;
            }
        }
        JobsAction::Watch(named) => watch(&named, out)?,
        JobsAction::Pause(named) => named.change(JobChange::Pause, out)?,
        JobsAction::Resume(named) => named.change(JobChange::Resume, out)?,
        JobsAction::Retry(named) => named.change(JobChange::Retry, out)?,
        JobsAction::Cancel(named) => named.change(JobChange::Cancel, out)?,
        JobsAction::Priority { named, priority } => {
            named.change(JobChange::Priority(priority), out)?;
        }
    }
    Ok(Exit::Done)
}

impl JobPlace {
    fn connector(&self) -> Result<Connector> {
        Ok(self.access.connector(&self.coordinator)?)
    }
}

impl NamedJob {
    /// Changes or reads the job, in its folder or at its coordinator.
    fn ask(&self, change: Option<JobChange>) -> Result<JobJson> {
        if let Some(path) = &self.at.book {
            return in_folder(path, &self.name, change);
        }
        runtime()?.block_on(async {
            let mut builds = Builds::connect(&self.at.connector()?).await?;
            let job = match change {
                Some(change) => builds.change(&self.name, change).await?,
                None => builds.get(&self.name).await?,
            };
            Ok(JobJson::from(&job))
        })
    }

    fn change(&self, change: JobChange, out: &mut dyn Write) -> Result<()> {
        let is_cancel = change == JobChange::Cancel;
        let job = self.ask(Some(change))?;
        self.write(out, &job)?;
        if is_cancel && job.state == "done" {
            let name = &self.name;
            writeln!(
                std::io::stderr(),
                "{name} was done already: there is nothing to cancel"
            )?;
        }
        Ok(())
    }

    fn write(&self, out: &mut dyn Write, job: &JobJson) -> Result<()> {
        if self.at.json {
            write_json(out, job)
        } else {
            write_table(out, std::slice::from_ref(job))
        }
    }
}

/// Opens the book to read or to change it; an error names the way to ask its coordinator.
fn open_folder(path: &Path, changes: bool) -> Result<Book> {
    let opened = if changes {
        open_book(path, false)
    } else {
        read_book(path)
    };
    opened.map_err(|error| with_hint(error, COORDINATOR_FLAG))
}

fn in_folder(path: &Path, name: &str, change: Option<JobChange>) -> Result<JobJson> {
    let mut book = open_folder(path, change.is_some())?;
    let find = |book: &Book| {
        let job = book.jobs()?.into_iter().find(|job| job.spec.name == name);
        job.with_context(|| {
            format!("the book has no job '{name}'; `kagetsu jobs list` shows those it has")
        })
    };
    let job = find(&book)?;
    if let Some(change) = change {
        book.change_job(job.id, change)?;
    }
    let asides = book.asides(job.id, MAX_LISTED_SKIPS)?;
    let asides = asides.iter().map(AsideJson::from).collect();
    let job = find(&book)?;
    let settings = Some(SettingsJson::from(&settings(&job.spec)));
    let job = JobJson {
        asides,
        settings,
        ..JobJson::from(&job)
    };
    book.close()?;
    Ok(job)
}

fn watch(named: &NamedJob, out: &mut dyn Write) -> Result<()> {
    if named.at.book.is_some() {
        let job = named.ask(None)?;
        return named.write(out, &job);
    }
    if !named.at.json && std::io::stdout().is_terminal() {
        let job = runtime()?.block_on(watch_in_place(named))?;
        return named.write(out, &job);
    }
    runtime()?.block_on(async {
        let (mut written, mut last) = (Ok(()), None);
        let shown = |job: &v1::Job| {
            let line = JobJson::from(job);
            let news = still(&line);
            if written.is_ok() && last.as_ref() != Some(&news) {
                written = write_line(out, line, named.at.json);
                last = Some(news);
            }
        };
        // A closed stderr is no reason to stop.
        let tell = |line: String| drop(writeln!(std::io::stderr(), "{line}"));
        let connector = named.at.connector()?;
        Builds::connect(&connector)
            .await?
            .follow(&connector, &named.name, shown, tell)
            .await?;
        written
    })
}

/// Draws the job on stderr until it is over or Ctrl-C. Returns its last state.
async fn watch_in_place(named: &NamedJob) -> Result<JobJson> {
    let connector = named.at.connector()?;
    let mut builds = Builds::connect(&connector).await?;
    let (bar, _keys) = (
        progress_bar(&builds.get(&named.name).await?),
        EchoOff::start(),
    );
    let shown = |job: &v1::Job| show(&bar, job, &job.waits_for);
    // A closed stderr is no reason to stop.
    let tell = |line: String| bar.suspend(|| drop(writeln!(std::io::stderr(), "{line}")));
    let ended = tokio::select! {
        job = builds.follow(&connector, &named.name, shown, &tell) => Some(job),
        _ = tokio::signal::ctrl_c() => None,
    };
    bar.finish_and_clear();
    let job = match ended {
        Some(job) => job?,
        None => Builds::connect(&connector).await?.get(&named.name).await?,
    };
    Ok(JobJson::from(&job))
}

/// Returns the job without its rate, which changes while nothing happens.
fn still(job: &JobJson) -> JobJson {
    JobJson {
        rate: 0.0,
        ..job.clone()
    }
}

fn write_line(out: &mut dyn Write, line: JobJson, json: bool) -> Result<()> {
    if json {
        return write_json(out, &line);
    }
    let target = line
        .target
        .map_or_else(String::new, |target| format!(" of {target}"));
    let waits = line.waits_for.as_ref();
    writeln!(
        out,
        "{} {}: {}{target} positions, {}{}",
        table::one_line(&line.name),
        line.state,
        line.positions,
        pace(&line),
        waits.map_or_else(String::new, |why| format!("; {}", waiting(why)))
    )?;
    out.flush()?;
    Ok(())
}

/// Prints the settings that the job was started with, as flags of `kagetsu build`.
fn write_settings(out: &mut dyn Write, job: &JobJson) -> Result<()> {
    let Some(settings) = &job.settings else {
        return Ok(());
    };
    let lines = |flag: &str, lines: &[String]| -> Vec<String> {
        lines
            .iter()
            .map(|line| format!("{flag} \"{line}\""))
            .collect()
    };
    let mut flags = lines("--moves", &settings.roots);
    let build = BUILD_FIELDS.iter().filter(|field| !field.is_live);
    flags.extend(build.filter_map(|field| flag_text(field, &settings.build)));
    flags.extend(lines("--exclude", &settings.exclude));
    writeln!(out, "started with {}", flags.join(" "))?;
    let hidden = |count: u64, shown: &[String]| count.saturating_sub(shown.len() as u64);
    let more = [
        (hidden(settings.root_count, &settings.roots), "roots"),
        (
            hidden(settings.exclude_count, &settings.exclude),
            "excluded positions",
        ),
    ];
    more.iter()
        .filter(|(count, _)| *count > 0)
        .try_for_each(|(count, of)| Ok(writeln!(out, "and {count} more {of}")?))
}

/// Returns a setting as a flag; `None` for a default without an effect.
fn flag_text(field: &BuildField, settings: &Map<String, Value>) -> Option<String> {
    let value = settings.get(field.name)?;
    if let Value::Object(deepen) = value {
        let before = deepen.get("before").and_then(Value::as_str);
        let before = before.map_or_else(String::new, |day| format!(" --before {day}"));
        return Some(format!("--{}{before}", field.name));
    }
    let flag = field.flag?;
    let is_default = *value == field.default_value();
    match value {
        Value::Null | Value::Bool(false) => None,
        Value::Bool(true) => Some(format!("--{flag}")),
        Value::Number(number) if is_default && number.as_f64() == Some(0.0) => None,
        Value::String(text) => Some(format!("--{flag} {text}")),
        value => Some(format!("--{flag} {value}")),
    }
}

/// Writes the limits that may end the job before it has its positions.
fn write_limits(out: &mut dyn Write, job: &JobJson) -> Result<()> {
    if let Some(most) = job.total_nodes {
        writeln!(
            out,
            "ends when its searches have visited {most} positions; {} so far",
            job.nodes
        )?;
    }
    if let Some(stretch) = job.until_stable {
        writeln!(
            out,
            "ends when {stretch} positions in a row change nothing at the roots"
        )?;
    }
    Ok(())
}

/// Writes a line for each skipped position.
fn write_asides(out: &mut dyn Write, job: &JobJson) -> Result<()> {
    for AsideJson { position, reason } in &job.asides {
        writeln!(out, "set aside: {position}: {}", table::one_line(reason))?;
    }
    let more = job.set_aside.saturating_sub(job.asides.len() as u64);
    if more > 0 {
        writeln!(out, "{more} more are set aside")?;
    }
    if job.set_aside > 0 {
        writeln!(out, "`kagetsu jobs retry {}` tries them again", job.name)?;
    }
    Ok(())
}

fn write_table(out: &mut dyn Write, jobs: &[JobJson]) -> Result<()> {
    let heads = [
        "name",
        "variant",
        "state",
        "positions",
        "target",
        "rate/s",
        "time left",
        "frontier",
        "set aside",
        "priority",
    ];
    let rows = jobs.iter().map(|job| {
        [
            job.name.clone(),
            job.variant.clone(),
            job.reason.as_ref().or(job.waits_for.as_ref()).map_or_else(
                || job.state.clone(),
                |reason| format!("{}: {reason}", job.state),
            ),
            job.positions.to_string(),
            job.target
                .map_or_else(|| "-".into(), |target| target.to_string()),
            format!("{:.1}", job.rate),
            job.time_left().map_or_else(
                || "-".into(),
                |left| humantime::format_duration(left).to_string(),
            ),
            job.frontier.to_string(),
            job.set_aside.to_string(),
            job.priority.to_string(),
        ]
    });
    table::write(out, &heads, &[3, 4, 5, 6, 7, 8, 9], rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decaying_rate_alone_is_no_change_of_a_job() {
        let job = |rate, positions| {
            JobJson::from(&v1::Job {
                rate,
                positions,
                ..v1::Job::default()
            })
        };
        assert_eq!(still(&job(2.0, 7)), still(&job(1.0, 7)));
        assert_ne!(still(&job(2.0, 7)), still(&job(2.0, 8)));
    }
}

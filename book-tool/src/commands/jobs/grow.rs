use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::Result;
use kagetsu_api::JobJson;
use kagetsu_book::without_password;
use kagetsu_program::{Exit, shown};
use kagetsu_proto::v1;
use serde::Serialize;

pub(crate) use super::arguments::Args;
use super::execution::{Ended, follow, here};
use super::proofs::{self, ProofJson};
use kagetsu_terminal::json::write_json;
use kagetsu_terminal::runtime::runtime;

/// The end of a build.
#[derive(Serialize)]
struct BuildJson {
    #[serde(flatten)]
    job: JobJson,
    book: String,
    /// The proofs of the roots, with `--policy prove`.
    #[serde(skip_serializing_if = "Option::is_none")]
    proofs: Option<Vec<ProofJson>>,
    time_ms: u64,
    #[serde(skip)]
    has_failed: bool,
}

impl BuildJson {
    /// The exit code of the command.
    fn exit(&self) -> Exit {
        Exit::passed(!self.has_failed)
    }

    /// Writes it as text; `place` is where the job is, as `kagetsu jobs` takes it.
    fn write(&self, place: &str, out: &mut dyn Write) -> Result<()> {
        let Self { job, book, .. } = self;
        let target = match job.target {
            Some(target) if target < job.positions => {
                format!(" positions (--positions {target} was reached before)")
            }
            Some(target) => format!(" of {target} positions"),
            None => " positions".into(),
        };
        let aside = if job.set_aside > 0 {
            format!(", {} set aside", job.set_aside)
        } else {
            String::new()
        };
        let (name, seconds) = (&job.name, Duration::from_millis(self.time_ms).as_secs_f64());
        writeln!(
            out,
            "{}: job {name} {}, {}{target}{aside}",
            shown(book.as_ref()),
            job.state,
            job.positions
        )?;
        writeln!(out, "{} positions wait; {seconds:.1} s", job.frontier)?;
        proofs::write(out, self.proofs.as_deref().unwrap_or_default())?;
        if let Some(aside) = job.asides.first().filter(|_| job.set_aside > 0) {
            writeln!(
                out,
                "set aside: {}; `kagetsu jobs show {name} {place}` lists all, `jobs retry` tries again",
                aside.reason
            )?;
        }
        Ok(())
    }
}

pub(crate) fn run(mut args: Args, out: &mut dyn Write) -> Result<Exit> {
    args.choose_variant()?;
    let build = build(&args)?;
    if args.json {
        write_json(out, &build)?;
    } else {
        build.write(&place(&args), out)?;
    }
    Ok(build.exit())
}

/// Builds to the end, or until it is stopped, and says on stderr how it ended.
///
/// # Errors
/// If the arguments contradict each other, or the build cannot go on.
fn build(args: &Args) -> Result<BuildJson> {
    let request = args.request()?;
    args.check_engine()?;
    if let (Some(url), Some(book)) = (&args.coordinator, &args.book) {
        let book = without_password(&book.to_string_lossy());
        writeln!(
            std::io::stderr(),
            "kagetsu: --book {book} is not used: the build goes into the book of {url}"
        )?;
    }
    let begun = Instant::now();
    let ended = match &args.coordinator {
        Some(url) => runtime()?.block_on(follow(args, &args.access.connector(url)?, &request))?,
        None => runtime()?.block_on(here(args, &request))?,
    };
    if ended.is_stopped {
        let goes_on = if args.coordinator.is_some() && args.time.is_none() {
            "the job goes on in the cluster; `kagetsu jobs watch` shows it"
        } else {
            "run the same command again to go on"
        };
        writeln!(std::io::stderr(), "stopped; {goes_on}")?;
    }
    let Ended { job, proofs, .. } = ended;
    let end = match job.state() {
        v1::JobState::Failed => format!("failed: {}", job.reason),
        v1::JobState::Done if !job.reason.is_empty() => format!("is done: {}", job.reason),
        _ => String::new(),
    };
    if !end.is_empty() {
        writeln!(std::io::stderr(), "kagetsu: the job {end}")?;
    }
    let folder = args.book.as_ref().map(|path| path.display().to_string());
    Ok(BuildJson {
        job: (&job).into(),
        book: args.coordinator.clone().or(folder).unwrap_or_default(),
        proofs,
        time_ms: begun.elapsed().as_millis() as u64,
        has_failed: job.state() == v1::JobState::Failed,
    })
}

/// Where the job is, as `kagetsu jobs` takes it.
fn place(args: &Args) -> String {
    match (&args.coordinator, &args.book) {
        (Some(url), _) => format!("--coordinator {url}"),
        (None, Some(book)) => format!("--book {}", shown(book)),
        (None, None) => String::new(),
    }
}

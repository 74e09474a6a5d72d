//! The slots of a worker: threads that search.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use anyhow::{Context, Result};
use kagetsu_proto::v1;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_search::{Control, Engine, EngineOptions, Progress};

use crate::config::Config;
use crate::desk::{Desk, Job, Role};
use crate::outcome;
use crate::thinker::{Team, Thinker};

/// The engines of all slots; somebody else's show first that they can play.
pub(crate) fn assemble(config: &Config, control: &Control) -> Result<Team> {
    let slots = config.slots();
    let options = options(config)?;
    match config
        .engine
        .settings(config.threads, (config.table_mib / u64::from(slots)).max(1))
    {
        Some(settings) => Team::external(slots, settings, &config.variant, control),
        None => Team::own(slots, options),
    }
}

fn options(config: &Config) -> Result<EngineOptions> {
    let table_bytes = usize::try_from((config.table_mib << 20) / u64::from(config.slots()))
        .context("--table-mib")?;
    let (threads, split) = (config.threads.into(), config.split);
    Ok(EngineOptions {
        threads,
        split,
        table_bytes,
        ..EngineOptions::default()
    })
}

/// Starts the slots; they end when the desk is closed.
pub(crate) fn start(
    config: &Config,
    thinkers: Vec<Thinker>,
    desk: &Arc<Desk>,
) -> Result<Vec<JoinHandle<()>>> {
    let options = options(config)?;
    let start = |(slot, mut thinker): (usize, Thinker)| {
        let desk = Arc::clone(desk);
        let work = move || {
            while let Some(job) = desk.begin() {
                let number = job.number;
                let mut told =
                    |progress: &Progress| desk.iterated(number, job.question.width, progress);
                let outcome = search(&mut thinker, &job, &mut told);
                if outcome.is_err() {
                    // What a panic left behind is not to be trusted.
                    renew(&mut thinker, options);
                }
                desk.end(number, outcome.unwrap_or_else(outcome::failed));
            }
        };
        Ok(Builder::new().name(format!("slot-{slot}")).spawn(work)?)
    };
    thinkers.into_iter().enumerate().map(start).collect()
}

fn renew(thinker: &mut Thinker, options: EngineOptions) {
    match thinker {
        Thinker::External(engine) => **engine = engine.twin(),
        Thinker::Own(engine) => match Engine::new(options) {
            Ok(fresh) => *engine = fresh,
            Err(error) => tracing::error!("cannot make a new engine: {error}"),
        },
    }
}

/// One search; an error is a panic, in words.
fn search(
    thinker: &mut Thinker,
    Job {
        question,
        role,
        control,
        ..
    }: &Job,
    told: &mut dyn FnMut(&Progress),
) -> Result<Outcome, String> {
    let answered = catch_unwind(AssertUnwindSafe(|| match role {
        Role::Whole => thinker.answer(question, control, told),
        Role::Member { number, of } => thinker.share(question, (*number, *of), control, told),
    }));
    match answered {
        Ok(Ok(answer)) => Ok(outcome::answered(&question.position, &answer)),
        // Whatever an engine does that is stopped, nobody has failed.
        Ok(Err(_)) if control.is_stopped() => Ok(Outcome::HandedBack(v1::HandedBack {})),
        Ok(Err(error)) => Ok(outcome::failed(error.to_string())),
        Err(panic) => Err(format!(
            "the search of {} panicked: {}",
            question.position,
            words(&*panic)
        )),
    }
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a word")
}

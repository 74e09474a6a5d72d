//! The slots of a worker: threads that search.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use anyhow::{Context, Result};
use kagetsu_game::Question;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_search::{Control, Engine, EngineOptions, Progress};

use crate::config::Config;
use crate::desk::Desk;
use crate::outcome;

/// Starts the slots; they end when the desk is closed.
pub(crate) fn start(config: &Config, desk: &Arc<Desk>) -> Result<Vec<JoinHandle<()>>> {
    let slots = desk.slots();
    let table_bytes = usize::try_from((config.table_mib << 20) / u64::from(slots)).context("--table-mib")?;
    let options =
        EngineOptions { threads: config.threads.into(), split: config.split, table_bytes, ..EngineOptions::default() };
    let start = |slot| {
        let mut engine = Engine::new(options)?;
        let desk = Arc::clone(desk);
        let work = move || {
            while let Some((task, question, control)) = desk.begin() {
                let mut told = |progress: &Progress| desk.iterated(task, question.width, progress);
                let outcome = search(&mut engine, &question, &control, &mut told);
                if outcome.is_err() {
                    // What a panic left behind is not to be trusted.
                    match Engine::new(options) {
                        Ok(fresh) => engine = fresh,
                        Err(error) => tracing::error!("cannot make a new engine: {error}"),
                    }
                }
                desk.end(task, outcome.unwrap_or_else(outcome::failed));
            }
        };
        Ok(Builder::new().name(format!("slot-{slot}")).spawn(work)?)
    };
    (0..slots).map(start).collect()
}

/// One search; an error is a panic, in words.
fn search(
    engine: &mut Engine,
    question: &Question,
    control: &Control,
    told: &mut dyn FnMut(&Progress),
) -> Result<Outcome, String> {
    let answered = catch_unwind(AssertUnwindSafe(|| engine.answer(question, control, told)));
    match answered {
        Ok(Ok(answer)) => Ok(outcome::answered(&question.position, &answer)),
        Ok(Err(error)) => Ok(outcome::failed(error.to_string())),
        Err(panic) => Err(format!("the search of {} panicked: {}", question.position, words(&*panic))),
    }
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a word")
}

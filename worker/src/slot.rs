//! The slots of a worker: threads that search.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use anyhow::{Context, Result};
use kagetsu_proto::v1;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_search::{Control, EngineOptions, Progress};

use crate::config::Config;
use crate::engine_runner::{EnginePool, EngineRunner};
use crate::outcome::{self, TaskResult};
use crate::task_queue::{SearchRole, SlotTask, TaskQueue};

/// Creates the engines of all slots. External engines are tried out first.
pub(crate) fn create_engines(config: &Config, control: &Control) -> Result<EnginePool> {
    let slots = config.slots();
    let options = options(config)?;
    let memory_mib = (config.table_mib / u64::from(slots)).max(1);
    match config.engine.settings(config.threads, memory_mib) {
        Some(settings) => EnginePool::external(slots, settings, &config.variant, control),
        None => EnginePool::own(slots, options),
    }
}

fn options(config: &Config) -> Result<EngineOptions> {
    let table_bytes = (config.table_mib << 20) / u64::from(config.slots());
    Ok(EngineOptions {
        threads: config.threads.into(),
        split: config.split,
        table_bytes: usize::try_from(table_bytes).context("--table-mib")?,
        ..EngineOptions::default()
    })
}

/// Starts the slots, which end when the queue is closed.
pub(crate) fn start(
    config: &Config,
    engines: Vec<EngineRunner>,
    queue: &Arc<TaskQueue>,
) -> Result<Vec<JoinHandle<()>>> {
    let options = options(config)?;
    let start = |(slot, engine): (usize, EngineRunner)| {
        let queue = Arc::clone(queue);
        let thread = Builder::new().name(format!("slot-{slot}"));
        Ok(thread.spawn(move || work(engine, options, &queue))?)
    };
    engines.into_iter().enumerate().map(start).collect()
}

/// Searches tasks until the queue is closed.
fn work(mut engine: EngineRunner, options: EngineOptions, queue: &TaskQueue) {
    while let Some(task) = queue.start_next() {
        let mut progress = |progress: &Progress| {
            queue.record_iteration(task.number, task.question.width, progress);
        };
        let outcome = search(&mut engine, &task, &mut progress);
        if outcome.is_err() {
            // The panic may have left the engine in any state.
            engine.replace(options);
        }
        let result = outcome.unwrap_or_else(|reason| outcome::failed(reason).into());
        queue.finish(task.number, result);
    }
}

/// Searches one task. An error is the message of a panic.
fn search(
    engine: &mut EngineRunner,
    task: &SlotTask,
    progress: &mut dyn FnMut(&Progress),
) -> Result<TaskResult, String> {
    let SlotTask {
        question,
        role,
        control,
        wants_strategies,
        end_tables,
        ..
    } = task;
    engine.want_strategies(*wants_strategies);
    engine.limit_end_tables(*end_tables);
    let answered = catch_unwind(AssertUnwindSafe(|| match role {
        SearchRole::Whole => engine.answer(question, control, progress),
        SearchRole::Member { number, of } => {
            engine.share(question, (*number, *of), control, progress)
        }
    }));
    match answered {
        Ok(Ok(answer)) => Ok(outcome::answered(
            &question.position,
            &answer,
            &engine.take_strategies(),
        )),
        // An error of an engine that was stopped is no failure.
        Ok(Err(_)) if control.is_stopped() => Ok(Outcome::HandedBack(v1::HandedBack {}).into()),
        Ok(Err(error)) => Ok(outcome::failed(error.to_string()).into()),
        Err(panic) => Err(format!(
            "the search of {} panicked: {}",
            question.position,
            message(&*panic)
        )),
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

//! A worker: an engine in every slot, and the loop that asks the coordinator for tasks.
//!
//! Tasks and results are kept in a queue. The connection may be lost and made again, while the
//! searches go on; a finished answer stays in the queue until the coordinator has acknowledged it.
//!
//! This crate knows neither leases nor the book.
#![forbid(unsafe_code)]

mod config;
mod engine_args;
mod engine_runner;
mod file_remover;
mod heartbeat;
mod outcome;
mod politeness;
mod session;
mod slot;
mod spool;
mod system;
mod task_queue;
mod update;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use kagetsu_proto::Connector;
use kagetsu_search::Control;
use rand::RngExt;
use tokio_util::sync::CancellationToken;

pub use config::Config;
pub use engine_args::EngineArgs;
pub use engine_runner::EngineRunner;
pub use politeness::{Politeness, PolitenessArgs};
pub use update::{UpdateArgs, Updater};

use crate::engine_runner::EnginePool;
use crate::session::{EngineInfo, SessionEnd, WorkerSession};
use crate::spool::Spool;
use crate::task_queue::TaskQueue;

/// The delay after the first failure to connect.
const MIN_BACKOFF: Duration = Duration::from_millis(200);
/// The longest delay between two attempts to connect, and that of the first attempts: another
/// coordinator may take the lease.
const MAX_BACKOFF: Duration = Duration::from_secs(15);
const QUICK_BACKOFF: Duration = Duration::from_secs(2);
/// Attempts that take 15 to 30 s in all.
const QUICK_ATTEMPTS: u32 = 18;
/// How long a worker that stops waits for the acknowledgement of its last reports.
pub const GOODBYE_TIMEOUT: Duration = Duration::from_secs(3);

/// Works for a coordinator until the shutdown. Then it finishes its searches within the grace
/// period, hands back the rest and says goodbye. A lost connection is made again without end. After
/// the shutdown the worker always ends, even without a coordinator: tasks that it could not hand
/// back are reassigned when their leases end.
///
/// # Errors
/// If the coordinator refuses this worker, if the settings allow no connection and there was none
/// before, or if the engines cannot be created.
pub async fn run(config: Config, connector: Connector, shutdown: CancellationToken) -> Result<()> {
    let Some(pool) = create_engines(&config, &shutdown).await? else {
        return Ok(());
    };
    let spool = config.spool.as_deref().map(Spool::open).transpose()?;
    let queue = TaskQueue::new(config.slots(), spool);
    let slots = slot::start(&config, pool.engines, &queue)?;
    let engine = EngineInfo {
        name: pool.name,
        variants: pool.variants,
    };
    let worked = tokio::select! {
        worked = stay_connected(&config, &engine, &connector, &queue, &shutdown) => worked,
        () = retire(&queue, &config, &shutdown) => Ok(()),
    };
    queue.close();
    for slot in slots {
        // A slot catches the panics of its searches, and ends when the queue is closed.
        let _ = tokio::task::spawn_blocking(move || slot.join()).await;
    }
    worked
}

/// Creates the engines; `None` if the shutdown comes first.
async fn create_engines(
    config: &Config,
    shutdown: &CancellationToken,
) -> Result<Option<EnginePool>> {
    let control = Control::new();
    let creating = {
        let (config, control) = (config.clone(), control.clone());
        tokio::task::spawn_blocking(move || slot::create_engines(&config, &control))
    };
    tokio::pin!(creating);
    tokio::select! {
        pool = &mut creating => return pool?.map(Some),
        () = shutdown.cancelled() => control.stop(),
    }
    // It ends at once; an error only says that it was stopped.
    drop(creating.await?);
    Ok(None)
}

/// Waits for the shutdown, then starts nothing new, and after the grace period hands back the
/// running tasks. Ends when the last reports have had time to be acknowledged. A worker that is to
/// finish starts nothing new either.
async fn retire(queue: &TaskQueue, config: &Config, shutdown: &CancellationToken) {
    tokio::select! {
        () = shutdown.cancelled() => {}
        () = config.finish.cancelled() => {
            tracing::info!("stopping: running searches finish first");
            queue.retire();
            shutdown.cancelled().await;
        }
    }
    let grace = config.grace;
    tracing::info!("stopping: running searches get {grace:?} to finish, the rest is handed back");
    queue.retire();
    tokio::time::sleep(grace).await;
    queue.hand_back_running();
    tokio::time::sleep(GOODBYE_TIMEOUT).await;
    tracing::warn!("the coordinator did not acknowledge the last reports");
}

async fn stay_connected(
    config: &Config,
    engine: &EngineInfo,
    connector: &Connector,
    queue: &Arc<TaskQueue>,
    shutdown: &CancellationToken,
) -> Result<()> {
    let instance = rand::random();
    let mut failures = 0;
    let mut was_ever_welcome = false;
    loop {
        let session = WorkerSession {
            config,
            engine,
            instance,
            queue,
        };
        let (reason, wanted_delay) = match session.run(connector).await {
            SessionEnd::Done => return Ok(()),
            SessionEnd::Refused(error) => return Err(error),
            SessionEnd::Misconfigured(error) if !was_ever_welcome => return Err(error),
            // The connection worked before, so the fault is expected to be mended at the
            // coordinator.
            SessionEnd::Misconfigured(error) => {
                failures += 1;
                (error.to_string(), Duration::ZERO)
            }
            SessionEnd::Lost {
                reason,
                was_welcome,
                retry_after,
            } => {
                was_ever_welcome |= was_welcome;
                // An answer without a welcome may come from another server.
                failures = if was_welcome { 0 } else { failures + 1 };
                (reason, retry_after)
            }
        };
        let delay = backoff(failures).max(wanted_delay);
        if config.is_embedded {
            tracing::debug!("{reason}");
        } else {
            tracing::warn!("{reason}; next try in {:.1} s", delay.as_secs_f64());
        }
        tokio::select! {
            () = tokio::time::sleep(delay) => {}
            // A worker that stops does not wait for an absent coordinator.
            () = shutdown.cancelled(), if failures > 0 => return Ok(()),
        }
    }
}

/// Returns the delay after a number of failures: it doubles with each, and half of it is random, so
/// that many workers do not connect at the same time.
fn backoff(failures: u32) -> Duration {
    let most = if failures <= QUICK_ATTEMPTS {
        QUICK_BACKOFF
    } else {
        MAX_BACKOFF
    };
    let delay = MIN_BACKOFF.saturating_mul(1 << failures.min(10)).min(most);
    delay.mul_f64(rand::rng().random_range(0.5..=1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_quick_while_a_lease_may_change_hands() {
        let delays = (0..=QUICK_ATTEMPTS).map(backoff);
        assert!(delays.clone().all(|delay| delay <= QUICK_BACKOFF));
        assert!(delays.sum::<Duration>() >= Duration::from_secs(15));
        assert!(backoff(u32::MAX) > QUICK_BACKOFF);
    }
}

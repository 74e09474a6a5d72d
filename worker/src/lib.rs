//! A worker: an engine in every slot, and the loop that asks the coordinator for tasks.
//!
//! What it was told to do and what it has found out lie on its desk: the connection may come and go, the searches
//! go on, and a finished answer is kept until the coordinator has acknowledged it.
//!
//! What this crate refuses: leases, and the book.
#![forbid(unsafe_code)]

mod config;
mod desk;
mod engine_args;
mod outcome;
mod pulse;
mod session;
mod slot;
mod spool;
mod sweeper;
mod thinker;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use kagetsu_proto::Connector;
use kagetsu_search::Control;
use rand::RngExt;
use tokio_util::sync::CancellationToken;

pub use config::Config;
pub use engine_args::EngineArgs;
pub use thinker::Thinker;

use crate::desk::Desk;
use crate::session::{End, Repertoire, Session};
use crate::spool::Spool;
use crate::thinker::Team;

/// The wait after the first failure to connect, and the longest.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(15));
/// How long a worker that stops waits for its last reports to be acknowledged.
pub const LAST_WORDS: Duration = Duration::from_secs(3);

/// Works for a coordinator until the shutdown: then it finishes what it searches, as far as the grace allows, hands back
/// the rest, and says goodbye. Lost connections are made again, for ever. After the shutdown it always ends, whether there
/// is a coordinator or not: what it could not hand back is given to others when its lease ends.
///
/// # Errors
/// If the coordinator refuses this worker, if as things are set up no connection can be had and none ever was, or if the
/// engines cannot be made.
pub async fn run(config: Config, connector: Connector, shutdown: CancellationToken) -> Result<()> {
    let Some(Team {
        thinkers,
        name,
        variants,
    }) = assemble(&config, &shutdown).await?
    else {
        return Ok(());
    };
    let spool = config.spool.as_deref().map(Spool::open).transpose()?;
    let desk = Desk::new(config.slots(), spool);
    let slots = slot::start(&config, thinkers, &desk)?;
    let engine = Repertoire { name, variants };
    let worked = tokio::select! {
        worked = stay_connected(&config, &engine, &connector, &desk, &shutdown) => worked,
        () = retire(&desk, &shutdown, config.grace) => Ok(()),
    };
    desk.close();
    for slot in slots {
        // A slot catches what its search throws; it ends by itself when the desk is closed.
        let _ = tokio::task::spawn_blocking(move || slot.join()).await;
    }
    worked
}

/// The engines; none if the shutdown comes before they are ready.
async fn assemble(config: &Config, shutdown: &CancellationToken) -> Result<Option<Team>> {
    let control = Control::new();
    let assembled = {
        let (config, control) = (config.clone(), control.clone());
        tokio::task::spawn_blocking(move || slot::assemble(&config, &control))
    };
    tokio::pin!(assembled);
    tokio::select! {
        team = &mut assembled => return team?.map(Some),
        () = shutdown.cancelled() => control.stop(),
    }
    // It ends at once, and what it says of being stopped is no news.
    drop(assembled.await?);
    Ok(None)
}

/// After the shutdown nothing new is begun; after the grace what is at work is handed back. Ends when nobody needs to wait
/// any longer for that to be heard.
async fn retire(desk: &Desk, shutdown: &CancellationToken, grace: Duration) {
    shutdown.cancelled().await;
    tracing::info!("stopping: what is at work is finished within {grace:?}, or handed back");
    desk.hand_back_waiting();
    tokio::time::sleep(grace).await;
    desk.hand_back_all();
    tokio::time::sleep(LAST_WORDS).await;
    tracing::warn!("the coordinator did not acknowledge the last reports");
}

async fn stay_connected(
    config: &Config,
    engine: &Repertoire,
    connector: &Connector,
    desk: &Arc<Desk>,
    shutdown: &CancellationToken,
) -> Result<()> {
    let instance = rand::random();
    let (mut failures, mut was_ever_welcome) = (0, false);
    loop {
        let session = Session {
            config,
            engine,
            instance,
            desk,
        };
        let (reason, asked) = match session.run(connector).await {
            End::Done => return Ok(()),
            End::Refused(error) => return Err(error),
            End::Misled(error) if !was_ever_welcome => return Err(error),
            // What worked before will again when somebody has mended it over there.
            End::Misled(error) => {
                failures += 1;
                (error.to_string(), Duration::ZERO)
            }
            End::Lost {
                reason,
                was_welcome,
                wait,
            } => {
                was_ever_welcome |= was_welcome;
                // Somebody who answers need not be a coordinator.
                failures = if was_welcome { 0 } else { failures + 1 };
                (reason, wait)
            }
        };
        let wait = backoff(failures).max(asked);
        if config.is_embedded {
            tracing::debug!("{reason}");
        } else {
            tracing::warn!("{reason}; next try in {:.1} s", wait.as_secs_f64());
        }
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            // Who stops does not wait for a coordinator that is not there.
            () = shutdown.cancelled(), if failures > 0 => return Ok(()),
        }
    }
}

/// Twice as long after every failure, by chance between half and all of it, so that many workers do not come at once.
fn backoff(failures: u32) -> Duration {
    let (first, longest) = BACKOFF;
    let wait = first.saturating_mul(1 << failures.min(10)).min(longest);
    wait.mul_f64(rand::rng().random_range(0.5..=1.0))
}

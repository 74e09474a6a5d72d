//! A coordinator in this process, with its engines.

use std::convert::Infallible;

use anyhow::{Context, Result, bail};
use kagetsu_coordinator::{Coordinator, Server};
use kagetsu_proto::Connector;
use kagetsu_worker::Config;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Memory of each engine's table where no flag says it, in MiB.
const TABLE_MIB: u64 = 64;

/// A coordinator in this process, with its engines.
pub(crate) struct Embedded {
    coordinator: Coordinator,
    workers: JoinSet<Result<()>>,
    retire: CancellationToken,
}

impl Embedded {
    /// Starts a server with one worker for each configuration.
    pub(crate) fn start(server: Server, workers: Vec<Config>) -> Self {
        let mut embedded = Self {
            coordinator: server.embed(),
            workers: JoinSet::new(),
            retire: CancellationToken::new(),
        };
        for config in workers {
            let (connector, retire) = (embedded.connector().clone(), embedded.retire.clone());
            embedded
                .workers
                .spawn(kagetsu_worker::run(config, connector, retire));
        }
        embedded
    }

    /// Starts a server with an engine for each core.
    pub(crate) fn on_all_cores(server: Server) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let config = |number| Config::embedded(format!("worker-{number}"), TABLE_MIB);
        Self::start(server, (0..cores).map(config).collect())
    }

    /// The way to the coordinator.
    pub(crate) fn connector(&self) -> &Connector {
        self.coordinator.connector()
    }

    /// Waits for the end of a worker. One ends by itself only if its engine cannot play.
    pub(crate) async fn failed(&mut self) -> Result<Infallible> {
        let ended = self.workers.join_next().await.context("no workers")?;
        ended??;
        bail!("an engine ended by itself")
    }

    /// Ends the workers and then the coordinator. Returns `ended`, or the first error that says
    /// why.
    pub(crate) async fn end<T>(
        mut self,
        shutdown: &CancellationToken,
        mut ended: Result<T>,
    ) -> Result<T> {
        self.retire.cancel();
        while let Some(worker) = self.workers.join_next().await {
            if let (Ok(_), Err(error)) = (&ended, worker?) {
                ended = Err(error);
            }
        }
        shutdown.cancel();
        // The coordinator's error says why the book could not be written.
        self.coordinator.end().await?;
        ended
    }
}

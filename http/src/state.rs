use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kagetsu_proto::v1::builds_server::Builds as _;
use kagetsu_proto::{PerIpLimiter, v1};
use tokio_util::sync::CancellationToken;
use tonic::Request;

use crate::access::Access;
use crate::job_history::JobHistory;
use crate::services::Services;

/// Time between two points of a job's history.
const HISTORY_INTERVAL: Duration = Duration::from_secs(2);

/// What every handler sees.
pub(crate) struct AppState<S> {
    pub(crate) services: S,
    pub(crate) access: Access,
    pub(crate) history: JobHistory,
    /// Open streams of job events.
    pub(crate) listeners: Arc<PerIpLimiter>,
    /// Open analyses.
    pub(crate) analyses: Arc<PerIpLimiter>,
    pub(crate) shutdown: CancellationToken,
    /// Distinguishes the books of two servers that used the same address one after the other.
    pub(crate) instance: u64,
}

impl<S: Services> AppState<S> {
    /// Records how the jobs grow, until the shutdown.
    pub(crate) async fn record_history(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(HISTORY_INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = self.shutdown.cancelled() => return,
            }
            if self.services.epoch().is_none() {
                continue;
            }
            if let Ok(listed) = self
                .services
                .builds()
                .list(Request::new(v1::ListJobsRequest {}))
                .await
            {
                let now = SystemTime::now()
                    .duration_since(UNIX_EPOCH)
                    .unwrap_or_default();
                self.history
                    .add(now.as_millis() as u64, &listed.into_inner().jobs);
            }
        }
    }
}

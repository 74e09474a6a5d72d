use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use kagetsu_proto::{PerIpLimiter, v1};
use tokio_util::sync::CancellationToken;

use crate::access::AccessPolicy;
use crate::extract::Caller;
use crate::job_history::JobHistory;
use crate::services::{ServerInfo, Services};

/// Time between two points of a job's history.
const HISTORY_INTERVAL: Duration = Duration::from_secs(2);

/// The state that every handler shares.
pub(crate) struct AppState {
    pub(crate) services: Services,
    pub(crate) server: Arc<dyn ServerInfo>,
    pub(crate) access: AccessPolicy,
    pub(crate) history: JobHistory,
    /// Open streams of job events.
    pub(crate) listeners: Arc<PerIpLimiter>,
    /// Open analyses.
    pub(crate) analyses: Arc<PerIpLimiter>,
    pub(crate) shutdown: CancellationToken,
    /// The files of the program for browsers by their paths, where it was built.
    pub(crate) program: BTreeMap<String, Bytes>,
    /// Distinguishes the books of two servers that used the same address one after the other.
    pub(crate) instance: u64,
}

impl AppState {
    /// Records how the jobs grow, until the shutdown.
    pub(crate) async fn record_history(self: Arc<Self>, internal: Caller) {
        let mut ticks = tokio::time::interval(HISTORY_INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = self.shutdown.cancelled() => return,
            }
            let request = internal.request(v1::ListJobsRequest {});
            if let Ok(listed) = self.services.builds().list(request).await {
                let now = SystemTime::now().duration_since(UNIX_EPOCH);
                let at_ms = now.unwrap_or_default().as_millis() as u64;
                self.history.add(at_ms, &listed.into_inner().jobs);
            }
        }
    }

    /// Whether the server can have build jobs.
    pub(crate) fn has_jobs(&self) -> bool {
        self.server.grows()
    }
}

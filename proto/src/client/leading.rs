//! The choice among several coordinators of one book.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tonic::transport::Channel;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use super::connector::{ConnectError, Connector};

/// The service whose health says whether a coordinator leads.
const LEADER_SERVICE: &str = "kagetsu.v1.Workers";
/// Time within which a coordinator must say whether it leads.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(3);

/// Returns a connector to the coordinator that leads, or to one that follows if none leads now; it
/// answers look-ups. `None` without any coordinator.
pub(super) fn connector(name: &str, coordinators: Vec<Connector>) -> Option<Connector> {
    if coordinators.is_empty() {
        return None;
    }
    let coordinators: Arc<[Connector]> = coordinators.into();
    // Begin with the one that led last.
    let last = Arc::new(AtomicUsize::new(0));
    Some(Connector::by(name, move || {
        let (coordinators, last) = (Arc::clone(&coordinators), Arc::clone(&last));
        async move {
            let first = last.load(Ordering::Relaxed);
            let mut follower = None;
            let mut failure = None;
            for offset in 0..coordinators.len() {
                let index = (first + offset) % coordinators.len();
                match coordinators[index].channel().await {
                    Ok(channel) if leads(&channel).await => {
                        last.store(index, Ordering::Relaxed);
                        return Ok(channel);
                    }
                    Ok(channel) => follower = follower.or(Some(channel)),
                    Err(error) => failure = preferred(failure, error),
                }
            }
            match (follower, failure) {
                (Some(channel), _) => Ok(channel),
                (None, Some(error)) => Err(error),
                (None, None) => unreachable!("there is at least one coordinator"),
            }
        }
    }))
}

/// Returns the error to report: one that a retry may mend, if there is one.
fn preferred(earlier: Option<ConnectError>, later: ConnectError) -> Option<ConnectError> {
    match earlier {
        Some(earlier) if !earlier.is_permanent() => Some(earlier),
        _ => Some(later),
    }
}

/// Asks a coordinator whether it leads.
async fn leads(channel: &Channel) -> bool {
    let mut health = HealthClient::new(channel.clone());
    let request = HealthCheckRequest {
        service: LEADER_SERVICE.into(),
    };
    let checked = tokio::time::timeout(HEALTH_TIMEOUT, health.check(request)).await;
    checked.is_ok_and(|answer| {
        answer.is_ok_and(|answer| answer.into_inner().status() == ServingStatus::Serving)
    })
}

//! The choice among the coordinators of one book.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tonic::transport::Channel;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use super::connector::{ConnectError, Connector};

/// The metadata with the leader's address in the responses of a follower.
pub const LEADER_HEADER: &str = "kagetsu-leader";
/// The service whose health says whether a coordinator leads.
const LEADER_SERVICE: &str = "kagetsu.v1.Workers";
/// Time within which a coordinator must say whether it leads.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(3);
/// Followers in a row that a client believes about the leader's address.
const MAX_REDIRECTS: usize = 3;

/// Makes a connector to the address of a leader; `None` where the address cannot be used.
pub(super) type Redirect = Arc<dyn Fn(&str) -> Option<Connector> + Send + Sync>;

/// A coordinator's part in the replication of its book.
pub(super) enum LeaderStanding {
    /// It leads, or does not know of leading.
    Leads,
    /// It follows the coordinator at this address, if there is one.
    Follows(Option<String>),
}

/// Returns a connector to the coordinator that leads, also where only a follower's address is
/// known; or to a follower if none leads now, because it answers look-ups. `None` without any
/// coordinator.
pub(super) fn connector(
    name: &str,
    coordinators: Vec<Connector>,
    redirect: Redirect,
) -> Option<Connector> {
    if coordinators.is_empty() {
        return None;
    }
    let coordinators: Arc<[Connector]> = coordinators.into();
    // Begin with the one that led last.
    let last = Arc::new(AtomicUsize::new(0));
    Some(Connector::by(name, move || {
        let (coordinators, last) = (Arc::clone(&coordinators), Arc::clone(&last));
        let redirect = Arc::clone(&redirect);
        async move {
            let first = last.load(Ordering::Relaxed);
            let (mut follower, mut failure, mut named) = (None, None, None);
            for offset in 0..coordinators.len() {
                let index = (first + offset) % coordinators.len();
                let channel = match coordinators[index].channel().await {
                    Ok(channel) => channel,
                    Err(error) => {
                        failure = preferred(failure, error);
                        continue;
                    }
                };
                match standing(&channel).await {
                    LeaderStanding::Leads => {
                        last.store(index, Ordering::Relaxed);
                        return Ok(channel);
                    }
                    LeaderStanding::Follows(leader) => {
                        named = named.or(leader);
                        follower = follower.or(Some(channel));
                    }
                }
            }
            match (follower, failure) {
                (Some(channel), _) => {
                    let leader = match named {
                        Some(address) => follow(address, &redirect).await,
                        None => None,
                    };
                    Ok(leader.unwrap_or(channel))
                }
                (None, Some(error)) => Err(error),
                (None, None) => unreachable!("there is at least one coordinator"),
            }
        }
    }))
}

/// Connects to the leader at this address, or to the one that it names.
async fn follow(mut address: String, redirect: &Redirect) -> Option<Channel> {
    for _ in 0..MAX_REDIRECTS {
        let channel = redirect(&address)?.channel().await.ok()?;
        match standing(&channel).await {
            LeaderStanding::Leads => return Some(channel),
            LeaderStanding::Follows(Some(next)) if next != address => address = next,
            LeaderStanding::Follows(_) => return None,
        }
    }
    None
}

/// Returns the error to report: one that a retry may mend, if there is one.
fn preferred(earlier: Option<ConnectError>, later: ConnectError) -> Option<ConnectError> {
    match earlier {
        Some(earlier) if !earlier.is_permanent() => Some(earlier),
        _ => Some(later),
    }
}

/// Asks a coordinator whether it leads. A server without an answer counts as a leader, whose
/// requests say what is wrong.
pub(super) async fn standing(channel: &Channel) -> LeaderStanding {
    let mut health = HealthClient::new(channel.clone());
    let request = HealthCheckRequest {
        service: LEADER_SERVICE.into(),
    };
    let checked = tokio::time::timeout(HEALTH_TIMEOUT, health.check(request)).await;
    let Ok(Ok(answer)) = checked else {
        return LeaderStanding::Leads;
    };
    let leader = answer.metadata().get(LEADER_HEADER);
    let leader = leader.and_then(|address| address.to_str().ok().map(String::from));
    match answer.into_inner().status() {
        ServingStatus::NotServing => LeaderStanding::Follows(leader),
        _ => LeaderStanding::Leads,
    }
}

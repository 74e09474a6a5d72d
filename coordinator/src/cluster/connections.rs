use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kagetsu_game::Variant;
use kagetsu_proto::v1;
use kagetsu_schedule::{WorkerId, WorkerStatus};
use kagetsu_verification::{Profile, WorkerTrust};
use tokio::sync::mpsc::{self, error::TrySendError};
use tonic::Status;

use super::applicant::{Applicant, HeldTasks};

/// Messages that wait for one worker; a worker with more of them is disconnected.
const MAX_UNREAD_MESSAGES: usize = 1_024;

/// A connected worker for lists and metrics.
#[derive(Clone, Debug)]
pub(crate) struct WorkerView {
    pub(crate) info: Profile,
    pub(crate) status: WorkerStatus,
    pub(crate) trust: WorkerTrust,
}

/// A message to a worker; an error ends the stream.
pub(crate) type Outbound = Result<v1::ToWorker, Status>;

struct WorkerConnection {
    /// Tells one stream of a worker from the next.
    stream: u64,
    info: Profile,
    out: mpsc::Sender<Outbound>,
    is_welcomed: bool,
    /// The steps left to a worker that is not admitted yet; `None` once it is.
    applicant: Option<Applicant>,
}

/// The open streams to the workers.
#[derive(Default)]
pub(crate) struct WorkerConnections {
    streams: u64,
    open: BTreeMap<WorkerId, WorkerConnection>,
}

impl WorkerConnections {
    /// Adds a worker's stream; an older stream of it ends.
    pub(crate) fn add(
        &mut self,
        worker: WorkerId,
        info: Profile,
        held: HeldTasks,
    ) -> (u64, mpsc::Receiver<Outbound>) {
        self.streams += 1;
        let (out, messages) = mpsc::channel(MAX_UNREAD_MESSAGES);
        let connection = WorkerConnection {
            stream: self.streams,
            info,
            out,
            is_welcomed: false,
            applicant: Some(Applicant {
                held,
                ..Applicant::default()
            }),
        };
        self.open.insert(worker, connection);
        (self.streams, messages)
    }

    /// Removes a stream that has ended. Returns whether the worker has no other.
    pub(crate) fn remove(&mut self, worker: WorkerId, stream: u64) -> bool {
        let is_last = self
            .open
            .get(&worker)
            .is_none_or(|connection| connection.stream == stream);
        if is_last {
            self.open.remove(&worker);
        }
        is_last
    }

    /// Sends a message. A worker that does not read its messages is disconnected.
    pub(crate) fn send(&mut self, worker: WorkerId, message: v1::to_worker::Message) {
        let message = v1::ToWorker {
            message: Some(message),
        };
        let Some(connection) = self.open.get(&worker) else {
            return;
        };
        // A stream that has closed is removed by its own task.
        if let Err(TrySendError::Full(_)) = connection.out.try_send(Ok(message)) {
            tracing::warn!(
                worker = %connection.info.name,
                "the worker does not read its messages: disconnected"
            );
            self.open.remove(&worker);
        }
    }

    /// Sends the welcome, once for each stream.
    pub(crate) fn welcome(&mut self, worker: WorkerId, welcome: v1::Welcome) {
        let Some(connection) = self.open.get_mut(&worker) else {
            return;
        };
        if !std::mem::replace(&mut connection.is_welcomed, true) {
            self.send(worker, v1::to_worker::Message::Welcome(welcome));
        }
    }

    /// Sends a message that the worker can do without, unless it has many to read.
    pub(crate) fn send_optional(&self, worker: WorkerId, message: v1::to_worker::Message) {
        if let Some(connection) = self
            .open
            .get(&worker)
            .filter(|connection| connection.out.capacity() > MAX_UNREAD_MESSAGES / 2)
        {
            // A full queue shows with the next message that is needed.
            let _ = connection.out.try_send(Ok(v1::ToWorker {
                message: Some(message),
            }));
        }
    }

    /// Ends a worker's stream with an error.
    pub(crate) fn refuse(&mut self, worker: WorkerId, status: Status) {
        if let Some(connection) = self.open.remove(&worker) {
            let reason = status.message();
            tracing::warn!(worker = %connection.info.name, reason, "a worker is refused");
            // A worker that does not read finds the stream ended.
            let _ = connection.out.try_send(Err(status));
        }
    }

    /// Returns what a connected worker has yet to do; `None` in it for an admitted one.
    pub(crate) fn applicant(&mut self, worker: WorkerId) -> Option<&mut Option<Applicant>> {
        let connection = self.open.get_mut(&worker)?;
        Some(&mut connection.applicant)
    }

    /// Changes the variants that a worker can be asked about.
    pub(crate) fn set_plays(&mut self, worker: WorkerId, plays: Arc<BTreeSet<Variant>>) {
        if let Some(connection) = self.open.get_mut(&worker) {
            connection.info.plays = plays;
        }
    }

    /// Whether this is the worker's current stream.
    pub(crate) fn is_current(&self, worker: WorkerId, stream: u64) -> bool {
        self.open
            .get(&worker)
            .is_some_and(|connection| connection.stream == stream)
    }

    pub(crate) fn info(&self, worker: WorkerId) -> Option<&Profile> {
        self.open.get(&worker).map(|connection| &connection.info)
    }

    /// Returns all connected workers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (WorkerId, &Profile)> {
        self.open
            .iter()
            .map(|(worker, connection)| (*worker, &connection.info))
    }

    /// Returns how many workers play the variant.
    pub(crate) fn count(&self, variant: Variant) -> u32 {
        self.open
            .values()
            .filter(|connection| connection.info.plays.contains(&variant))
            .count() as u32
    }

    /// Explains why no worker gets tasks of the variant. `are_calibrating`: some will when they
    /// have answered their calibration questions.
    pub(crate) fn explain_lack(&self, variant: Variant, are_calibrating: bool) -> String {
        match (self.open.len(), self.count(variant)) {
            (0, _) => "no worker is connected".into(),
            (1, 0) => format!("the only worker connected does not play {variant}"),
            (all, 0) => format!("none of the {all} workers connected plays {variant}"),
            (_, 1) if are_calibrating => {
                format!("the only worker that plays {variant} is being examined")
            }
            (_, able) if are_calibrating => {
                format!("none of the {able} workers that play {variant} has passed its exam yet")
            }
            (_, 1) => format!("the only worker that plays {variant} gets no tasks"),
            (_, able) => format!("none of the {able} workers that play {variant} gets tasks"),
        }
    }

    /// Ends all streams.
    pub(crate) fn clear(&mut self) {
        self.open.clear();
    }
}

#[cfg(test)]
mod tests {
    use kagetsu_verification::Class;

    use super::*;

    #[test]
    fn only_unread_messages_disconnect_a_worker() {
        let mut connections = WorkerConnections::default();
        let info = Profile {
            name: "one".into(),
            engine: "engine 1".into(),
            slots: 1,
            threads: 1,
            plays: Arc::default(),
            token: None,
            class: Class::Operator,
        };
        let revoke = || v1::to_worker::Message::Revoke(v1::Revoke::default());
        let (reading, closed) = (WorkerId(1), WorkerId(2));
        let held = HeldTasks::default;
        let (_, _messages) = connections.add(reading, info.clone(), held());
        let (stream, messages) = connections.add(closed, info, held());
        drop(messages);
        connections.send(closed, revoke());
        assert!(connections.is_current(closed, stream));
        for _ in 0..MAX_UNREAD_MESSAGES {
            connections.send(reading, revoke());
        }
        assert!(connections.info(reading).is_some());
        connections.send(reading, revoke());
        assert!(connections.info(reading).is_none());
    }
}

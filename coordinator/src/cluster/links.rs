//! Who is connected, and what is sent to them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kagetsu_game::Variant;
use kagetsu_proto::v1;
use kagetsu_schedule::WorkerId;
use tokio::sync::mpsc;
use tonic::Status;

/// Messages that wait for one worker; one who lets them grow beyond it is cut off.
const WAITING: usize = 1_024;

/// What a worker said of itself, and who let it in.
#[derive(Clone, Debug)]
pub(crate) struct Introduction {
    pub(crate) name: String,
    pub(crate) engine: String,
    pub(crate) slots: u32,
    pub(crate) threads: u32,
    /// What it can be asked about.
    pub(crate) plays: Arc<BTreeSet<Variant>>,
    /// The name of the token under which it came; none where none is needed.
    pub(crate) token: Option<Arc<str>>,
}

/// What is sent to a worker; an error is the last.
pub(crate) type Told = Result<v1::ToWorker, Status>;

struct Link {
    /// Tells one stream of a worker from the next.
    stream: u64,
    about: Introduction,
    out: mpsc::Sender<Told>,
}

/// The streams to the workers.
#[derive(Default)]
pub(crate) struct Links {
    streams: u64,
    all: BTreeMap<WorkerId, Link>,
}

impl Links {
    /// A worker has connected; an older stream of it ends.
    pub(crate) fn add(
        &mut self,
        worker: WorkerId,
        about: Introduction,
    ) -> (u64, mpsc::Receiver<Told>) {
        self.streams += 1;
        let (out, messages) = mpsc::channel(WAITING);
        self.all.insert(
            worker,
            Link {
                stream: self.streams,
                about,
                out,
            },
        );
        (self.streams, messages)
    }

    /// A stream has ended, or was ended; whether it was the worker's last.
    pub(crate) fn remove(&mut self, worker: WorkerId, stream: u64) -> bool {
        let is_last = self
            .all
            .get(&worker)
            .is_none_or(|link| link.stream == stream);
        if is_last {
            self.all.remove(&worker);
        }
        is_last
    }

    /// Sends a message; one who does not read loses the connection, and its lease with it.
    pub(crate) fn send(&mut self, worker: WorkerId, message: v1::to_worker::Message) {
        let message = v1::ToWorker {
            message: Some(message),
        };
        let Some(link) = self.all.get(&worker) else {
            return;
        };
        if link.out.try_send(Ok(message)).is_err() {
            tracing::warn!(worker = %link.about.name, "does not read what it is sent: cut off");
            self.all.remove(&worker);
        }
    }

    /// Sends what helps and is not needed; not to one who has much to read already.
    pub(crate) fn hint(&self, worker: WorkerId, message: v1::to_worker::Message) {
        if let Some(link) = self
            .all
            .get(&worker)
            .filter(|link| link.out.capacity() > WAITING / 2)
        {
            // One who does not read is found out by what is needed.
            let _ = link.out.try_send(Ok(v1::ToWorker {
                message: Some(message),
            }));
        }
    }

    /// Ends a worker's stream for good, in words.
    pub(crate) fn refuse(&mut self, worker: WorkerId, why: Status) {
        if let Some(link) = self.all.remove(&worker) {
            tracing::warn!(worker = %link.about.name, why = why.message(), "a worker is refused");
            // One who does not read finds the stream ended.
            let _ = link.out.try_send(Err(why));
        }
    }

    /// Whether this is the worker's stream, and not an older one.
    pub(crate) fn is_of(&self, worker: WorkerId, stream: u64) -> bool {
        self.all
            .get(&worker)
            .is_some_and(|link| link.stream == stream)
    }

    pub(crate) fn about(&self, worker: WorkerId) -> Option<&Introduction> {
        self.all.get(&worker).map(|link| &link.about)
    }

    /// How many play the variant.
    pub(crate) fn count(&self, variant: Variant) -> u32 {
        self.all
            .values()
            .filter(|link| link.about.plays.contains(&variant))
            .count() as u32
    }

    /// Why nobody gets tasks of the variant; whether some may when their exam is passed.
    pub(crate) fn lack(&self, variant: Variant, are_examined: bool) -> String {
        match (self.all.len(), self.count(variant)) {
            (0, _) => "no worker is connected".into(),
            (1, 0) => format!("the only worker connected does not play {variant}"),
            (all, 0) => format!("none of the {all} workers connected plays {variant}"),
            (_, 1) if are_examined => {
                format!("the only worker that plays {variant} is being examined")
            }
            (_, able) if are_examined => {
                format!("none of the {able} workers that play {variant} has passed its exam yet")
            }
            (_, 1) => format!("the only worker that plays {variant} gets no tasks"),
            (_, able) => format!("none of the {able} workers that play {variant} gets tasks"),
        }
    }

    /// Ends all streams.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
    }
}

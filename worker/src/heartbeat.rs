//! Heartbeats on a stream of their own, so that a full stream of reports does not delay them.

use std::sync::Arc;
use std::time::Duration;

use kagetsu_proto::v1::workers_client::WorkersClient;
use kagetsu_proto::{AuthenticatedChannel, v1};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;

use crate::task_queue::TaskQueue;

/// The heartbeats of one connection, which end when it is dropped.
pub(crate) struct HeartbeatStream {
    /// Asks for a heartbeat before its time.
    wake: Arc<Notify>,
    sending: JoinHandle<()>,
}

impl HeartbeatStream {
    /// Sends a heartbeat every `interval` for the worker of this instance. Must be called in a
    /// tokio runtime.
    pub(crate) fn start(
        client: WorkersClient<AuthenticatedChannel>,
        queue: &Arc<TaskQueue>,
        instance: u64,
        interval: Duration,
    ) -> Self {
        let wake = Arc::new(Notify::new());
        let heartbeats = Heartbeats {
            client,
            queue: Arc::clone(queue),
            instance,
            wake: Arc::clone(&wake),
        };
        Self {
            wake,
            sending: tokio::spawn(heartbeats.send_all(interval)),
        }
    }

    /// Sends the next heartbeat at once.
    pub(crate) fn send_now(&self) {
        self.wake.notify_one();
    }
}

impl Drop for HeartbeatStream {
    fn drop(&mut self) {
        self.sending.abort();
    }
}

/// The task behind a [`HeartbeatStream`].
struct Heartbeats {
    client: WorkersClient<AuthenticatedChannel>,
    queue: Arc<TaskQueue>,
    instance: u64,
    wake: Arc<Notify>,
}

impl Heartbeats {
    /// Opens the stream again when it ends. When the connection is lost, this task is aborted.
    async fn send_all(mut self, interval: Duration) {
        let mut ticks = tokio::time::interval(interval);
        loop {
            let (sender, beats) = mpsc::channel(1);
            let sending = async {
                loop {
                    tokio::select! {
                        _ = ticks.tick() => {}
                        () = self.wake.notified() => {}
                    }
                    let beat = v1::Beat {
                        instance: self.instance,
                        progress: self.queue.take_progress(),
                    };
                    if sender.send(beat).await.is_err() {
                        return;
                    }
                }
            };
            tokio::select! {
                ended = self.client.beat(ReceiverStream::new(beats)) => {
                    if let Err(status) = ended {
                        tracing::debug!(%status, "the stream of heartbeats ended");
                    }
                }
                () = sending => {}
            }
            tokio::time::sleep(interval).await;
        }
    }
}

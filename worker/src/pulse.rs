//! Signs of life on a stream of their own: they come however much is to be said on the other.

use std::sync::Arc;
use std::time::Duration;

use kagetsu_proto::v1::workers_client::WorkersClient;
use kagetsu_proto::{AuthenticatedChannel, v1};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;

use crate::desk::Desk;

/// The heartbeats of one connection; dropped, they end.
pub(crate) struct Pulse {
    /// Rung when there is something to show before the next beat.
    news: Arc<Notify>,
    beating: JoinHandle<()>,
}

impl Pulse {
    /// Beats this often for the worker of this instance. Must be called in a tokio runtime.
    pub(crate) fn start(
        client: WorkersClient<AuthenticatedChannel>,
        desk: &Arc<Desk>,
        instance: u64,
        every: Duration,
    ) -> Self {
        let news = Arc::new(Notify::new());
        let beating = tokio::spawn(beat(
            client,
            Arc::clone(desk),
            instance,
            every,
            Arc::clone(&news),
        ));
        Self { news, beating }
    }

    /// There is something to show.
    pub(crate) fn hurry(&self) {
        self.news.notify_one();
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        self.beating.abort();
    }
}

/// A stream that ends is opened again; without a connection the other stream has ended too, and this with it.
async fn beat(
    mut client: WorkersClient<AuthenticatedChannel>,
    desk: Arc<Desk>,
    instance: u64,
    every: Duration,
    news: Arc<Notify>,
) {
    let mut ticks = tokio::time::interval(every);
    loop {
        let (out, beats) = mpsc::channel(1);
        let beating = async {
            loop {
                tokio::select! {
                    _ = ticks.tick() => {}
                    () = news.notified() => {}
                }
                // What nobody hears is not said.
                if out
                    .send(v1::Beat {
                        instance,
                        progress: desk.progress(),
                    })
                    .await
                    .is_err()
                {
                    return;
                }
            }
        };
        tokio::select! {
            ended = client.beat(ReceiverStream::new(beats)) => {
                if let Err(status) = ended {
                    tracing::debug!(%status, "the stream of heartbeats has ended");
                }
            }
            () = beating => {}
        }
        tokio::time::sleep(every).await;
    }
}

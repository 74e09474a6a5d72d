//! An honest worker that sends every report late and twice, and repeats earlier reports.

use std::collections::VecDeque;
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use kagetsu_game::Question;
use kagetsu_proto::v1::from_worker::Message as Said;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_proto::v1::to_worker::Message as Heard;
use kagetsu_proto::v1::workers_client::WorkersClient;
use kagetsu_proto::{Connector, PROTOCOL, v1};
use kagetsu_search::{Control, Engine, EngineOptions};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;

use super::lying_worker::HEARTBEAT_INTERVAL;

/// Number of earlier reports that it repeats.
const REPEATED_REPORTS: usize = 8;

/// The worker disconnects on drop.
pub(crate) struct LateWorker {
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl LateWorker {
    /// Starts a worker for the coordinator at `url`; it reconnects after every loss of the
    /// connection.
    pub(crate) fn start(url: &str, seed: u64) -> Self {
        let stop = CancellationToken::new();
        let (connector, ends) = (Connector::to_url(url).expect("an address"), stop.clone());
        let thread = spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            let mut life = Life {
                chance: StdRng::seed_from_u64(!seed),
                said: VecDeque::new(),
                instance: !seed,
            };
            runtime.block_on(async {
                let works = async {
                    loop {
                        life.work(&connector).await;
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                };
                tokio::select! {
                    () = works => {}
                    () = ends.cancelled() => {}
                }
            });
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for LateWorker {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            // The coordinator's state shows what went wrong in the thread.
            let _ = thread.join();
        }
    }
}

struct Life {
    chance: StdRng,
    /// Reports of this and earlier connections.
    said: VecDeque<v1::Report>,
    instance: u64,
}

impl Life {
    /// Works until the coordinator disconnects.
    async fn work(&mut self, connector: &Connector) {
        let Ok(caller) = connector.connect().await else {
            return;
        };
        let mut client = WorkersClient::new(caller);
        let (out, messages) = mpsc::channel(64);
        let say = async |message| {
            out.send(v1::FromWorker {
                message: Some(message),
            })
            .await
            .is_ok()
        };
        let hello = v1::Hello {
            protocol: PROTOCOL,
            name: "laggard".into(),
            instance: self.instance,
            engine: Engine::NAME.into(),
            slots: 1,
            threads: 1,
            ..v1::Hello::default()
        };
        say(Said::Hello(hello)).await;
        let Ok(heard) = client.work(ReceiverStream::new(messages)).await else {
            return;
        };
        let mut heard = heard.into_inner();
        let options = EngineOptions {
            table_bytes: 1 << 20,
            ..EngineOptions::default()
        };
        let mut engine = Engine::new(options).expect("an engine");
        loop {
            let Ok(message) = timeout(HEARTBEAT_INTERVAL, heard.message()).await else {
                say(Said::Heartbeat(v1::Heartbeat::default())).await;
                continue;
            };
            let Ok(Some(message)) = message else { return };
            let Some(Heard::Task(v1::Task {
                task,
                attempt,
                question,
                ..
            })) = message.message
            else {
                continue;
            };
            let question =
                Question::try_from(question.as_ref().expect("a question")).expect("a good one");
            let answer = engine
                .answer(&question, &Control::new(), &mut |_| {})
                .expect("an answer");
            let outcome = Some(Outcome::Answer((&answer).into()));
            self.said.push_back(v1::Report {
                task,
                attempt,
                outcome,
            });
            if self.said.len() > REPEATED_REPORTS {
                self.said.pop_front();
            }
            tokio::time::sleep(Duration::from_millis(self.chance.random_range(0..300))).await;
            let old = self.said[self.chance.random_range(0..self.said.len())].clone();
            let new = self.said[self.said.len() - 1].clone();
            for report in [old, new.clone(), new] {
                if !say(Said::Report(report)).await {
                    return;
                }
            }
        }
    }
}

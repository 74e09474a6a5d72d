//! A worker that records which of its answers the coordinator acknowledged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

use kagetsu_game::{Key, Question};
use kagetsu_proto::v1::from_worker::Message as Said;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_proto::v1::to_worker::Message as Heard;
use kagetsu_proto::v1::workers_client::WorkersClient;
use kagetsu_proto::{Access, Connector, FIRST_CALIBRATION_TASK, PROTOCOL, v1};
use kagetsu_search::{Control, Engine, EngineOptions};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;

use super::lying_worker::HEARTBEAT_INTERVAL;

/// The worker disconnects on drop.
pub(crate) struct RecordingWorker {
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
    record: Arc<Mutex<Record>>,
}

#[derive(Default)]
struct Record {
    /// Positions whose answers were acknowledged.
    acknowledged: BTreeSet<Key>,
    /// Positions that were reported on this connection and not acknowledged yet.
    reported: BTreeSet<Key>,
    last: Option<Instant>,
    longest_pause: Duration,
}

impl RecordingWorker {
    /// Starts a worker for the coordinator that leads among these; it reconnects after every loss
    /// of the connection.
    pub(crate) fn start(urls: &str, instance: u64) -> Self {
        let stop = CancellationToken::new();
        let connector = Access::default().connector(urls).expect("addresses");
        let record = Arc::<Mutex<Record>>::default();
        let (ends, shared) = (stop.clone(), Arc::clone(&record));
        let thread = spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                let works = async {
                    loop {
                        work(&connector, instance, &shared).await;
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
            record,
        }
    }

    /// Returns the positions whose answers were acknowledged so far to all of these workers that
    /// reported one. A second opinion is acknowledged at once, and the book has nothing of it until
    /// the first answer is acknowledged, too.
    pub(crate) fn acknowledged(workers: &[Self]) -> BTreeSet<Key> {
        let records = || workers.iter().map(|worker| worker.record.lock());
        let reported: BTreeSet<Key> = records()
            .flat_map(|record| record.expect("no panic in it").reported.clone())
            .collect();
        let mut acknowledged = BTreeSet::new();
        for record in records() {
            let mut record = record.expect("no panic in it");
            record.acknowledged.retain(|key| !reported.contains(key));
            acknowledged.extend(record.acknowledged.iter().copied());
        }
        acknowledged
    }

    /// Returns the longest time between two acknowledgements.
    pub(crate) fn longest_pause(&self) -> Duration {
        self.record.lock().expect("no panic in it").longest_pause
    }
}

impl Drop for RecordingWorker {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            // The record shows what went wrong in the thread.
            let _ = thread.join();
        }
    }
}

impl Record {
    fn acknowledge(&mut self, position: Key) {
        let now = Instant::now();
        if let Some(last) = self.last.replace(now) {
            self.longest_pause = self.longest_pause.max(now - last);
        }
        self.reported.remove(&position);
        self.acknowledged.insert(position);
    }
}

/// Works until the coordinator disconnects.
async fn work(connector: &Connector, instance: u64, record: &Mutex<Record>) {
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
        name: format!("recorder{instance}"),
        instance,
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
    let mut reported = BTreeMap::new();
    loop {
        let Ok(message) = timeout(HEARTBEAT_INTERVAL, heard.message()).await else {
            say(Said::Heartbeat(v1::Heartbeat::default())).await;
            continue;
        };
        let Ok(Some(message)) = message else { return };
        match message.message {
            Some(Heard::Welcome(_)) => record.lock().expect("no panic in it").reported.clear(),
            Some(Heard::Acknowledge(held)) => {
                if let Some(position) = reported.remove(&(held.task, held.attempt)) {
                    let mut record = record.lock().expect("no panic in it");
                    record.acknowledge(position);
                }
            }
            Some(Heard::Task(task)) => {
                let question = task.question.as_ref().expect("a question");
                let question = Question::try_from(question).expect("a good one");
                let answer = engine
                    .answer(&question, &Control::new(), &mut |_| {})
                    .expect("an answer");
                // The answers of a calibration are not in the book.
                if task.task < FIRST_CALIBRATION_TASK {
                    let position = question.position.key();
                    reported.insert((task.task, task.attempt), position);
                    let mut record = record.lock().expect("no panic in it");
                    record.reported.insert(position);
                }
                let report = v1::Report {
                    task: task.task,
                    attempt: task.attempt,
                    outcome: Some(Outcome::Answer((&answer).into())),
                };
                if !say(Said::Report(report)).await {
                    return;
                }
            }
            _ => {}
        }
    }
}

//! A worker that records which of its answers the coordinator acknowledged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kagetsu_game::{Key, Position};
use kagetsu_proto::v1::to_worker::Message as CoordinatorMessage;
use kagetsu_proto::{Access, FIRST_CALIBRATION_TASK};

use super::scripted_worker::{Conversation, WorkerThread, report_of};

/// Time between two answers, so that a long test does not grow a large book.
const ANSWER_PAUSE: Duration = Duration::from_millis(50);

/// The worker disconnects on drop.
pub(crate) struct RecordingWorker {
    _thread: WorkerThread,
    record: Arc<Mutex<Record>>,
}

#[derive(Default)]
struct Record {
    /// Positions whose answers were acknowledged.
    acknowledged: BTreeMap<Key, Position>,
    /// Positions that were reported on this connection and not acknowledged yet.
    reported: BTreeSet<Key>,
    last: Option<Instant>,
    longest_pause: Duration,
}

impl RecordingWorker {
    /// Starts a worker for the coordinator that leads among these; it reconnects after every loss
    /// of the connection.
    pub(crate) fn start(urls: &str, instance: u64) -> Self {
        let connector = Access::default().connector(urls).expect("addresses");
        let record = Arc::<Mutex<Record>>::default();
        let shared = Arc::clone(&record);
        let work = async move |conversation| work(conversation, &shared).await.unwrap_or_default();
        let name = format!("recorder{instance}");
        Self {
            _thread: WorkerThread::start(connector, &name, instance, work),
            record,
        }
    }

    /// Returns the positions whose answers were acknowledged so far to all of these workers that
    /// reported one. A second opinion is acknowledged at once, and the book has nothing of it until
    /// the first answer is acknowledged, too.
    pub(crate) fn acknowledged(workers: &[Self]) -> BTreeMap<Key, Position> {
        let records = || workers.iter().map(|worker| worker.record.lock());
        let reported: BTreeSet<Key> = records()
            .flat_map(|record| record.expect("no panic in it").reported.clone())
            .collect();
        let mut acknowledged = BTreeMap::new();
        for record in records() {
            let mut record = record.expect("no panic in it");
            record.acknowledged.retain(|key, _| !reported.contains(key));
            acknowledged.extend(record.acknowledged.clone());
        }
        acknowledged
    }

    /// Returns the longest time between two acknowledgements.
    pub(crate) fn longest_pause(&self) -> Duration {
        self.record.lock().expect("no panic in it").longest_pause
    }
}

impl Record {
    fn acknowledge(&mut self, position: Position) {
        let now = Instant::now();
        if let Some(last) = self.last.replace(now) {
            self.longest_pause = self.longest_pause.max(now - last);
        }
        let key = position.key();
        self.reported.remove(&key);
        self.acknowledged.insert(key, position);
    }
}

/// Works until the coordinator disconnects, and then returns `None`.
async fn work(mut conversation: Conversation, record: &Mutex<Record>) -> Option<()> {
    let mut reported = BTreeMap::new();
    loop {
        match conversation.hear().await? {
            CoordinatorMessage::Welcome(_) => {
                record.lock().expect("no panic in it").reported.clear()
            }
            CoordinatorMessage::Acknowledge(held) => {
                if let Some(position) = reported.remove(&(held.task, held.attempt)) {
                    let mut record = record.lock().expect("no panic in it");
                    record.acknowledge(position);
                }
            }
            CoordinatorMessage::Task(task) => {
                let (question, answer) = conversation.search(&task);
                // The answers of a calibration are not in the book.
                if task.task < FIRST_CALIBRATION_TASK {
                    tokio::time::sleep(ANSWER_PAUSE).await;
                    let position = question.position;
                    record
                        .lock()
                        .expect("no panic in it")
                        .reported
                        .insert(position.key());
                    reported.insert((task.task, task.attempt), position);
                }
                conversation
                    .report(report_of(&task, (&answer).into()))
                    .await?;
            }
            _ => {}
        }
    }
}

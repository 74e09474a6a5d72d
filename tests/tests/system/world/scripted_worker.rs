//! A worker of one slot whose answers a test decides.

use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use kagetsu_game::{Answer, Question};
use kagetsu_proto::v1::from_worker::Message as WorkerMessage;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_proto::v1::to_worker::Message as CoordinatorMessage;
use kagetsu_proto::v1::workers_client::WorkersClient;
use kagetsu_proto::{Connector, PROTOCOL, v1};
use kagetsu_search::{Control, Engine, EngineOptions};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::Streaming;

/// Interval of heartbeats of a worker without other messages; the coordinator drops a silent
/// worker.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);
/// Time between the loss of a connection and the next attempt.
const RECONNECT_DELAY: Duration = Duration::from_millis(100);

/// The thread of a scripted worker, which disconnects on drop.
pub(crate) struct WorkerThread {
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl WorkerThread {
    /// Starts a worker that claims to be Kagetsu's engine. `work` is called for each connection and
    /// returns when the coordinator disconnects; then the worker connects again.
    pub(crate) fn start(
        connector: Connector,
        name: &str,
        instance: u64,
        mut work: impl AsyncFnMut(Conversation) + Send + 'static,
    ) -> Self {
        let stop = CancellationToken::new();
        let ends = stop.clone();
        let hello = v1::Hello {
            protocol: PROTOCOL,
            name: name.into(),
            instance,
            engine: Engine::NAME.into(),
            slots: 1,
            threads: 1,
            ..v1::Hello::default()
        };
        let thread = spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                let works = async {
                    loop {
                        if let Some(conversation) = Conversation::begin(&connector, &hello).await {
                            work(conversation).await;
                        }
                        tokio::time::sleep(RECONNECT_DELAY).await;
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

impl Drop for WorkerThread {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            // The coordinator's state shows what went wrong in the thread.
            let _ = thread.join();
        }
    }
}

/// One connection of a worker to its coordinator.
pub(crate) struct Conversation {
    out: mpsc::Sender<v1::FromWorker>,
    incoming: Streaming<v1::ToWorker>,
    engine: Engine,
}

impl Conversation {
    async fn begin(connector: &Connector, hello: &v1::Hello) -> Option<Self> {
        let mut client = WorkersClient::new(connector.connect().await.ok()?);
        let (out, messages) = mpsc::channel(64);
        let hello = v1::FromWorker {
            message: Some(WorkerMessage::Hello(hello.clone())),
        };
        out.send(hello).await.ok()?;
        let incoming = client.work(ReceiverStream::new(messages)).await.ok()?;
        let options = EngineOptions {
            table_bytes: 1 << 20,
            ..EngineOptions::default()
        };
        Some(Self {
            out,
            incoming: incoming.into_inner(),
            engine: Engine::new(options).expect("an engine"),
        })
    }

    /// Returns the next message, and sends heartbeats meanwhile; `None` when the coordinator has
    /// disconnected.
    pub(crate) async fn hear(&mut self) -> Option<CoordinatorMessage> {
        loop {
            let Ok(message) = timeout(HEARTBEAT_INTERVAL, self.incoming.message()).await else {
                self.say(WorkerMessage::Heartbeat(v1::Heartbeat::default()))
                    .await;
                continue;
            };
            if let Some(message) = message.ok()??.message {
                return Some(message);
            }
        }
    }

    /// Returns the next task; `None` when the coordinator has disconnected.
    pub(crate) async fn task(&mut self) -> Option<v1::Task> {
        loop {
            if let CoordinatorMessage::Task(task) = self.hear().await? {
                return Some(task);
            }
        }
    }

    /// Searches the question of a task.
    pub(crate) fn search(&mut self, task: &v1::Task) -> (Question, Answer) {
        let question = task.question.as_ref().expect("a question");
        let question = Question::try_from(question).expect("a good one");
        let answer = self
            .engine
            .answer(&question, &Control::new(), &mut |_| {})
            .expect("an answer");
        (question, answer)
    }

    /// Sends a report; `None` when the coordinator has disconnected.
    pub(crate) async fn report(&self, report: v1::Report) -> Option<()> {
        self.say(WorkerMessage::Report(report)).await
    }

    async fn say(&self, message: WorkerMessage) -> Option<()> {
        let message = v1::FromWorker {
            message: Some(message),
        };
        self.out.send(message).await.ok()
    }
}

/// Returns the report of an answer to a task.
pub(crate) fn report_of(task: &v1::Task, answer: v1::Answer) -> v1::Report {
    v1::Report {
        task: task.task,
        attempt: task.attempt,
        outcome: Some(Outcome::Answer(answer)),
        strategies: Vec::new(),
    }
}

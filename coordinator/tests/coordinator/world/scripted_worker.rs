//! A worker under the control of a test.

use std::collections::VecDeque;
use std::time::Duration;

use kagetsu_game::Question;
use kagetsu_proto::AuthenticatedChannel;
use kagetsu_proto::v1::from_worker::Message as WorkerMessage;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_proto::v1::to_worker::Message as CoordinatorMessage;
use kagetsu_proto::v1::workers_client::WorkersClient;
use kagetsu_proto::{PROTOCOL, v1};
use kagetsu_search::{Control, Engine, EngineOptions};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::task::AbortOnDropHandle;
use tonic::{Status, Streaming};

use super::cluster::{Cluster, next, within};

/// A connected worker. Dropping it is the worker's death.
pub(crate) struct ScriptedWorker {
    out: mpsc::Sender<v1::FromWorker>,
    incoming: Streaming<v1::ToWorker>,
    /// Tasks that came before an awaited acknowledgement; their order is not guaranteed.
    early: VecDeque<v1::Task>,
    /// Sends heartbeats: a test may take longer than the lease of a silent worker.
    _pulse: AbortOnDropHandle<()>,
}

/// Returns the introduction of a worker.
pub(crate) fn hello(instance: u64) -> v1::Hello {
    v1::Hello {
        protocol: PROTOCOL,
        name: format!("worker {instance}"),
        instance,
        engine: "a hand".into(),
        slots: 1,
        threads: 1,
        held: Vec::new(),
        variants: Vec::new(),
        version: String::new(),
    }
}

impl ScriptedWorker {
    pub(crate) async fn join(cluster: &Cluster, instance: u64) -> Self {
        let mut worker = Self::greet(cluster, hello(instance)).await;
        // Where workers are calibrated, the questions come before the welcome.
        match worker.hear().await {
            CoordinatorMessage::Welcome(welcome) => assert_eq!(welcome.protocol, PROTOCOL),
            CoordinatorMessage::Task(task) => worker.early.push_back(task),
            other => panic!("{other:?} comes first"),
        }
        worker
    }

    /// Opens a stream with this introduction.
    pub(crate) async fn greet(cluster: &Cluster, hello: v1::Hello) -> Self {
        let stream = Self::say_first(cluster.channel().await, WorkerMessage::Hello(hello)).await;
        stream.expect("welcome")
    }

    /// Opens a stream that begins with any message.
    pub(crate) async fn say_first(
        channel: AuthenticatedChannel,
        first: WorkerMessage,
    ) -> Result<Self, Status> {
        let (out, messages) = mpsc::channel(64);
        out.send(v1::FromWorker {
            message: Some(first),
        })
        .await
        .expect("room for one");
        let incoming = within(WorkersClient::new(channel).work(ReceiverStream::new(messages)))
            .await?
            .into_inner();
        let sender = out.clone();
        let pulse = tokio::spawn(async move {
            let beat = || v1::FromWorker {
                message: Some(WorkerMessage::Heartbeat(v1::Heartbeat::default())),
            };
            while sender.send(beat()).await.is_ok() {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
        Ok(Self {
            out,
            incoming,
            early: VecDeque::new(),
            _pulse: AbortOnDropHandle::new(pulse),
        })
    }

    pub(crate) async fn say(&self, message: WorkerMessage) {
        self.out
            .send(v1::FromWorker {
                message: Some(message),
            })
            .await
            .expect("the coordinator listens");
    }

    pub(crate) async fn hear(&mut self) -> CoordinatorMessage {
        let message = next(&mut self.incoming).await.message;
        message.expect("not empty")
    }

    /// Returns its next message, if there is one.
    pub(crate) async fn next(&mut self) -> Option<CoordinatorMessage> {
        self.incoming.message().await.ok().flatten()?.message
    }

    /// The error with which the stream ends.
    pub(crate) async fn refusal(&mut self) -> Status {
        loop {
            match within(self.incoming.message()).await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("it ended without a word"),
                Err(status) => return status,
            }
        }
    }

    /// Reports to a coordinator that may have disconnected. Returns whether it has not.
    pub(crate) async fn try_report(&self, task: &v1::Task, outcome: Outcome) -> bool {
        let report = v1::Report {
            task: task.task,
            attempt: task.attempt,
            outcome: Some(outcome),
            strategies: Vec::new(),
        };
        self.out
            .send(v1::FromWorker {
                message: Some(WorkerMessage::Report(report)),
            })
            .await
            .is_ok()
    }

    /// Whether nothing more will come.
    pub(crate) async fn is_cut_off(&mut self) -> bool {
        within(async { while let Ok(Some(_)) = self.incoming.message().await {} }).await;
        true
    }

    /// Returns the next task and drops the messages before it.
    pub(crate) async fn task(&mut self) -> v1::Task {
        if let Some(early) = self.early.pop_front() {
            return early;
        }
        loop {
            if let CoordinatorMessage::Task(task) = self.hear().await {
                return task;
            }
        }
    }

    /// Returns the task of the next revocation and drops the messages before it.
    pub(crate) async fn revoked(&mut self) -> u64 {
        loop {
            if let CoordinatorMessage::Revoke(revoke) = self.hear().await {
                return revoke.task;
            }
        }
    }

    /// Returns the next acknowledgement, and keeps the tasks before it.
    pub(crate) async fn acknowledged(&mut self) -> v1::Held {
        loop {
            match self.hear().await {
                CoordinatorMessage::Acknowledge(held) => return held,
                CoordinatorMessage::Task(task) => self.early.push_back(task),
                _ => {}
            }
        }
    }

    pub(crate) async fn report(&self, task: &v1::Task, outcome: Outcome) {
        let report = v1::Report {
            task: task.task,
            attempt: task.attempt,
            outcome: Some(outcome),
            strategies: Vec::new(),
        };
        self.say(WorkerMessage::Report(report)).await;
    }

    /// Reports an engine's answer.
    pub(crate) async fn answer(&self, task: &v1::Task) {
        self.report(task, Outcome::Answer(answer(task))).await;
    }
}

/// Returns an engine's answer to a task.
pub(crate) fn answer(task: &v1::Task) -> v1::Answer {
    let question =
        Question::try_from(task.question.as_ref().expect("a question")).expect("a good one");
    let options = EngineOptions {
        table_bytes: 1 << 20,
        ..EngineOptions::default()
    };
    let answer =
        Engine::new(options)
            .expect("an engine")
            .answer(&question, &Control::new(), &mut |_| {});
    (&answer.expect("an answer")).into()
}

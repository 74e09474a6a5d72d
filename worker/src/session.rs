//! One connection of a worker to its coordinator.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Error, anyhow};
use kagetsu_game::{Question, Variant};
use kagetsu_proto::v1::from_worker::Message as Outgoing;
use kagetsu_proto::v1::to_worker::Message as Incoming;
use kagetsu_proto::v1::workers_client::WorkersClient;
use kagetsu_proto::{
    AuthenticatedChannel, Connector, MESSAGE_LIMIT, PROTOCOL, explain, retry_after, v1,
};
use kagetsu_search::Note;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};

use crate::config::Config;
use crate::heartbeat::HeartbeatStream;
use crate::task_queue::{SearchRole, TaskQueue};

/// Messages that wait to be sent.
const MAX_QUEUED_MESSAGES: usize = 64;
/// Notes in one message.
const MAX_NOTES_PER_MESSAGE: usize = 4_096;
/// The bounds of the interval between two heartbeats, in milliseconds.
const MIN_HEARTBEAT_MS: u32 = 100;
const MAX_HEARTBEAT_MS: u32 = 60_000;
/// How long a worker that says goodbye waits for the coordinator to end the stream.
const STREAM_END_TIMEOUT: Duration = Duration::from_secs(2);

/// The end of a connection.
pub(crate) enum SessionEnd {
    /// The worker is stopping and has sent everything.
    Done,
    /// The coordinator does not accept this worker.
    Refused(Error),
    /// The settings, here or at the coordinator, allow no connection.
    Misconfigured(Error),
    /// The network or the coordinator is gone.
    Lost {
        reason: String,
        /// Whether the coordinator had welcomed the worker.
        was_welcome: bool,
        /// The delay that the coordinator asked for.
        retry_after: Duration,
    },
}

/// The engines of a worker, as its hello describes them.
pub(crate) struct EngineInfo {
    pub(crate) name: String,
    /// The variants that they play; empty for all variants of Kagetsu's own engine.
    pub(crate) variants: Vec<Variant>,
}

/// One connection of a worker.
pub(crate) struct WorkerSession<'a> {
    pub(crate) config: &'a Config,
    pub(crate) engine: &'a EngineInfo,
    /// The same for every connection of this process.
    pub(crate) instance: u64,
    pub(crate) queue: &'a Arc<TaskQueue>,
}

impl WorkerSession<'_> {
    pub(crate) async fn run(&self, connector: &Connector) -> SessionEnd {
        let channel = match connector.connect().await {
            Ok(channel) => channel,
            Err(error) if error.is_permanent() => return SessionEnd::Misconfigured(error.into()),
            Err(error) => return lost(error.to_string(), false),
        };
        let mut client = WorkersClient::new(channel).max_decoding_message_size(MESSAGE_LIMIT);
        let (out, messages) = mpsc::channel(MAX_QUEUED_MESSAGES);
        // The server answers only after the first message.
        if out
            .send(message(Outgoing::Hello(self.hello())))
            .await
            .is_err()
        {
            return lost("the connection ended at once".into(), false);
        }
        let tasks = match client.work(ReceiverStream::new(messages)).await {
            Ok(tasks) => tasks.into_inner(),
            Err(status) => return refused(connector.name(), &status, false),
        };
        self.exchange(connector.name(), client, out, tasks).await
    }

    fn hello(&self) -> v1::Hello {
        v1::Hello {
            protocol: PROTOCOL,
            name: self.config.name(),
            instance: self.instance,
            engine: self.engine.name.clone(),
            slots: self.queue.slots(),
            threads: self.config.threads.into(),
            held: self.queue.held(),
            variants: self
                .engine
                .variants
                .iter()
                .map(ToString::to_string)
                .collect(),
            version: env!("CARGO_PKG_VERSION").into(),
        }
    }

    /// Sends reports, notes and heartbeats, and receives tasks, until the connection ends.
    async fn exchange(
        &self,
        url: &str,
        client: WorkersClient<AuthenticatedChannel>,
        out: mpsc::Sender<v1::FromWorker>,
        mut tasks: Streaming<v1::ToWorker>,
    ) -> SessionEnd {
        let mut was_welcome = false;
        // None before the welcome.
        let mut heartbeats: Option<HeartbeatStream> = None;
        // A full stream must not keep the worker from receiving.
        let mut unsent = VecDeque::new();
        let mut notes_sent = Instant::now();
        loop {
            unsent.extend(self.queue.take_reports());
            if let Some(heartbeats) = &heartbeats
                && self.queue.has_unsent_progress()
            {
                heartbeats.send_now();
            }
            if unsent.is_empty() && self.queue.is_drained() {
                return self.say_goodbye(out, tasks).await;
            }
            let notes_due = self
                .queue
                .notes_interval()
                .map(|interval| notes_sent + interval);
            let notes_timer = async move {
                match notes_due {
                    Some(due) => sleep_until(due).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                () = notes_timer => {
                    self.send_notes(&out);
                    notes_sent = Instant::now();
                }
                received = tasks.message() => match received {
                    Ok(Some(message)) => {
                        if let Some(interval) = self.receive(message) {
                            tracing::info!("working for {url}");
                            was_welcome = true;
                            heartbeats = Some(HeartbeatStream::start(
                                client.clone(),
                                self.queue,
                                self.instance,
                                interval,
                            ));
                        }
                    }
                    Ok(None) => {
                        let reason = format!("the coordinator at {url} ended the connection");
                        return lost(reason, was_welcome);
                    }
                    Err(status) => return refused(url, &status, was_welcome),
                },
                permit = out.reserve(), if !unsent.is_empty() => {
                    match (permit, unsent.pop_front()) {
                        (Ok(permit), Some(report)) => {
                            permit.send(message(Outgoing::Report(report)));
                        }
                        _ => return lost(format!("the connection to {url} was lost"), was_welcome),
                    }
                }
                () = self.queue.wait_for_news() => {}
            }
        }
    }

    /// Sends notes to the other members of the shared searches. Notes that a slow network has no
    /// room for are dropped.
    fn send_notes(&self, out: &mpsc::Sender<v1::FromWorker>) {
        for (task, notes) in self.queue.take_notes() {
            for notes in notes.chunks(MAX_NOTES_PER_MESSAGE) {
                let bytes: Vec<u8> = notes.iter().flat_map(|note| note.to_bytes()).collect();
                let notes = v1::Notes {
                    task,
                    notes: bytes.into(),
                };
                let _ = out.try_send(message(Outgoing::Notes(notes)));
            }
        }
    }

    /// Handles a message of the coordinator. Returns the interval of heartbeats of a welcome.
    fn receive(&self, message: v1::ToWorker) -> Option<Duration> {
        match message.message? {
            Incoming::Welcome(welcome) => {
                self.queue.welcome(&welcome);
                let interval = welcome
                    .heartbeat_ms
                    .clamp(MIN_HEARTBEAT_MS, MAX_HEARTBEAT_MS);
                return Some(Duration::from_millis(interval.into()));
            }
            Incoming::Task(task) => self.receive_task(task),
            Incoming::Notes(notes) => {
                let (notes_bytes, _) = notes.notes.as_chunks();
                let all: Vec<Note> = notes_bytes
                    .iter()
                    .map(|bytes| Note::from_bytes(*bytes))
                    .collect();
                self.queue.receive_notes(notes.task, &all);
            }
            Incoming::Revoke(revoke) => self.queue.revoke(revoke.task),
            Incoming::Acknowledge(held) => self.queue.acknowledge(held.task, held.attempt),
        }
        None
    }

    fn receive_task(&self, message: v1::Task) {
        let v1::Task {
            task,
            attempt,
            question,
            priority,
            role,
        } = message;
        let reason = match question.as_ref().map(Question::try_from) {
            Some(Ok(question)) => {
                self.queue
                    .add(task, attempt, priority, question, self::role(role));
                return;
            }
            Some(Err(error)) => format!("the task is invalid: {error}"),
            None => "the task has no question".into(),
        };
        self.queue.reject(task, attempt, reason);
    }

    /// Says goodbye, and waits until the coordinator ends the stream.
    async fn say_goodbye(
        &self,
        out: mpsc::Sender<v1::FromWorker>,
        mut tasks: Streaming<v1::ToWorker>,
    ) -> SessionEnd {
        if out
            .send(message(Outgoing::Goodbye(v1::Goodbye {})))
            .await
            .is_ok()
        {
            drop(out);
            // Tasks that still arrive are reassigned to other workers.
            let ended = async { while let Ok(Some(_)) = tasks.message().await {} };
            let _ = tokio::time::timeout(STREAM_END_TIMEOUT, ended).await;
        }
        SessionEnd::Done
    }
}

const fn message(message: Outgoing) -> v1::FromWorker {
    v1::FromWorker {
        message: Some(message),
    }
}

fn role(role: Option<v1::task::Role>) -> SearchRole {
    match role {
        None => SearchRole::Whole,
        Some(v1::task::Role::Member(v1::Member { number, of })) => {
            SearchRole::Member { number, of }
        }
    }
}

fn lost(reason: String, was_welcome: bool) -> SessionEnd {
    SessionEnd::Lost {
        reason,
        was_welcome,
        retry_after: Duration::ZERO,
    }
}

/// Tells a permanent refusal of the coordinator from a lost connection.
fn refused(url: &str, status: &Status, was_welcome: bool) -> SessionEnd {
    let reason = explain(url, status);
    match status.code() {
        Code::FailedPrecondition
        | Code::InvalidArgument
        | Code::Unimplemented
        | Code::Unauthenticated
        | Code::PermissionDenied => SessionEnd::Refused(anyhow!(reason)),
        _ => SessionEnd::Lost {
            reason,
            was_welcome,
            retry_after: retry_after(status).unwrap_or_default(),
        },
    }
}

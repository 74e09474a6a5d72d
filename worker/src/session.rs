//! One connection of a worker to its coordinator.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Error, anyhow};
use kagetsu_game::{Question, Variant};
use kagetsu_proto::v1::from_worker::Message as Said;
use kagetsu_proto::v1::to_worker::Message as Heard;
use kagetsu_proto::v1::workers_client::WorkersClient;
use kagetsu_proto::{
    AuthenticatedChannel, Connector, MESSAGE_LIMIT, PROTOCOL, explain, retry_after, v1,
};
use kagetsu_search::Note;
use tokio::sync::mpsc;
use tokio::time::Interval;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};

use crate::config::Config;
use crate::desk::{Desk, Role};
use crate::pulse::Pulse;

/// Messages on their way out.
const WAITING: usize = 64;
/// Notes in a message.
const MOST_NOTES: usize = 4_096;

/// Why a connection ended.
pub(crate) enum End {
    /// The worker was told to stop, and everything is said.
    Done,
    /// The coordinator does not want this worker.
    Refused(Error),
    /// There is no connection to be had as things are set up, here or there.
    Misled(Error),
    /// The network, or the coordinator, is gone.
    Lost {
        reason: String,
        /// Whether a coordinator has said that it knows us.
        was_welcome: bool,
        /// How long to stay away, where the coordinator says so.
        wait: Duration,
    },
}

/// What a worker says of its engines.
pub(crate) struct Repertoire {
    pub(crate) name: String,
    /// What they play; none: what our own engine plays.
    pub(crate) variants: Vec<Variant>,
}

/// What a coordinator wants to hear.
struct Welcomed {
    /// How often a sign of life.
    every: Duration,
    /// Whether on a stream of its own.
    hears_beats: bool,
}

/// Where the signs of life go.
enum Beats {
    /// Nowhere, before the welcome: only then is it known where they are heard.
    Nowhere,
    /// Among the reports, this often.
    Here(Interval),
    /// On a stream of their own.
    Own(Pulse),
}

impl Beats {
    /// Until the next that goes among the reports.
    async fn here(&mut self) {
        match self {
            Self::Here(interval) => {
                interval.tick().await;
            }
            Self::Nowhere | Self::Own(_) => std::future::pending().await,
        }
    }
}

/// What a connection needs to know.
pub(crate) struct Session<'a> {
    pub(crate) config: &'a Config,
    pub(crate) engine: &'a Repertoire,
    /// The same for every connection of this process.
    pub(crate) instance: u64,
    pub(crate) desk: &'a Arc<Desk>,
}

impl Session<'_> {
    pub(crate) async fn run(&self, connector: &Connector) -> End {
        let channel = match connector.connect().await {
            Ok(channel) => channel,
            Err(error) if error.is_permanent() => return End::Misled(error.into()),
            Err(error) => return lost(error.to_string(), false),
        };
        let mut client = WorkersClient::new(channel).max_decoding_message_size(MESSAGE_LIMIT);
        let (out, messages) = mpsc::channel(WAITING);
        // The first message must be there before the server answers.
        if out
            .send(v1::FromWorker {
                message: Some(Said::Hello(self.hello())),
            })
            .await
            .is_err()
        {
            return lost("the connection ended at once".into(), false);
        }
        let tasks = match client.work(ReceiverStream::new(messages)).await {
            Ok(tasks) => tasks.into_inner(),
            Err(status) => return refusal(connector.name(), &status, false),
        };
        self.talk(connector.name(), client, out, tasks).await
    }

    fn hello(&self) -> v1::Hello {
        v1::Hello {
            protocol: PROTOCOL,
            name: self.config.name(),
            instance: self.instance,
            engine: self.engine.name.clone(),
            slots: self.desk.slots(),
            threads: self.config.threads.into(),
            held: self.desk.held(),
            variants: self
                .engine
                .variants
                .iter()
                .map(ToString::to_string)
                .collect(),
            version: env!("CARGO_PKG_VERSION").into(),
        }
    }

    async fn talk(
        &self,
        url: &str,
        client: WorkersClient<AuthenticatedChannel>,
        out: mpsc::Sender<v1::FromWorker>,
        mut tasks: Streaming<v1::ToWorker>,
    ) -> End {
        let mut was_welcome = false;
        let mut beats = Beats::Nowhere;
        // What waits to be sent must not keep the worker from hearing.
        let mut unsaid = VecDeque::new();
        let mut told = tokio::time::Instant::now();
        loop {
            unsaid.extend(self.desk.reports());
            if self.desk.has_iterated() {
                match &beats {
                    Beats::Nowhere => {}
                    Beats::Here(_) => self.beat(&out),
                    Beats::Own(pulse) => pulse.hurry(),
                }
            }
            if unsaid.is_empty() && self.desk.is_empty_after_retiring() {
                return self.say_goodbye(out, tasks).await;
            }
            let next = self.desk.pace().map(|pace| told + pace);
            let turn = async move {
                match next {
                    Some(next) => tokio::time::sleep_until(next).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = turn => {
                    self.tell(&out);
                    told = tokio::time::Instant::now();
                }
                heard = tasks.message() => match heard {
                    Ok(Some(message)) => {
                        if let Some(Welcomed { every, hears_beats }) = self.hear(message) {
                            tracing::info!("working for {url}");
                            was_welcome = true;
                            beats = if hears_beats {
                                Beats::Own(Pulse::start(client.clone(), self.desk, self.instance, every))
                            } else {
                                Beats::Here(tokio::time::interval(every))
                            };
                        }
                    }
                    Ok(None) => return lost(format!("the coordinator at {url} ended the connection"), was_welcome),
                    Err(status) => return refusal(url, &status, was_welcome),
                },
                room = out.reserve(), if !unsaid.is_empty() => match (room, unsaid.pop_front()) {
                    (Ok(room), Some(report)) => room.send(v1::FromWorker { message: Some(Said::Report(report)) }),
                    _ => return lost(format!("the connection to {url} was lost"), was_welcome),
                },
                () = self.desk.news() => {}
                () = beats.here() => self.beat(&out),
            }
        }
    }

    /// Says what the other members of the tasks at work should know.
    fn tell(&self, out: &mpsc::Sender<v1::FromWorker>) {
        for (task, notes) in self.desk.notes() {
            for notes in notes.chunks(MOST_NOTES) {
                let notes = notes
                    .iter()
                    .flat_map(|note| note.to_bytes())
                    .collect::<Vec<u8>>()
                    .into();
                // What a slow network has no room for is not needed.
                let _ = out.try_send(v1::FromWorker {
                    message: Some(Said::Notes(v1::Notes { task, notes })),
                });
            }
        }
    }

    /// A sign of life, with what is new of the tasks at work.
    fn beat(&self, out: &mpsc::Sender<v1::FromWorker>) {
        let message = Said::Heartbeat(v1::Heartbeat {
            progress: self.desk.progress(),
        });
        // A full queue is a slow network: the next heartbeat will do.
        let _ = out.try_send(v1::FromWorker {
            message: Some(message),
        });
    }

    /// Takes in a message.
    fn hear(&self, message: v1::ToWorker) -> Option<Welcomed> {
        match message.message {
            Some(Heard::Welcome(welcome)) => {
                // Whoever welcomes us has agreed to what we speak.
                self.desk.welcomed(welcome.epoch);
                let every = Duration::from_millis(welcome.heartbeat_ms.clamp(100, 60_000).into());
                return Some(Welcomed {
                    every,
                    hears_beats: welcome.hears_beats,
                });
            }
            Some(Heard::Task(v1::Task {
                task,
                attempt,
                question,
                priority,
                role,
            })) => {
                let question = question.as_ref().map(Question::try_from);
                match question {
                    Some(Ok(question)) => {
                        self.desk
                            .take(task, attempt, priority, question, part(role))
                    }
                    Some(Err(error)) => {
                        self.desk
                            .refuse(task, attempt, format!("a task that cannot be: {error}"))
                    }
                    None => self
                        .desk
                        .refuse(task, attempt, "a task without a question".into()),
                }
            }
            Some(Heard::Notes(notes)) => {
                let (all, _) = notes.notes.as_chunks();
                self.desk.hear(
                    notes.task,
                    &all.iter()
                        .map(|bytes| Note::from_bytes(*bytes))
                        .collect::<Vec<_>>(),
                );
            }
            Some(Heard::Revoke(revoke)) => self.desk.revoke(revoke.task),
            Some(Heard::Acknowledge(held)) => self.desk.acknowledge(held.task, held.attempt),
            None => {}
        }
        None
    }

    /// Says goodbye, and waits until the coordinator has heard it.
    async fn say_goodbye(
        &self,
        out: mpsc::Sender<v1::FromWorker>,
        mut tasks: Streaming<v1::ToWorker>,
    ) -> End {
        let goodbye = v1::FromWorker {
            message: Some(Said::Goodbye(v1::Goodbye {})),
        };
        if out.send(goodbye).await.is_ok() {
            drop(out);
            let ended = async { while let Ok(Some(_)) = tasks.message().await {} };
            // What it still sends is for others.
            let _ = tokio::time::timeout(Duration::from_secs(2), ended).await;
        }
        End::Done
    }
}

fn part(role: Option<v1::task::Role>) -> Role {
    match role {
        None => Role::Whole,
        Some(v1::task::Role::Member(v1::Member { number, of })) => Role::Member { number, of },
    }
}

fn lost(reason: String, was_welcome: bool) -> End {
    End::Lost {
        reason,
        was_welcome,
        wait: Duration::ZERO,
    }
}

/// A coordinator that says no for good, or one that is not there.
fn refusal(url: &str, status: &Status, was_welcome: bool) -> End {
    let reason = explain(url, status);
    match status.code() {
        Code::FailedPrecondition
        | Code::InvalidArgument
        | Code::Unimplemented
        | Code::Unauthenticated
        | Code::PermissionDenied => End::Refused(anyhow!(reason)),
        _ => End::Lost {
            reason,
            was_welcome,
            wait: retry_after(status).unwrap_or_default(),
        },
    }
}

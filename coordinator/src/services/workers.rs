//! The service of workers.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use kagetsu_book::JobState;
use kagetsu_game::{Question, Variant, VariantError};
use kagetsu_proto::v1::from_worker::Message;
use kagetsu_proto::v1::workers_server::Workers;
use kagetsu_proto::{
    LogThrottle, MAX_NAME_BYTES, MESSAGE_LIMIT, PROTOCOL, ProtocolVersion, check_name, v1,
};
use kagetsu_schedule::{Idle, TaskId, WorkerId, WorkerStatus};
use kagetsu_search::Engine;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};
use tokio_util::sync::CancellationToken;
use tonic::{Code, Request, Response, Status, Streaming};

use crate::auth::Principal;
use crate::book::desk::{JobView, KeeperDesk};
use crate::cluster::hub::Hub;
use crate::cluster::links::Introduction;
use crate::cluster::state::Held;
use crate::services::busy::Places;
use crate::verification::quarantine::Confined;
use crate::verification::trust::Record;

/// How often a worker gives a sign of life.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// How long a worker has to say hello.
const HELLO: Duration = Duration::from_secs(10);
/// Most variants that a worker can name.
const MOST_VARIANTS: usize = 1_000;
/// Most slots of one worker.
const MOST_SLOTS: u32 = 4_096;
/// Most tasks that a worker can have at hand when it comes back.
const MOST_HELD: usize = 16_384;

pub(crate) struct WorkersService {
    pub(crate) hub: Arc<Hub>,
    pub(crate) keeper: Option<KeeperDesk>,
    pub(crate) shutdown: CancellationToken,
    pub(crate) places: Places,
    pub(crate) beats: Places,
    /// What is said of workers that cannot be.
    pub(crate) refusals: Arc<LogThrottle>,
}

type Tasks = Pin<Box<dyn Stream<Item = Result<v1::ToWorker, Status>> + Send>>;

#[tonic::async_trait]
impl Workers for WorkersService {
    type WorkStream = Tasks;

    async fn work(
        &self,
        request: Request<Streaming<v1::FromWorker>>,
    ) -> Result<Response<Tasks>, Status> {
        let client = request
            .remote_addr()
            .map_or_else(|| "unknown".to_string(), |client| client.to_string());
        let token = request
            .extensions()
            .get::<Principal>()
            .and_then(|principal| principal.name.clone());
        let mut incoming = request.into_inner();
        let first = tokio::time::timeout(HELLO, incoming.message()).await;
        let first =
            first.map_err(|_| Status::deadline_exceeded("no hello within 10 seconds"))??;
        let Some(v1::FromWorker {
            message: Some(Message::Hello(hello)),
        }) = first
        else {
            return Err(Status::invalid_argument(
                "the first message must be a hello",
            ));
        };
        let worker = WorkerId(hello.instance);
        let told = |refusal: &Status| {
            if let Some(others) = self.refusals.allow(Instant::now()) {
                tracing::warn!(client, others, "a worker is refused: {}", refusal.message());
            }
        };
        let place = self.places.take().inspect_err(told)?;
        let (about, held) = introduction(&hello, token, self.hub.epoch()).inspect_err(told)?;
        let (stream, messages) = self
            .hub
            .join(worker, about.clone(), held)
            .inspect_err(told)?;
        tracing::info!(
            worker = about.name,
            slots = about.slots,
            client,
            token = about.token.as_deref(),
            "a worker has connected"
        );
        let session = Session {
            hub: Arc::clone(&self.hub),
            worker,
            stream,
            name: about.name,
        };
        let shutdown = self.shutdown.clone();
        tokio::spawn(async move {
            let goodbye = tokio::select! {
                goodbye = session.listen(incoming) => goodbye,
                () = shutdown.cancelled() => false,
            };
            session.end(goodbye);
            drop(place);
        });
        let (heartbeat_ms, epoch) = (HEARTBEAT.as_millis() as u32, self.hub.epoch());
        let welcome = v1::Welcome {
            protocol: PROTOCOL,
            heartbeat_ms,
            epoch,
            hears_beats: true,
        };
        let welcome = v1::ToWorker {
            message: Some(v1::to_worker::Message::Welcome(welcome)),
        };
        let messages = tokio_stream::once(welcome)
            .map(Ok)
            .chain(ReceiverStream::new(messages));
        Ok(Response::new(Box::pin(messages)))
    }

    async fn beat(
        &self,
        request: Request<Streaming<v1::Beat>>,
    ) -> Result<Response<v1::BeatResponse>, Status> {
        let mut beats = request.into_inner();
        let _place = self.beats.take()?;
        loop {
            let beat = tokio::select! {
                beat = beats.message() => beat?,
                () = self.shutdown.cancelled() => None,
            };
            let Some(v1::Beat { instance, progress }) = beat else {
                return Ok(Response::new(v1::BeatResponse {}));
            };
            self.hub.heartbeat(WorkerId(instance), &progress);
        }
    }

    async fn list(
        &self,
        request: Request<v1::ListWorkersRequest>,
    ) -> Result<Response<v1::ListWorkersResponse>, Status> {
        let jobs = self
            .keeper
            .as_ref()
            .map(|keeper| keeper.jobs().borrow().clone())
            .unwrap_or_default();
        let worker = |(status, about, record): (WorkerStatus, Introduction, Record)| v1::Worker {
            idle: idle(&status, &about, &jobs),
            name: about.name,
            engine: about.engine,
            slots: about.slots,
            threads: about.threads,
            tasks: status.tasks.len() as u32,
            done: status.done,
            speed: status.speed,
            quarantine: record.quarantine.unwrap_or_default(),
            confirmed: record.confirmed,
            refuted: record.refuted,
            is_absent: false,
            token: about
                .token
                .map_or_else(String::new, |token| token.to_string()),
        };
        let mut workers: Vec<v1::Worker> = self.hub.workers().into_iter().map(worker).collect();
        if request.into_inner().with_absent {
            workers.extend(self.hub.absent().into_iter().map(absent));
        }
        Ok(Response::new(v1::ListWorkersResponse { workers }))
    }

    async fn release(
        &self,
        request: Request<v1::ReleaseRequest>,
    ) -> Result<Response<v1::ReleaseResponse>, Status> {
        let name = request.into_inner().name;
        match self.hub.release(&name) {
            0 => Err(Status::not_found(format!(
                "no worker '{name}' is in quarantine; `kagetsu workers list` shows those that are"
            ))),
            released => Ok(Response::new(v1::ReleaseResponse {
                released: released as u32,
            })),
        }
    }
}

/// A worker of which nothing but its quarantine is known.
fn absent(
    Confined {
        name,
        engine,
        reason,
        token,
        ..
    }: Confined,
) -> v1::Worker {
    let idle = "not connected".into();
    v1::Worker {
        name,
        engine,
        idle,
        quarantine: reason,
        is_absent: true,
        token: token.unwrap_or_default(),
        ..v1::Worker::default()
    }
}

/// Why a worker has a free slot, if it has; where it has no tasks, why there are none.
fn idle(status: &WorkerStatus, about: &Introduction, jobs: &[Arc<JobView>]) -> String {
    let Some(idle) = status.idle else {
        return String::new();
    };
    if idle != Idle::NoTasks {
        return idle.to_string();
    }
    let of = |state: JobState| {
        jobs.iter()
            .filter(move |view| view.job.state == state)
            .map(|view| &view.job.spec)
    };
    if of(JobState::Running).any(|spec| about.plays.contains(&spec.variant)) {
        return idle.to_string();
    }
    if let Some(spec) = of(JobState::Running).next() {
        return format!(
            "{}: the job {} is of {}",
            Idle::UnsupportedVariant,
            spec.name,
            spec.variant
        );
    }
    match of(JobState::Paused).next() {
        Some(spec) => format!("{idle}: the job {} is paused", spec.name),
        None => format!("{idle}: no job is running"),
    }
}

/// What a worker says of itself, if it can be.
fn introduction(
    hello: &v1::Hello,
    token: Option<Arc<str>>,
    epoch: u64,
) -> Result<(Introduction, Held), Status> {
    let theirs = ProtocolVersion {
        protocol: hello.protocol,
        program: hello.version.chars().take(MAX_NAME_BYTES).collect(),
    };
    ProtocolVersion::ours().check(&theirs, "worker")?;
    if !(1..=MOST_SLOTS).contains(&hello.slots) {
        return Err(Status::invalid_argument(format!(
            "{} slots are not from 1 to {MOST_SLOTS}",
            hello.slots
        )));
    }
    check_name("the worker's name", &hello.name)
        .and_then(|()| check_name("the engine's name", &hello.engine))
        .map_err(|error| Status::invalid_argument(error.to_string()))?;
    let about = Introduction {
        name: hello.name.clone(),
        engine: hello.engine.clone(),
        slots: hello.slots,
        threads: hello.threads,
        plays: repertoire(&hello.variants)?,
        token,
    };
    if hello.held.len() > MOST_HELD {
        return Err(Status::invalid_argument(format!(
            "{} tasks at hand are more than {MOST_HELD}",
            hello.held.len()
        )));
    }
    let mut held = Held::default();
    for v1::Held {
        task,
        attempt,
        epoch: given,
        question,
    } in &hello.held
    {
        // A worker that does not know of lives has its tasks from this one, or from one whose numbers are not known.
        if *given == epoch || *given == 0 {
            held.ours.push((TaskId(*task), *attempt));
        } else {
            let question = question
                .as_ref()
                .and_then(|question| Question::try_from(question).ok());
            held.earlier.push((TaskId(*task), question));
        }
    }
    Ok((about, held))
}

/// What a worker's engine plays.
fn repertoire(names: &[String]) -> Result<Arc<BTreeSet<Variant>>, Status> {
    /// What our own engine plays.
    static OURS: LazyLock<Arc<BTreeSet<Variant>>> = LazyLock::new(|| {
        Arc::new(
            Variant::all()
                .filter(|variant| Engine::supports(*variant))
                .collect(),
        )
    });
    if names.is_empty() {
        return Ok(Arc::clone(&OURS));
    }
    if names.len() > MOST_VARIANTS {
        return Err(Status::invalid_argument(format!(
            "{} variants are more than {MOST_VARIANTS}",
            names.len()
        )));
    }
    let variants: Result<_, _> = names.iter().map(|name| name.parse()).collect();
    variants
        .map(Arc::new)
        .map_err(|error: VariantError| Status::invalid_argument(error.to_string()))
}

/// One stream of one worker.
struct Session {
    hub: Arc<Hub>,
    worker: WorkerId,
    stream: u64,
    name: String,
}

impl Session {
    /// Hears the worker to the end of its stream; whether it said goodbye.
    async fn listen(&self, mut incoming: Streaming<v1::FromWorker>) -> bool {
        loop {
            let message = match incoming.message().await {
                Ok(Some(v1::FromWorker { message })) => message,
                // A connection that is lost looks like an end, or like an error of any kind: the lease decides.
                Ok(None) => return false,
                Err(status) => {
                    if status.code() == Code::OutOfRange {
                        let why =
                            format!("a message of a worker has at most {MESSAGE_LIMIT} bytes");
                        self.hub
                            .refuse(self.worker, self.stream, Status::invalid_argument(why));
                    }
                    return false;
                }
            };
            match message {
                Some(Message::Heartbeat(heartbeat)) => {
                    self.hub.heartbeat(self.worker, &heartbeat.progress)
                }
                Some(Message::Notes(notes)) => self.hub.notes(self.worker, &notes),
                Some(Message::Report(report)) => self.hub.report(self.worker, report),
                Some(Message::Goodbye(_)) => return true,
                Some(Message::Hello(_)) | None => {}
            }
        }
    }

    fn end(&self, goodbye: bool) {
        tracing::info!(worker = self.name, goodbye, "a worker has gone");
        self.hub.leave(self.worker, self.stream, goodbye);
    }
}

//! The service of workers.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use kagetsu_book::JobState;
use kagetsu_game::{Question, Variant, VariantError, quote};
use kagetsu_proto::v1::from_worker::Message;
use kagetsu_proto::v1::workers_server::Workers;
use kagetsu_proto::{
    LogThrottle, MESSAGE_LIMIT, ProtocolVersion, check_name, invalid, v1, version_numbers,
};
use kagetsu_schedule::{Idle, TaskId, WorkerId, WorkerStatus};
use kagetsu_search::Engine;
use kagetsu_verification::{Class, Profile, QuarantinedWorker, WorkerTrust};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Code, Request, Response, Status, Streaming};

use crate::auth::{Principal, Role};
use crate::book::handle::{BookHandle, JobView};
use crate::cluster::applicant::HeldTasks;
use crate::cluster::connections::WorkerView;
use crate::cluster::shared::Cluster;
use crate::config::Config;
use crate::services::concurrency::ConcurrencyLimit;
use crate::verification::calibration;

/// Time from the start of a stream to the worker's hello.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);
/// Variants that a worker may name.
const MAX_VARIANTS: usize = 1_000;
/// Slots of one worker.
const MAX_SLOTS: u32 = 4_096;
/// Tasks that a worker may have at hand when it connects.
const MAX_HELD_TASKS: usize = 16_384;

pub(crate) struct WorkersService {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) book: Option<BookHandle>,
    pub(crate) shutdown: CancellationToken,
    pub(crate) limit: ConcurrencyLimit,
    pub(crate) heartbeat_limit: ConcurrencyLimit,
    pub(crate) config: Config,
    /// Bounds the log of refused workers.
    pub(crate) refusals: Arc<LogThrottle>,
}

/// Refuses workers that are older than the configuration allows.
fn check_version(config: &Config, theirs: &str) -> Result<(), Status> {
    let Some(oldest) = &config.min_worker_version else {
        return Ok(());
    };
    if version_numbers(theirs) >= version_numbers(oldest) {
        return Ok(());
    }
    let place = config
        .worker_url
        .as_ref()
        .map_or_else(String::new, |url| format!(" from {url}"));
    Err(Status::failed_precondition(format!(
        "this coordinator takes workers from version {oldest} on, and this one is {}; get a newer \
         one{place}, as --self-update does",
        quote(theirs)
    )))
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
        let principal = request.extensions().get::<Principal>();
        let token = principal.and_then(|principal| principal.name.clone());
        let class = class(principal);
        let mut incoming = request.into_inner();
        let first = tokio::time::timeout(HELLO_TIMEOUT, incoming.message()).await;
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
        let log = |refusal: &Status| {
            if let Some(others) = self.refusals.allow(Instant::now()) {
                tracing::warn!(client, others, "a worker is refused: {}", refusal.message());
            }
        };
        check_version(&self.config, &hello.version).inspect_err(log)?;
        let place = self.limit.take().inspect_err(log)?;
        let (about, held) =
            introduction(&hello, token, self.cluster.epoch(), class).inspect_err(log)?;
        let plays = Arc::clone(&about.plays);
        let plays = tokio::task::spawn_blocking(move || calibration::prepare(&plays)).await;
        let plays = plays.map_err(|_| Status::internal("the calibration could not be prepared"))?;
        let about = Profile { plays, ..about };
        let (stream, messages) = self
            .cluster
            .connect(worker, about.clone(), held)
            .inspect_err(log)?;
        tracing::info!(
            worker = about.name,
            slots = about.slots,
            client,
            token = about.token.as_deref(),
            "a worker has connected"
        );
        let session = WorkerStream {
            cluster: Arc::clone(&self.cluster),
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
        let messages = ReceiverStream::new(messages);
        Ok(Response::new(Box::pin(messages)))
    }

    async fn beat(
        &self,
        request: Request<Streaming<v1::Beat>>,
    ) -> Result<Response<v1::BeatResponse>, Status> {
        let mut beats = request.into_inner();
        let _place = self.heartbeat_limit.take()?;
        loop {
            let beat = tokio::select! {
                beat = beats.message() => beat?,
                () = self.shutdown.cancelled() => None,
            };
            let Some(v1::Beat { instance, progress }) = beat else {
                return Ok(Response::new(v1::BeatResponse {}));
            };
            self.cluster.heartbeat(WorkerId(instance), &progress);
        }
    }

    async fn list(
        &self,
        request: Request<v1::ListWorkersRequest>,
    ) -> Result<Response<v1::ListWorkersResponse>, Status> {
        let jobs = self
            .book
            .as_ref()
            .map(|book| book.jobs().borrow().clone())
            .unwrap_or_default();
        let worker = |view: WorkerView| {
            let WorkerView {
                info,
                status,
                trust,
            } = view;
            v1::Worker {
                idle: idle(&status, &info, &jobs),
                trust: trust_level(&trust).into(),
                class: class_name(info.class == Class::Volunteer).into(),
                name: info.name,
                engine: info.engine.to_string(),
                slots: info.slots,
                threads: info.threads,
                tasks: status.tasks.len() as u32,
                done: status.done,
                speed: status.speed,
                quarantine: trust.quarantine.unwrap_or_default(),
                confirmed: trust.verified,
                refuted: trust.refuted,
                failed: trust.failed,
                is_absent: false,
                token: info
                    .token
                    .map_or_else(String::new, |token| token.to_string()),
            }
        };
        let mut workers: Vec<v1::Worker> = self.cluster.workers().into_iter().map(worker).collect();
        if request.into_inner().with_absent {
            workers.extend(self.cluster.absent().into_iter().map(absent));
        }
        Ok(Response::new(v1::ListWorkersResponse { workers }))
    }

    async fn release(
        &self,
        request: Request<v1::ReleaseRequest>,
    ) -> Result<Response<v1::ReleaseResponse>, Status> {
        let name = request.into_inner().name;
        match self.cluster.release(&name) {
            0 => Err(Status::not_found(format!(
                "no worker '{}' is in quarantine; `kagetsu workers list` shows those that are",
                quote(&name)
            ))),
            released => Ok(Response::new(v1::ReleaseResponse {
                released: released as u32,
            })),
        }
    }
}

/// Returns the class of a worker by the role of its token: a volunteer has no role that makes it
/// one of the operator's.
fn class(principal: Option<&Principal>) -> Class {
    let is_volunteer = principal.is_some_and(|principal| {
        let is_operators = |role: &Role| matches!(role, Role::Work | Role::Admin);
        principal.roles.contains(&Role::Volunteer) && !principal.roles.iter().any(is_operators)
    });
    if is_volunteer {
        Class::Volunteer
    } else {
        Class::Operator
    }
}

/// Returns a worker's trust level in one word.
const fn trust_level(trust: &WorkerTrust) -> &'static str {
    if trust.quarantine.is_some() {
        "quarantined"
    } else if trust.is_calibrating {
        "calibrating"
    } else {
        class_name(trust.is_volunteer)
    }
}

const fn class_name(is_volunteer: bool) -> &'static str {
    if is_volunteer {
        "volunteer"
    } else {
        "operator"
    }
}

/// Returns a quarantined worker that is not connected.
fn absent(worker: QuarantinedWorker) -> v1::Worker {
    v1::Worker {
        name: worker.name,
        engine: worker.engine,
        idle: "not connected".into(),
        quarantine: worker.quarantine.reason,
        is_absent: true,
        token: worker.token.unwrap_or_default(),
        trust: "quarantined".into(),
        class: class_name(worker.is_volunteer).into(),
        ..v1::Worker::default()
    }
}

/// Explains why a worker has a free slot; empty if it has none.
fn idle(status: &WorkerStatus, about: &Profile, jobs: &[Arc<JobView>]) -> String {
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

/// Reads a worker's introduction, and the tasks that it has at hand.
fn introduction(
    hello: &v1::Hello,
    token: Option<Arc<str>>,
    epoch: u64,
    class: Class,
) -> Result<(Profile, HeldTasks), Status> {
    let theirs = ProtocolVersion {
        protocol: hello.protocol,
        program: hello.version.clone(),
    };
    ProtocolVersion::ours().check(&theirs, "worker")?;
    if !(1..=MAX_SLOTS).contains(&hello.slots) {
        return Err(Status::invalid_argument(format!(
            "{} slots are not from 1 to {MAX_SLOTS}",
            hello.slots
        )));
    }
    check_name("the worker's name", &hello.name)
        .and_then(|()| check_name("the engine's name", &hello.engine))
        .map_err(invalid)?;
    let about = Profile {
        name: hello.name.clone(),
        engine: hello.engine.as_str().into(),
        slots: hello.slots,
        threads: hello.threads,
        plays: repertoire(&hello.variants)?,
        token,
        class,
    };
    if hello.held.len() > MAX_HELD_TASKS {
        return Err(Status::invalid_argument(format!(
            "{} tasks at hand are more than {MAX_HELD_TASKS}",
            hello.held.len()
        )));
    }
    let mut held = HeldTasks::default();
    for v1::Held {
        task,
        attempt,
        epoch: given,
        question,
    } in &hello.held
    {
        if *given == epoch || *given == 0 {
            held.current.push((TaskId(*task), *attempt));
        } else {
            let question = question
                .as_ref()
                .and_then(|question| Question::try_from(question).ok());
            held.earlier.push((TaskId(*task), question));
        }
    }
    Ok((about, held))
}

/// Returns the variants that a worker's engine plays.
fn repertoire(names: &[String]) -> Result<Arc<BTreeSet<Variant>>, Status> {
    /// The variants of our own engine.
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
    if names.len() > MAX_VARIANTS {
        return Err(Status::invalid_argument(format!(
            "{} variants are more than {MAX_VARIANTS}",
            names.len()
        )));
    }
    let variants: Result<_, VariantError> = names.iter().map(|name| name.parse()).collect();
    variants.map(Arc::new).map_err(invalid)
}

/// One stream of one worker.
struct WorkerStream {
    cluster: Arc<Cluster>,
    worker: WorkerId,
    stream: u64,
    name: String,
}

impl WorkerStream {
    /// Reads the worker's messages to the end of its stream. Returns whether it said goodbye.
    async fn listen(&self, mut incoming: Streaming<v1::FromWorker>) -> bool {
        loop {
            let message = match incoming.message().await {
                Ok(Some(v1::FromWorker { message })) => message,
                // A lost connection looks like an end or an error: the lease decides.
                Ok(None) => return false,
                Err(status) => {
                    if status.code() == Code::OutOfRange {
                        let why =
                            format!("a message of a worker has at most {MESSAGE_LIMIT} bytes");
                        self.cluster.refuse(
                            self.worker,
                            self.stream,
                            Status::invalid_argument(why),
                        );
                    }
                    return false;
                }
            };
            match message {
                Some(Message::Heartbeat(heartbeat)) => {
                    self.cluster.heartbeat(self.worker, &heartbeat.progress)
                }
                Some(Message::Notes(notes)) => self.cluster.notes(self.worker, &notes),
                Some(Message::Report(report)) => self.cluster.report(self.worker, report),
                Some(Message::Goodbye(_)) => return true,
                Some(Message::Hello(_)) | None => {}
            }
        }
    }

    fn end(&self, goodbye: bool) {
        tracing::info!(worker = self.name, goodbye, "a worker has gone");
        self.cluster.disconnect(self.worker, self.stream, goodbye);
    }
}

//! The coordinator of the tests.

use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::Result;
use hyper_util::rt::TokioIo;
use kagetsu_game::{Effort, Position, Question, Variant};
use kagetsu_proto::v1::from_worker::Message as WorkerMessage;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_proto::v1::to_worker::Message as CoordinatorMessage;
use kagetsu_proto::v1::workers_server::{Workers, WorkersServer};
use kagetsu_proto::{ConnectError, Connector, PROTOCOL, v1};
use kagetsu_worker::Config;
use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};
use tokio_util::sync::CancellationToken;
use tonic::transport::{Endpoint, Server};
use tonic::{Request, Response, Status, Streaming};
use tower::service_fn;

/// Waits for the worker under test, connection by connection.
pub(crate) struct Coordinator {
    connector: Connector,
    calls: mpsc::Receiver<Call>,
    /// Whether its welcome asks for strategies.
    pub(crate) wants_strategies: bool,
    /// Most stones of its end tables.
    pub(crate) end_tables: u32,
    /// How long a hello waits for its welcome.
    pub(crate) hesitates: Duration,
    pub(crate) shutdown: CancellationToken,
}

/// One connection. Dropped, it is lost.
pub(crate) struct Call {
    incoming: Streaming<v1::FromWorker>,
    beats: mpsc::Receiver<v1::Beat>,
    out: mpsc::Sender<Result<v1::ToWorker, Status>>,
}

struct Service {
    calls: mpsc::Sender<Call>,
    /// Where the beats of the latest call go.
    beats: Mutex<Option<mpsc::Sender<v1::Beat>>>,
}

#[tonic::async_trait]
impl Workers for Service {
    type WorkStream = Pin<Box<dyn Stream<Item = Result<v1::ToWorker, Status>> + Send>>;

    async fn work(
        &self,
        request: Request<Streaming<v1::FromWorker>>,
    ) -> Result<Response<Self::WorkStream>, Status> {
        let (out, messages) = mpsc::channel(64);
        let (beat_sender, beats) = mpsc::channel(1);
        *self.beats.lock().expect("no panic") = Some(beat_sender);
        let call = Call {
            incoming: request.into_inner(),
            beats,
            out,
        };
        self.calls
            .send(call)
            .await
            .map_err(|_| Status::unavailable("the test has ended"))?;
        Ok(Response::new(Box::pin(ReceiverStream::new(messages))))
    }

    async fn beat(
        &self,
        request: Request<Streaming<v1::Beat>>,
    ) -> Result<Response<v1::BeatResponse>, Status> {
        let to_call = self.beats.lock().expect("no panic").clone();
        let to_call = to_call.ok_or_else(|| Status::failed_precondition("no hello"))?;
        let mut beats = request.into_inner();
        while let Some(beat) = beats.message().await? {
            to_call
                .send(beat)
                .await
                .map_err(|_| Status::unavailable("the test has ended"))?;
        }
        Ok(Response::new(v1::BeatResponse {}))
    }

    async fn release(
        &self,
        _: Request<v1::ReleaseRequest>,
    ) -> Result<Response<v1::ReleaseResponse>, Status> {
        Err(Status::unimplemented("not part of this test"))
    }

    async fn list(
        &self,
        _: Request<v1::ListWorkersRequest>,
    ) -> Result<Response<v1::ListWorkersResponse>, Status> {
        Err(Status::unimplemented("not part of this test"))
    }
}

impl Coordinator {
    pub(crate) fn start() -> Self {
        let (sender, calls) = mpsc::channel(1);
        let (streams, incoming) = mpsc::channel::<DuplexStream>(1);
        let incoming = ReceiverStream::new(incoming).map(Ok::<_, std::io::Error>);
        // One stream has little room, the connection has more.
        let mut server = Server::builder()
            .initial_stream_window_size(1 << 16)
            .initial_connection_window_size(1 << 18);
        let service = Service {
            calls: sender,
            beats: Mutex::new(None),
        };
        tokio::spawn(
            server
                .add_service(WorkersServer::new(service))
                .serve_with_incoming(incoming),
        );
        let connector = Connector::by("the test", move || {
            let streams = streams.clone();
            let connect = service_fn(move |_| {
                let streams = streams.clone();
                async move {
                    let (near, far) = tokio::io::duplex(1 << 16);
                    streams.send(far).await.map_err(std::io::Error::other)?;
                    Ok::<_, std::io::Error>(TokioIo::new(near))
                }
            });
            let unreachable =
                |cause: tonic::transport::Error| ConnectError::unreachable("the test", cause);
            async move {
                Endpoint::from_static("http://test")
                    .connect_with_connector(connect)
                    .await
                    .map_err(unreachable)
            }
        });
        Self {
            connector,
            calls,
            wants_strategies: false,
            end_tables: 0,
            hesitates: Duration::ZERO,
            shutdown: CancellationToken::new(),
        }
    }

    /// Starts a worker of one slot that hands back its tasks at once when it stops.
    pub(crate) fn worker(&self) -> JoinHandle<Result<()>> {
        self.worker_of(Config::embedded("tested".into(), 1))
    }

    pub(crate) fn worker_of(&self, config: Config) -> JoinHandle<Result<()>> {
        tokio::spawn(kagetsu_worker::run(
            config,
            self.connector.clone(),
            self.shutdown.clone(),
        ))
    }

    /// The next connection, from its hello to its welcome.
    pub(crate) async fn welcome(&mut self) -> (Call, v1::Hello) {
        self.welcome_in(1).await
    }

    /// The same in this life of the coordinator.
    pub(crate) async fn welcome_in(&mut self, epoch: u64) -> (Call, v1::Hello) {
        let mut call = within(self.calls.recv()).await.expect("it serves");
        let Some(WorkerMessage::Hello(hello)) = call.hear().await else {
            panic!("the first message is a hello")
        };
        tokio::time::sleep(self.hesitates).await;
        call.tell(CoordinatorMessage::Welcome(v1::Welcome {
            protocol: PROTOCOL,
            heartbeat_ms: 100,
            epoch,
            wants_strategies: self.wants_strategies,
            end_tables: self.end_tables,
        }))
        .await;
        (call, hello)
    }

    /// Answers the next connection with a refusal.
    pub(crate) async fn refuse(&mut self, status: Status) {
        let call = within(self.calls.recv()).await.expect("it serves");
        call.out.send(Err(status)).await.expect("it listens");
    }
}

impl Call {
    /// Returns the worker's next message; `None` when it has disconnected.
    pub(crate) async fn hear(&mut self) -> Option<WorkerMessage> {
        let message = within(self.incoming.message()).await.ok().flatten()?;
        Some(message.message.expect("not empty"))
    }

    /// Returns the next heartbeat.
    pub(crate) async fn beat(&mut self) -> v1::Beat {
        within(self.beats.recv()).await.expect("a beat")
    }

    pub(crate) async fn report(&mut self) -> v1::Report {
        match self.hear().await {
            Some(WorkerMessage::Report(report)) => report,
            other => panic!("{other:?} is no report"),
        }
    }

    /// Returns the progress of running searches, each with more positions than `nodes`.
    pub(crate) async fn progress(&mut self, nodes: u64) -> Vec<v1::TaskProgress> {
        loop {
            let beat = self.beat().await;
            if !beat.progress.is_empty() && beat.progress.iter().all(|p| p.nodes > nodes) {
                return beat.progress;
            }
        }
    }

    /// Waits until a search has visited positions. Returns the report if it has ended before.
    pub(crate) async fn until_at_work(&mut self) -> Option<v1::Report> {
        loop {
            let heard = async {
                tokio::select! {
                    beat = self.beats.recv() => Ok(beat.expect("a beat")),
                    message = self.incoming.message() => Err(message),
                }
            };
            match within(heard).await {
                Ok(beat) if beat.progress.iter().any(|progress| progress.nodes > 0) => return None,
                Ok(_) => {}
                Err(Ok(Some(v1::FromWorker {
                    message: Some(WorkerMessage::Report(report)),
                }))) => return Some(report),
                Err(other) => panic!("{other:?} is no sign of work"),
            }
        }
    }

    pub(crate) async fn tell(&self, message: CoordinatorMessage) {
        self.out
            .send(Ok(v1::ToWorker {
                message: Some(message),
            }))
            .await
            .expect("it listens");
    }

    pub(crate) async fn ask(&self, task: u64, question: &Question) {
        let question = Some(question.into());
        self.tell(CoordinatorMessage::Task(v1::Task {
            task,
            attempt: 1,
            question,
            priority: task,
            role: None,
        }))
        .await;
    }

    pub(crate) async fn acknowledge(&self, report: &v1::Report) {
        self.tell(CoordinatorMessage::Acknowledge(v1::Held {
            task: report.task,
            attempt: report.attempt,
            ..Default::default()
        }))
        .await;
    }
}

/// The limit only bounds a test that has failed.
pub(crate) async fn within<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(300), what)
        .await
        .expect("within five minutes")
}

/// Waits until the worker ends, without an error.
pub(crate) async fn ends(worker: JoinHandle<Result<()>>) {
    within(worker)
        .await
        .expect("no panic")
        .expect("a clean end");
}

pub(crate) fn short() -> Question {
    Question::new(
        Position::from_line(Variant::FREESTYLE_15, "h8 i9").expect("a line"),
        Effort::depth(2),
    )
}

/// Takes longer than any test.
pub(crate) fn endless() -> Question {
    Question {
        effort: Effort::time(Duration::from_secs(100_000)),
        ..short()
    }
}

pub(crate) fn is_handed_back(report: &v1::Report) -> bool {
    matches!(report.outcome, Some(Outcome::HandedBack(_)))
}

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use hyper_util::rt::TokioIo;
use kagetsu_book::{Book, BookOptions};
use kagetsu_http::ServerInfo;
use kagetsu_proto::v1::analysis_server::AnalysisServer;
use kagetsu_proto::v1::books_server::BooksServer;
use kagetsu_proto::v1::builds_server::BuildsServer;
use kagetsu_proto::v1::workers_server::WorkersServer;
use kagetsu_proto::{
    ConnectError, Connector, DESCRIPTORS, IN_PROCESS, Listener, MESSAGE_LIMIT, ProtocolVersion,
    ResponseBudget, keepalive,
};
use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::service::InterceptorLayer;
use tonic::service::Routes;
use tonic::transport::Endpoint;
use tonic::transport::server::Connected;
use tonic::{Request, Status};
use tower::service_fn;

use crate::auth::{AuthLayer, Authenticator, Principal, authenticate_http};
use crate::book::desk::KeeperDesk;
use crate::book::keeper::Keeper;
use crate::book::library::Library;
use crate::cluster::hub::Hub;
use crate::config::Config;
use crate::services::analysis::AnalysisService;
use crate::services::books::BooksService;
use crate::services::builds::BuildsService;
use crate::services::busy::Limits;
use crate::services::workers::WorkersService;
use crate::telemetry::monitor::{MeterLayer, Monitor};
use crate::verification::prover::Prover;
use crate::verification::quarantine;
use crate::verification::trust::Trust;

/// How long the streams have to end when the coordinator does.
const GRACE: Duration = Duration::from_secs(3);
/// How often a coordinator that stops looks whether its workers have said all.
const LOOK: Duration = Duration::from_millis(20);
/// Requests of one connection at a time; a client waits before it sends more.
pub(crate) const STREAMS: u32 = 256;
/// Bytes of a stream that may wait to be read, and of all streams of a connection: one that waits does not hold up the others.
pub(crate) const STREAM_WINDOW: u32 = 1 << 18;
pub(crate) const CONNECTION_WINDOW: u32 = 1 << 21;
/// Bytes in flight of a connection inside this process.
const PIPE: usize = 64 << 10;

/// A coordinator that has its book and listens nowhere yet.
pub struct Server {
    hub: Arc<Hub>,
    keeper: Option<KeeperDesk>,
    authenticator: Arc<Authenticator>,
    thread: Option<JoinHandle<Result<()>>>,
    shutdown: CancellationToken,
    /// Cancelled when the keeper ends, for whichever reason.
    kept: CancellationToken,
    /// Cancelled when the workers have had their time after the shutdown.
    drained: CancellationToken,
    grace: Duration,
    limits: Limits,
}

/// A coordinator inside this process.
pub struct Coordinator {
    connector: Connector,
    serving: tokio::task::JoinHandle<Result<()>>,
}

impl Server {
    /// Opens the book, and resumes its jobs. Must be called in a tokio runtime.
    ///
    /// # Errors
    /// If the book cannot be opened.
    pub fn start(config: &Config, shutdown: CancellationToken) -> Result<Self> {
        let kept = CancellationToken::new();
        let mut trust = Trust::new(config.trusts_workers, config.verify_share);
        let Some(path) = &config.book else {
            let hub = Hub::new(None, trust);
            let (authenticator, drained) = (Authenticator::open(), CancellationToken::new());
            let (limits, grace) = (Limits::default(), config.grace);
            return Ok(Self {
                hub,
                keeper: None,
                authenticator,
                thread: None,
                shutdown,
                kept,
                drained,
                grace,
                limits,
            });
        };
        let options = BookOptions {
            create: true,
            cache_bytes: config.cache_mib << 20,
        };
        let (book, notices) = Book::open(path, &options)?;
        notices
            .iter()
            .for_each(|notice| tracing::warn!(book = %path.display(), "{notice}"));
        trust.restore(quarantine::read(path)?);
        let (desk, end) = KeeperDesk::new();
        let hub = Hub::new(Some(desk.clone()), trust);
        if !config.trusts_workers {
            hub.employ(Prover::start(Arc::downgrade(&hub))?);
        }
        let keeper = Keeper::new(book, path.clone(), end, &hub)?;
        let ended = kept.clone().drop_guard();
        let run = move || {
            let _ended = ended;
            keeper.run()
        };
        let thread = std::thread::Builder::new()
            .name("keeper".into())
            .spawn(run)?;
        let (keeper, thread, authenticator) = (Some(desk), Some(thread), Authenticator::open());
        let drained = CancellationToken::new();
        let (limits, grace) = (Limits::default(), config.grace);
        Ok(Self {
            hub,
            keeper,
            authenticator,
            thread,
            shutdown,
            kept,
            drained,
            grace,
            limits,
        })
    }

    /// Authenticates callers; by default every caller may do everything.
    #[must_use]
    pub fn with_authenticator(self, authenticator: Arc<Authenticator>) -> Self {
        Self {
            authenticator,
            ..self
        }
    }

    /// Serves who comes to a listener until the shutdown, or until the book can be written no more.
    ///
    /// # Errors
    /// If the book could not be written; all that was acknowledged is on disk.
    pub async fn listen(self, listener: Listener) -> Result<()> {
        let (every, patience) = keepalive();
        let server = tonic::transport::Server::builder()
            .http2_keepalive_interval(Some(every))
            .http2_keepalive_timeout(Some(patience))
            .tcp_nodelay(true);
        self.serve(server, listener).await
    }

    /// What it says of itself to those who watch over it; to be served by HTTP.
    pub fn monitor(&self) -> axum::Router {
        authenticate_http(
            self.watch().routes().merge(self.watch().probes()),
            &self.authenticator,
        )
    }

    fn watch(&self) -> Monitor {
        Monitor::new(
            &self.hub,
            self.keeper.as_ref(),
            &self.authenticator,
            &self.shutdown,
        )
    }

    /// Its HTTP API and page, to be served beside it. Must be called in a tokio runtime.
    pub fn http(&self, access: kagetsu_http::AccessPolicy) -> axum::Router {
        let backend = kagetsu_http::Backend {
            services: self.authorized(self.services()),
            info: Arc::new(CoordinatorInfo {
                hub: Arc::clone(&self.hub),
                keeper: self.keeper.clone(),
            }),
            internal: Principal::internal().into(),
        };
        let router = kagetsu_http::router(backend, access.clone(), self.shutdown.clone())
            .merge(self.watch().routes());
        let router = authenticate_http(router, &self.authenticator);
        kagetsu_http::with_browser_headers(router, access)
    }

    /// Holds every rpc of `routes` to its permission.
    fn authorized(&self, routes: Routes) -> axum::Router {
        let layer = AuthLayer::new(Arc::clone(&self.authenticator));
        routes.into_axum_router().layer(layer)
    }

    /// Serves inside this process, over memory.
    #[must_use]
    pub fn embed(self) -> Coordinator {
        let (sender, streams) = mpsc::channel::<DuplexStream>(16);
        let connector = Connector::by(IN_PROCESS, move || {
            let sender = sender.clone();
            async move {
                let gone = |error: tonic::transport::Error| ConnectError::Unreachable {
                    url: IN_PROCESS.into(),
                    cause: error.to_string(),
                };
                let connect = service_fn(move |_| {
                    let sender = sender.clone();
                    async move {
                        let (near, far) = tokio::io::duplex(PIPE);
                        sender.send(far).await.map_err(std::io::Error::other)?;
                        Ok::<_, std::io::Error>(TokioIo::new(near))
                    }
                });
                Endpoint::from_static("http://embedded")
                    .connect_with_connector(connect)
                    .await
                    .map_err(gone)
            }
        });
        let incoming = ReceiverStream::new(streams).map(Ok::<_, std::io::Error>);
        let serving = tokio::spawn(self.serve(tonic::transport::Server::builder(), incoming));
        Coordinator { connector, serving }
    }

    async fn serve<S>(
        mut self,
        server: tonic::transport::Server,
        incoming: impl tokio_stream::Stream<Item = std::io::Result<S>> + Send + 'static,
    ) -> Result<()>
    where
        S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Connected + Unpin + Send + 'static,
    {
        let thread = self.thread.take();
        let routes = Routes::from(self.authorized(self.routes().await?));
        let authenticator = Arc::clone(&self.authenticator);
        let mut server = server
            .max_concurrent_streams(STREAMS)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .layer(InterceptorLayer::new(understood))
            .layer(MeterLayer::new(self.hub.metrics()))
            .layer(ResponseBudget::default().layer());
        let router = server.add_routes(routes);
        let (hub, keeper) = (Arc::clone(&self.hub), self.keeper.clone());
        let ends = self.shutdown.clone();
        let kept = self.kept.clone();
        let stop = async move {
            tokio::select! {
                () = ends.cancelled() => {}
                () = kept.cancelled() => ends.cancel(),
            }
        };
        let clock = Arc::clone(&hub);
        let clock = tokio::spawn(async move { clock.keep_time().await });
        let watching = tokio::spawn(async move { authenticator.watch().await });
        let mut serving = tokio::spawn(router.serve_with_incoming_shutdown(incoming, stop));
        let ended = tokio::select! {
            ended = &mut serving => Some(ended),
            () = self.shutdown.cancelled() => None,
        };
        if ended.is_none() && !self.kept.is_cancelled() {
            drain(&hub, &self.kept, self.grace).await;
        }
        self.drained.cancel();
        hub.close();
        let ended = match ended {
            Some(ended) => ended
                .map_err(anyhow::Error::from)
                .and_then(|served| served.context("cannot serve")),
            // Streams that do not end by themselves are cut.
            None => tokio::time::timeout(GRACE, serving)
                .await
                .map_or(Ok(()), |_| Ok(())),
        };
        clock.abort();
        watching.abort();
        let prover = hub.dismiss();
        if let Some(keeper) = keeper {
            keeper.stop();
        }
        if let Some(prover) = prover {
            // A claim is repeated in a moment, and a longer search is stopped.
            let _ = tokio::task::spawn_blocking(|| prover.join()).await;
        }
        let closed = tokio::task::spawn_blocking(move || thread.map_or(Ok(()), join)).await?;
        closed.and(ended)
    }

    /// All gRPC services of this server, with health and reflection.
    async fn routes(&self) -> Result<Routes> {
        let (health, healthy) = tonic_health::server::health_reporter();
        health
            .set_serving::<AnalysisServer<AnalysisService>>()
            .await;
        health.set_serving::<BuildsServer<BuildsService>>().await;
        health.set_serving::<BooksServer<BooksService>>().await;
        health.set_serving::<WorkersServer<WorkersService>>().await;
        let reflection = tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            .build_v1()?;
        Ok(self.services().add_service(healthy).add_service(reflection))
    }

    /// The services of `kagetsu.v1`.
    fn services(&self) -> Routes {
        let (hub, keeper, shutdown) = (&self.hub, &self.keeper, &self.shutdown);
        let hub = || Arc::clone(hub);
        let (keeper, stop) = (|| keeper.clone(), || shutdown.clone());
        let Limits {
            analyses,
            watches,
            exports,
            workers,
            beats,
            lookups,
        } = self.limits.clone();
        let analysis = AnalysisService {
            hub: hub(),
            shutdown: stop(),
            places: analyses,
        };
        let builds = BuildsService {
            hub: hub(),
            keeper: keeper(),
            shutdown: stop(),
            places: watches,
        };
        let library = keeper().map_or(Library::None, Library::Keeper);
        let books = BooksService {
            library,
            shutdown: stop(),
            places: exports,
            lookups,
        };
        let drained = self.drained.clone();
        let workers = WorkersService {
            hub: hub(),
            keeper: keeper(),
            shutdown: drained,
            places: workers,
            beats,
            refusals: Arc::default(),
        };
        Routes::new(AnalysisServer::new(analysis).max_decoding_message_size(MESSAGE_LIMIT))
            .add_service(BuildsServer::new(builds).max_decoding_message_size(MESSAGE_LIMIT))
            .add_service(BooksServer::new(books).max_decoding_message_size(MESSAGE_LIMIT))
            .add_service(WorkersServer::new(workers).max_decoding_message_size(MESSAGE_LIMIT))
    }
}

/// The state of a coordinator, for its HTTP API.
struct CoordinatorInfo {
    hub: Arc<Hub>,
    keeper: Option<KeeperDesk>,
}

impl ServerInfo for CoordinatorInfo {
    fn epoch(&self) -> Option<u64> {
        self.keeper.as_ref().map(|keeper| keeper.extent().entries())
    }

    fn positions(&self) -> u64 {
        self.keeper
            .as_ref()
            .map_or(0, |keeper| keeper.extent().positions())
    }

    fn is_cluster(&self) -> bool {
        true
    }

    fn record(&self, method: &str, route: &'static str, time: Duration) {
        self.hub.metrics().answered_http(method, route, time);
    }
}

/// Refuses requests of our programs that speak another protocol, in words; who does not say what it speaks may try.
fn understood(request: Request<()>) -> Result<Request<()>, Status> {
    if let Some(theirs) = ProtocolVersion::from_metadata(request.metadata()) {
        ProtocolVersion::ours().check(&theirs, "client")?;
    }
    Ok(request)
}

/// Hands out nothing more, and waits until what is at work is reported and on disk, or the grace is over. What is still at
/// work goes on at its worker for the next life of the coordinator.
async fn drain(hub: &Hub, kept: &CancellationToken, grace: Duration) {
    hub.retire();
    let done = async {
        while !hub.is_done() {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::select! {
        () = done => {}
        () = tokio::time::sleep(grace) => {}
        () = kept.cancelled() => {}
    }
}

fn join(keeper: JoinHandle<Result<()>>) -> Result<()> {
    keeper
        .join()
        .unwrap_or_else(|_| Err(anyhow!("the keeper of the book ended in a panic")))
}

impl Coordinator {
    /// The way to it.
    #[must_use]
    pub const fn connector(&self) -> &Connector {
        &self.connector
    }

    /// Waits for its end, after its shutdown.
    ///
    /// # Errors
    /// If the book could not be written.
    pub async fn end(self) -> Result<()> {
        self.serving.await?
    }
}

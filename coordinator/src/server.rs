use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use hyper_util::rt::TokioIo;
use kagetsu_book::{Book, BookOptions};
use kagetsu_proto::v1::analysis_server::AnalysisServer;
use kagetsu_proto::v1::books_server::BooksServer;
use kagetsu_proto::v1::builds_server::BuildsServer;
use kagetsu_proto::v1::workers_server::WorkersServer;
use kagetsu_proto::{
    ConnectError, Connector, DESCRIPTORS, IN_PROCESS, Listener, MESSAGE_LIMIT, ProtocolVersion,
    ResponseBudget, keepalive,
};
use kagetsu_reader::Source;
use kagetsu_search::Engine;
use kagetsu_verification::{Verification, VerificationOptions};
use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::server::NamedService;
use tonic::service::InterceptorLayer;
use tonic::service::Routes;
use tonic::transport::Endpoint;
use tonic::transport::server::Connected;
use tonic::{Request, Status};
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;
use tower::service_fn;

use crate::auth::{Authenticator, Principal, authenticate_http, authenticate_rpcs};
use crate::book::handle::{BookHandle, Workforce};
use crate::book::lost_replies::LostReplies;
use crate::book::writer::BookWriter;
use crate::cluster::shared::Cluster;
use crate::config::Config;
use crate::info::CoordinatorInfo;
use crate::replication::keeper::LeaseKeeper;
use crate::replication::layer::for_leader;
use crate::replication::leadership::Leadership;
use crate::replication::replica;
use crate::services::analysis::AnalysisService;
use crate::services::archive::Archive;
use crate::services::books::BooksService;
use crate::services::builds::BuildsService;
use crate::services::concurrency::ServiceLimits;
use crate::services::workers::WorkersService;
use crate::telemetry::monitor::{Monitor, metered};
use crate::verification::quarantine_file;

/// Services of a server that only reads, by the names that clients ask for.
const READ_SERVICES: [&str; 3] = [
    "kagetsu.v1.Books",
    "grpc.health.v1.Health",
    "grpc.reflection.v1.ServerReflection",
];

/// Time in which streams must end when the coordinator stops.
const STREAM_GRACE: Duration = Duration::from_secs(3);
/// Time between two checks of a stopping coordinator for open tasks.
const DRAIN_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Concurrent requests of one connection; a client waits before it sends more.
const MAX_STREAMS: u32 = 256;
/// Unread bytes of one stream.
const STREAM_WINDOW: u32 = 1 << 18;
/// Unread bytes of all streams of a connection: more than one stream's, so that a stream that waits
/// does not hold up the others.
const CONNECTION_WINDOW: u32 = 1 << 21;
/// Bytes in flight of a connection inside this process.
const PIPE_BYTES: usize = 64 << 10;

/// A coordinator with its book open, before it listens.
pub struct Server {
    cluster: Arc<Cluster>,
    book: Option<BookHandle>,
    config: Config,
    /// The book, which grows or is only read. Analyses of a book that is read are not kept.
    pub source: Option<Arc<Source>>,
    /// Whether it serves the book of `source` and nothing else: neither analyses nor workers.
    pub only_reads: bool,
    /// The compiled books that are offered for download over HTTP.
    pub archive: Option<Archive>,
    /// Identifies the callers; by default every caller may do everything.
    pub authenticator: Arc<Authenticator>,
    thread: Option<JoinHandle<Result<()>>>,
    shutdown: CancellationToken,
    /// Cancelled when the book writer ends.
    book_closed: CancellationToken,
    /// Cancelled when the workers' grace period after the shutdown is over.
    drained: CancellationToken,
    budget: ResponseBudget,
    limits: ServiceLimits,
    leadership: Leadership,
    /// The thread that keeps the lease of a book whose journal is in a database.
    lease_keeper: Option<JoinHandle<()>>,
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
        let book_closed = CancellationToken::new();
        let seed = RandomState::new().hash_one(0_u64);
        let mut options = VerificationOptions::new(config.verify_share, seed, Engine::NAME);
        options.has_end_tables = kagetsu_search::end_table_pieces() > 0;
        options.trusts_all = config.trusts_workers;
        let mut verification = Verification::new(options);
        let mut budget = ResponseBudget::default();
        budget.read_timeout = config.read_timeout.unwrap_or(budget.read_timeout);
        let growing = |book: BookHandle| Arc::new(Source::Growing(Box::new(book)));
        let server = |cluster, book: Option<BookHandle>, thread, leadership, lease_keeper| Self {
            cluster,
            source: book.clone().map(growing),
            book,
            config: config.clone(),
            only_reads: false,
            archive: None,
            authenticator: Authenticator::open(),
            thread,
            shutdown: shutdown.clone(),
            book_closed: book_closed.clone(),
            drained: CancellationToken::new(),
            budget,
            limits: ServiceLimits::default(),
            leadership,
            lease_keeper,
        };
        let Some(path) = &config.book else {
            let cluster = Cluster::new(None, verification, config.stall_timeout);
            return Ok(server(cluster, None, None, Leadership::new(true), None));
        };
        let options = BookOptions {
            create: true,
            cache_bytes: config.cache_mib << 20,
        };
        let (book, replica) = match replica::open(config, path, &options)? {
            Some((book, replica)) => (book, Some(replica)),
            None => {
                let (book, notices) = Book::open(path, &options)?;
                notices
                    .iter()
                    .for_each(|notice| tracing::warn!(book = %path.display(), "{notice}"));
                verification.restore(quarantine_file::read(path)?);
                (book, None)
            }
        };
        let leadership = match &replica {
            Some(replica) => replica.leadership.clone(),
            None => Leadership::new(true),
        };
        let (handle, end) = BookHandle::new();
        let cluster = Cluster::new(Some(handle.clone()), verification, config.stall_timeout);
        if !config.trusts_workers {
            cluster.start_claim_verifier()?;
        }
        let workforce: Arc<dyn Workforce> = Arc::clone(&cluster) as _;
        let weak = Arc::downgrade(&workforce);
        let writer = BookWriter::new(book, path.clone(), replica.clone(), end, weak)?;
        let closed = book_closed.clone().drop_guard();
        let run = move || {
            let _closed = closed;
            writer.run()
        };
        let thread = std::thread::Builder::new()
            .name("book writer".into())
            .spawn(run)?;
        let keeper = replica.map(|replica| {
            let keeper = LeaseKeeper {
                replica,
                book: handle.clone(),
                cluster: Arc::downgrade(&cluster),
                shutdown: shutdown.clone(),
                closed: book_closed.clone(),
            };
            keeper.start()
        });
        let keeper = keeper.transpose()?;
        Ok(server(
            cluster,
            Some(handle),
            Some(thread),
            leadership,
            keeper,
        ))
    }

    /// Serves a listener until the shutdown, or until the book can no longer be written.
    ///
    /// # Errors
    /// If the book could not be written; everything that was acknowledged is on disk.
    pub async fn listen(self, listener: Listener) -> Result<()> {
        self.serve(bounded_server(Some(keepalive())), listener)
            .await
    }

    /// Returns metrics and probes, to be served by HTTP.
    pub fn monitor(&self) -> axum::Router {
        authenticate_http(
            self.monitoring().routes().merge(self.monitoring().probes()),
            &self.authenticator,
        )
    }

    fn monitoring(&self) -> Monitor {
        Monitor {
            cluster: Arc::clone(&self.cluster),
            book: self.book.clone(),
            authenticator: Arc::clone(&self.authenticator),
            leadership: self.leadership.clone(),
            shutdown: self.shutdown.clone(),
            folder: self.config.book.clone().filter(|path| path.is_dir()),
        }
    }

    /// Returns the HTTP API and the page, to be served beside gRPC. Must be called in a tokio
    /// runtime.
    pub fn http(&self, access: kagetsu_http::AccessPolicy) -> axum::Router {
        let backend = kagetsu_http::Backend {
            services: self.authorized(self.services()),
            info: Arc::new(CoordinatorInfo {
                cluster: Arc::clone(&self.cluster),
                source: self.source.clone(),
                only_reads: self.only_reads,
                leadership: self.leadership.clone(),
            }),
            internal: Principal::internal().into(),
        };
        let mut router = kagetsu_http::router(backend, access.clone(), self.shutdown.clone());
        if !self.only_reads {
            router = router.merge(self.monitoring().routes());
        }
        if let Some(archive) = &self.archive {
            router = router.merge(archive.clone().routes());
        }
        let router = authenticate_http(router, &self.authenticator);
        kagetsu_http::with_browser_headers(router, &access)
    }

    /// Holds every rpc of `routes` to its permission.
    fn authorized(&self, routes: Routes) -> axum::Router {
        let routes = for_leader(routes.into_axum_router(), self.leadership.clone());
        authenticate_rpcs(routes, &self.authenticator)
    }

    /// Serves callers inside this process, who may do everything.
    #[must_use]
    pub fn embed(mut self) -> Coordinator {
        self.authenticator = Authenticator::open();
        let (sender, streams) = mpsc::channel::<DuplexStream>(16);
        let connector = Connector::by(IN_PROCESS, move || {
            let sender = sender.clone();
            async move {
                let gone =
                    |error: tonic::transport::Error| ConnectError::unreachable(IN_PROCESS, error);
                let connect = service_fn(move |_| {
                    let sender = sender.clone();
                    async move {
                        let (near, far) = tokio::io::duplex(PIPE_BYTES);
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
        let serving = tokio::spawn(self.serve(bounded_server(None), incoming));
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
        let lease_keeper = self.lease_keeper.take();
        let routes = self.authorized(self.routes().await?);
        let routes = Routes::from(metered(routes, self.cluster.metrics()));
        let authenticator = Arc::clone(&self.authenticator);
        let mut server = server
            .layer(InterceptorLayer::new(check_protocol))
            .layer(self.budget.clone().layer());
        let router = server.add_routes(routes);
        let cluster = Arc::clone(&self.cluster);
        let book = self.book.clone();
        let ends = self.shutdown.clone();
        let book_closed = self.book_closed.clone();
        let stop = async move {
            tokio::select! {
                () = ends.cancelled() => {}
                () = book_closed.cancelled() => ends.cancel(),
            }
        };
        let timer = Arc::clone(&cluster);
        let timer = tokio::spawn(async move { timer.run_timer().await });
        let watching = tokio::spawn(async move { authenticator.watch().await });
        if let Some(book) = book.clone() {
            // It ends with the shutdown, or when the book is closed.
            let lost = LostReplies::new(book, self.leadership.clone(), self.shutdown.clone());
            tokio::spawn(lost.run());
        }
        let mut serving = tokio::spawn(router.serve_with_incoming_shutdown(incoming, stop));
        let ended = tokio::select! {
            ended = &mut serving => Some(ended),
            () = self.shutdown.cancelled() => None,
        };
        if ended.is_none() && !self.book_closed.is_cancelled() {
            drain(&cluster, &self.book_closed, self.config.grace).await;
        }
        self.drained.cancel();
        cluster.disconnect_all();
        let ended = match ended {
            Some(ended) => ended
                .map_err(anyhow::Error::from)
                .and_then(|served| served.context("cannot serve")),
            // Streams that do not end by themselves are cut.
            None => tokio::time::timeout(STREAM_GRACE, serving)
                .await
                .map_or(Ok(()), |_| Ok(())),
        };
        timer.abort();
        watching.abort();
        let claim_verifier = cluster.stop_claim_verifier();
        if let Some(book) = book {
            book.stop();
        }
        if let Some(thread) = claim_verifier {
            // Its search is stopped, so it ends at once.
            let _ = tokio::task::spawn_blocking(|| thread.join()).await;
        }
        let closed = tokio::task::spawn_blocking(move || thread.map_or(Ok(()), join)).await?;
        if let Some(thread) = lease_keeper {
            // It gives the lease back once the book is closed.
            let _ = tokio::task::spawn_blocking(|| thread.join()).await;
        }
        closed.and(ended)
    }

    /// Returns all gRPC services of this server, with health and reflection.
    async fn routes(&self) -> Result<Routes> {
        let (health, healthy) = tonic_health::server::health_reporter();
        health.set_serving::<BooksServer<BooksService>>().await;
        let mut leads = self.leadership.watch();
        let is_leader = *leads.borrow_and_update();
        set_leading(&health, is_leader).await;
        tokio::spawn(async move {
            // The sender ends with the server.
            while leads.changed().await.is_ok() {
                let is_leader = *leads.borrow_and_update();
                set_leading(&health, is_leader).await;
            }
        });
        self.described(self.services().add_service(healthy))
    }

    /// Adds the services that describe the services, in both versions that clients know.
    fn described(&self, routes: Routes) -> Result<Routes> {
        let builder = || {
            let builder = tonic_reflection::server::Builder::configure()
                .register_encoded_file_descriptor_set(DESCRIPTORS)
                .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET);
            match self.only_reads {
                true => READ_SERVICES
                    .iter()
                    .fold(builder, |builder, name| builder.with_service_name(*name)),
                false => builder,
            }
        };
        Ok(routes
            .add_service(builder().build_v1()?)
            .add_service(builder().build_v1alpha()?))
    }

    /// Returns the services of `kagetsu.v1`.
    fn services(&self) -> Routes {
        let books = BooksService {
            source: self.source.clone(),
            growing: self.book.clone(),
            shutdown: self.shutdown.clone(),
            limits: self.limits.clone(),
        };
        let books = BooksServer::new(books).max_decoding_message_size(MESSAGE_LIMIT);
        if self.only_reads {
            return Routes::new(books);
        }
        let analysis = AnalysisService {
            cluster: Arc::clone(&self.cluster),
            shutdown: self.shutdown.clone(),
            limit: self.limits.analyses.clone(),
        };
        let builds = BuildsService {
            cluster: Arc::clone(&self.cluster),
            book: self.book.clone(),
            shutdown: self.shutdown.clone(),
            limit: self.limits.watches.clone(),
        };
        let workers = WorkersService {
            cluster: Arc::clone(&self.cluster),
            book: self.book.clone(),
            shutdown: self.drained.clone(),
            limit: self.limits.workers.clone(),
            heartbeat_limit: self.limits.heartbeats.clone(),
            config: self.config.clone(),
            refusals: Arc::default(),
        };
        Routes::new(AnalysisServer::new(analysis).max_decoding_message_size(MESSAGE_LIMIT))
            .add_service(BuildsServer::new(builds).max_decoding_message_size(MESSAGE_LIMIT))
            .add_service(books)
            .add_service(WorkersServer::new(workers).max_decoding_message_size(MESSAGE_LIMIT))
    }
}

/// Returns a server of gRPC with bounds for each connection. `keepalive` says how often a silent
/// one is probed, and how long the answer may take.
fn bounded_server(keepalive: Option<(Duration, Duration)>) -> tonic::transport::Server {
    let (every, patience) = keepalive.unzip();
    tonic::transport::Server::builder()
        .http2_keepalive_interval(every)
        .http2_keepalive_timeout(patience)
        .tcp_nodelay(true)
        .max_concurrent_streams(MAX_STREAMS)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
}

/// Says by the health service whether the services work that only the leader has.
async fn set_leading(health: &HealthReporter, is_leader: bool) {
    let status = if is_leader {
        ServingStatus::Serving
    } else {
        ServingStatus::NotServing
    };
    for service in [
        <AnalysisServer<AnalysisService> as NamedService>::NAME,
        <BuildsServer<BuildsService> as NamedService>::NAME,
        <WorkersServer<WorkersService> as NamedService>::NAME,
    ] {
        health.set_service_status(service, status).await;
    }
}

/// Refuses requests that name another protocol version. Requests that name none pass.
fn check_protocol(request: Request<()>) -> Result<Request<()>, Status> {
    if let Some(theirs) = ProtocolVersion::from_metadata(request.metadata()) {
        ProtocolVersion::ours().check(&theirs, "client")?;
    }
    Ok(request)
}

/// Hands out no more tasks, and waits until all that were handed out are reported and on disk, or
/// the grace period is over. The workers keep the rest for the next start of the coordinator.
async fn drain(cluster: &Cluster, book_closed: &CancellationToken, grace: Duration) {
    cluster.retire();
    let drained = async {
        while !cluster.is_drained() {
            tokio::time::sleep(DRAIN_POLL_INTERVAL).await;
        }
    };
    tokio::select! {
        () = drained => {}
        () = tokio::time::sleep(grace) => {}
        () = book_closed.cancelled() => {}
    }
}

/// Cancels a server once the system or a person asks the program to stop.
///
/// # Errors
/// If the handler of a signal cannot be installed.
pub fn stop_on_signals(shutdown: CancellationToken) -> Result<()> {
    let stop = kagetsu_proto::stop_requested()?;
    tokio::spawn(async move {
        stop.await;
        shutdown.cancel();
    });
    Ok(())
}

fn join(book_writer: JoinHandle<Result<()>>) -> Result<()> {
    book_writer
        .join()
        .unwrap_or_else(|_| Err(anyhow!("the book writer panicked")))
}

impl Coordinator {
    /// Returns the connector to it.
    #[must_use]
    pub const fn connector(&self) -> &Connector {
        &self.connector
    }

    /// Waits until it has stopped; cancel its shutdown token first.
    ///
    /// # Errors
    /// If the book could not be written.
    pub async fn end(self) -> Result<()> {
        self.serving.await?
    }
}

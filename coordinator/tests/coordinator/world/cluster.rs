//! A coordinator inside the test, and its clients.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use kagetsu_coordinator::{Config, Coordinator, Server};
use kagetsu_game::{Position, Variant};
use kagetsu_proto::v1::books_client::BooksClient;
use kagetsu_proto::v1::builds_client::BuildsClient;
use kagetsu_proto::v1::workers_client::WorkersClient;
use kagetsu_proto::{Access, AuthenticatedChannel, Connector, Listener, ServerTls, v1};
use kagetsu_tests::ReferenceEngine;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::{Code, Response, Status, Streaming};

use super::tokens::TokenFile;

/// The origin of a page that may read answers.
pub(crate) const PAGE_ORIGIN: &str = "https://example.org";

/// A coordinator, in memory or on a socket, and clients of it.
pub(crate) struct Cluster {
    /// The HTTP API.
    pub(crate) http: axum::Router,
    shutdown: CancellationToken,
    serving: Serving,
    /// The folder of a book that ends with the cluster.
    folder: Option<TempDir>,
}

enum Serving {
    Embedded(Coordinator),
    Listening {
        address: String,
        /// The settings of the test's clients.
        access: Access,
        task: JoinHandle<Result<()>>,
    },
}

impl Cluster {
    /// Starts a coordinator that trusts its workers.
    pub(crate) fn start(book: Option<&Path>) -> Self {
        let config = Config {
            book: book.map(Into::into),
            cache_mib: 8,
            trusts_workers: true,
            ..Config::default()
        };
        Self::start_as(&config)
    }

    /// Starts a coordinator with a new book, which ends with the cluster.
    pub(crate) fn with_book() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let cluster = Self::start(Some(folder.path()));
        Self {
            folder: Some(folder),
            ..cluster
        }
    }

    /// Starts the same coordinator and the build `test` of so many positions.
    pub(crate) async fn with_build(positions: u64) -> Self {
        let cluster = Self::with_book();
        cluster.start_build(build("test", positions)).await;
        cluster
    }

    /// Starts a coordinator of any configuration.
    pub(crate) fn start_as(config: &Config) -> Self {
        Self::embed(config, None)
    }

    /// Starts a coordinator whose HTTP API asks for tokens.
    pub(crate) fn guarded(config: &Config, tokens: &TokenFile) -> Self {
        Self::embed(config, Some(tokens))
    }

    fn embed(config: &Config, tokens: Option<&TokenFile>) -> Self {
        let (http, shutdown, server) = Self::server(config, tokens);
        Self {
            http,
            shutdown,
            serving: Serving::Embedded(server.embed()),
            folder: None,
        }
    }

    /// Starts a coordinator on a socket, with tokens and TLS where they are given. The clients of
    /// the cluster use `access`.
    pub(crate) async fn listen(
        config: &Config,
        tokens: Option<&TokenFile>,
        tls: Option<Arc<ServerTls>>,
        access: Access,
    ) -> Self {
        let (http, shutdown, server) = Self::server(config, tokens);
        let socket = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let listener = Listener::new(socket, tls, 4_096).expect("an address");
        let address = listener.address().to_string();
        Self {
            http,
            shutdown,
            serving: Serving::Listening {
                address,
                access,
                task: tokio::spawn(server.listen(listener)),
            },
            folder: None,
        }
    }

    fn server(
        config: &Config,
        tokens: Option<&TokenFile>,
    ) -> (axum::Router, CancellationToken, Server) {
        let shutdown = CancellationToken::new();
        let mut server = Server::start(config, shutdown.clone()).expect("a book");
        if let Some(tokens) = tokens {
            server.authenticator = Arc::clone(&tokens.authenticator);
        }
        let http = server.http(kagetsu_http::AccessPolicy {
            may_change: true,
            origins: vec![PAGE_ORIGIN.into()],
            ..kagetsu_http::AccessPolicy::default()
        });
        (http, shutdown, server)
    }

    /// Returns host and port of a coordinator on a socket.
    pub(crate) fn address(&self) -> &str {
        match &self.serving {
            Serving::Listening { address, .. } => address,
            Serving::Embedded(_) => panic!("the coordinator has no socket"),
        }
    }

    /// Returns a connector with these settings to a coordinator on a socket.
    pub(crate) fn connector_by(&self, access: &Access) -> Connector {
        let url = format!("http://{}", self.address());
        access.connector(&url).expect("an address")
    }

    fn connector(&self) -> Connector {
        match &self.serving {
            Serving::Embedded(coordinator) => coordinator.connector().clone(),
            Serving::Listening { access, .. } => self.connector_by(access),
        }
    }

    pub(crate) async fn channel(&self) -> AuthenticatedChannel {
        self.connector().connect().await.expect("it serves")
    }

    pub(crate) async fn builds(&self) -> BuildsClient<AuthenticatedChannel> {
        BuildsClient::new(self.channel().await)
    }

    pub(crate) async fn books(&self) -> BooksClient<AuthenticatedChannel> {
        BooksClient::new(self.channel().await)
    }

    /// Starts a real worker, which works until the cluster ends.
    pub(crate) fn worker(&self, name: &str) -> JoinHandle<Result<()>> {
        let config = kagetsu_worker::Config::embedded(name.into(), 1);
        tokio::spawn(kagetsu_worker::run(
            config,
            self.connector(),
            self.shutdown.clone(),
        ))
    }

    pub(crate) async fn workers(&self) -> Vec<v1::Worker> {
        let mut client = WorkersClient::new(self.channel().await);
        let request = v1::ListWorkersRequest { with_absent: true };
        accepted(client.list(request).await).workers
    }

    /// Starts a build.
    pub(crate) async fn start_build(&self, request: v1::StartRequest) {
        self.builds().await.start(request).await.expect("a job");
    }

    /// Returns a job as it is now.
    pub(crate) async fn job(&self, name: &str) -> v1::Job {
        accepted(self.builds().await.get(named(name)).await)
    }

    /// Waits for the end of a job, and returns it.
    pub(crate) async fn finished(&self, name: &str) -> v1::Job {
        let mut jobs = accepted(self.builds().await.watch(named(name)).await);
        let mut last = v1::Job::default();
        while let Some(job) = within(jobs.message())
            .await
            .expect("it is watched to its end")
        {
            last = job;
        }
        last
    }

    /// Returns the whole book.
    pub(crate) async fn export(&self) -> Vec<v1::Found> {
        let mut all = accepted(self.books().await.export(v1::ExportRequest {}).await);
        let mut found = Vec::new();
        while let Some(entry) = within(all.message()).await.expect("a whole export") {
            found.push(entry);
        }
        found
    }

    pub(crate) async fn end(self) {
        self.shutdown.cancel();
        let ended = match self.serving {
            Serving::Embedded(coordinator) => within(coordinator.end()).await,
            Serving::Listening { task, .. } => within(task).await.expect("no panic"),
        };
        ended.expect("a clean end");
        drop(self.folder);
    }
}

/// The limit only bounds a test that has failed.
pub(crate) async fn within<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(900), what)
        .await
        .expect("within a quarter of an hour")
}

pub(crate) fn position(line: &str) -> Position {
    Position::from_line(Variant::FREESTYLE_15, line).expect("a line")
}

/// Returns the name of a job as a message.
pub(crate) fn named(name: &str) -> v1::JobName {
    v1::JobName { name: name.into() }
}

/// A small build around the centre.
pub(crate) fn build(name: &str, positions: u64) -> v1::StartRequest {
    v1::StartRequest {
        name: name.into(),
        roots: vec![(&position("h8")).into()],
        exclude: Vec::new(),
        settings: json!({"depth": 2, "positions": positions}).to_string(),
    }
}

/// The same build with other settings; null takes one away.
pub(crate) fn with(build: v1::StartRequest, settings: &Value) -> v1::StartRequest {
    let mut all: Map<String, Value> = serde_json::from_str(&build.settings).expect("an object");
    all.extend(settings.as_object().expect("an object").clone());
    v1::StartRequest {
        settings: Value::Object(all).to_string(),
        ..build
    }
}

/// Compares each position of a build of two plies with the answer of one engine.
pub(crate) fn is_found_alone(book: Vec<v1::Found>) {
    let mut reference = ReferenceEngine::new(2);
    for found in book {
        let position = Position::try_from(&found.position.expect("named")).expect("a position");
        reference.finds(
            &position,
            &found
                .facts
                .expect("searched")
                .about(&position)
                .expect("legal moves"),
        );
    }
}

/// Returns the next message of a stream.
pub(crate) async fn next<T>(stream: &mut Streaming<T>) -> T {
    let message = within(stream.message()).await.expect("a stream");
    message.expect("a message")
}

/// Returns the message of an answer that is no refusal.
#[track_caller]
pub(crate) fn accepted<T>(response: Result<Response<T>, Status>) -> T {
    response.expect("an answer").into_inner()
}

/// Returns code and message of a refusal.
pub(crate) fn refused<T>(response: Result<Response<T>, Status>) -> (Code, String) {
    let status = response.err().expect("a refusal");
    (status.code(), status.message().to_string())
}

//! A coordinator inside the test.

use std::future::Future;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use kagetsu_coordinator::{Config, Coordinator, Server};
use kagetsu_game::{Position, Variant};
use kagetsu_proto::AuthenticatedChannel;
use kagetsu_proto::v1;
use kagetsu_proto::v1::books_client::BooksClient;
use kagetsu_proto::v1::builds_client::BuildsClient;
use kagetsu_proto::v1::workers_client::WorkersClient;
use kagetsu_tests::ReferenceEngine;
use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::{Code, Response, Status};

pub(crate) struct Cluster {
    /// Its door for HTTP.
    pub(crate) door: axum::Router,
    shutdown: CancellationToken,
    coordinator: Coordinator,
}

impl Cluster {
    pub(crate) fn start(book: Option<&Path>) -> Self {
        let config = Config {
            book: book.map(Into::into),
            cache_mib: 8,
            trusts_workers: true,
            ..Config::default()
        };
        Self::start_as(&config)
    }

    /// A coordinator that believes as much as it is told to.
    pub(crate) fn start_as(config: &Config) -> Self {
        let shutdown = CancellationToken::new();
        let server = Server::start(config, shutdown.clone()).expect("a book");
        let door = server.http(kagetsu_http::AccessPolicy {
            may_change: true,
            ..kagetsu_http::AccessPolicy::default()
        });
        Self {
            door,
            shutdown,
            coordinator: server.embed(),
        }
    }

    pub(crate) async fn channel(&self) -> AuthenticatedChannel {
        self.coordinator
            .connector()
            .connect()
            .await
            .expect("it serves")
    }

    pub(crate) async fn builds(&self) -> BuildsClient<AuthenticatedChannel> {
        BuildsClient::new(self.channel().await)
    }

    pub(crate) async fn books(&self) -> BooksClient<AuthenticatedChannel> {
        BooksClient::new(self.channel().await)
    }

    /// A real worker, which works until the cluster ends.
    pub(crate) fn worker(&self, name: &str) -> JoinHandle<Result<()>> {
        let config = kagetsu_worker::Config::embedded(name.into(), 1);
        tokio::spawn(kagetsu_worker::run(
            config,
            self.coordinator.connector().clone(),
            self.shutdown.clone(),
        ))
    }

    pub(crate) async fn workers(&self) -> Vec<v1::Worker> {
        let mut client = WorkersClient::new(self.channel().await);
        client
            .list(v1::ListWorkersRequest { with_absent: true })
            .await
            .expect("a list")
            .into_inner()
            .workers
    }

    /// How a job stands at its end.
    pub(crate) async fn finished(&self, name: &str) -> v1::Job {
        let request = v1::JobName { name: name.into() };
        let mut jobs = self
            .builds()
            .await
            .watch(request)
            .await
            .expect("a job")
            .into_inner();
        let mut last = v1::Job::default();
        while let Some(job) = within(jobs.message())
            .await
            .expect("it is watched to its end")
        {
            last = job;
        }
        last
    }

    /// The whole book.
    pub(crate) async fn export(&self) -> Vec<v1::Found> {
        let mut all = self
            .books()
            .await
            .export(v1::ExportRequest {})
            .await
            .expect("a book")
            .into_inner();
        let mut found = Vec::new();
        while let Some(entry) = within(all.message()).await.expect("a whole export") {
            found.push(entry);
        }
        found
    }

    pub(crate) async fn end(self) {
        self.shutdown.cancel();
        within(self.coordinator.end()).await.expect("a clean end");
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

/// The refusal, in its code and its words.
pub(crate) fn refused<T>(response: Result<Response<T>, Status>) -> (Code, String) {
    let status = response.err().expect("a refusal");
    (status.code(), status.message().to_string())
}

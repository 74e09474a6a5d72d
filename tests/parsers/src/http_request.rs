//! HTTP requests with any path, query and body: none causes an internal error.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use kagetsu_game::Position;
use kagetsu_http::{AccessPolicy, Backend, CallerExtensions, ServerInfo, router};
use kagetsu_proto::v1;
use kagetsu_proto::v1::books_server::{Books, BooksServer};
use tokio_stream::Empty;
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tonic::{Response, Status};
use tower::ServiceExt;

/// A book without a position.
struct EmptyBook;

fn found(position: &v1::Position) -> Result<v1::Found, Status> {
    Position::try_from(position).map_err(|error| Status::invalid_argument(error.to_string()))?;
    Ok(v1::Found::default())
}

#[tonic::async_trait]
impl Books for EmptyBook {
    type ExportStream = Empty<Result<v1::Found, Status>>;

    async fn lookup(
        &self,
        request: tonic::Request<v1::Position>,
    ) -> Result<Response<v1::Found>, Status> {
        found(&request.into_inner()).map(Response::new)
    }

    async fn lookup_many(
        &self,
        request: tonic::Request<v1::LookupManyRequest>,
    ) -> Result<Response<v1::LookupManyResponse>, Status> {
        let found: Result<_, _> = request.into_inner().positions.iter().map(found).collect();
        Ok(Response::new(v1::LookupManyResponse { found: found? }))
    }

    async fn pick(
        &self,
        _: tonic::Request<v1::PickRequest>,
    ) -> Result<Response<v1::Picked>, Status> {
        Err(Status::not_found("the book does not hold it"))
    }

    async fn export(
        &self,
        _: tonic::Request<v1::ExportRequest>,
    ) -> Result<Response<Self::ExportStream>, Status> {
        Ok(Response::new(tokio_stream::empty()))
    }

    async fn overview(
        &self,
        _: tonic::Request<v1::OverviewRequest>,
    ) -> Result<Response<v1::BookOverview>, Status> {
        Ok(Response::new(Default::default()))
    }

    async fn statistics(
        &self,
        _: tonic::Request<v1::StatisticsRequest>,
    ) -> Result<Response<v1::BookStatistics>, Status> {
        Ok(Response::new(Default::default()))
    }

    async fn standings(
        &self,
        _: tonic::Request<v1::StandingsRequest>,
    ) -> Result<Response<v1::StandingsResponse>, Status> {
        Ok(Response::new(Default::default()))
    }

    async fn suspects(
        &self,
        _: tonic::Request<v1::SuspectsRequest>,
    ) -> Result<Response<v1::SuspectsResponse>, Status> {
        Ok(Response::new(Default::default()))
    }

    async fn games(
        &self,
        _: tonic::Request<v1::GamesRequest>,
    ) -> Result<Response<v1::GamesResponse>, Status> {
        Ok(Response::new(Default::default()))
    }
}

struct ServerWithoutJobs;

impl ServerInfo for ServerWithoutJobs {
    fn epoch(&self) -> Option<u64> {
        Some(1)
    }

    fn positions(&self) -> u64 {
        0
    }

    fn is_cluster(&self) -> bool {
        false
    }
}

/// The paths below `/api/v1`.
const PATHS: [&str; 14] = [
    "books",
    "statistics",
    "priorities",
    "book",
    "tree",
    "transpositions",
    "pick",
    "position",
    "status",
    "jobs",
    "jobs/x",
    "jobs/x/pause",
    "workers",
    "analyses",
];
const METHODS: [&str; 4] = ["GET", "POST", "DELETE", "OPTIONS"];

/// Asserts that a request to the HTTP API causes no internal error.
pub fn http_request(input: (u8, u8, &str, &[u8])) {
    let (method, path, query, body) = input;
    let path = PATHS.get(usize::from(path)).copied().unwrap_or_default();
    let request = Request::builder()
        .method(METHODS[usize::from(method) % METHODS.len()])
        .uri(format!("/api/v1/{path}{query}"))
        .header("host", "127.0.0.1")
        .header("content-type", "application/json");
    // The HTTP library rejects an invalid address before the router sees it.
    let Ok(request) = request.body(Body::from(body.to_vec())) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let local = AccessPolicy::at("127.0.0.1:0".parse().expect("an address"));
    let status = runtime.block_on(async {
        let backend = Backend {
            services: Routes::new(BooksServer::new(EmptyBook)).into_axum_router(),
            info: Arc::new(ServerWithoutJobs),
            internal: CallerExtensions::default(),
        };
        let router = router(backend, local, CancellationToken::new());
        router.oneshot(request).await.expect("infallible").status()
    });
    let is_ours = matches!(
        status,
        StatusCode::NOT_IMPLEMENTED | StatusCode::SERVICE_UNAVAILABLE
    );
    assert!(!status.is_server_error() || is_ours, "{status}");
}

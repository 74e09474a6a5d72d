//! HTTP requests with any path, query and body: none causes an internal error.

use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::http::{Request, StatusCode};
use kagetsu_book::{Book, BookOptions};
use kagetsu_game::Position;
use kagetsu_http::{AccessPolicy, Backend, Caller, ServerInfo, router};
use kagetsu_proto::v1;
use kagetsu_proto::v1::books_server::{Books, BooksServer};
use kagetsu_reader::{RegisteredView, Source, VIEWS};
use tempfile::TempDir;
use tokio_stream::Empty;
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tonic::{Response, Status};
use tower::ServiceExt;

/// A book without a position.
struct EmptyBook {
    source: Source,
    _folder: TempDir,
}

static BOOK: LazyLock<EmptyBook> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let options = BookOptions::creating();
    let (book, _) = Book::open(folder.path(), &options).expect("a new book");
    book.close().expect("room for it");
    EmptyBook {
        source: kagetsu_reader::open_files(folder.path()).expect("the new book"),
        _folder: folder,
    }
});

/// The service of that book.
struct EmptyBooks;

#[tonic::async_trait]
impl Books for EmptyBooks {
    type ExportStream = Empty<Result<v1::Found, Status>>;

    async fn lookup(
        &self,
        request: tonic::Request<v1::Position>,
    ) -> Result<Response<v1::Found>, Status> {
        Position::try_from(&request.into_inner())
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
        Ok(Response::new(Default::default()))
    }

    async fn lookup_many(
        &self,
        _: tonic::Request<v1::LookupManyRequest>,
    ) -> Result<Response<v1::LookupManyResponse>, Status> {
        Ok(Response::new(Default::default()))
    }

    async fn annotate(
        &self,
        _: tonic::Request<v1::AnnotateRequest>,
    ) -> Result<Response<v1::ReadResponse>, Status> {
        Ok(Response::new(Default::default()))
    }

    async fn read(
        &self,
        request: tonic::Request<v1::ReadRequest>,
    ) -> Result<Response<v1::ReadResponse>, Status> {
        let v1::ReadRequest {
            view,
            position,
            options,
        } = request.into_inner();
        let position = position.as_ref().map(Position::try_from).transpose();
        let position = position.map_err(|error| Status::invalid_argument(error.to_string()))?;
        let view = RegisteredView::named(&view).map_err(|error| Status::from(&error))?;
        let json = view.read(&BOOK.source, position.as_ref(), &options);
        let json = json.map_err(|error| Status::from(&error))?;
        Ok(Response::new(v1::ReadResponse { json }))
    }

    async fn export(
        &self,
        _: tonic::Request<v1::ExportRequest>,
    ) -> Result<Response<Self::ExportStream>, Status> {
        Ok(Response::new(tokio_stream::empty()))
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

/// The paths below `/api/v1` besides those of the views.
const PATHS: [&str; 6] = [
    "position",
    "status",
    "jobs",
    "jobs/x",
    "jobs/x/pause",
    "analyses",
];
const METHODS: [&str; 4] = ["GET", "POST", "DELETE", "OPTIONS"];

/// Asserts that a request to the HTTP API causes no internal error.
pub fn http_request(input: (u8, u8, &str, &[u8])) {
    let (method, path, query, body) = input;
    let paths = VIEWS.iter().map(|view| view.name).chain(PATHS);
    let path = paths.clone().nth(usize::from(path)).unwrap_or_default();
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
            services: Routes::new(BooksServer::new(EmptyBooks)).into_axum_router(),
            info: Arc::new(ServerWithoutJobs),
            internal: Caller::default(),
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

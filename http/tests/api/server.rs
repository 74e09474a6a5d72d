//! A server of one book, whose epoch the test sets.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use kagetsu_book::{Book, BookOptions, BuildSpec, JobSpec};
use kagetsu_game::{Answer, Position, Verdict};
use kagetsu_http::{AccessPolicy, Backend, Caller, ServerInfo, router, with_browser_headers};
use kagetsu_proto::v1;
use kagetsu_proto::v1::books_server::{Books, BooksServer};
use kagetsu_reader::{RegisteredView, Source};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tonic::service::Routes;

/// A book that holds the position after h8: i9 is worth 12, h9 -3.
struct SmallBook {
    source: Source,
    _folder: TempDir,
}

fn held() -> (Position, Answer) {
    let position = kagetsu_builders::position("h8");
    let verdict = |name: &str, score| {
        let m = position.parse_move(name).expect("legal");
        let (m, verdict) = kagetsu_builders::opinion(m, score);
        (
            m,
            Verdict {
                depth: 4,
                nodes: 9,
                ..verdict
            },
        )
    };
    let answer = [verdict("i9", 12), verdict("h9", -3)].into_iter().collect();
    (position, answer)
}

impl SmallBook {
    /// A book that a job of this name grew by one position.
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let options = BookOptions::creating();
        let (mut book, _) = Book::open(folder.path(), &options).expect("a new book");
        let (position, answer) = held();
        let spec = JobSpec {
            name: "grow".into(),
            variant: position.variant(),
            roots: [position].into(),
            exclude: [].into(),
            build: BuildSpec {
                depth: Some(4),
                alpha: 2.0,
                ..BuildSpec::default()
            },
        };
        let job = book.create_job(&spec).expect("a job");
        let work = book.next_work(job, 1).expect("readable");
        book.finish(&work[0], &answer).expect("room for it");
        book.close().expect("room for it");
        Self {
            source: kagetsu_reader::open_files(folder.path()).expect("the new book"),
            _folder: folder,
        }
    }
}

#[tonic::async_trait]
impl Books for SmallBook {
    type ExportStream = tokio_stream::Empty<Result<v1::Found, Status>>;

    async fn lookup(
        &self,
        _: tonic::Request<v1::Position>,
    ) -> Result<tonic::Response<v1::Found>, Status> {
        Err(Status::unimplemented("the API reads views"))
    }

    async fn lookup_many(
        &self,
        _: tonic::Request<v1::LookupManyRequest>,
    ) -> Result<tonic::Response<v1::LookupManyResponse>, Status> {
        Err(Status::unimplemented("the API reads views"))
    }

    async fn annotate(
        &self,
        _: tonic::Request<v1::AnnotateRequest>,
    ) -> Result<tonic::Response<v1::ReadResponse>, Status> {
        Err(Status::unimplemented("the API reads views"))
    }

    async fn read(
        &self,
        request: tonic::Request<v1::ReadRequest>,
    ) -> Result<tonic::Response<v1::ReadResponse>, Status> {
        let request = request.into_inner();
        let position = request.position.as_ref().map(Position::try_from);
        let position = position.transpose().expect("a position");
        let view = RegisteredView::named(&request.view).expect("a view");
        let json = view.read(&self.source, position.as_ref(), &request.options);
        let json = json.map_err(|error| Status::from(&error))?;
        Ok(tonic::Response::new(v1::ReadResponse { json }))
    }

    async fn export(
        &self,
        _: tonic::Request<v1::ExportRequest>,
    ) -> Result<tonic::Response<Self::ExportStream>, Status> {
        Ok(tonic::Response::new(tokio_stream::empty()))
    }
}

/// The facts about the server.
struct Server {
    epoch: Arc<AtomicU64>,
}

impl ServerInfo for Server {
    fn epoch(&self) -> Option<u64> {
        Some(self.epoch.load(Ordering::Relaxed))
    }

    fn positions(&self) -> u64 {
        1
    }

    fn is_cluster(&self) -> bool {
        false
    }
}

/// Returns the API with this policy, and the epoch of its book.
pub(crate) fn start(access: AccessPolicy) -> (Router, Arc<AtomicU64>) {
    let epoch = Arc::new(AtomicU64::new(1));
    let server = Server {
        epoch: Arc::clone(&epoch),
    };
    let backend = Backend {
        services: Routes::new(BooksServer::new(SmallBook::new())).into_axum_router(),
        info: Arc::new(server),
        internal: Caller::default(),
    };
    let router = router(backend, access.clone(), CancellationToken::new());
    (with_browser_headers(router, &access), epoch)
}

//! A server of one book, whose epoch the test sets.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use kagetsu_game::{Answer, Position, Verdict};
use kagetsu_http::{
    AccessPolicy, Backend, CallerExtensions, ServerInfo, router, with_browser_headers,
};
use kagetsu_proto::v1;
use kagetsu_proto::v1::books_server::{Books, BooksServer};
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tonic::service::Routes;

/// A book that holds the position after h8: i9 is worth 12, h9 -3.
struct SmallBook;

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

fn found(requested: &v1::Position) -> Result<v1::Found, Status> {
    let requested = Position::try_from(requested)
        .map_err(|error| Status::invalid_argument(error.to_string()))?;
    let (position, answer) = held();
    let is_held = requested.key() == position.key();
    let answer = is_held.then(|| v1::Answer::from(&answer));
    Ok(v1::Found {
        position: None,
        answer: answer.clone(),
        facts: answer,
    })
}

#[tonic::async_trait]
impl Books for SmallBook {
    type ExportStream = tokio_stream::Empty<Result<v1::Found, Status>>;

    async fn lookup(
        &self,
        request: tonic::Request<v1::Position>,
    ) -> Result<tonic::Response<v1::Found>, Status> {
        found(&request.into_inner()).map(tonic::Response::new)
    }

    async fn lookup_many(
        &self,
        request: tonic::Request<v1::LookupManyRequest>,
    ) -> Result<tonic::Response<v1::LookupManyResponse>, Status> {
        let found: Result<_, _> = request.into_inner().positions.iter().map(found).collect();
        Ok(tonic::Response::new(v1::LookupManyResponse {
            found: found?,
        }))
    }

    async fn pick(
        &self,
        _: tonic::Request<v1::PickRequest>,
    ) -> Result<tonic::Response<v1::Picked>, Status> {
        let (_, answer) = held();
        let verdict = answer.verdicts().first().map(Into::into);
        Ok(tonic::Response::new(v1::Picked {
            verdict,
            rivals: Vec::new(),
        }))
    }

    async fn overview(
        &self,
        _: tonic::Request<v1::OverviewRequest>,
    ) -> Result<tonic::Response<v1::BookOverview>, Status> {
        let (position, _) = held();
        let root = v1::RootOverview {
            position: Some((&position).into()),
            positions: 1,
            is_more: false,
        };
        let held = v1::VariantOverview {
            variant: "freestyle-15".into(),
            positions: 1,
            roots: vec![root],
            all_roots: 1,
        };
        Ok(tonic::Response::new(v1::BookOverview {
            variants: vec![held],
        }))
    }

    async fn statistics(
        &self,
        _: tonic::Request<v1::StatisticsRequest>,
    ) -> Result<tonic::Response<v1::BookStatistics>, Status> {
        Ok(tonic::Response::new(v1::BookStatistics {
            positions: 1,
            by_depth: [(4, 1)].into(),
            ..v1::BookStatistics::default()
        }))
    }

    async fn suspects(
        &self,
        request: tonic::Request<v1::SuspectsRequest>,
    ) -> Result<tonic::Response<v1::SuspectsResponse>, Status> {
        let request = request.into_inner();
        let position = request.position.unwrap_or_default();
        let is_held = found(&position)?.answer.is_some();
        let suspect = v1::Suspect {
            position: Some(position),
            doubt: 2.5,
            depth: request.top,
            missing_plies: Some(2),
            ..v1::Suspect::default()
        };
        Ok(tonic::Response::new(v1::SuspectsResponse {
            is_held,
            suspects: vec![suspect],
        }))
    }

    async fn games(
        &self,
        request: tonic::Request<v1::GamesRequest>,
    ) -> Result<tonic::Response<v1::GamesResponse>, Status> {
        let request = request.into_inner();
        let game = v1::PlayedGame {
            position: request.position,
            ply: 0,
            result: request.result,
            first: request.player,
            event: request.event,
            ..v1::PlayedGame::default()
        };
        Ok(tonic::Response::new(v1::GamesResponse {
            games: 1,
            moves: Vec::new(),
            played: vec![game],
        }))
    }

    async fn standings(
        &self,
        request: tonic::Request<v1::StandingsRequest>,
    ) -> Result<tonic::Response<v1::StandingsResponse>, Status> {
        let (position, _) = held();
        let standing = |requested: &v1::Position| {
            let requested =
                Position::try_from(requested).map_err(|e| Status::internal(e.to_string()))?;
            let is_root = requested.key() == position.key();
            let job = v1::Standing {
                job: "grow".into(),
                priority: 0,
                state: v1::StandingState::Searched.into(),
            };
            let child = v1::Standing {
                priority: 1_500_000,
                state: v1::StandingState::Waiting.into(),
                ..job.clone()
            };
            let standings = match requested.moves().len() {
                1 if is_root => vec![job],
                2 => vec![child],
                _ => Vec::new(),
            };
            Ok(v1::PositionStandings { standings })
        };
        let positions = request.into_inner().positions;
        let positions: Result<_, Status> = positions.iter().map(standing).collect();
        Ok(tonic::Response::new(v1::StandingsResponse {
            positions: positions?,
        }))
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
        services: Routes::new(BooksServer::new(SmallBook)).into_axum_router(),
        info: Arc::new(server),
        internal: CallerExtensions::default(),
    };
    let router = router(backend, access.clone(), CancellationToken::new());
    (with_browser_headers(router, access), epoch)
}

//! The service that reads the book.

use std::pin::Pin;
use std::sync::Arc;

use kagetsu_api::{
    games_filter, games_message, overview_message, standings_message, suspect_message,
};
use kagetsu_book::Place;
use kagetsu_game::Position;
use kagetsu_proto::v1::books_server::Books;
use kagetsu_proto::{MESSAGE_LIMIT, ResponseSize, v1};
use prost::Message;
use tokio::sync::Semaphore;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};

use crate::book::registry::{BookRegistry, Found};
use crate::services::concurrency::ConcurrencyLimit;

/// Positions of one look-up.
const MAX_POSITIONS: usize = 1_024;
/// Elements of a list that does not say how many it wants.
const DEFAULT_LISTED: u32 = 20;
/// Positions that an export reads at a time.
const MAX_PAGE_POSITIONS: usize = 256;
/// Positions that a look-up reads at a time.
const PART: usize = 64;

pub(crate) struct BooksService {
    pub(crate) registry: BookRegistry,
    pub(crate) shutdown: CancellationToken,
    pub(crate) limit: ConcurrencyLimit,
    /// Look-ups of many positions at work: what they have found so far takes memory.
    pub(crate) lookups: Arc<Semaphore>,
}

#[tonic::async_trait]
impl Books for BooksService {
    async fn lookup(&self, request: Request<v1::Position>) -> Result<Response<v1::Found>, Status> {
        let (mut found, _) = self.find(&[request.into_inner()], 0).await?;
        Ok(Response::new(found.pop().unwrap_or_default()))
    }

    async fn lookup_many(
        &self,
        request: Request<v1::LookupManyRequest>,
    ) -> Result<Response<v1::LookupManyResponse>, Status> {
        let v1::LookupManyRequest { positions, top } = request.into_inner();
        check_count(positions.len())?;
        let _turn = self
            .lookups
            .acquire()
            .await
            .map_err(|_| Status::unavailable("the server is ending"))?;
        let (found, weight) = self.find(&positions, top).await?;
        let mut response = Response::new(v1::LookupManyResponse { found });
        response.extensions_mut().insert(weight);
        Ok(response)
    }

    async fn pick(
        &self,
        request: Request<v1::PickRequest>,
    ) -> Result<Response<v1::Picked>, Status> {
        let request = request.into_inner();
        let position = read_position(request.position.as_ref())?;
        let min_depth = u8::try_from(request.min_depth).unwrap_or(u8::MAX);
        let choice = kagetsu_book::Choice {
            temperature: request.temperature,
            seed: request.seed,
            min_depth,
            margin: None,
        };
        if !choice.is_possible() {
            return Err(Status::invalid_argument(
                "the temperature must be 0 or more",
            ));
        }
        let known = self.registry.lookup(vec![position]).await?.pop().flatten();
        let answer = known.map(|known| known.answer).unwrap_or_default();
        let verdict = choice.pick(&answer).map(Into::into);
        let verdict =
            verdict.ok_or_else(|| Status::not_found("the book has no move for the position"))?;
        let rivals = choice.rivals(&answer).into_iter().map(Into::into).collect();
        Ok(Response::new(v1::Picked {
            verdict: Some(verdict),
            rivals,
        }))
    }

    async fn overview(
        &self,
        _: Request<v1::OverviewRequest>,
    ) -> Result<Response<v1::BookOverview>, Status> {
        let overview = self.registry.overview().await?;
        Ok(Response::new(overview_message(&overview)))
    }

    async fn statistics(
        &self,
        _: Request<v1::StatisticsRequest>,
    ) -> Result<Response<v1::BookStatistics>, Status> {
        let _place = self.limit.take()?;
        Ok(Response::new(self.registry.statistics().await?))
    }

    async fn standings(
        &self,
        request: Request<v1::StandingsRequest>,
    ) -> Result<Response<v1::StandingsResponse>, Status> {
        let positions = request.into_inner().positions;
        check_count(positions.len())?;
        let positions: Result<Vec<_>, _> = positions.iter().map(Position::try_from).collect();
        let positions = positions.map_err(|error| Status::invalid_argument(error.to_string()))?;
        let standings = self.registry.standings(positions).await?;
        let positions = standings.iter().map(|all| standings_message(all)).collect();
        Ok(Response::new(v1::StandingsResponse { positions }))
    }

    async fn suspects(
        &self,
        request: Request<v1::SuspectsRequest>,
    ) -> Result<Response<v1::SuspectsResponse>, Status> {
        let v1::SuspectsRequest { position, top } = request.into_inner();
        let _place = self.limit.take()?;
        let root = read_position(position.as_ref())?;
        let found = self.registry.suspects(root, listed(top) as usize).await?;
        Ok(Response::new(v1::SuspectsResponse {
            is_held: found.is_some(),
            suspects: found.iter().flatten().map(suspect_message).collect(),
        }))
    }

    async fn games(
        &self,
        request: Request<v1::GamesRequest>,
    ) -> Result<Response<v1::GamesResponse>, Status> {
        let request = request.into_inner();
        let position = read_position(request.position.as_ref())?;
        let filter = games_filter(&request.player, &request.event, &request.result);
        let found = self.registry.games(position, filter, listed(request.top));
        Ok(Response::new(games_message(&found.await?)))
    }

    type ExportStream = Pin<Box<dyn Stream<Item = Result<v1::Found, Status>> + Send>>;

    async fn export(
        &self,
        _: Request<v1::ExportRequest>,
    ) -> Result<Response<Self::ExportStream>, Status> {
        let place = self.limit.take()?;
        // A book that cannot be exported is refused before the stream.
        self.registry.page(None, 0).await?;
        let registry = self.registry.clone();
        let (sender, stream) = mpsc::channel(MAX_PAGE_POSITIONS);
        let shutdown = self.shutdown.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = export(&registry, &sender) => {}
                () = shutdown.cancelled() => {}
            }
            drop(place);
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(stream))))
    }
}

/// Reads the position of a request.
fn read_position(position: Option<&v1::Position>) -> Result<Position, Status> {
    let missing = || Status::invalid_argument("the position is missing");
    let position = Position::try_from(position.ok_or_else(missing)?);
    position.map_err(|error| Status::invalid_argument(error.to_string()))
}

/// Returns the number of elements that a request wants of a list.
fn listed(top: u32) -> u32 {
    match top {
        0 => DEFAULT_LISTED,
        top => top.min(MAX_POSITIONS as u32),
    }
}

/// Checks the number of positions of one request.
fn check_count(found: usize) -> Result<(), Status> {
    if found > MAX_POSITIONS {
        return Err(Status::invalid_argument(format!(
            "{found} positions are more than {MAX_POSITIONS}: ask for fewer at a time"
        )));
    }
    Ok(())
}

/// Sends the book page by page; other requests are served in between. Answers that enter the book
/// meanwhile may be missing.
async fn export(registry: &BookRegistry, out: &mpsc::Sender<Result<v1::Found, Status>>) {
    let mut after: Option<Place> = None;
    loop {
        let page = match registry.page(after, MAX_PAGE_POSITIONS).await {
            Ok(page) => page,
            Err(status) => return drop(out.send(Err(status)).await),
        };
        let Some(last) = page.last() else { return };
        after = Some(Place::of(&last.position));
        for entry in page {
            let position = Some((&entry.position).into());
            let found = v1::Found {
                position,
                ..found(&Found::from(entry))
            };
            if out.send(Ok(found)).await.is_err() {
                return;
            }
        }
    }
}

fn found(known: &Found) -> v1::Found {
    v1::Found {
        position: None,
        answer: Some((&known.answer).into()),
        facts: known.facts.as_ref().map(Into::into),
    }
}

impl BooksService {
    /// Returns the book's answers on the `top` best moves of positions (0: all), and their size in
    /// a message. Other requests are served between its parts.
    async fn find(
        &self,
        positions: &[v1::Position],
        top: u32,
    ) -> Result<(Vec<v1::Found>, ResponseSize), Status> {
        let (mut all, mut bytes) = (Vec::with_capacity(positions.len()), 0);
        for part in positions.chunks(PART) {
            let part: Result<Vec<_>, _> = part.iter().map(Position::try_from).collect();
            let part = part.map_err(|error| Status::invalid_argument(error.to_string()))?;
            for mut known in self.registry.lookup(part).await? {
                if let Some(known) = known.as_mut().filter(|_| top > 0) {
                    known.keep(top as usize);
                }
                let found = known.as_ref().map(found).unwrap_or_default();
                let length = found.encoded_len();
                bytes += 1 + prost::length_delimiter_len(length) + length;
                if bytes > MESSAGE_LIMIT {
                    let (some, requested) = (all.len() + 1, positions.len());
                    return Err(Status::resource_exhausted(format!(
                        "what the book knows of {some} of the {requested} positions takes more than the {MESSAGE_LIMIT} bytes \
                         of a message: ask for fewer at a time"
                    )));
                }
                all.push(found);
            }
        }
        Ok((all, ResponseSize(bytes)))
    }
}

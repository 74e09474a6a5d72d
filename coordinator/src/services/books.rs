//! The service that reads the book.

use std::pin::Pin;
use std::sync::Arc;

use kagetsu_api::{AnnotationJson, AnnotationsJson};
use kagetsu_book::{Annotation, Day, Entry, Place};
use kagetsu_game::Position;
use kagetsu_proto::v1::books_server::Books;
use kagetsu_proto::{MESSAGE_LIMIT, ResponseSize, invalid, v1};
use kagetsu_reader::{Found, RegisteredView, Source};
use prost::Message;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};

use crate::book::handle::BookHandle;
use crate::services::concurrency::ServiceLimits;
use crate::services::views::{blocking, view_status};

/// Positions of one look-up.
const MAX_POSITIONS: usize = 1_024;
/// Positions that an export reads at a time.
const MAX_PAGE_POSITIONS: usize = 256;
/// Positions that a look-up reads at a time.
const PART: usize = 64;

pub(crate) struct BooksService {
    /// The book; `None` for a coordinator without one.
    pub(crate) source: Option<Arc<Source>>,
    /// The way to the writer of a growing book, for look-ups.
    pub(crate) growing: Option<BookHandle>,
    pub(crate) shutdown: CancellationToken,
    pub(crate) limits: ServiceLimits,
}

impl BooksService {
    fn source(&self) -> Result<Arc<Source>, Status> {
        self.source.clone().ok_or_else(|| {
            Status::failed_precondition("this coordinator has no book; start it with --book DIR")
        })
    }
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
            .limits
            .lookups
            .acquire()
            .await
            .map_err(|_| Status::unavailable("the server is ending"))?;
        let (found, weight) = self.find(&positions, top).await?;
        let mut response = Response::new(v1::LookupManyResponse { found });
        response.extensions_mut().insert(weight);
        Ok(response)
    }

    async fn read(
        &self,
        request: Request<v1::ReadRequest>,
    ) -> Result<Response<v1::ReadResponse>, Status> {
        let v1::ReadRequest {
            view,
            position,
            options,
        } = request.into_inner();
        let view = RegisteredView::named(&view).map_err(|error| view_status(&error))?;
        let position = position.as_ref().map(read_position).transpose()?;
        let source = self.source()?;
        let epoch = source.version();
        let json = match view.is_brief {
            true => blocking(move || view.read(&source, position.as_ref(), &options)).await,
            false => {
                self.limits
                    .views
                    .read(view, source, epoch, position, options)
                    .await
            }
        };
        let response = v1::ReadResponse { json: json? };
        let size = ResponseSize(response.encoded_len());
        let mut response = Response::new(response);
        response.extensions_mut().insert(size);
        Ok(response)
    }

    async fn annotate(
        &self,
        request: Request<v1::AnnotateRequest>,
    ) -> Result<Response<v1::ReadResponse>, Status> {
        let request = request.into_inner();
        let position = request.position.unwrap_or_default();
        let position = read_position(&position)?;
        let lists = [&request.written, &request.taken_back];
        let [written, taken_back] = lists.map(|json| read_annotations(&position, json));
        let annotations = [written?, taken_back?];
        let book = self.growing.as_ref().ok_or_else(|| {
            Status::failed_precondition(
                "this server only reads its book: `kagetsu open` and a coordinator with --book \
                 write into it",
            )
        })?;
        book.annotate(position.clone(), annotations).await?;
        let view = RegisteredView::named("annotations").map_err(|error| view_status(&error))?;
        let source = self.source()?;
        let json = blocking(move || view.read(&source, Some(&position), "{}")).await?;
        Ok(Response::new(v1::ReadResponse { json }))
    }

    type ExportStream = Pin<Box<dyn Stream<Item = Result<v1::Found, Status>> + Send>>;

    async fn export(
        &self,
        _: Request<v1::ExportRequest>,
    ) -> Result<Response<Self::ExportStream>, Status> {
        let place = self.limits.exports.take()?;
        // A book that cannot be exported is refused before the stream.
        let source = self.source()?;
        page(&source, None, 0).await?;
        let (sender, stream) = mpsc::channel(MAX_PAGE_POSITIONS);
        let shutdown = self.shutdown.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = export(&source, &sender) => {}
                () = shutdown.cancelled() => {}
            }
            drop(place);
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(stream))))
    }
}

/// Reads the position of a request.
fn read_position(position: &v1::Position) -> Result<Position, Status> {
    let position = Position::try_from(position);
    position.map_err(invalid)
}

/// Reads annotations of a request; those without a date are of today.
fn read_annotations(position: &Position, json: &str) -> Result<Vec<Annotation>, Status> {
    if json.is_empty() {
        return Ok(Vec::new());
    }
    let read = serde_json::from_str::<AnnotationsJson>(json).map_err(invalid)?;
    let today = Day::today().0;
    let notes = read.annotations.iter().map(|note| {
        let note = note.read(position).map_err(invalid)?;
        let day = if note.day == 0 { today } else { note.day };
        Ok(Annotation { day, ..note })
    });
    notes.collect()
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
async fn export(source: &Arc<Source>, out: &mpsc::Sender<Result<v1::Found, Status>>) {
    let mut after: Option<Place> = None;
    loop {
        let page = match page(source, after, MAX_PAGE_POSITIONS).await {
            Ok(page) => page,
            Err(status) => return drop(out.send(Err(status)).await),
        };
        let Some(last) = page.last() else { break };
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
    let source = Arc::clone(source);
    let annotated = blocking(move || {
        let known = source.inspect(|book| book.annotated().collect::<Result<Vec<_>, _>>())?;
        Ok(known.unwrap_or_default())
    });
    match annotated.await {
        Err(status) => drop(out.send(Err(status)).await),
        Ok(annotated) => {
            for (position, notes) in annotated {
                let annotations = notes
                    .iter()
                    .map(|note| AnnotationJson::new(&position, note));
                let annotations = annotations.collect();
                let json = serde_json::to_string(&AnnotationsJson { annotations });
                let found = v1::Found {
                    position: Some((&position).into()),
                    annotations: json.unwrap_or_default(),
                    ..v1::Found::default()
                };
                if out.send(Ok(found)).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Returns the next `most` entries after a place.
async fn page(
    source: &Arc<Source>,
    after: Option<Place>,
    most: usize,
) -> Result<Vec<Entry>, Status> {
    let source = Arc::clone(source);
    blocking(move || source.page(after, most)).await
}

fn found(known: &Found) -> v1::Found {
    v1::Found {
        position: None,
        answer: Some((&known.answer).into()),
        facts: known.facts.as_ref().map(Into::into),
        annotations: String::new(),
    }
}

/// Keeps the `top` best moves.
fn keep(known: &mut Found, top: usize) {
    known.answer.keep_best(top);
    if let Some(facts) = &mut known.facts {
        facts.retain(|m, _| known.answer.get(m).is_some());
    }
}

impl BooksService {
    async fn look_up(&self, positions: Vec<Position>) -> Result<Vec<Option<Found>>, Status> {
        if let Some(book) = &self.growing {
            let found = book.lookup(positions).await?.into_iter();
            return Ok(found.map(|entry| entry.map(Found::from)).collect());
        }
        let source = self.source()?;
        let read = move || Ok(source.find_all(&positions)?);
        if self.is_in_memory() {
            return read().map_err(|error| view_status(&error));
        }
        blocking(read).await
    }

    /// Whether a look-up does not wait for a disk.
    fn is_in_memory(&self) -> bool {
        let source = self.source.as_deref();
        matches!(source, Some(Source::File(_) | Source::Certificate(_)))
    }

    /// Returns the book's answers on the `top` best moves of positions (0: all), and their size in
    /// a message. Other requests are served between its parts.
    async fn find(
        &self,
        positions: &[v1::Position],
        top: u32,
    ) -> Result<(Vec<v1::Found>, ResponseSize), Status> {
        let (mut all, mut bytes) = (Vec::with_capacity(positions.len()), 0);
        for part in positions.chunks(PART) {
            let part: Result<Vec<_>, _> = part.iter().map(read_position).collect();
            for mut known in self.look_up(part?).await? {
                if let Some(known) = known.as_mut().filter(|_| top > 0) {
                    keep(known, top as usize);
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

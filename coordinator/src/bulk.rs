//! Large answers that wait to be read: so many bytes at a time, and not for ever. Who does not read holds no memory.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{HeaderMap, Response};
use http_body::{Body as _, Frame, SizeHint};
use prost::bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;
use tonic::Status;
use tonic::body::Body;
use tower::util::AndThenLayer;

/// Answers of fewer bytes are not counted.
const SMALL: usize = 64 << 10;
/// KiB of answers that may wait to be read, of all clients together.
const MOST_KIB: usize = 64 << 10;
/// How long an answer may wait to be read.
const PATIENCE: Duration = Duration::from_secs(30);
/// When to come again where too much waits.
const COME_AGAIN: Duration = Duration::from_secs(5);
/// Bytes that are handed to a connection at a time: it keeps what it was handed until the client takes it.
const PIECE: usize = 16 << 10;

/// How many bytes an answer has; its service says so where they may be many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weight(pub(crate) usize);

/// Puts a bound before services of gRPC: their answers of much weight hold places until they are read.
pub(crate) fn layer() -> AndThenLayer<impl Fn(Response<Body>) -> Bounding + Clone> {
    let shelf = Shelf::default();
    AndThenLayer::new(move |response| -> Bounding {
        let shelf = shelf.clone();
        Box::pin(async move { Ok(shelf.bound(response).await) })
    })
}

/// An answer that is about to get its place.
pub(crate) type Bounding = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

/// Where answers wait.
#[derive(Clone, Debug)]
struct Shelf {
    free: Arc<Semaphore>,
    patience: Duration,
}

impl Default for Shelf {
    fn default() -> Self {
        Self { free: Arc::new(Semaphore::new(MOST_KIB)), patience: PATIENCE }
    }
}

impl Shelf {
    /// The answer, which holds its place until it is read, or was not read for too long; a refusal where there is none.
    async fn bound(&self, response: Response<Body>) -> Response<Body> {
        let weight = response.extensions().get::<Weight>().map_or(0, |weight| weight.0);
        if weight <= SMALL {
            return response;
        }
        let kib = u32::try_from(weight.div_ceil(1 << 10)).unwrap_or(u32::MAX);
        let Ok(place) = Arc::clone(&self.free).try_acquire_many_owned(kib) else {
            let why = format!(
                "{} MiB of answers wait to be read, no more at a time; come again in {} s",
                MOST_KIB >> 10,
                COME_AGAIN.as_secs()
            );
            return kagetsu_proto::busy(why, COME_AGAIN).into_http();
        };
        // As bytes it takes a fourth of the memory that it takes as a message, which is let go here.
        let (head, mut body) = response.into_parts();
        let data = match poll_fn(|context| Pin::new(&mut body).poll_frame(context))
            .await
            .map(|first| first.map(Frame::into_data))
        {
            Some(Ok(Ok(data))) => data,
            Some(Err(status)) => return status.into_http(),
            Some(Ok(Err(_))) | None => return Status::internal("an answer without content").into_http(),
        };
        Response::from_parts(head, Body::new(Waiting::new(Rest { body, data, _place: place }, self.patience)))
    }
}

/// What is still to be read of an answer.
struct Rest {
    body: Body,
    /// What comes before it.
    data: Bytes,
    _place: OwnedSemaphorePermit,
}

/// An answer that is read piece by piece.
struct Waiting {
    /// Nothing any more when it was not read for too long.
    rest: Arc<Mutex<Option<Rest>>>,
    /// Lets it go then. A client that does not read does not ask, either.
    clock: JoinHandle<()>,
    is_over: bool,
}

fn lock(rest: &Mutex<Option<Rest>>) -> MutexGuard<'_, Option<Rest>> {
    rest.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Waiting {
    fn new(rest: Rest, patience: Duration) -> Self {
        let rest = Arc::new(Mutex::new(Some(rest)));
        let late = Arc::clone(&rest);
        let clock = tokio::spawn(async move {
            tokio::time::sleep(patience).await;
            lock(&late).take();
        });
        Self { rest, clock, is_over: false }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        lock(&self.rest).take();
        self.clock.abort();
    }
}

impl http_body::Body for Waiting {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let mut held = lock(&self.rest);
        let Some(Rest { body, data, .. }) = held.as_mut() else {
            drop(held);
            self.is_over = true;
            let mut trailers = HeaderMap::new();
            let status = Status::deadline_exceeded("the answer was not read in time");
            return Poll::Ready(Some(status.add_header(&mut trailers).map(|()| Frame::trailers(trailers))));
        };
        if data.is_empty() {
            match Pin::new(body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(all) => *data = all,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                Poll::Ready(None) => {
                    held.take();
                    drop(held);
                    self.is_over = true;
                    return Poll::Ready(None);
                }
                other => return other,
            }
        }
        // A copy: a part of the whole would keep all of it.
        let piece = data.split_to(data.len().min(PIECE));
        Poll::Ready(Some(Ok(Frame::data(Bytes::copy_from_slice(&piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.is_over
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;

    const MANY: usize = 1 << 20;

    fn answer() -> Response<Body> {
        let whole = Bytes::from([3, 1, 4, 1, 5, 9, 2, 6].repeat(MANY / 8));
        let frames = tokio_stream::once(Ok::<_, Status>(Frame::data(whole)));
        let mut response = Response::new(Body::new(StreamBody(Box::pin(frames))));
        response.extensions_mut().insert(Weight(MANY));
        response
    }

    struct StreamBody(Pin<Box<dyn tokio_stream::Stream<Item = Result<Frame<Bytes>, Status>> + Send>>);

    impl http_body::Body for StreamBody {
        type Data = Bytes;
        type Error = Status;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
            self.0.as_mut().poll_next(context)
        }
    }

    async fn next(body: &mut Body) -> Option<Result<Frame<Bytes>, Status>> {
        poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await
    }

    #[tokio::test]
    async fn who_reads_gets_all_piece_by_piece_and_the_place_is_free_again() {
        let shelf = Shelf::default();
        let mut body = shelf.bound(answer()).await.into_body();
        assert_eq!(shelf.free.available_permits(), MOST_KIB - MANY / 1_024);
        let mut read = Vec::new();
        while let Some(frame) = next(&mut body).await {
            let data = frame.expect("no error").into_data().expect("data");
            assert!(data.len() <= PIECE);
            read.extend_from_slice(&data);
        }
        assert_eq!(read, [3, 1, 4, 1, 5, 9, 2, 6].repeat(MANY / 8));
        assert_eq!(shelf.free.available_permits(), MOST_KIB);
    }

    #[tokio::test]
    async fn who_does_not_read_loses_the_answer_and_who_comes_when_all_is_taken_comes_again() {
        let patience = Duration::from_secs(2);
        let shelf = Shelf { patience, ..Shelf::default() };
        let mut waiting = Vec::new();
        for _ in 0..64 {
            waiting.push(shelf.bound(answer()).await);
        }
        let refused = Status::from_header_map(shelf.bound(answer()).await.headers()).expect("a refusal");
        assert_eq!(refused.code(), Code::ResourceExhausted);
        assert_eq!(kagetsu_proto::pushback(&refused), Some(COME_AGAIN));
        drop(waiting.pop());
        assert_eq!(shelf.free.available_permits(), MANY / 1_024, "who goes leaves its place");
        let mut late = waiting.pop().expect("63 wait").into_body();
        assert!(next(&mut late).await.is_some_and(|frame| frame.is_ok_and(|frame| frame.is_data())));
        while shelf.free.available_permits() < MOST_KIB {
            tokio::time::sleep(patience).await;
        }
        let end = next(&mut late).await.expect("an end").expect("in words");
        let status = Status::from_header_map(end.trailers_ref().expect("trailers")).expect("a status");
        assert_eq!(status.code(), Code::DeadlineExceeded);
        assert!(next(&mut late).await.is_none());
    }
}

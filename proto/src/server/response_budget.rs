//! Large answers that wait to be read: so many bytes at a time, and not for ever. Who does not read holds no memory.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{HeaderMap, Response};
use http_body::{Body, Frame, SizeHint};
use prost::bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;
use tonic::Status;
use tower::util::AndThenLayer;

use crate::retry_info::busy;

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

/// How many bytes an answer of gRPC has; its service says so where they may be many.
#[derive(Clone, Copy, Debug)]
pub struct Weight(pub usize);

/// Where large answers wait. Small ones it lets pass.
#[derive(Clone, Debug)]
pub struct Unread {
    free: Arc<Semaphore>,
    patience: Duration,
}

/// An answer that is about to get its place.
pub type Bounding<B> = Pin<Box<dyn Future<Output = Result<Response<B>, Infallible>> + Send>>;

impl Default for Unread {
    fn default() -> Self {
        Self {
            free: Arc::new(Semaphore::new(MOST_KIB)),
            patience: PATIENCE,
        }
    }
}

impl Unread {
    /// Puts it before services of gRPC: their answers of much [`Weight`] hold places until they are read.
    pub fn layer(
        self,
    ) -> AndThenLayer<impl Fn(Response<tonic::body::Body>) -> Bounding<tonic::body::Body> + Clone>
    {
        AndThenLayer::new(move |response| -> Bounding<tonic::body::Body> {
            let unread = self.clone();
            Box::pin(async move { Ok(unread.bound_grpc(response).await) })
        })
    }

    async fn bound_grpc(
        &self,
        response: Response<tonic::body::Body>,
    ) -> Response<tonic::body::Body> {
        let weight = response
            .extensions()
            .get::<Weight>()
            .map_or(0, |weight| weight.0);
        let (head, body) = response.into_parts();
        let late = || {
            let mut trailers = HeaderMap::new();
            let status = Status::deadline_exceeded("the answer was not read in time");
            status
                .add_header(&mut trailers)
                .map(|()| Frame::trailers(trailers))
        };
        match self.bound(weight, body, late).await {
            Ok(Ok(waiting)) => Response::from_parts(head, tonic::body::Body::new(waiting)),
            Ok(Err(body)) => Response::from_parts(head, body),
            Err(refusal) => refusal.into_http(),
        }
    }

    /// The content of an answer, which holds its place until it is read, or was not read for too long: then it ends with what
    /// is said `late`. Or the content as it was, where it is small.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED` with the time after which to come again, if there is no place; `INTERNAL`, if there is no content.
    pub async fn bound<B>(
        &self,
        weight: usize,
        mut body: B,
        late: fn() -> Result<Frame<Bytes>, B::Error>,
    ) -> Result<Result<Waiting<B>, B>, Status>
    where
        B: Body<Data = Bytes> + Unpin + Send + 'static,
        B::Error: ToString,
    {
        if weight <= SMALL {
            return Ok(Err(body));
        }
        let kib = u32::try_from(weight.div_ceil(1 << 10)).unwrap_or(u32::MAX);
        let Ok(place) = Arc::clone(&self.free).try_acquire_many_owned(kib) else {
            let why = format!(
                "{} MiB of answers wait to be read, no more at a time; come again in {} s",
                MOST_KIB >> 10,
                COME_AGAIN.as_secs()
            );
            return Err(busy(why, COME_AGAIN));
        };
        // As bytes it takes a fourth of the memory that it takes as a message, which is let go here.
        match poll_fn(|context| Pin::new(&mut body).poll_frame(context))
            .await
            .map(|first| first.map(Frame::into_data))
        {
            Some(Ok(Ok(data))) => Ok(Ok(Waiting::new(
                Rest {
                    body,
                    data,
                    _place: place,
                },
                self.patience,
                late,
            ))),
            Some(Err(error)) => Err(Status::internal(error.to_string())),
            Some(Ok(Err(_))) | None => Err(Status::internal("an answer without content")),
        }
    }
}

/// What is still to be read of an answer.
#[derive(Debug)]
struct Rest<B> {
    body: B,
    /// What comes before it.
    data: Bytes,
    _place: OwnedSemaphorePermit,
}

/// An answer that is read piece by piece.
#[derive(Debug)]
pub struct Waiting<B: Body> {
    /// Nothing any more when it was not read for too long.
    rest: Arc<Mutex<Option<Rest<B>>>>,
    late: fn() -> Result<Frame<Bytes>, B::Error>,
    /// Lets it go then. A client that does not read does not ask, either.
    clock: JoinHandle<()>,
    is_over: bool,
}

fn lock<T>(rest: &Mutex<Option<T>>) -> MutexGuard<'_, Option<T>> {
    rest.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<B: Body + Send + 'static> Waiting<B> {
    fn new(
        rest: Rest<B>,
        patience: Duration,
        late: fn() -> Result<Frame<Bytes>, B::Error>,
    ) -> Self {
        let rest = Arc::new(Mutex::new(Some(rest)));
        let held = Arc::clone(&rest);
        let clock = tokio::spawn(async move {
            tokio::time::sleep(patience).await;
            lock(&held).take();
        });
        Self {
            rest,
            late,
            clock,
            is_over: false,
        }
    }
}

impl<B: Body> Drop for Waiting<B> {
    fn drop(&mut self) {
        lock(&self.rest).take();
        self.clock.abort();
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Waiting<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let mut held = lock(&self.rest);
        let Some(Rest { body, data, .. }) = held.as_mut() else {
            drop(held);
            self.is_over = true;
            return Poll::Ready(Some((self.late)()));
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
    use http_body::Body as _;
    use tonic::Code;
    use tonic::body::Body;

    use super::*;
    use crate::retry_info::pushback;

    const MANY: usize = 1 << 20;

    fn answer() -> Response<Body> {
        let whole = Bytes::from([3, 1, 4, 1, 5, 9, 2, 6].repeat(MANY / 8));
        let frames = tokio_stream::once(Ok::<_, Status>(Frame::data(whole)));
        let mut response = Response::new(Body::new(StreamBody(Box::pin(frames))));
        response.extensions_mut().insert(Weight(MANY));
        response
    }

    struct StreamBody(
        Pin<Box<dyn tokio_stream::Stream<Item = Result<Frame<Bytes>, Status>> + Send>>,
    );

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
        let unread = Unread::default();
        let mut body = unread.bound_grpc(answer()).await.into_body();
        assert_eq!(unread.free.available_permits(), MOST_KIB - MANY / 1_024);
        let mut read = Vec::new();
        while let Some(frame) = next(&mut body).await {
            let data = frame.expect("no error").into_data().expect("data");
            assert!(data.len() <= PIECE);
            read.extend_from_slice(&data);
        }
        assert_eq!(read, [3, 1, 4, 1, 5, 9, 2, 6].repeat(MANY / 8));
        assert_eq!(unread.free.available_permits(), MOST_KIB);
    }

    #[tokio::test]
    async fn who_does_not_read_loses_the_answer_and_who_comes_when_all_is_taken_comes_again() {
        let patience = Duration::from_secs(2);
        let unread = Unread {
            patience,
            ..Unread::default()
        };
        let mut waiting = Vec::new();
        for _ in 0..64 {
            waiting.push(unread.bound_grpc(answer()).await);
        }
        let refused = Status::from_header_map(unread.bound_grpc(answer()).await.headers())
            .expect("a refusal");
        assert_eq!(refused.code(), Code::ResourceExhausted);
        assert_eq!(pushback(&refused), Some(COME_AGAIN));
        drop(waiting.pop());
        assert_eq!(
            unread.free.available_permits(),
            MANY / 1_024,
            "who goes leaves its place"
        );
        let mut late = waiting.pop().expect("63 wait").into_body();
        assert!(
            next(&mut late)
                .await
                .is_some_and(|frame| frame.is_ok_and(|frame| frame.is_data()))
        );
        while unread.free.available_permits() < MOST_KIB {
            tokio::time::sleep(patience).await;
        }
        let end = next(&mut late).await.expect("an end").expect("in words");
        let status =
            Status::from_header_map(end.trailers_ref().expect("trailers")).expect("a status");
        assert_eq!(status.code(), Code::DeadlineExceeded);
        assert!(next(&mut late).await.is_none());
    }
}

//! A bound on the memory of large responses that clients have not read yet.

use std::sync::Arc;
use std::time::Duration;

use http::Response;
use http_body::{Body, Frame};
use http_body_util::channel::{Channel, Sender};
use http_body_util::{BodyExt, Either};
use prost::bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::Status;
use tower::util::MapResponseLayer;

use crate::retry_info::exhausted;

/// Responses of at most this many bytes are not counted.
const MAX_UNCOUNTED_BYTES: usize = 64 << 10;
/// KiB of counted responses that may wait to be read, of all clients together.
const MAX_UNREAD_KIB: usize = 64 << 10;
/// How long a client may take to read a counted response.
const READ_TIMEOUT: Duration = Duration::from_secs(60);
/// The delay after which a refused client should retry.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// Bytes handed to a connection at a time: it keeps what it was handed until the client reads it.
const PIECE_BYTES: usize = 16 << 10;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The size in bytes of a gRPC response, an extension that services set where a response may be
/// large.
#[derive(Clone, Copy, Debug)]
pub struct ResponseSize(pub usize);

/// The budget for responses that clients have not read yet. A client that does not read loses its
/// response after a while: 60 seconds by default.
#[derive(Clone, Debug)]
pub struct ResponseBudget {
    free_kib: Arc<Semaphore>,
    /// How long a client may take to read a response.
    pub read_timeout: Duration,
}

/// The body of a response within the budget: counted and read piece by piece, or small and passed
/// through.
pub type BudgetedBody<B> = Either<Channel<Bytes, BoxError>, B>;

impl Default for ResponseBudget {
    fn default() -> Self {
        Self {
            free_kib: Arc::new(Semaphore::new(MAX_UNREAD_KIB)),
            read_timeout: READ_TIMEOUT,
        }
    }
}

impl ResponseBudget {
    /// Returns a layer for gRPC services that counts responses with a [`ResponseSize`].
    pub fn layer(
        self,
    ) -> MapResponseLayer<impl Fn(Response<tonic::body::Body>) -> Response<tonic::body::Body> + Clone>
    {
        MapResponseLayer::new(move |response| self.apply_to_grpc(response))
    }

    fn apply_to_grpc(&self, response: Response<tonic::body::Body>) -> Response<tonic::body::Body> {
        let size = response
            .extensions()
            .get::<ResponseSize>()
            .map_or(0, |size| size.0);
        let (head, body) = response.into_parts();
        match self.apply(size, body) {
            Ok(Either::Left(counted)) => {
                Response::from_parts(head, tonic::body::Body::new(counted))
            }
            Ok(Either::Right(small)) => Response::from_parts(head, small),
            Err(status) => status.into_http(),
        }
    }

    /// Counts a body of `size` bytes until it is read, dropped, or not read in time; then it ends
    /// with an error. A small body is returned as it is. Must be called in a tokio runtime.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED` with the time to retry, if the budget is used up.
    pub fn apply<B>(&self, size: usize, body: B) -> Result<BudgetedBody<B>, Status>
    where
        B: Body<Data = Bytes> + Unpin + Send + 'static,
        B::Error: Into<BoxError> + Send,
    {
        if size <= MAX_UNCOUNTED_BYTES {
            return Ok(Either::Right(body));
        }
        let kib = u32::try_from(size.div_ceil(1 << 10)).unwrap_or(u32::MAX);
        let Ok(permit) = Arc::clone(&self.free_kib).try_acquire_many_owned(kib) else {
            let message = format!(
                "{} MiB of responses wait to be read, which is the maximum; retry in {} s",
                MAX_UNREAD_KIB >> 10,
                RETRY_AFTER.as_secs()
            );
            return Err(exhausted(message, RETRY_AFTER));
        };
        let (sender, counted) = Channel::new(1);
        tokio::spawn(deliver(body, sender, permit, self.read_timeout));
        Ok(Either::Left(counted))
    }
}

/// Hands a body to its reader in pieces, and drops it when the reader goes away or takes too long.
async fn deliver<B>(
    body: B,
    mut sender: Sender<Bytes, BoxError>,
    permit: OwnedSemaphorePermit,
    read_timeout: Duration,
) where
    B: Body<Data = Bytes> + Unpin + Send,
    B::Error: Into<BoxError>,
{
    let delivered = tokio::time::timeout(read_timeout, send_pieces(body, &mut sender)).await;
    match delivered {
        Ok(Ok(())) => {}
        Ok(Err(error)) => sender.abort(error),
        Err(_) => sender.abort("the response was not read in time".into()),
    }
    drop(permit);
}

/// Sends a body to its end, or until its reader is gone.
async fn send_pieces<B>(mut body: B, sender: &mut Sender<Bytes, BoxError>) -> Result<(), BoxError>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    while let Some(frame) = body.frame().await {
        let mut data = match frame.map_err(Into::into)?.into_data() {
            Ok(data) => data,
            Err(other) => {
                if sender.send(other).await.is_err() {
                    return Ok(());
                }
                continue;
            }
        };
        while !data.is_empty() {
            let piece = data.split_to(data.len().min(PIECE_BYTES));
            // A copy, because a slice would keep the whole response in memory.
            let piece = Frame::data(Bytes::copy_from_slice(&piece));
            if sender.send(piece).await.is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use http_body_util::Full;
    use tonic::Code;

    use super::*;
    use crate::retry_info::retry_after;

    const SIZE: usize = 1 << 20;

    fn content() -> Vec<u8> {
        [3, 1, 4, 1, 5, 9, 2, 6].repeat(SIZE / 8)
    }

    fn response() -> Response<tonic::body::Body> {
        let body = tonic::body::Body::new(Full::new(Bytes::from(content())));
        let mut response = Response::new(body);
        response.extensions_mut().insert(ResponseSize(SIZE));
        response
    }

    /// Waits until this many KiB are free; a task returns them.
    async fn await_free(budget: &ResponseBudget, kib: usize) {
        while budget.free_kib.available_permits() != kib {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn reading_returns_the_budget() {
        let budget = ResponseBudget::default();
        let mut body = budget.apply_to_grpc(response()).into_body();
        assert_eq!(
            budget.free_kib.available_permits(),
            MAX_UNREAD_KIB - SIZE / 1_024
        );
        let mut read = Vec::new();
        while let Some(frame) = body.frame().await {
            let data = frame.expect("no error").into_data().expect("data");
            assert!(data.len() <= PIECE_BYTES);
            read.extend_from_slice(&data);
        }
        assert_eq!(read, content());
        await_free(&budget, MAX_UNREAD_KIB).await;
    }

    #[tokio::test(start_paused = true)]
    async fn unread_responses_are_bounded_and_expire() {
        let budget = ResponseBudget::default();
        let mut unread: Vec<_> = (0..64).map(|_| budget.apply_to_grpc(response())).collect();
        let refused =
            Status::from_header_map(budget.apply_to_grpc(response()).headers()).expect("a refusal");
        assert_eq!(refused.code(), Code::ResourceExhausted);
        assert_eq!(retry_after(&refused), Some(RETRY_AFTER));
        drop(unread.pop());
        await_free(&budget, SIZE / 1_024).await;
        let mut late = unread.pop().expect("63 wait").into_body();
        let first = late.frame().await.expect("a frame").expect("no error yet");
        assert!(first.is_data());
        tokio::time::sleep(READ_TIMEOUT).await;
        await_free(&budget, MAX_UNREAD_KIB).await;
        let mut end = late.frame().await;
        while let Some(Ok(_)) = end {
            end = late.frame().await;
        }
        assert!(matches!(end, Some(Err(_))), "the rest is gone");
    }
}

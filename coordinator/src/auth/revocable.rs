use std::pin::Pin;
use std::task::{Context, Poll};

use http::HeaderMap;
use http_body::{Frame, SizeHint};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::Status;
use tonic::body::Body;

/// A body that ends when the token of its caller is revoked.
pub(super) struct RevocableBody {
    inner: Body,
    revoked: Pin<Box<WaitForCancellationFutureOwned>>,
    direction: StreamDirection,
    is_over: bool,
}

/// The direction of a body, which decides how it ends when the token is revoked.
#[derive(Clone, Copy)]
pub(super) enum StreamDirection {
    /// A request: its reader gets an error.
    Request,
    /// A response: it ends with a status in its trailers.
    Response,
}

impl RevocableBody {
    pub(super) fn new(
        inner: Body,
        revoked: &CancellationToken,
        direction: StreamDirection,
    ) -> Self {
        Self {
            inner,
            revoked: Box::pin(revoked.clone().cancelled_owned()),
            direction,
            is_over: false,
        }
    }
}

impl http_body::Body for RevocableBody {
    type Data = <Body as http_body::Body>::Data;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Status>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        if self.revoked.as_mut().poll(context).is_pending() {
            return Pin::new(&mut self.inner).poll_frame(context);
        }
        self.is_over = true;
        let status = Status::unauthenticated("the token was revoked or changed");
        Poll::Ready(match self.direction {
            StreamDirection::Request => Some(Err(status)),
            StreamDirection::Response => {
                let mut trailers = HeaderMap::new();
                Some(
                    status
                        .add_header(&mut trailers)
                        .map(|()| Frame::trailers(trailers)),
                )
            }
        })
    }

    fn is_end_stream(&self) -> bool {
        self.is_over || self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

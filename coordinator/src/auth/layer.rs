use std::convert::Infallible;
use std::future::ready;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use http::header::AUTHORIZATION;
use http::{HeaderMap, Request, Response};
use http_body::{Frame, SizeHint};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::Status;
use tonic::body::Body;
use tonic::transport::server::TcpConnectInfo;
use tower::{Layer, Service};

use super::gate::{Guard, Refusal};
use super::role::Need;

/// Refusals that are told in the log: one in so long.
const TOLD: Duration = Duration::from_secs(1);

/// Puts a guard before the services of gRPC.
#[derive(Clone, Debug)]
pub struct GuardLayer {
    guard: Arc<Guard>,
    told: Arc<Mutex<Option<Instant>>>,
}

/// Services behind a guard.
#[derive(Clone, Debug)]
pub struct Guarded<S> {
    layer: GuardLayer,
    inner: S,
}

impl GuardLayer {
    /// Whoever `guard` lets pass.
    #[must_use]
    pub fn new(guard: Arc<Guard>) -> Self {
        Self {
            guard,
            told: Arc::default(),
        }
    }

    fn tell(&self, now: Instant, request: &Request<Body>, refusal: &Refusal) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_some_and(|before| now.saturating_duration_since(before) < TOLD) {
            return;
        }
        *told = Some(now);
        drop(told);
        let client = request
            .extensions()
            .get::<TcpConnectInfo>()
            .and_then(TcpConnectInfo::remote_addr);
        let client = client.map_or_else(|| "unknown".to_string(), |client| client.to_string());
        tracing::warn!(
            client,
            method = request.uri().path(),
            reason = refusal.word(),
            "a request is refused: {refusal}"
        );
    }
}

impl<S> Layer<S> for GuardLayer {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded {
            layer: self.clone(),
            inner,
        }
    }
}

impl<S> Service<Request<Body>> for Guarded<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let guard = &self.layer.guard;
        if guard.is_open() {
            return Box::pin(self.inner.call(request));
        }
        let need = Need::of_method(request.uri().path());
        let shown = request
            .headers()
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        let now = Instant::now();
        match guard.admit(now, shown, need) {
            Err(refusal) => {
                self.layer.tell(now, &request, &refusal);
                Box::pin(ready(Ok(refusal.status().into_http())))
            }
            Ok(pass) => {
                let revoked = pass.revoked.clone();
                tracing::debug!(
                    token = pass.name.as_deref(),
                    method = request.uri().path(),
                    "a request"
                );
                // The services need no token, and cannot lose what they do not have.
                request.headers_mut().remove(AUTHORIZATION);
                request.extensions_mut().insert(pass);
                let request =
                    request.map(|body| Body::new(Lasting::new(body, &revoked, End::Error)));
                let answering = self.inner.call(request);
                Box::pin(async move {
                    let answer = answering.await?;
                    Ok(answer.map(|body| Body::new(Lasting::new(body, &revoked, End::Trailers))))
                })
            }
        }
    }
}

/// A stream that lasts as long as the token under which it was begun.
pub(super) struct Lasting {
    inner: Body,
    revoked: Pin<Box<WaitForCancellationFutureOwned>>,
    end: End,
    is_over: bool,
}

/// How the stream of a revoked token ends.
#[derive(Clone, Copy)]
pub(super) enum End {
    /// A request's: whoever reads it hears of an error.
    Error,
    /// An answer's of gRPC.
    Trailers,
    /// An answer's of HTTP.
    Silence,
}

impl Lasting {
    pub(super) fn new(inner: Body, revoked: &CancellationToken, end: End) -> Self {
        Self {
            inner,
            revoked: Box::pin(revoked.clone().cancelled_owned()),
            end,
            is_over: false,
        }
    }
}

impl http_body::Body for Lasting {
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
        Poll::Ready(match self.end {
            End::Error => Some(Err(status)),
            End::Silence => None,
            End::Trailers => {
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

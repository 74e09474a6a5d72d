use std::io::{self, Cursor};
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use axum::http::header::CONTENT_LENGTH;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use http_body::Body as _;
use http_body_util::Either;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use kagetsu_proto::{Connection, Listener, ResponseBudget};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy, sink};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::error::ApiError;
use crate::headers::browser_headers;

/// How long a connection may wait for the next request, and a request for the end of its head.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of an answer, or of a request's head, that a connection holds.
const BUFFER: usize = 64 << 10;
/// How long open streams have to end when the server does.
const GRACE: Duration = Duration::from_secs(3);

/// How no request of HTTP/1 begins, and what is said to who begins so.
const HTTP_2: &[u8] = b"PRI ";
const REFUSAL: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n\
    this port speaks HTTP/1.1; gRPC has another, which is printed as `listening on`\n";

/// The other end of a request's connection, an extension of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client(pub SocketAddr);

/// Large answers wait to be read among others that do, and not for ever.
async fn bound(
    State(budget): State<ResponseBudget>,
    request: Request<Body>,
    next: Next,
) -> Response {
    let (mut head, body) = next.run(request).await.into_parts();
    // Streams have no length: they are made as they are read.
    let length =
        usize::try_from(body.size_hint().exact().unwrap_or_default()).unwrap_or(usize::MAX);
    match budget.apply(length, body) {
        Ok(Either::Left(counted)) => {
            head.headers.entry(CONTENT_LENGTH).or_insert(length.into());
            Response::from_parts(head, Body::new(counted))
        }
        Ok(Either::Right(small)) => Response::from_parts(head, small),
        Err(refusal) => {
            let mut refusal = ApiError::from(refusal).into_response();
            browser_headers(&head.headers)
                .for_each(|(name, value)| _ = refusal.headers_mut().insert(name, value));
            refusal
        }
    }
}

/// Hears what a client says first. One of HTTP/2, as of gRPC, is answered in words and gets no further: it would wait for
/// others that it can tell nothing.
async fn begin(mut line: Connection) -> io::Result<Option<impl AsyncRead + AsyncWrite + Unpin>> {
    let mut first = Vec::with_capacity(1 << 10);
    // The line itself waits for no one who does not begin.
    while first.len() < HTTP_2.len() && line.read_buf(&mut first).await? > 0 {}
    if first.starts_with(HTTP_2) {
        line.write_all(REFUSAL).await?;
        line.shutdown().await?;
        // Closed with words unread, it would take the answer back.
        let _ = timeout(GRACE, copy(&mut line, &mut sink())).await;
        return Ok(None);
    }
    let (reads, writes) = tokio::io::split(line);
    Ok(Some(tokio::io::join(
        Cursor::new(first).chain(reads),
        writes,
    )))
}

/// Serves HTTP/1.1 until the shutdown, large answers among others that are read; streams that do not end by themselves are cut.
pub async fn serve(mut listener: Listener, router: Router, shutdown: CancellationToken) {
    let mut http = http1::Builder::new();
    let router = router.layer(from_fn_with_state(ResponseBudget::default(), bound));
    http.timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(BUFFER);
    let (open, cut) = (GracefulShutdown::new(), CancellationToken::new());
    let _cut = cut.clone().drop_guard();
    loop {
        let (line, client) = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shutdown.cancelled() => break,
        };
        let (http, router, watcher) = (http.clone(), router.clone(), open.watcher());
        let (shutdown, cut) = (shutdown.clone(), cut.clone());
        tokio::spawn(async move {
            let serving = async {
                let begun = tokio::select! {
                    begun = begin(line) => begun?,
                    () = shutdown.cancelled() => None,
                };
                let Some(line) = begun else { return Ok(()) };
                let service = service_fn(move |mut request: Request<Incoming>| {
                    request.extensions_mut().insert(Client(client));
                    let router = router.clone();
                    async move { router.oneshot(request.map(Body::new)).await }
                });
                watcher
                    .watch(http.serve_connection(TokioIo::new(line), service))
                    .await
                    .map_err(io::Error::other)
            };
            tokio::select! {
                // A client that goes away, or that speaks something else.
                ended = serving => if let Err(error) = ended {
                    tracing::debug!(%client, "a connection ended: {error}");
                },
                () = cut.cancelled() => {}
            }
        });
    }
    drop(listener);
    // Who is not done then is cut.
    let _ = timeout(GRACE, open.shutdown()).await;
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::access::Access;
    use crate::headers::with_browser_headers;

    /// A page that may read what is answered.
    const PAGE: &str = "https://example.org";
    /// Bytes of a large answer; eight of them are all that may wait.
    const MANY: usize = 8 << 20;

    async fn head(line: &mut TcpStream, path: &str) -> String {
        line.write_all(
            format!("GET {path} HTTP/1.1\r\nHost: h\r\nOrigin: {PAGE}\r\n\r\n").as_bytes(),
        )
        .await
        .expect("room");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(line.read_u8().await.expect("a head"));
        }
        String::from_utf8(head).expect("text")
    }

    #[tokio::test]
    async fn answers_that_nobody_reads_leave_the_small_ones_their_place() {
        let router = Router::new()
            .route("/large", get(async || vec![7; MANY]))
            .route("/small", get(async || "small"));
        let router = with_browser_headers(
            router,
            Access {
                origins: vec![PAGE.into()],
                ..Access::default()
            },
        );
        let socket = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let listener = Listener::new(socket, None, 64).expect("an address");
        let (address, shutdown) = (listener.address(), CancellationToken::new());
        let serving = tokio::spawn(serve(listener, router, shutdown.clone()));
        let connect = async || TcpStream::connect(address).await.expect("it listens");
        let mut unread = Vec::new();
        for _ in 0..8 {
            let mut line = connect().await;
            let head = head(&mut line, "/large").await;
            assert!(
                head.starts_with("HTTP/1.1 200")
                    && head.contains(&format!("content-length: {MANY}")),
                "{head}"
            );
            unread.push(line);
        }
        let mut line = connect().await;
        let refusal = head(&mut line, "/large").await;
        assert!(
            refusal.starts_with("HTTP/1.1 429") && refusal.contains("retry-after: 5"),
            "{refusal}"
        );
        for readable in [
            format!("access-control-allow-origin: {PAGE}"),
            "content-security-policy: ".into(),
        ] {
            assert!(refusal.contains(&readable), "{readable}: {refusal}");
        }
        assert!(
            head(&mut connect().await, "/small")
                .await
                .starts_with("HTTP/1.1 200")
        );

        let mut whole = vec![0; MANY];
        let mut first = unread.remove(0);
        first.read_exact(&mut whole).await.expect("all of it");
        assert!(whole.iter().all(|byte| *byte == 7));
        // On the same line, and in the place of what was read.
        assert!(
            head(&mut first, "/small")
                .await
                .contains("content-length: 5")
        );
        first.read_exact(&mut [0; 5]).await.expect("all of it");
        assert!(head(&mut first, "/large").await.starts_with("HTTP/1.1 200"));

        let mut line = connect().await;
        line.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            .await
            .expect("room");
        let mut said = String::new();
        line.read_to_string(&mut said).await.expect("text");
        assert!(
            said.starts_with("HTTP/1.1 400 ") && said.contains("gRPC has another"),
            "{said}"
        );

        shutdown.cancel();
        serving.await.expect("no panic");
        let mut left = Vec::new();
        let cut = unread[0].read_to_end(&mut left).await;
        assert!(
            cut.is_err() || left.len() < MANY,
            "what nobody reads ends with the server"
        );
    }
}

use std::io::{self, Cursor};
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use axum::http::header::{CONTENT_LENGTH, ETAG};
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

/// Time for the next request on a connection, and for the end of its head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);
/// Bytes of a response, or of a request's head, that a connection buffers.
const MAX_BUFFER_BYTES: usize = 64 << 10;
/// Time for open streams to end at the shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// The first bytes of an HTTP/2 connection, which no HTTP/1 request has.
const HTTP2_PREFACE: &[u8] = b"PRI ";
/// The answer to an HTTP/2 connection.
const WRONG_PROTOCOL: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n\
    this port speaks HTTP/1.1; gRPC has another, which is printed as `listening on`\n";

/// The client's address, an extension of each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientAddress(pub SocketAddr);

/// Counts large responses against the budget of unread bytes; rejects those that do not fit.
async fn limit_unread(
    State(budget): State<ResponseBudget>,
    request: Request<Body>,
    next: Next,
) -> Response {
    let (mut head, body) = next.run(request).await.into_parts();
    // A stream has no exact length and is made while it is read, so it counts as empty.
    let length = body.size_hint().exact().unwrap_or_default();
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    match budget.apply(length, body) {
        Ok(Either::Left(counted)) => {
            head.headers.entry(CONTENT_LENGTH).or_insert(length.into());
            Response::from_parts(head, Body::new(counted))
        }
        Ok(Either::Right(small)) => Response::from_parts(head, small),
        Err(status) => {
            // The headers for browsers stay.
            let (error, body) = ApiError::from(status).into_response().into_parts();
            for of_content in [CONTENT_LENGTH, ETAG] {
                head.headers.remove(of_content);
            }
            head.headers.extend(error.headers);
            head.status = error.status;
            Response::from_parts(head, body)
        }
    }
}

/// Reads the first bytes of a connection. A client that speaks HTTP/2, as gRPC does, gets an error
/// in HTTP/1.1, because it could not read one otherwise; the result is then `None`.
async fn begin(
    mut connection: Connection,
) -> io::Result<Option<impl AsyncRead + AsyncWrite + Unpin>> {
    let mut first = Vec::with_capacity(1 << 10);
    // The connection itself limits the time until its first byte.
    while first.len() < HTTP2_PREFACE.len() && connection.read_buf(&mut first).await? > 0 {}
    if first.starts_with(HTTP2_PREFACE) {
        connection.write_all(WRONG_PROTOCOL).await?;
        connection.shutdown().await?;
        // Closing a socket with unread bytes would discard the answer.
        let _ = timeout(SHUTDOWN_TIMEOUT, copy(&mut connection, &mut sink())).await;
        return Ok(None);
    }
    let (reads, writes) = tokio::io::split(connection);
    let reads = Cursor::new(first).chain(reads);
    Ok(Some(tokio::io::join(reads, writes)))
}

/// Serves HTTP/1.1 until the shutdown. Responses in flight then have a few seconds to end.
pub async fn serve(mut listener: Listener, router: Router, shutdown: CancellationToken) {
    let router = router.layer(from_fn_with_state(ResponseBudget::default(), limit_unread));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_BUFFER_BYTES);
    let open = GracefulShutdown::new();
    let abort = CancellationToken::new();
    let _abort = abort.clone().drop_guard();
    loop {
        let (connection, client) = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shutdown.cancelled() => break,
        };
        let http = http.clone();
        let router = router.clone();
        let watcher = open.watcher();
        let shutdown = shutdown.clone();
        let abort = abort.clone();
        tokio::spawn(async move {
            let serving = async {
                let begun = tokio::select! {
                    begun = begin(connection) => begun?,
                    () = shutdown.cancelled() => None,
                };
                let Some(connection) = begun else {
                    return Ok(());
                };
                let service = service_fn(move |mut request: Request<Incoming>| {
                    request.extensions_mut().insert(ClientAddress(client));
                    let router = router.clone();
                    async move { router.oneshot(request.map(Body::new)).await }
                });
                let served = http.serve_connection(TokioIo::new(connection), service);
                watcher.watch(served).await.map_err(io::Error::other)
            };
            tokio::select! {
                // The client disconnected, or speaks another protocol.
                ended = serving => if let Err(error) = ended {
                    tracing::debug!(%client, "a connection ended: {error}");
                },
                () = abort.cancelled() => {}
            }
        });
    }
    drop(listener);
    let _ = timeout(SHUTDOWN_TIMEOUT, open.shutdown()).await;
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::access::AccessPolicy;
    use crate::headers::with_browser_headers;

    /// An origin whose pages may read responses.
    const PAGE: &str = "https://example.org";
    /// Bytes of a large answer; eight of them fill the budget.
    const LARGE_BYTES: usize = 8 << 20;

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
    async fn unread_large_answers_do_not_block_small_ones() {
        let router = Router::new()
            .route("/large", get(async || vec![7; LARGE_BYTES]))
            .route("/small", get(async || "small"));
        let access = AccessPolicy {
            origins: vec![PAGE.into()],
            ..AccessPolicy::default()
        };
        let router = with_browser_headers(router, &access);
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
                    && head.contains(&format!("content-length: {LARGE_BYTES}")),
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

        let mut whole = vec![0; LARGE_BYTES];
        let mut first = unread.remove(0);
        first.read_exact(&mut whole).await.expect("all of it");
        assert!(whole.iter().all(|byte| *byte == 7));
        // The same connection can be used again, and the budget has room again.
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
        let mut response = String::new();
        line.read_to_string(&mut response).await.expect("text");
        assert!(
            response.starts_with("HTTP/1.1 400 ") && response.contains("gRPC has another"),
            "{response}"
        );

        shutdown.cancel();
        serving.await.expect("no panic");
        let mut left = Vec::new();
        let cut = unread[0].read_to_end(&mut left).await;
        assert!(
            cut.is_err() || left.len() < LARGE_BYTES,
            "unread responses end with the server"
        );
    }
}

//! The first bytes of a connection tell who is at the other end.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};

/// What a client of HTTP/2 says first (RFC 9113, section 3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The head of a frame of HTTP/2; a server's first frame is its settings, type 4.
const HEAD: usize = 9;

/// A connection on which both sides have said who they are.
#[derive(Debug)]
pub(crate) struct Greeted<S> {
    stream: S,
    /// What was heard and not read yet.
    heard: Vec<u8>,
    /// Bytes of the preface that will be said again and were said already.
    said: usize,
}

/// Who does not speak HTTP/2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stranger {
    /// A record of TLS.
    Tls,
    /// Text of HTTP/1.
    Http1,
    Other,
}

/// Why a connection could not be greeted.
#[derive(Debug)]
pub(crate) enum Ungreeted {
    Stranger(Stranger),
    Lost(io::Error),
}

/// Says the preface and hears the head of the first frame: what stands in the way of a connection, as a certificate that the
/// other side does not believe, is known before the first request.
///
/// # Errors
/// If the connection is lost, or something else than HTTP/2 answers.
pub(crate) async fn greet<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
) -> Result<Greeted<S>, Ungreeted> {
    stream.write_all(PREFACE).await.map_err(Ungreeted::Lost)?;
    stream.flush().await.map_err(Ungreeted::Lost)?;
    let mut heard = Vec::with_capacity(HEAD);
    while heard.len() < HEAD {
        let mut part = [0; HEAD];
        let room = HEAD - heard.len();
        let count = stream
            .read(&mut part[..room])
            .await
            .map_err(Ungreeted::Lost)?;
        heard.extend_from_slice(&part[..count]);
        if let Some(stranger) = stranger(&heard) {
            return Err(Ungreeted::Stranger(stranger));
        }
        if count == 0 {
            return Err(Ungreeted::Lost(io::ErrorKind::UnexpectedEof.into()));
        }
    }
    Ok(Greeted {
        stream,
        heard,
        said: PREFACE.len(),
    })
}

/// Who begins so and does not speak HTTP/2.
fn stranger(heard: &[u8]) -> Option<Stranger> {
    match heard {
        // An alert of TLS 1.x.
        [0x15, 3, ..] => Some(Stranger::Tls),
        [b'H', b'T', b'T', b'P', ..] => Some(Stranger::Http1),
        [_, _, _, kind, ..] if *kind != 4 => Some(Stranger::Other),
        _ => None,
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Greeted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.heard.is_empty() {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        let count = self.heard.len().min(buffer.remaining());
        buffer.put_slice(&self.heard[..count]);
        self.heard.drain(..count);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Greeted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.said == 0 {
            return Pin::new(&mut self.stream).poll_write(context, bytes);
        }
        // A library that begins otherwise would be a fault of ours.
        let count = self.said.min(bytes.len());
        debug_assert!(
            PREFACE[PREFACE.len() - self.said..].starts_with(&bytes[..count]),
            "a client begins with the preface"
        );
        self.said -= count;
        Poll::Ready(Ok(count))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.said == 0 {
            return Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        }
        let first = parts.iter().find(|part| !part.is_empty());
        self.poll_write(context, first.map_or(&[], |part| part))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

    #[tokio::test]
    async fn nothing_is_lost_and_nothing_is_said_twice() {
        let (near, mut far) = tokio::io::duplex(256);
        far.write_all(SETTINGS).await.expect("room");
        far.write_all(b"more").await.expect("room");
        let mut greeted = greet(near).await.expect("HTTP/2");
        // The library says the preface in whatever pieces.
        for piece in [&PREFACE[..10], &PREFACE[10..], b"request"] {
            greeted.write_all(piece).await.expect("room");
        }
        drop(greeted.shutdown().await);
        let mut heard = vec![0; SETTINGS.len() + 4];
        greeted.read_exact(&mut heard).await.expect("all of it");
        assert_eq!(heard, [SETTINGS, b"more"].concat());
        drop(greeted);
        let mut said = Vec::new();
        far.read_to_end(&mut said).await.expect("to the end");
        assert_eq!(said, [&PREFACE[..], b"request"].concat());
    }

    #[tokio::test]
    async fn strangers_are_known_by_their_first_bytes() {
        for (bytes, who) in [
            (&[0x15, 3, 3, 0, 2, 2, 50][..], Stranger::Tls),
            (b"HTTP/1.1 400 Bad Request", Stranger::Http1),
            (b"SSH-2.0-OpenSSH", Stranger::Other),
        ] {
            let (near, mut far) = tokio::io::duplex(256);
            far.write_all(bytes).await.expect("room");
            let stranger = greet(near).await.map(drop);
            assert!(
                matches!(&stranger, Err(Ungreeted::Stranger(found)) if *found == who),
                "{stranger:?}"
            );
        }
        let (near, far) = tokio::io::duplex(256);
        drop(far);
        assert!(matches!(greet(near).await, Err(Ungreeted::Lost(_))));
    }
}

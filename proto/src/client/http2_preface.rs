//! The first bytes of an HTTP/2 connection, exchanged before the library takes over, so that
//! connecting fails with a reason where the other side speaks no HTTP/2 or refuses our certificate.

use std::io::{self, Cursor};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The first bytes of an HTTP/2 client (RFC 9113, section 3.4).
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Bytes of a frame's header; its fourth byte is the type.
const FRAME_HEADER_BYTES: usize = 9;
/// The type of a server's first frame.
const SETTINGS_FRAME: u8 = 4;

/// The protocol of a server that does not speak HTTP/2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OtherProtocol {
    Tls,
    Http1,
    Unknown,
}

/// The reason why the exchange failed.
#[derive(Debug)]
pub(super) enum PrefaceError {
    OtherProtocol(OtherProtocol),
    Io(io::Error),
}

impl From<io::Error> for PrefaceError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Sends the preface and waits for the header of the server's first frame. The returned stream
/// repeats what was read, and drops the preface that the library writes.
///
/// # Errors
/// If the connection is lost, or the server does not speak HTTP/2.
pub(super) async fn exchange<S: AsyncRead + AsyncWrite + Send + Unpin>(
    mut stream: S,
) -> Result<impl AsyncRead + AsyncWrite + Send + Unpin, PrefaceError> {
    stream.write_all(PREFACE).await?;
    stream.flush().await?;
    let mut received = Vec::with_capacity(FRAME_HEADER_BYTES);
    while received.len() < FRAME_HEADER_BYTES {
        let missing = FRAME_HEADER_BYTES - received.len();
        let count = (&mut stream)
            .take(missing as u64)
            .read_buf(&mut received)
            .await?;
        if let Some(protocol) = other_protocol(&received) {
            return Err(PrefaceError::OtherProtocol(protocol));
        }
        if count == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
    }
    let (reader, writer) = tokio::io::split(stream);
    let writer = SkipWriter {
        writer,
        skip: PREFACE.len(),
    };
    Ok(tokio::io::join(Cursor::new(received).chain(reader), writer))
}

/// Recognizes the protocol of a server by its first bytes; `None` as long as it may be HTTP/2.
fn other_protocol(received: &[u8]) -> Option<OtherProtocol> {
    match received {
        // An alert of TLS.
        [0x15, 3, ..] => Some(OtherProtocol::Tls),
        [b'H', b'T', b'T', b'P', ..] => Some(OtherProtocol::Http1),
        [_, _, _, kind, ..] if *kind != SETTINGS_FRAME => Some(OtherProtocol::Unknown),
        _ => None,
    }
}

/// Drops the first bytes that are written.
struct SkipWriter<W> {
    writer: W,
    skip: usize,
}

impl<W: AsyncWrite + Unpin> AsyncWrite for SkipWriter<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.skip == 0 {
            return Pin::new(&mut self.writer).poll_write(context, bytes);
        }
        let count = self.skip.min(bytes.len());
        debug_assert!(
            PREFACE[PREFACE.len() - self.skip..].starts_with(&bytes[..count]),
            "a client begins with the preface"
        );
        self.skip -= count;
        Poll::Ready(Ok(count))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: &[u8] = &[0, 0, 0, SETTINGS_FRAME, 0, 0, 0, 0, 0];

    #[tokio::test]
    async fn every_byte_passes_exactly_once() {
        let (near, mut far) = tokio::io::duplex(256);
        far.write_all(SETTINGS).await.expect("room");
        far.write_all(b"more").await.expect("room");
        let mut stream = exchange(near).await.expect("HTTP/2");
        // The library writes the preface in pieces of any size.
        for piece in [&PREFACE[..10], &PREFACE[10..], b"request"] {
            stream.write_all(piece).await.expect("room");
        }
        drop(stream.shutdown().await);
        let mut received = vec![0; SETTINGS.len() + 4];
        stream.read_exact(&mut received).await.expect("all of it");
        assert_eq!(received, [SETTINGS, b"more"].concat());
        drop(stream);
        let mut sent = Vec::new();
        far.read_to_end(&mut sent).await.expect("to the end");
        assert_eq!(sent, [&PREFACE[..], b"request"].concat());
    }

    #[tokio::test]
    async fn other_protocols_are_recognized() {
        for (bytes, expected) in [
            (&[0x15, 3, 3, 0, 2, 2, 50][..], OtherProtocol::Tls),
            (b"HTTP/1.1 400 Bad Request", OtherProtocol::Http1),
            (b"SSH-2.0-OpenSSH", OtherProtocol::Unknown),
        ] {
            let (near, mut far) = tokio::io::duplex(256);
            far.write_all(bytes).await.expect("room");
            match exchange(near).await.map(drop) {
                Err(PrefaceError::OtherProtocol(found)) => assert_eq!(found, expected),
                result => panic!("{result:?}"),
            }
        }
        let (near, far) = tokio::io::duplex(256);
        drop(far);
        assert!(matches!(exchange(near).await, Err(PrefaceError::Io(_))));
    }
}

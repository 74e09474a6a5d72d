//! Connections through an HTTP proxy.

use std::io;

use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// Longest head of a proxy's answer.
const MAX_HEAD_BYTES: u64 = 8192;

/// A proxy that the environment names.
pub(super) struct Proxy(Intercept);

/// Returns the proxy of HTTPS_PROXY or HTTP_PROXY, if NO_PROXY does not name the host.
pub(super) fn of(scheme: &str, host: &str, port: u16) -> Option<Proxy> {
    let address = format!("{scheme}://{host}:{port}").parse().ok()?;
    Matcher::from_env().intercept(&address).map(Proxy)
}

impl Proxy {
    /// Connects to a target, as in `coordinator.example:7615`.
    ///
    /// # Errors
    /// If the proxy cannot be reached or refuses.
    pub(super) async fn connect(&self, target: &str) -> io::Result<TcpStream> {
        let host = self.0.uri().host().unwrap_or_default();
        let stream = self.tunnel(host, target).await;
        stream.map_err(|error| io::Error::other(format!("through the proxy {host}: {error}")))
    }

    async fn tunnel(&self, host: &str, target: &str) -> io::Result<TcpStream> {
        let uri = self.0.uri();
        if uri.scheme_str() != Some("http") {
            return Err(io::Error::other("write its address as http://HOST:PORT"));
        }
        let address = host.trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((address, uri.port_u16().unwrap_or(80))).await?;
        // Byte by byte, since those of the target may follow at once.
        let mut stream = BufReader::with_capacity(1, stream);
        let password = self.0.basic_auth().and_then(|value| value.to_str().ok());
        let password = password.map_or_else(String::new, |value| {
            format!("Proxy-Authorization: {value}\r\n")
        });
        let asked = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{password}\r\n");
        stream.write_all(asked.as_bytes()).await?;
        let mut head = Vec::new();
        let mut answer = (&mut stream).take(MAX_HEAD_BYTES);
        while !head.ends_with(b"\r\n\r\n") {
            if answer.read_until(b'\n', &mut head).await? == 0 {
                return Err(io::Error::other("it gives no answer of HTTP"));
            }
        }
        match String::from_utf8_lossy(&head).split(' ').nth(1) {
            Some(status) if status.starts_with('2') => Ok(stream.into_inner()),
            Some("407") => Err(io::Error::other(
                "it wants a name and a password, as in http://NAME:PASSWORD@HOST:PORT",
            )),
            status => Err(io::Error::other(format!(
                "it answers {}",
                status.unwrap_or("nothing")
            ))),
        }
    }
}

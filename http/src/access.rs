//! The requests that the server accepts, by the address that it listens on and by their origin.

use std::net::SocketAddr;

use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST, ORIGIN, TRANSFER_ENCODING};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};

use crate::error::ApiError;

/// The rights of a caller: an extension that an authenticating layer puts into each request.
/// Without one the caller may do everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    /// Whether it may have positions analysed.
    pub analyse: bool,
    /// Whether it may start, pause, resume and cancel builds.
    pub build: bool,
    /// Whether the rights depend on a token.
    pub by_token: bool,
}

impl Default for Rights {
    fn default() -> Self {
        Self {
            analyse: true,
            build: true,
            by_token: false,
        }
    }
}

/// The requests that a server accepts.
#[derive(Clone, Debug, Default)]
pub struct AccessPolicy {
    /// Whether requests may start an analysis, and start, pause, resume and cancel builds.
    pub may_change: bool,
    /// Whether the server listens on loopback only. It then rejects requests whose `Host` names
    /// another machine, as in DNS rebinding.
    pub is_local: bool,
    /// The origins, as in `https://example.org`, whose pages may read answers; none by default.
    pub origins: Vec<String>,
}

impl AccessPolicy {
    /// The default for an address: everything on loopback, only reading elsewhere.
    #[must_use]
    pub fn at(address: SocketAddr) -> Self {
        let is_local = address.ip().is_loopback();
        Self {
            may_change: is_local,
            is_local,
            origins: Vec::new(),
        }
    }

    /// Checks the host of a request.
    ///
    /// # Errors
    /// Why the server rejects it.
    pub(crate) fn check_host(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        if self.is_local && !text(headers, &HOST).is_some_and(is_this_machine) {
            return Err(forbidden(
                "this server answers to 127.0.0.1, [::1] and localhost alone: use one of them",
            ));
        }
        Ok(())
    }

    /// Checks the method, the origin and the content type of a request.
    ///
    /// # Errors
    /// Why the server rejects it.
    pub(crate) fn check_change(
        &self,
        method: &Method,
        headers: &HeaderMap,
    ) -> Result<(), ApiError> {
        if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
            return Ok(());
        }
        if !self.may_change {
            return Err(forbidden(
                "nothing can be changed here: a coordinator takes changes over HTTP where --http is its own machine alone, \
                 or where it knows its clients by --tokens or --tls-client-ca",
            ));
        }
        let host = text(headers, &HOST);
        let is_ours = |origin: &str| {
            origin
                .split_once("://")
                .is_some_and(|(_, name)| Some(name) == host)
        };
        if text(headers, &ORIGIN).is_some_and(|origin| !is_ours(origin)) {
            return Err(forbidden(
                "a page of another origin may not change anything here",
            ));
        }
        // A page of another origin can send a form without a preflight, but not JSON. A request
        // without a body needs no type; browsers name its origin.
        let is_json = match text(headers, &CONTENT_TYPE) {
            Some(kind) => kind.starts_with("application/json"),
            None => {
                let length = text(headers, &CONTENT_LENGTH);
                length.is_none_or(|length| length == "0")
                    && !headers.contains_key(TRANSFER_ENCODING)
                    && !headers.contains_key(CONTENT_TYPE)
            }
        };
        if !is_json {
            let message = "the body must be JSON: send the header Content-Type: application/json";
            return Err(ApiError::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "not_json",
                message,
            ));
        }
        Ok(())
    }
}

fn forbidden(message: &str) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, "forbidden", message)
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Whether a `Host` header names this machine, with any port.
fn is_this_machine(host: &str) -> bool {
    let name = host
        .rsplit_once(':')
        .filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name);
    name.eq_ignore_ascii_case("localhost") || name == "[::1]" || is_loopback_address(name)
}

fn is_loopback_address(name: &str) -> bool {
    name.parse::<std::net::Ipv4Addr>()
        .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(all: &[(HeaderName, &str)]) -> HeaderMap {
        let value = |text: &str| HeaderValue::from_str(text).expect("plain text");
        all.iter()
            .map(|(name, text)| (name.clone(), value(text)))
            .collect()
    }

    #[test]
    fn host_headers_that_name_this_machine() {
        for host in [
            "localhost",
            "LOCALHOST:7616",
            "127.0.0.1:7616",
            "127.9.9.9",
            "[::1]",
            "[::1]:80",
        ] {
            assert!(is_this_machine(host), "{host}");
        }
        for host in [
            "",
            "example.org",
            "localhost.example.org:7616",
            "10.0.0.1",
            "127.0.0.1.example.org",
            "[::2]:1",
        ] {
            assert!(!is_this_machine(host), "{host}");
        }
    }

    #[test]
    fn other_origins_cannot_change_anything() {
        let local = AccessPolicy::at("127.0.0.1:1".parse().expect("an address"));
        let json = (CONTENT_TYPE, "application/json");
        let host = (HOST, "127.0.0.1:1");
        let post = |access: &AccessPolicy, all: &[(HeaderName, &str)]| {
            let headers = headers(all);
            let host = access.check_host(&headers);
            host.and_then(|()| access.check_change(&Method::POST, &headers))
                .map_err(|refusal| refusal.status.as_u16())
        };
        let origin = |origin| (ORIGIN, origin);
        let text = (CONTENT_TYPE, "text/plain");
        let elsewhere = (HOST, "example.org");
        let rows = [
            (vec![host.clone(), json.clone()], Ok(())),
            (
                vec![host.clone(), json.clone(), origin("http://127.0.0.1:1")],
                Ok(()),
            ),
            (
                vec![host.clone(), json.clone(), origin("http://example.org")],
                Err(403),
            ),
            (vec![host.clone(), json.clone(), origin("null")], Err(403)),
            (vec![host.clone(), text], Err(415)),
            (vec![elsewhere, json.clone()], Err(403)),
            (vec![json.clone()], Err(403)),
            (vec![host.clone()], Ok(())),
        ];
        for (headers, expected) in rows {
            assert_eq!(post(&local, &headers), expected, "{headers:?}");
        }
        for body in [(CONTENT_LENGTH, "2"), (TRANSFER_ENCODING, "chunked")] {
            assert_eq!(post(&local, &[host.clone(), body]), Err(415));
        }
        let open = AccessPolicy::at("0.0.0.0:1".parse().expect("an address"));
        assert_eq!(post(&open, &[(HOST, "example.org"), json]), Err(403));
        let get = headers(&[(HOST, "example.org")]);
        assert_eq!(open.check_host(&get), Ok(()));
        assert_eq!(open.check_change(&Method::GET, &get), Ok(()));
    }
}

//! Who may come through the door, and do what.

use std::net::SocketAddr;

use axum::http::header::{CONTENT_TYPE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

use crate::error::ApiError;

/// What the one who asks may do, where a guard before the door knows that: an extension of the request. Without one, all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    /// Have positions analysed.
    pub analyse: bool,
    /// Start, pause, resume and cancel builds.
    pub build: bool,
    /// Whether another token could mean other rights.
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

/// Who may come through the door, and do what.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Whether requests may start an analysis, and start, pause, resume and cancel builds.
    pub may_change: bool,
    /// Whether the door is on this machine alone. Then only a request to a name of this machine is answered, so that no
    /// page elsewhere reaches it by a name of its own that leads here.
    pub is_local: bool,
    /// Pages of these origins, as in `https://example.org`, may read what is answered; by default none.
    pub origins: Vec<String>,
}

impl Access {
    /// Of a door at this address: everything on this machine, reading alone beyond it.
    #[must_use]
    pub fn at(address: SocketAddr) -> Self {
        let is_local = address.ip().is_loopback();
        Self {
            may_change: is_local,
            is_local,
            origins: Vec::new(),
        }
    }

    /// # Errors
    /// Why not.
    pub(crate) fn check(&self, method: &Method, headers: &HeaderMap) -> Result<(), ApiError> {
        let forbidden =
            |message: &str| Err(ApiError::new(StatusCode::FORBIDDEN, "forbidden", message));
        let host = text(headers, &HOST);
        if self.is_local && !host.is_some_and(is_this_machine) {
            return forbidden(
                "this server answers to 127.0.0.1, [::1] and localhost alone: use one of them",
            );
        }
        if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
            return Ok(());
        }
        if !self.may_change {
            return forbidden(
                "nothing can be changed here: a coordinator takes changes over HTTP where --http is its own machine alone, \
                 or where it knows its clients by --tokens or --tls-client-ca",
            );
        }
        let is_ours = |origin: &str| {
            origin
                .split_once("://")
                .is_some_and(|(_, name)| Some(name) == host)
        };
        if text(headers, &ORIGIN).is_some_and(|origin| !is_ours(origin)) {
            return forbidden("a page of another origin may not change anything here");
        }
        // A page elsewhere can send a form without being asked first, but not this.
        let is_json =
            text(headers, &CONTENT_TYPE).is_some_and(|kind| kind.starts_with("application/json"));
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

    /// The origin of the page that asks, if it may read the answer.
    pub(crate) fn allowed(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let origin = headers.get(ORIGIN)?;
        self.origins
            .iter()
            .any(|allowed| allowed.as_bytes() == origin.as_bytes())
            .then(|| origin.clone())
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Whether a `Host` names this machine, whatever the port.
fn is_this_machine(host: &str) -> bool {
    let name = host
        .rsplit_once(':')
        .filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name);
    name.eq_ignore_ascii_case("localhost") || name == "[::1]" || is_loopback_number(name)
}

fn is_loopback_number(name: &str) -> bool {
    name.parse::<std::net::Ipv4Addr>()
        .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(all: &[(HeaderName, &str)]) -> HeaderMap {
        let value = |text: &str| HeaderValue::from_str(text).expect("plain text");
        all.iter()
            .map(|(name, text)| (name.clone(), value(text)))
            .collect()
    }

    #[test]
    fn names_of_this_machine() {
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
    fn pages_elsewhere_change_nothing() {
        let local = Access::at("127.0.0.1:1".parse().expect("an address"));
        let json = (CONTENT_TYPE, "application/json");
        let host = (HOST, "127.0.0.1:1");
        let post = |access: &Access, all: &[(HeaderName, &str)]| {
            access
                .check(&Method::POST, &headers(all))
                .map_err(|refusal| refusal.status.as_u16())
        };
        assert_eq!(post(&local, &[host.clone(), json.clone()]), Ok(()));
        assert_eq!(
            post(
                &local,
                &[host.clone(), json.clone(), (ORIGIN, "http://127.0.0.1:1")]
            ),
            Ok(())
        );
        assert_eq!(
            post(
                &local,
                &[host.clone(), json.clone(), (ORIGIN, "http://example.org")]
            ),
            Err(403)
        );
        assert_eq!(
            post(&local, &[host.clone(), json.clone(), (ORIGIN, "null")]),
            Err(403)
        );
        assert_eq!(
            post(&local, &[host, (CONTENT_TYPE, "text/plain")]),
            Err(415)
        );
        assert_eq!(
            post(&local, &[(HOST, "example.org"), json.clone()]),
            Err(403)
        );
        assert_eq!(post(&local, std::slice::from_ref(&json)), Err(403));
        let open = Access::at("0.0.0.0:1".parse().expect("an address"));
        assert_eq!(post(&open, &[(HOST, "example.org"), json]), Err(403));
        assert_eq!(
            open.check(&Method::GET, &headers(&[(HOST, "example.org")])),
            Ok(())
        );
    }
}

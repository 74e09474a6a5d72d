use std::sync::Arc;
use std::time::Duration;

use kagetsu_proto::exhausted;
use tonic::Status;

use super::permission::Permission;

/// Why a request is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// The request carries no token.
    #[error(
        "a token is needed: give --token-file FILE or KAGETSU_TOKEN; `kagetsu token new` makes one"
    )]
    NoToken,
    /// The token is not in the tokens file.
    #[error("the token is not known here: it was revoked, or is another coordinator's")]
    UnknownToken,
    /// The token's roles do not include the permission.
    #[error("the token '{name}' has the role {roles}, and this needs one of: {}", .permission.roles())]
    MissingRole {
        /// The token's name.
        name: Arc<str>,
        /// Its roles.
        roles: String,
        /// The permission that the request needs.
        permission: Permission,
    },
    /// The token, or the public as a whole, makes too many requests.
    #[error("{} exceeds {rate} requests a second: try again in {} ms", caller(.name.as_deref()), .wait.as_millis().max(1))]
    RateLimited {
        /// The token's name; none for all callers without a token.
        name: Option<Arc<str>>,
        /// Allowed requests a second.
        rate: u32,
        /// Time until the next request is allowed.
        wait: Duration,
    },
    /// The caller's address has shown too many unknown tokens.
    #[error("too many unknown tokens from this address: try again in {} ms", .wait.as_millis().max(1))]
    TooManyFailures {
        /// Time until the next attempt is allowed.
        wait: Duration,
    },
}

fn caller(name: Option<&str>) -> String {
    name.map_or_else(
        || "the total without a token".into(),
        |name| format!("the token '{name}'"),
    )
}

impl AuthError {
    /// The codes of all errors, in the order of [`AuthError::index`].
    pub(super) const CODES: [&'static str; 5] = [
        "no_token",
        "unknown_token",
        "role",
        "rate",
        "too_many_failures",
    ];

    pub(super) const fn index(&self) -> usize {
        match self {
            Self::NoToken => 0,
            Self::UnknownToken => 1,
            Self::MissingRole { .. } => 2,
            Self::RateLimited { .. } => 3,
            Self::TooManyFailures { .. } => 4,
        }
    }

    /// Its code, for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        Self::CODES[self.index()]
    }

    /// Time after which the same request may succeed; `None` if waiting does not help.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { wait, .. } | Self::TooManyFailures { wait } => Some(*wait),
            _ => None,
        }
    }

    /// Its HTTP status code.
    #[must_use]
    pub const fn http_code(&self) -> u16 {
        match self {
            Self::NoToken | Self::UnknownToken => 401,
            Self::MissingRole { .. } => 403,
            Self::RateLimited { .. } | Self::TooManyFailures { .. } => 429,
        }
    }

    /// Its gRPC status, with the time to retry where waiting helps.
    #[must_use]
    pub fn status(&self) -> Status {
        let message = self.to_string();
        match self {
            Self::NoToken | Self::UnknownToken => Status::unauthenticated(message),
            Self::MissingRole { .. } => Status::permission_denied(message),
            Self::RateLimited { wait, .. } | Self::TooManyFailures { wait } => {
                exhausted(message, (*wait).max(Duration::from_millis(1)))
            }
        }
    }
}

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::Extensions;
use kagetsu_files::FileIdentity;
use kagetsu_http::Caller;
use parking_lot::Mutex;
use subtle::ConstantTimeEq;
use tokio_util::sync::CancellationToken;

use super::error::AuthError;
use super::permission::Permission;
use super::rate::{FailureLimit, RateClock, RequestLimit};
use super::role::{Role, names};
use super::tokens::{Hash, TokenEntry, Tokens, TokensError, hash};

/// The default limit of requests a second for each token.
pub(super) const DEFAULT_RATE: u32 = 100;
/// Time between two checks of whether the tokens file has changed.
const RELOAD_INTERVAL: Duration = Duration::from_secs(2);
/// The longest text that is tried as a token, in bytes.
const MAX_TOKEN_BYTES: usize = 256;

/// Identifies callers by their tokens and decides what they may do.
#[derive(Debug)]
pub struct Authenticator {
    file: Option<PathBuf>,
    rate: u32,
    /// The limit of all callers without a token, where they may read.
    public: Option<RequestLimit>,
    failures: FailureLimit,
    clock: RateClock,
    state: Mutex<TokenTable>,
    /// Rejected requests, in the order of [`AuthError::CODES`].
    rejected: [AtomicU64; AuthError::CODES.len()],
}

#[derive(Debug, Default)]
struct TokenTable {
    version: FileVersion,
    holders: BTreeMap<Hash, Holder>,
}

/// The state of a file; `None` if it cannot be read.
type FileVersion = Option<FileIdentity>;

#[derive(Debug)]
struct Holder {
    entry: TokenEntry,
    name: Arc<str>,
    limit: RequestLimit,
    revoked: CancellationToken,
}

/// An authenticated caller.
#[derive(Clone, Debug)]
pub struct Principal {
    /// The name of its token; none for a caller without one.
    pub name: Option<Arc<str>>,
    /// Its roles.
    pub roles: Vec<Role>,
    /// Cancelled when the token is revoked or changed: the caller's streams must end.
    pub revoked: CancellationToken,
}

/// The proof of identity that a request carries.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestCredentials<'a> {
    /// The `Authorization` header.
    pub authorization: Option<&'a str>,
    /// The client's address; none for a caller in this process.
    pub address: Option<IpAddr>,
}

impl Principal {
    /// A caller without a token.
    fn anonymous(role: Role) -> Self {
        Self {
            name: None,
            roles: vec![role],
            revoked: CancellationToken::new(),
        }
    }

    /// The server itself, which may do everything.
    #[must_use]
    pub fn internal() -> Self {
        Self::anonymous(Role::Admin)
    }

    /// Checks that the caller has a permission.
    ///
    /// # Errors
    /// The caller lacks it.
    pub(crate) fn require(&self, permission: Permission) -> Result<(), AuthError> {
        if self.has(permission) {
            return Ok(());
        }
        let name = self.name.clone().ok_or(AuthError::NoToken)?;
        Err(AuthError::MissingRole {
            name,
            roles: names(&self.roles),
            permission,
        })
    }

    /// Whether the caller has a permission.
    #[must_use]
    pub fn has(&self, permission: Permission) -> bool {
        self.roles.iter().any(|role| role.has(permission))
    }
}

impl From<Principal> for Caller {
    fn from(principal: Principal) -> Self {
        let mut extensions = Extensions::new();
        extensions.insert(principal);
        Self(extensions)
    }
}

impl Authenticator {
    /// Lets every caller do everything.
    #[must_use]
    pub fn open() -> Arc<Self> {
        Arc::new(Self::new(None, DEFAULT_RATE, false))
    }

    /// Reads tokens from a file. A token without a rate of its own may make `rate` requests a
    /// second. With `is_public`, callers without a token may read, at that rate all together.
    ///
    /// # Errors
    /// If the file cannot be used.
    pub fn with_tokens(file: &Path, rate: u32, is_public: bool) -> Result<Arc<Self>, TokensError> {
        let authenticator = Self::new(Some(file.into()), rate, is_public);
        authenticator.reload()?;
        Ok(Arc::new(authenticator))
    }

    fn new(file: Option<PathBuf>, rate: u32, is_public: bool) -> Self {
        let clock = RateClock::default();
        Self {
            file,
            rate,
            public: is_public.then(|| RequestLimit::new(rate, &clock)),
            failures: FailureLimit::new(&clock),
            clock,
            state: Mutex::default(),
            rejected: Default::default(),
        }
    }

    /// Whether every caller may do everything.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.file.is_none()
    }

    /// Reads the tokens file again if it has changed. Returns whether it had. Removed and changed
    /// tokens are revoked. A file that cannot be used is reported once and leaves the tokens as
    /// they are.
    ///
    /// # Errors
    /// If the file cannot be used.
    pub fn reload(&self) -> Result<bool, TokensError> {
        let Some(file) = &self.file else {
            return Ok(false);
        };
        let version = file_version(file);
        if version.is_some() && self.state.lock().version == version {
            return Ok(false);
        }
        let is_new = std::mem::replace(&mut self.state.lock().version, version) != version;
        let tokens = match Tokens::read(file) {
            Err(_) if !is_new && version.is_none() && !self.state.lock().holders.is_empty() => {
                return Ok(false);
            }
            read => read?,
        };
        let mut state = self.state.lock();
        let mut old = std::mem::take(&mut state.holders);
        for entry in tokens.entries() {
            let same = old
                .remove(&entry.hash)
                .filter(|holder| holder.entry == *entry);
            let holder = same.unwrap_or_else(|| Holder {
                name: entry.name.as_str().into(),
                limit: RequestLimit::new(entry.rate.unwrap_or(self.rate), &self.clock),
                revoked: CancellationToken::new(),
                entry: entry.clone(),
            });
            state.holders.insert(entry.hash, holder);
        }
        drop(state);
        old.values().for_each(|holder| holder.revoked.cancel());
        Ok(true)
    }

    /// Keeps the tokens current; never ends.
    pub(crate) async fn watch(&self) {
        loop {
            tokio::time::sleep(RELOAD_INTERVAL).await;
            self.reload_and_log();
            self.failures.forget_recovered();
        }
    }

    /// Reads the tokens file again if it has changed, and logs the result.
    pub(crate) fn reload_and_log(&self) {
        match self.reload() {
            Ok(true) => tracing::info!(
                tokens = self.state.lock().holders.len(),
                "reloaded the tokens"
            ),
            Ok(false) => {}
            Err(error) => tracing::warn!("the previous tokens stay in use: {error}"),
        }
    }

    /// Authenticates a request and checks its permission and its rate.
    ///
    /// # Errors
    /// Why the request is rejected.
    pub fn authorize(
        &self,
        credentials: RequestCredentials<'_>,
        permission: Permission,
    ) -> Result<Principal, AuthError> {
        let result = self.decide(credentials, permission);
        result.inspect_err(|error| {
            self.rejected[error.index()].fetch_add(1, Ordering::Relaxed);
        })
    }

    /// Rejected requests by the code of their error.
    pub(crate) fn rejections(&self) -> Vec<(&'static str, u64)> {
        let counts = self.rejected.iter().map(|n| n.load(Ordering::Relaxed));
        AuthError::CODES.into_iter().zip(counts).collect()
    }

    fn decide(
        &self,
        credentials: RequestCredentials<'_>,
        permission: Permission,
    ) -> Result<Principal, AuthError> {
        if self.is_open() {
            return Ok(Principal::internal());
        }
        if permission == Permission::Public {
            return Ok(Principal::anonymous(Role::Read));
        }
        let Some(authorization) = credentials.authorization else {
            return self.admit_public(permission);
        };
        let token = bearer_token(authorization).ok_or(AuthError::NoToken)?;
        let found = self.admit_token(token, permission);
        match (found, credentials.address) {
            (Err(AuthError::UnknownToken), Some(address)) => {
                let recorded = self.failures.record(address);
                recorded.map_err(|wait| AuthError::TooManyFailures { wait })?;
                Err(AuthError::UnknownToken)
            }
            (found, _) => found,
        }
    }

    fn admit_public(&self, permission: Permission) -> Result<Principal, AuthError> {
        let limit = self.public.as_ref().filter(|_| Role::Read.has(permission));
        let taken = limit.ok_or(AuthError::NoToken)?.take();
        taken.map_err(|wait| AuthError::RateLimited {
            name: None,
            rate: self.rate,
            wait,
        })?;
        Ok(Principal::anonymous(Role::Read))
    }

    fn admit_token(&self, token: &str, permission: Permission) -> Result<Principal, AuthError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(AuthError::UnknownToken);
        }
        let shown = hash(token);
        let state = self.state.lock();
        // Comparing every hash to its end keeps the time independent of the token.
        let found = state.holders.values().fold(None, |found, holder| {
            if bool::from(holder.entry.hash.ct_eq(&shown)) {
                Some(holder)
            } else {
                found
            }
        });
        let holder = found.ok_or(AuthError::UnknownToken)?;
        let principal = Principal {
            name: Some(Arc::clone(&holder.name)),
            roles: holder.entry.roles.clone(),
            revoked: holder.revoked.clone(),
        };
        principal.require(permission)?;
        let taken = holder.limit.take();
        taken.map_err(|wait| AuthError::RateLimited {
            name: principal.name.clone(),
            rate: holder.entry.rate.unwrap_or(self.rate),
            wait,
        })?;
        Ok(principal)
    }
}

/// The token of an `Authorization` header, if the header has one.
fn bearer_token(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

fn file_version(file: &Path) -> FileVersion {
    file.metadata().ok().as_ref().map(FileIdentity::of)
}

#[cfg(test)]
mod tests;

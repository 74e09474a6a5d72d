use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::Extensions;
use kagetsu_http::CallerExtensions;
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

/// Identifies one state of a file: when its content or its permissions changed (seconds and
/// nanoseconds since 1970), its length, and its inode. `None` if it cannot be read.
type FileVersion = Option<(i64, i64, u64, u64)>;

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

impl From<Principal> for CallerExtensions {
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
    let about = file.metadata().ok()?;
    Some((about.ctime(), about.ctime_nsec(), about.len(), about.ino()))
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;

    struct Fixture {
        folder: tempfile::TempDir,
        authenticator: Arc<Authenticator>,
        bearer: String,
    }

    impl Fixture {
        fn new(roles: &[Role], rate: Option<u32>) -> Self {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let path = folder.path().join("tokens.toml");
            let bearer = make(&path, "t", roles, rate);
            let authenticator = Authenticator::with_tokens(&path, DEFAULT_RATE, false);
            Self {
                folder,
                authenticator: authenticator.expect("sound"),
                bearer,
            }
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("tokens.toml")
        }

        fn ask(&self, bearer: &str, permission: Permission) -> Result<Principal, AuthError> {
            ask(&self.authenticator, Some(bearer), permission)
        }
    }

    fn make(path: &Path, name: &str, roles: &[Role], rate: Option<u32>) -> String {
        let made = Tokens::change(path, |tokens| tokens.make(name, roles, rate, String::new()));
        format!("Bearer {}", made.expect("made"))
    }

    fn ask(
        authenticator: &Authenticator,
        authorization: Option<&str>,
        permission: Permission,
    ) -> Result<Principal, AuthError> {
        let credentials = RequestCredentials {
            authorization,
            address: None,
        };
        authenticator.authorize(credentials, permission)
    }

    #[test]
    fn missing_and_unknown_tokens_are_rejected() {
        let fixture = Fixture::new(&[Role::Admin], None);
        let bearer = fixture.bearer.as_str();
        let longer = format!("{bearer}0");
        for (shown, error) in [
            (None, AuthError::NoToken),
            (Some(""), AuthError::NoToken),
            (Some("Bearer"), AuthError::NoToken),
            (Some("Bearer "), AuthError::NoToken),
            (Some("Basic a2FnZXRzdTo="), AuthError::NoToken),
            (Some("Bearer kagetsu_0"), AuthError::UnknownToken),
            (Some(&bearer[..bearer.len() - 1]), AuthError::UnknownToken),
            (Some(longer.as_str()), AuthError::UnknownToken),
        ] {
            let rejected = ask(&fixture.authenticator, shown, Permission::Read);
            assert_eq!(rejected.expect_err("rejected"), error, "{shown:?}");
            assert!(ask(&fixture.authenticator, shown, Permission::Public).is_ok());
        }
        assert!(fixture.ask(bearer, Permission::Admin).is_ok());
        let upper = bearer.to_uppercase().replacen("BEARER", "bearer", 1);
        assert!(fixture.ask(&upper, Permission::Read).is_err());
    }

    #[test]
    fn unknown_tokens_are_limited_for_each_address() {
        let fixture = Fixture::new(&[Role::Read], None);
        let ask = |address: [u8; 4], authorization: &str| {
            let credentials = RequestCredentials {
                authorization: Some(authorization),
                address: Some(address.into()),
            };
            fixture
                .authenticator
                .authorize(credentials, Permission::Read)
        };
        let (attacker, other) = ([192, 0, 2, 1], [192, 0, 2, 2]);
        let unknown = (0..30_000)
            .filter(|_| matches!(ask(attacker, "Bearer x"), Err(AuthError::UnknownToken)));
        assert_eq!(unknown.count(), 60);
        let error = ask(attacker, "Bearer x").expect_err("rejected");
        let wait = error.retry_after().expect("a time");
        assert!(wait <= Duration::from_secs(1), "{wait:?}");
        assert_eq!(
            (error.status().code(), error.http_code()),
            (Code::ResourceExhausted, 429)
        );
        assert!(
            ask(attacker, &fixture.bearer).is_ok(),
            "a valid token is not held up"
        );
        assert_eq!(
            ask(other, "Bearer x").expect_err("rejected"),
            AuthError::UnknownToken
        );
        fixture.authenticator.clock.advance(wait);
        assert_eq!(
            ask(attacker, "Bearer x").expect_err("rejected"),
            AuthError::UnknownToken
        );
        let counts = fixture.authenticator.rejections();
        assert!(
            counts.contains(&("too_many_failures", 29_941)),
            "{counts:?}"
        );
    }

    #[test]
    fn each_token_has_its_own_rate() {
        let fixture = Fixture::new(&[Role::Read], Some(5));
        let other = make(&fixture.path(), "o", &[Role::Read], None);
        assert!(fixture.authenticator.reload().expect("sound"));
        let passed = (0..100)
            .filter(|_| fixture.ask(&fixture.bearer, Permission::Read).is_ok())
            .count();
        assert_eq!(passed, 10);
        let error = fixture
            .ask(&fixture.bearer, Permission::Read)
            .expect_err("too many");
        let wait = error.retry_after().expect("a time");
        let status = error.status();
        assert_eq!(
            (status.code(), error.http_code()),
            (Code::ResourceExhausted, 429)
        );
        assert!(status.metadata().get("grpc-retry-pushback-ms").is_some());
        assert!(fixture.ask(&other, Permission::Read).is_ok());
        fixture.authenticator.clock.advance(wait);
        assert!(fixture.ask(&fixture.bearer, Permission::Read).is_ok());
    }

    #[test]
    fn public_callers_only_read() {
        let fixture = Fixture::new(&[Role::Build], None);
        let public = Authenticator::with_tokens(&fixture.path(), 3, true).expect("sound");
        let principal = ask(&public, None, Permission::Read).expect("public");
        assert!(principal.has(Permission::Read));
        for permission in [
            Permission::Analyse,
            Permission::Build,
            Permission::Work,
            Permission::Admin,
        ] {
            assert!(!principal.has(permission), "{permission:?}");
            let rejected = ask(&public, None, permission).expect_err("no token");
            assert_eq!(rejected, AuthError::NoToken, "{permission:?}");
        }
        let wrong = ask(&public, Some("Bearer kagetsu_0"), Permission::Read);
        assert_eq!(wrong.expect_err("wrong"), AuthError::UnknownToken);
        let builder = ask(&public, Some(&fixture.bearer), Permission::Build).expect("known");
        assert!(builder.has(Permission::Build));
        let passed = (0..100).filter(|_| ask(&public, None, Permission::Read).is_ok());
        assert_eq!(passed.count(), 5);
        let error = ask(&public, None, Permission::Read)
            .expect_err("too many")
            .to_string();
        assert!(
            error.starts_with("everybody without a token together asks more than 3 times"),
            "{error}"
        );
    }

    #[test]
    fn volunteers_may_work_and_nothing_else() {
        let fixture = Fixture::new(&[Role::Volunteer], None);
        assert!(fixture.ask(&fixture.bearer, Permission::Work).is_ok());
        for permission in [
            Permission::Read,
            Permission::Analyse,
            Permission::Build,
            Permission::Admin,
        ] {
            assert!(
                fixture.ask(&fixture.bearer, permission).is_err(),
                "{permission:?}"
            );
        }
    }

    #[test]
    fn changed_file_is_loaded_and_damaged_one_ignored() {
        let fixture = Fixture::new(&[Role::Read], None);
        let authenticator = &fixture.authenticator;
        let path = fixture.path();
        let principal = fixture
            .ask(&fixture.bearer, Permission::Read)
            .expect("known");
        std::fs::write(&path, "nonsense").expect("room");
        assert!(matches!(
            authenticator.reload(),
            Err(TokensError::Damaged(..))
        ));
        assert!(!authenticator.reload().expect("reported once"));
        std::fs::remove_file(&path).expect("it is there");
        assert!(matches!(authenticator.reload(), Err(TokensError::Read(..))));
        assert!(!authenticator.reload().expect("reported once"));
        assert!(fixture.ask(&fixture.bearer, Permission::Read).is_ok());
        let another = make(&path, "another", &[Role::Work], None);
        assert!(!principal.revoked.is_cancelled());
        assert!(authenticator.reload().expect("sound"));
        assert!(principal.revoked.is_cancelled());
        let rejected = fixture.ask(&fixture.bearer, Permission::Read);
        assert_eq!(rejected.expect_err("gone"), AuthError::UnknownToken);
        let another = fixture.ask(&another, Permission::Work).expect("new");
        make(&path, "third", &[Role::Work], None);
        assert!(authenticator.reload().expect("sound"));
        assert!(
            !another.revoked.is_cancelled(),
            "unchanged tokens stay valid"
        );
    }

    #[test]
    fn changed_permissions_of_the_file_are_noticed() {
        let fixture = Fixture::new(&[Role::Read], None);
        let path = fixture.path();
        // Tests may run as root, who can read every file: so compare the versions.
        let before = fixture.authenticator.state.lock().version;
        std::thread::sleep(Duration::from_millis(20));
        let permissions = std::fs::metadata(&path).expect("it is there").permissions();
        std::fs::set_permissions(&path, permissions).expect("it is ours");
        assert_ne!(file_version(&path), before);
        assert!(fixture.authenticator.reload().expect("sound"));
        assert!(fixture.ask(&fixture.bearer, Permission::Read).is_ok());
    }

    #[test]
    fn missing_role_names_the_sufficient_roles() {
        let fixture = Fixture::new(&[Role::Read, Role::Work], None);
        let error = fixture
            .ask(&fixture.bearer, Permission::Build)
            .expect_err("too small");
        assert_eq!(
            error.to_string(),
            "the token 't' has the role read, work, and this needs one of: build, admin"
        );
        assert_eq!(
            (error.status().code(), error.http_code()),
            (Code::PermissionDenied, 403)
        );
    }
}

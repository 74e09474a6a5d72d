use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use subtle::ConstantTimeEq;
use tokio_util::sync::CancellationToken;
use tonic::{Code, Status};

use super::bucket::Bucket;
use super::role::{Need, Role};
use super::tokens::{Hash, TokenEntry, Tokens, TokensError, hash};

/// Requests a second of one token, where nobody says otherwise.
pub(super) const RATE: u32 = 100;
/// How often a changed file is looked for.
const RELOAD: Duration = Duration::from_secs(2);
/// Longest text that is taken for a token, in bytes.
const LONGEST: usize = 256;

/// Decides who may ask what.
#[derive(Debug)]
pub struct Guard {
    file: Option<PathBuf>,
    rate: u32,
    /// Those who show no token, where they may look: all of them together.
    public: Option<Mutex<Bucket>>,
    state: Mutex<State>,
    refusals: [AtomicU64; 4],
}

#[derive(Debug, Default)]
struct State {
    version: Version,
    holders: BTreeMap<Hash, Holder>,
}

/// Tells one state of a file from the next: when it was changed (what it says, or who may read it), in seconds and nanoseconds
/// since 1970; its length; and which file it is.
type Version = Option<(i64, i64, u64, u64)>;

#[derive(Debug)]
struct Holder {
    entry: TokenEntry,
    name: Arc<str>,
    bucket: Bucket,
    revoked: CancellationToken,
}

/// Somebody who may.
#[derive(Clone, Debug)]
pub struct Pass {
    /// The token's name; none where no token is needed.
    pub name: Option<Arc<str>>,
    /// What the token is for.
    pub roles: Vec<Role>,
    /// Cancelled when the token is taken away or changed: what goes on under it must end.
    pub revoked: CancellationToken,
}

fn words(roles: &[Role]) -> String {
    roles
        .iter()
        .copied()
        .map(Role::word)
        .collect::<Vec<_>>()
        .join(", ")
}

impl Pass {
    fn without_a_token(role: Role) -> Self {
        Self {
            name: None,
            roles: vec![role],
            revoked: CancellationToken::new(),
        }
    }

    /// Whether it does for something more, of which a request's content alone tells.
    ///
    /// # Errors
    /// That it does not.
    pub(crate) fn require(&self, need: Need) -> Result<(), Refusal> {
        match &self.name {
            _ if self.may(need) => Ok(()),
            Some(name) => Err(Refusal::Role {
                name: Arc::clone(name),
                roles: words(&self.roles),
                need,
            }),
            None => Err(Refusal::NoToken),
        }
    }

    /// Whether it would do for this, too.
    #[must_use]
    pub fn may(&self, need: Need) -> bool {
        self.roles.iter().any(|role| role.may(need))
    }
}

/// Somebody who may not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// No token was shown.
    #[error(
        "a token is needed: give --token-file FILE or KAGETSU_TOKEN; `kagetsu token new` makes one"
    )]
    NoToken,
    /// Nobody knows the token.
    #[error("the token is not known here: it was revoked, or is another coordinator's")]
    Unknown,
    /// The token is for something else.
    #[error("the token '{name}' has the role {roles}, and this needs one of: {}", .need.roles())]
    Role {
        /// The token's name.
        name: Arc<str>,
        /// Its roles.
        roles: String,
        /// What is needed.
        need: Need,
    },
    /// The token has asked too often.
    #[error("{} asks more than {rate} times a second: try again in {} ms", who(.name.as_ref()), .wait.as_millis().max(1))]
    TooMany {
        /// The token's name; none: everybody who shows none.
        name: Option<Arc<str>>,
        /// A second.
        rate: u32,
        /// When there is room again.
        wait: Duration,
    },
}

impl Guard {
    /// One who lets everybody do everything.
    #[must_use]
    pub fn open() -> Arc<Self> {
        Arc::new(Self {
            file: None,
            rate: RATE,
            public: None,
            state: Mutex::default(),
            refusals: Default::default(),
        })
    }

    /// One who knows the tokens of a file; `rate` is how many requests a second each may make that has no rate of its own. If
    /// it `is_public`, who shows no token may look, at that rate all together.
    ///
    /// # Errors
    /// If the file cannot be used.
    pub fn with_tokens(file: &Path, rate: u32, is_public: bool) -> Result<Arc<Self>, TokensError> {
        let public = is_public.then(|| Mutex::new(Bucket::new(rate, Instant::now())));
        let (state, refusals) = (Mutex::default(), Default::default());
        let guard = Self {
            file: Some(file.into()),
            rate,
            public,
            state,
            refusals,
        };
        guard.reload()?;
        Ok(Arc::new(guard))
    }

    /// Whether it lets everybody do everything.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.file.is_none()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is whole between calls; a panic elsewhere does not make it less so.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the file again if it has changed; whether it had. Tokens that are gone, or for something else, are revoked. If
    /// it cannot be used, that is told once, and what was known stays.
    ///
    /// # Errors
    /// If the file cannot be used.
    pub fn reload(&self) -> Result<bool, TokensError> {
        let Some(file) = &self.file else {
            return Ok(false);
        };
        let version = version(file);
        if version.is_some() && self.lock().version == version {
            return Ok(false);
        }
        let is_news = std::mem::replace(&mut self.lock().version, version) != version;
        let tokens = match Tokens::read(file) {
            Err(_) if !is_news && version.is_none() && !self.lock().holders.is_empty() => {
                return Ok(false);
            }
            read => read?,
        };
        let now = Instant::now();
        let mut state = self.lock();
        let mut old = std::mem::take(&mut state.holders);
        for entry in tokens.entries() {
            let same = old
                .remove(&entry.hash)
                .filter(|holder| holder.entry == *entry);
            let holder = same.unwrap_or_else(|| Holder {
                name: entry.name.as_str().into(),
                bucket: Bucket::new(entry.rate.unwrap_or(self.rate), now),
                revoked: CancellationToken::new(),
                entry: entry.clone(),
            });
            state.holders.insert(entry.hash, holder);
        }
        drop(state);
        old.values().for_each(|holder| holder.revoked.cancel());
        Ok(true)
    }

    /// Watches the file; never ends.
    pub(crate) async fn watch(&self) {
        loop {
            tokio::time::sleep(RELOAD).await;
            self.reload_and_tell();
        }
    }

    /// Reads the file again if it has changed, and says so in the log.
    pub(crate) fn reload_and_tell(&self) {
        match self.reload() {
            Ok(true) => tracing::info!(
                tokens = self.lock().holders.len(),
                "the tokens were read again"
            ),
            Ok(false) => {}
            Err(error) => tracing::warn!("the tokens of before still count: {error}"),
        }
    }

    /// Whether a request may be done now; `authorization` is its header of that name.
    ///
    /// # Errors
    /// Why not.
    pub fn admit(
        &self,
        now: Instant,
        authorization: Option<&str>,
        need: Need,
    ) -> Result<Pass, Refusal> {
        self.judge(now, authorization, need).inspect_err(|refusal| {
            self.refusals[refusal.kind()].fetch_add(1, Ordering::Relaxed);
        })
    }

    /// How often it has refused somebody, by reason.
    pub(crate) fn refusals(&self) -> Vec<(&'static str, u64)> {
        Refusal::WORDS
            .iter()
            .zip(&self.refusals)
            .map(|(word, count)| (*word, count.load(Ordering::Relaxed)))
            .collect()
    }

    fn judge(
        &self,
        now: Instant,
        authorization: Option<&str>,
        need: Need,
    ) -> Result<Pass, Refusal> {
        if self.is_open() || need == Need::Nothing {
            return Ok(Pass::without_a_token(if self.is_open() {
                Role::Admin
            } else {
                Role::Read
            }));
        }
        if let Some(bucket) = self
            .public
            .as_ref()
            .filter(|_| authorization.is_none() && Role::Read.may(need))
        {
            let mut bucket = bucket.lock().unwrap_or_else(PoisonError::into_inner);
            let taken = bucket.take(now).map_err(|wait| Refusal::TooMany {
                name: None,
                rate: self.rate,
                wait,
            });
            return taken.map(|()| Pass::without_a_token(Role::Read));
        }
        let (scheme, token) = authorization
            .and_then(|text| text.split_once(' '))
            .ok_or(Refusal::NoToken)?;
        let token = token.trim();
        if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() {
            return Err(Refusal::NoToken);
        }
        if token.len() > LONGEST {
            return Err(Refusal::Unknown);
        }
        let shown = hash(token);
        let mut state = self.lock();
        // Every hash is compared, and each to its end, so that the time tells nothing.
        let found = state.holders.values_mut().fold(None, |found, holder| {
            if bool::from(holder.entry.hash.ct_eq(&shown)) {
                Some(holder)
            } else {
                found
            }
        });
        let Holder {
            entry,
            name,
            bucket,
            revoked,
        } = found.ok_or(Refusal::Unknown)?;
        if !entry.roles.iter().any(|role| role.may(need)) {
            return Err(Refusal::Role {
                name: Arc::clone(name),
                roles: words(&entry.roles),
                need,
            });
        }
        let rate = entry.rate.unwrap_or(self.rate);
        bucket.take(now).map_err(|wait| Refusal::TooMany {
            name: Some(Arc::clone(name)),
            rate,
            wait,
        })?;
        Ok(Pass {
            name: Some(Arc::clone(name)),
            roles: entry.roles.clone(),
            revoked: revoked.clone(),
        })
    }
}

fn who(name: Option<&Arc<str>>) -> String {
    name.map_or_else(
        || "everybody without a token together".into(),
        |name| format!("the token '{name}'"),
    )
}

fn version(file: &Path) -> Version {
    let about = file.metadata().ok()?;
    Some((about.ctime(), about.ctime_nsec(), about.len(), about.ino()))
}

impl Refusal {
    const WORDS: [&'static str; 4] = ["no_token", "unknown_token", "role", "rate"];

    const fn kind(&self) -> usize {
        match self {
            Self::NoToken => 0,
            Self::Unknown => 1,
            Self::Role { .. } => 2,
            Self::TooMany { .. } => 3,
        }
    }

    /// A word for it, for programs.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        Self::WORDS[self.kind()]
    }

    /// When to come again, if that helps.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::TooMany { wait, .. } => Some(*wait),
            _ => None,
        }
    }

    /// Its status code of HTTP.
    #[must_use]
    pub const fn http_code(&self) -> u16 {
        match self {
            Self::NoToken | Self::Unknown => 401,
            Self::Role { .. } => 403,
            Self::TooMany { .. } => 429,
        }
    }

    /// Its status of gRPC; with `retry-after` (seconds) and `grpc-retry-pushback-ms` where it helps to come again.
    #[must_use]
    pub fn status(&self) -> Status {
        let code = match self {
            Self::NoToken | Self::Unknown => Code::Unauthenticated,
            Self::Role { .. } => Code::PermissionDenied,
            Self::TooMany { .. } => Code::ResourceExhausted,
        };
        let mut status = Status::new(code, self.to_string());
        if let Some(wait) = self.retry_after() {
            let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1);
            status
                .metadata_mut()
                .insert("retry-after", millis.div_ceil(1_000).into());
            status
                .metadata_mut()
                .insert("grpc-retry-pushback-ms", millis.into());
        }
        status
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(
        folder: &tempfile::TempDir,
        roles: &[Role],
        rate: Option<u32>,
    ) -> (Arc<Guard>, String) {
        let path = folder.path().join("tokens.toml");
        let token = Tokens::change(&path, |tokens| tokens.make("t", roles, rate, String::new()))
            .expect("made");
        (
            Guard::with_tokens(&path, RATE, false).expect("sound"),
            format!("Bearer {token}"),
        )
    }

    #[test]
    fn who_shows_no_token_or_a_wrong_one_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (guard, bearer) = guard(&folder, &[Role::Admin], None);
        let now = Instant::now();
        let longer = format!("{bearer}0");
        for (shown, refusal) in [
            (None, Refusal::NoToken),
            (Some(""), Refusal::NoToken),
            (Some("Bearer"), Refusal::NoToken),
            (Some("Bearer "), Refusal::NoToken),
            (Some("Basic a2FnZXRzdTo="), Refusal::NoToken),
            (Some("Bearer kagetsu_0"), Refusal::Unknown),
            (Some(&bearer[..bearer.len() - 1]), Refusal::Unknown),
            (Some(longer.as_str()), Refusal::Unknown),
        ] {
            assert_eq!(
                guard.admit(now, shown, Need::Look).expect_err("refused"),
                refusal,
                "{shown:?}"
            );
            assert!(guard.admit(now, shown, Need::Nothing).is_ok());
        }
        assert!(guard.admit(now, Some(&bearer), Need::Admin).is_ok());
        assert!(
            guard
                .admit(
                    now,
                    Some(&bearer.to_uppercase().replacen("BEARER", "bearer", 1)),
                    Need::Look
                )
                .is_err()
        );
    }

    #[test]
    fn a_rate_is_each_tokens_own_and_says_when_to_come_again() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (guard, bearer) = guard(&folder, &[Role::Read], Some(5));
        let other = Tokens::change(&folder.path().join("tokens.toml"), |t| {
            t.make("o", &[Role::Read], None, String::new())
        });
        let other = format!("Bearer {}", other.expect("made"));
        assert!(guard.reload().expect("sound"));
        let now = Instant::now();
        let passed = (0..100)
            .filter(|_| guard.admit(now, Some(&bearer), Need::Look).is_ok())
            .count();
        assert_eq!(passed, 10);
        let refusal = guard
            .admit(now, Some(&bearer), Need::Look)
            .expect_err("too many");
        let wait = refusal.retry_after().expect("a time");
        let status = refusal.status();
        assert_eq!(
            (status.code(), refusal.http_code()),
            (Code::ResourceExhausted, 429)
        );
        assert!(status.metadata().get("grpc-retry-pushback-ms").is_some());
        assert!(guard.admit(now, Some(&other), Need::Look).is_ok());
        assert!(
            guard
                .admit(
                    now + wait + Duration::from_micros(1),
                    Some(&bearer),
                    Need::Look
                )
                .is_ok()
        );
    }

    #[test]
    fn the_public_looks_and_does_no_more() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (_, bearer) = guard(&folder, &[Role::Build], None);
        let guard = Guard::with_tokens(&folder.path().join("tokens.toml"), 3, true).expect("sound");
        let now = Instant::now();
        let pass = guard.admit(now, None, Need::Look).expect("public");
        assert!(pass.may(Need::Look) && !pass.may(Need::Analyse) && !pass.may(Need::Build));
        for need in [Need::Analyse, Need::Build, Need::Work, Need::Admin] {
            assert_eq!(
                guard.admit(now, None, need).expect_err("no token"),
                Refusal::NoToken,
                "{need:?}"
            );
        }
        assert_eq!(
            guard
                .admit(now, Some("Bearer kagetsu_0"), Need::Look)
                .expect_err("wrong"),
            Refusal::Unknown
        );
        assert!(
            guard
                .admit(now, Some(&bearer), Need::Build)
                .expect("known")
                .may(Need::Build)
        );
        assert_eq!(
            (0..100)
                .filter(|_| guard.admit(now, None, Need::Look).is_ok())
                .count(),
            5
        );
        let refusal = guard
            .admit(now, None, Need::Look)
            .expect_err("too many")
            .to_string();
        assert!(
            refusal.starts_with("everybody without a token together asks more than 3 times"),
            "{refusal}"
        );
    }

    #[test]
    fn a_changed_file_counts_and_a_damaged_one_does_not() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (guard, bearer) = guard(&folder, &[Role::Read], None);
        let path = folder.path().join("tokens.toml");
        let now = Instant::now();
        let pass = guard.admit(now, Some(&bearer), Need::Look).expect("known");
        std::fs::write(&path, "nonsense").expect("room");
        assert!(matches!(guard.reload(), Err(TokensError::Damaged(..))));
        assert!(!guard.reload().expect("told once"));
        std::fs::remove_file(&path).expect("it is there");
        assert!(matches!(guard.reload(), Err(TokensError::Read(..))));
        assert!(!guard.reload().expect("told once"));
        assert!(guard.admit(now, Some(&bearer), Need::Look).is_ok());
        let another = Tokens::change(&path, |t| {
            t.make("another", &[Role::Work], None, String::new())
        })
        .expect("made");
        assert!(!pass.revoked.is_cancelled());
        assert!(guard.reload().expect("sound"));
        assert!(pass.revoked.is_cancelled());
        assert_eq!(
            guard
                .admit(now, Some(&bearer), Need::Look)
                .expect_err("gone"),
            Refusal::Unknown
        );
        let another = guard
            .admit(now, Some(&format!("Bearer {another}")), Need::Work)
            .expect("new");
        Tokens::change(&path, |t| {
            t.make("third", &[Role::Work], None, String::new())
        })
        .expect("made");
        assert!(guard.reload().expect("sound"));
        assert!(
            !another.revoked.is_cancelled(),
            "who stays is not disturbed"
        );
    }

    #[test]
    fn a_file_is_read_again_when_it_changes_who_may_read_it() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (guard, bearer) = guard(&folder, &[Role::Read], None);
        let path = folder.path().join("tokens.toml");
        let now = Instant::now();
        // A test may run as root, who may read all: so it is the version that is looked at.
        let before = guard.lock().version;
        std::thread::sleep(Duration::from_millis(20));
        let permissions = std::fs::metadata(&path).expect("it is there").permissions();
        std::fs::set_permissions(&path, permissions).expect("it is ours");
        assert_ne!(version(&path), before, "who may read it has changed");
        assert!(guard.reload().expect("sound"));
        assert!(guard.admit(now, Some(&bearer), Need::Look).is_ok());
    }

    #[test]
    fn a_role_too_small_says_which_would_do() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (guard, bearer) = guard(&folder, &[Role::Read, Role::Work], None);
        let refusal = guard
            .admit(Instant::now(), Some(&bearer), Need::Build)
            .expect_err("too small");
        assert_eq!(
            refusal.to_string(),
            "the token 't' has the role read, work, and this needs one of: build, admin"
        );
        assert_eq!(
            (refusal.status().code(), refusal.http_code()),
            (Code::PermissionDenied, 403)
        );
    }
}

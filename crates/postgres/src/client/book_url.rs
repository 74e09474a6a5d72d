use std::fmt;
use std::path::PathBuf;

use kagetsu_book::without_password;
use url::form_urlencoded;

use crate::client::password;

/// The address of a book in a database: `postgres://user@host/database?book=NAME`.
#[derive(Clone)]
pub struct BookUrl {
    /// The address without the parameters that are ours, and without a password.
    shown: String,
    /// The name of the book.
    name: String,
    /// The file with the certificates of authorities that may sign the server's.
    pub(crate) root_certificates: Option<PathBuf>,
    pub(crate) config: postgres::Config,
}

/// The reason why a text is no address of a book.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text} is no address of a book: {problem}; give postgres://USER@HOST/DATABASE?book=NAME")]
pub struct BookUrlError {
    text: String,
    problem: String,
}

impl BookUrl {
    /// Reads an address. A password that it lacks comes from `PGPASSWORD`, or from the file that
    /// `PGPASSFILE` names (`~/.pgpass` without it).
    ///
    /// # Errors
    /// If the text is no such address.
    pub fn parse(text: &str) -> Result<Self, BookUrlError> {
        if !Self::is_one(text) {
            return Err(fault(text, "it does not begin with postgres://".into()));
        }
        let (base, query) = text.split_once('?').unwrap_or((text, ""));
        let (mut name, mut root_certificates) = (None, None);
        let mut kept = Vec::new();
        let mut has_mode = false;
        for pair in query.split('&') {
            let (key, value) = form_urlencoded::parse(pair.as_bytes())
                .next()
                .unwrap_or_default();
            match &*key {
                "book" => name = Some(value.into_owned()),
                "sslrootcert" => root_certificates = Some(PathBuf::from(&*value)),
                _ => {
                    has_mode |= key == "sslmode";
                    kept.push(pair);
                }
            }
        }
        let mut config: postgres::Config = format!("{base}?{}", kept.join("&"))
            .parse()
            .map_err(|error: postgres::Error| fault(text, reason(&error)))?;
        if !has_mode {
            let mode = if is_local(&config) {
                postgres::config::SslMode::Disable
            } else {
                postgres::config::SslMode::Require
            };
            config.ssl_mode(mode);
        }
        if config.get_password().is_none()
            && let Some(password) = password::find(&config)
        {
            config.password(password);
        }
        let name = name.filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| fault(text, "it does not name a book".into()))?;
        if name.chars().count() > MAX_NAME_CHARS || name.chars().any(char::is_control) {
            let problem = format!(
                "the name of the book has more than {MAX_NAME_CHARS} characters, or a control \
                 character"
            );
            return Err(fault(text, problem));
        }
        let shown = format!("{}?", without_password(base));
        let end = shown.len();
        let mut shown = form_urlencoded::Serializer::for_suffix(shown, end);
        shown.append_pair("book", &name);
        Ok(Self {
            shown: shown.finish(),
            name,
            root_certificates,
            config,
        })
    }

    /// Returns the name of the book.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The greatest length of a book's name in characters.
const MAX_NAME_CHARS: usize = 200;

/// Returns whether all hosts are this machine.
fn is_local(config: &postgres::Config) -> bool {
    use postgres::config::Host;
    let is_loopback = |name: &str| {
        let address = name.parse::<std::net::IpAddr>();
        name == "localhost" || address.is_ok_and(|address| address.is_loopback())
    };
    // The other hosts are sockets in the file system.
    let mut hosts = config.get_hosts().iter();
    !hosts.any(|host| matches!(host, Host::Tcp(name) if !is_loopback(name)))
}

fn reason(error: &postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}

/// Returns the error for a text, without its password.
fn fault(text: &str, problem: String) -> BookUrlError {
    let base = text.split_once('?').map_or(text, |(base, _)| base);
    BookUrlError {
        text: without_password(base),
        problem,
    }
}

impl fmt::Display for BookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for BookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BookUrl({})", self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_is_never_shown() {
        let url = BookUrl::parse("postgres://kim:secret@db.example/books?book=h8").expect("good");
        assert_eq!(url.to_string(), "postgres://kim@db.example/books?book=h8");
        assert_eq!(url.config.get_password(), Some(&b"secret"[..]));
        for wrong in [
            "postgres://kim:secret@db/books",
            "postgres://kim:secret@db:x/books?book=a",
            "postgres://kim:secret@db/books?book=a&no_such=1",
        ] {
            let error = BookUrl::parse(wrong).expect_err("wrong").to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn address_may_have_several_hosts() {
        let text = "postgres://kim:secret@one:5433,two:5434/books?target_session_attrs=read-write&book=a b";
        let url = BookUrl::parse(text).expect("good");
        assert_eq!(url.config.get_hosts().len(), 2);
        assert_eq!(url.config.get_ports(), [5433, 5434]);
        assert_eq!(url.name(), "a b");
        let shown = url.to_string();
        assert_eq!(shown, "postgres://kim@one:5433,two:5434/books?book=a+b");
        assert_eq!(BookUrl::parse(&shown).expect("good").name(), "a b");
    }

    #[test]
    fn remote_servers_need_tls() {
        let mode = |text: &str| BookUrl::parse(text).expect("good").config.get_ssl_mode();
        use postgres::config::SslMode::{Disable, Prefer, Require};
        assert_eq!(mode("postgres://a@db.example/b?book=c"), Require);
        assert_eq!(mode("postgres://a@127.0.0.1/b?book=c"), Disable);
        assert_eq!(mode("postgres://a@localhost:5433/b?book=c"), Disable);
        assert_eq!(mode("postgres://a@db/b?book=c&sslmode=prefer"), Prefer);
    }
}

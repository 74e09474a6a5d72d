//! The command-line options of a client's connection.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kagetsu_files::others_may_read;
use kagetsu_game::quote;

use super::connector::{ConnectError, Connector, is_loopback};
use super::credentials::Credentials;
use super::leading::{self, LeaderStanding};
use super::tls;

/// The environment variable that can hold a token. There is no such flag, because every user of a
/// machine can read flags.
const TOKEN_VARIABLE: &str = "KAGETSU_TOKEN";

/// The heading of these options.
const HEADING: &str = "Connection";

/// Options of a connection to a coordinator
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Access {
    /// Certificate of the authority that signed the coordinator's certificate, as ca.pem; needed
    /// for https://
    #[arg(help_heading = HEADING, long, value_name = "FILE")]
    pub tls_ca: Option<PathBuf>,
    /// Certificate of this client, as client.pem, where the coordinator wants one
    #[arg(help_heading = HEADING, long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Private key of --tls-cert, as client.key
    #[arg(help_heading = HEADING, long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// File with the token, as `kagetsu token new` prints it; the variable KAGETSU_TOKEN can hold
    /// the token too
    #[arg(help_heading = HEADING, long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Sends the token to another machine in plain text, where the network can read it
    #[arg(help_heading = HEADING, long)]
    pub insecure: bool,
}

impl Access {
    /// Returns the connector to the coordinator that leads a book: the one at a URL, one of several
    /// with commas between them, or one that a follower there names. `file:PATH` is the address in
    /// the first line of a file, which is read for every connection, so that the coordinator may
    /// start later or move.
    ///
    /// # Errors
    /// For text that is no address, unusable files, and a token that would be sent in plain text.
    pub fn connector(&self, urls: &str) -> Result<Connector, ConnectError> {
        if let Some(path) = urls.strip_prefix("file:") {
            return self.connector_by_file(Path::new(path));
        }
        let all = urls.split(',').map(str::trim).filter(|url| !url.is_empty());
        let connectors: Vec<Connector> = all
            .map(|url| self.connector_to_one(url))
            .collect::<Result<_, _>>()?;
        let credentials = self.credentials()?.unwrap_or_default();
        let access = self.clone();
        let redirect = move |url: &str| access.connector_to_one(url).ok();
        match leading::connector(urls, connectors, Arc::new(redirect)) {
            Some(connector) => Ok(connector.with(credentials)),
            None => Err(ConnectError::Url(urls.to_string())),
        }
    }

    /// Returns the connector for look-ups: to the coordinator at a URL even if it follows, or to
    /// the one that leads among several.
    ///
    /// # Errors
    /// As [`Self::connector`].
    pub fn reading_connector(&self, urls: &str) -> Result<Connector, ConnectError> {
        if urls.contains(',') {
            self.connector(urls)
        } else {
            self.connector_to_one(urls)
        }
    }

    /// Returns the address of the coordinator that leads, where the one at a URL follows or several
    /// are given; else, and where none leads, `None`.
    pub async fn leader(&self, urls: &str) -> Option<String> {
        let urls: Vec<&str> = urls.split(',').map(str::trim).collect();
        for url in &urls {
            let connector = self.connector_to_one(url).ok()?;
            let Ok(channel) = connector.channel().await else {
                continue;
            };
            match leading::standing(&channel).await {
                LeaderStanding::Leads => return (urls.len() > 1).then(|| url.to_string()),
                LeaderStanding::Follows(Some(leader)) => return Some(leader),
                LeaderStanding::Follows(None) => {}
            }
        }
        None
    }

    /// Returns the connector to the coordinator at a URL, for a program that has the token itself.
    ///
    /// # Errors
    /// As [`Self::connector`].
    pub fn connector_with_token(&self, url: &str, token: &str) -> Result<Connector, ConnectError> {
        let credentials = Credentials::new(token.trim());
        let credentials = credentials.ok_or_else(|| no_token("the token"))?;
        self.connector_with(url, Some(credentials))
    }

    fn connector_to_one(&self, url: &str) -> Result<Connector, ConnectError> {
        self.connector_with(url, self.credentials()?)
    }

    fn connector_with(
        &self,
        url: &str,
        credentials: Option<Credentials>,
    ) -> Result<Connector, ConnectError> {
        let connector = Connector::to_address(url, || self.tls(url))?;
        let Some(credentials) = credentials else {
            return Ok(connector);
        };
        if url.starts_with("http:") && !is_loopback(url) && !self.insecure {
            return Err(ConnectError::Refused(format!(
                "a token must not go to {url} in plain text, where the network can read it; write \
                 https://, or give --insecure on a network that you trust"
            )));
        }
        Ok(connector.with(credentials))
    }

    fn connector_by_file(&self, path: &Path) -> Result<Connector, ConnectError> {
        let (access, path) = (self.clone(), path.to_path_buf());
        let credentials = self.credentials()?.unwrap_or_default();
        let name = format!("file:{}", path.display());
        let connector = Connector::by(name, move || {
            let (access, path) = (access.clone(), path.clone());
            async move {
                let url = first_line(&path)?;
                let connector = access.connector(&url).map_err(|error| match error {
                    ConnectError::Url(_) => {
                        let form = "write it as in http://127.0.0.1:7615 or https://HOST:7615";
                        unusable(
                            &path,
                            format!("says '{}', which is none; {form}", quote(&url)),
                        )
                    }
                    error => error,
                })?;
                connector.channel().await
            }
        });
        Ok(connector.with(credentials))
    }

    fn tls(&self, url: &str) -> Result<tls::Client, ConnectError> {
        let authority = self.tls_ca.as_deref().ok_or_else(|| {
            ConnectError::Refused(format!(
                "{url} needs --tls-ca FILE: the authority that signed the coordinator's \
                 certificate, as ca.pem of `kagetsu certs`"
            ))
        })?;
        let own = self.tls_cert.as_deref().zip(self.tls_key.as_deref());
        Ok(tls::Client::new(authority, own)?)
    }

    fn credentials(&self) -> Result<Option<Credentials>, ConnectError> {
        let (text, place) = match &self.token_file {
            Some(path) => (read(path)?, path.display().to_string()),
            None => match std::env::var(TOKEN_VARIABLE) {
                Ok(text) if !text.is_empty() => (text, TOKEN_VARIABLE.to_string()),
                _ => return Ok(None),
            },
        };
        Credentials::new(text.trim())
            .map(Some)
            .ok_or_else(|| no_token(&place))
    }
}

fn no_token(place: &str) -> ConnectError {
    ConnectError::Refused(format!(
        "{place} holds no token: give one line as `kagetsu token new` prints it"
    ))
}

/// Reads the first line of the file with a coordinator's address.
fn first_line(path: &Path) -> Result<String, ConnectError> {
    let not_yet = |why| {
        let file = path.display();
        ConnectError::Unreachable(format!(
            "no coordinator has written its address to {file} yet: that file {why}"
        ))
    };
    let text = kagetsu_files::read_file(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => not_yet("is not there"),
        _ => unusable(path, format!("cannot be read: {error}")),
    })?;
    let text =
        String::from_utf8(text).map_err(|_| unusable(path, "is no text; give another".into()))?;
    match text.lines().next().map(str::trim) {
        None | Some("") => Err(not_yet("is empty")),
        Some(line) => Ok(line.into()),
    }
}

fn unusable(path: &Path, cause: String) -> ConnectError {
    let file = path.display();
    ConnectError::Refused(format!(
        "{file}, whose first line must be a coordinator's URL, {cause}"
    ))
}

fn read(path: &Path) -> Result<String, ConnectError> {
    let text = kagetsu_files::read_text(path).map_err(|error| {
        let file = path.display();
        ConnectError::Refused(format!(
            "cannot read the token file {file}: {error}; `kagetsu token new` makes a token"
        ))
    })?;
    if is_readable_by_others(path) {
        let file = path.display();
        tracing::warn!("other users can read the token in {file}; `chmod 600 {file}` prevents it");
    }
    Ok(text)
}

fn is_readable_by_others(path: &Path) -> bool {
    let about = path.metadata();
    about.is_ok_and(|about| about.is_file() && others_may_read(&about) == Some(true))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn plain_text_tokens_stay_on_this_machine() {
        for (url, here) in [
            ("http://127.0.0.1:7615", true),
            ("http://127.8.0.1:7615", true),
            ("http://[::1]:7615", true),
            ("http://localhost", true),
            ("http://10.0.0.1:7615", false),
            ("http://localhost.example:7615", false),
            ("http://127.0.0.1.example:7615", false),
        ] {
            assert_eq!(is_loopback(url), here, "{url}");
        }
    }

    #[tokio::test]
    async fn unusable_address_files_are_explained() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("coordinator.url");
        let access = Access::default();
        let connector = access.connector_by_file(&path).expect("it is read later");
        let mut errors = Vec::new();
        for bytes in [
            None,
            Some(&b""[..]),
            Some(b"\nhttp://late:1"),
            Some(b"\xff\xfe"),
            Some(b"seven\n"),
            Some(b"https://h:1"),
        ] {
            if let Some(bytes) = bytes {
                std::fs::write(&path, bytes).expect("room");
            }
            let error = connector
                .channel()
                .await
                .expect_err("nothing listens there");
            errors.push((error.is_permanent(), error.to_string()));
        }
        let expected = [
            (false, "yet: that file is not there"),
            (false, "yet: that file is empty"),
            (false, "yet: that file is empty"),
            (true, "URL, is no text"),
            (
                true,
                "URL, says 'seven', which is none; write it as in http",
            ),
            (true, "https://h:1 needs --tls-ca FILE"),
        ];
        for ((is_permanent, text), (lasts, words)) in errors.iter().zip(expected) {
            assert!(*is_permanent == lasts && text.contains(words), "{text}");
        }
    }

    #[tokio::test]
    async fn a_url_without_a_port_says_which_is_meant() {
        let connector = Connector::to_url("http://127.0.0.1").expect("a URL");
        let Err(error) = connector.channel().await else {
            return println!("skipped: a program listens at port 80");
        };
        assert!(
            error
                .to_string()
                .contains("the URL names no port, which means 80; a coordinator's is usually 7615"),
            "{error}"
        );
    }

    #[test]
    fn readable_token_file_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("token");
        std::fs::write(&file, "kagetsu_0\n").expect("room");
        for (mode, is_readable) in [(0o600, false), (0o640, false), (0o644, true), (0o604, true)] {
            std::fs::set_permissions(&file, Permissions::from_mode(mode)).expect("our own");
            assert_eq!(is_readable_by_others(&file), is_readable, "{mode:o}");
        }
        assert!(!is_readable_by_others(Path::new("/dev/null")), "a device");
    }
}

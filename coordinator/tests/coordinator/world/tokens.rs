//! Tokens of a coordinator under test.

use std::path::PathBuf;
use std::sync::Arc;

use kagetsu_coordinator::{Authenticator, Role, Tokens};
use kagetsu_proto::Access;
use tempfile::TempDir;

/// A file of tokens, and the authenticator that reads it.
pub(crate) struct TokenFile {
    folder: TempDir,
    pub(crate) authenticator: Arc<Authenticator>,
    /// Name and secret of each token.
    tokens: Vec<(String, String)>,
}

impl TokenFile {
    /// Makes a file of tokens: name, roles, and requests a second where they differ from `rate`.
    pub(crate) fn new(rate: u32, tokens: &[(&str, &[Role], Option<u32>)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("tokens.toml");
        let make = |&(name, roles, rate): &(&str, &[Role], _)| {
            let token = Tokens::change(&file, |tokens| {
                tokens.make(name, roles, rate, String::new())
            });
            (name.to_owned(), token.expect("made"))
        };
        let tokens = tokens.iter().map(make).collect();
        Self {
            authenticator: Authenticator::with_tokens(&file, rate, false).expect("sound"),
            folder,
            tokens,
        }
    }

    /// Makes one token of each role, named as the role.
    pub(crate) fn of_each_role(rate: u32) -> Self {
        let roles = Role::ALL.map(|role| [role]);
        let tokens: Vec<_> = roles
            .iter()
            .map(|role| (role[0].name(), &role[..], None))
            .collect();
        Self::new(rate, &tokens)
    }

    /// Adds a token, which the authenticator knows at once.
    pub(crate) fn add(&mut self, name: &str, roles: &[Role]) {
        let token = Tokens::change(&self.file(), |tokens| {
            tokens.make(name, roles, None, String::new())
        });
        self.tokens.push((name.into(), token.expect("made")));
        assert!(self.authenticator.reload().expect("sound"));
    }

    /// Revokes a token, which the authenticator knows at once.
    pub(crate) fn revoke(&self, name: &str) {
        Tokens::change(&self.file(), |tokens| tokens.revoke(name)).expect("it is there");
        assert!(self.authenticator.reload().expect("sound"));
    }

    /// Returns the secret of a token.
    pub(crate) fn secret(&self, name: &str) -> &str {
        let token = self.tokens.iter().find(|(known, _)| known == name);
        &token.expect("a token of the test").1
    }

    /// Returns the settings of a client that shows a token of this name.
    pub(crate) fn access(&self, name: &str) -> Access {
        self.access_by_secret(self.secret(name))
    }

    /// Returns the settings of a client that shows this secret, known or not.
    pub(crate) fn access_by_secret(&self, secret: &str) -> Access {
        let file = self.folder.path().join(format!("{secret}.token"));
        std::fs::write(&file, format!("{secret}\n")).expect("room");
        Access {
            token_file: Some(file),
            ..Access::default()
        }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("tokens.toml")
    }
}

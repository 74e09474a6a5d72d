use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use kagetsu_files::{FileError, folder_of, lock_folder, read_text};
use kagetsu_program::{Readers, write_whole};
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};

use super::role::Role;

/// The prefix of every token, by which people and secret scanners recognise one.
const PREFIX: &str = "kagetsu_";
/// The longest name of a token, in bytes.
const MAX_NAME_BYTES: usize = 100;
/// The first lines of a tokens file.
const HEADER: &str =
    "# Tokens of a Kagetsu coordinator, by their hashes; `kagetsu token` writes this file.\n\n";

/// The SHA-256 of a token.
pub(super) type Hash = [u8; 32];

/// A tokens file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokensError {
    /// There is no such file.
    #[error("there is no tokens file {}; `kagetsu token new` makes one", .0.display())]
    Missing(PathBuf),
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not one that `kagetsu token` writes.
    #[error("the tokens file {} is damaged: {}; repair it, or move it away and make new tokens", .0.display(), .1)]
    Damaged(PathBuf, String),
    /// Another token has the name.
    #[error("there is a token '{0}' already: choose another name, or revoke it first")]
    Taken(String),
    /// No token has the name.
    #[error("there is no token '{0}'; `kagetsu token list` shows all")]
    Unknown(String),
    /// The name has other characters than those of a name.
    #[error("{0:?} is no name for a token: 1 to {MAX_NAME_BYTES} letters, digits and -_.@")]
    Name(String),
    /// The system provides no random numbers.
    #[error("the system provides no random numbers")]
    Random,
}

/// A token as the file describes it: by its hash, not by its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenEntry {
    /// Its name, for people and logs.
    pub name: String,
    /// Its roles.
    pub roles: Vec<Role>,
    /// Requests a second; `None` for the coordinator's default.
    pub rate: Option<u32>,
    /// The day of its creation, as in 2026-11-21.
    pub created: String,
    #[serde(rename = "sha256", with = "hex")]
    pub(super) hash: Hash,
}

/// The tokens of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokens {
    #[serde(default, rename = "token")]
    entries: Vec<TokenEntry>,
}

impl Tokens {
    /// Reads a file.
    ///
    /// # Errors
    /// [`TokensError::Missing`], [`TokensError::File`] and [`TokensError::Damaged`].
    pub fn read(path: &Path) -> Result<Self, TokensError> {
        let text = read_text(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => TokensError::Missing(path.into()),
            _ => FileError::io("cannot read the tokens file", path)(error).into(),
        })?;
        Self::parse(&text).map_err(|why| TokensError::Damaged(path.into(), why))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let tokens: Self =
            toml::from_str(text).map_err(|error| error.to_string().trim().to_string())?;
        let mut names = BTreeSet::new();
        match tokens
            .entries
            .iter()
            .find(|entry| !names.insert(&entry.name))
        {
            Some(entry) => Err(format!("the name '{}' stands there twice", entry.name)),
            None => Ok(tokens),
        }
    }

    /// Changes a file atomically, under a lock; creates it if it is missing. Only its owner can
    /// read it.
    ///
    /// # Errors
    /// If the file cannot be read or written, and the errors of `change`.
    pub fn change<T>(
        path: &Path,
        change: impl FnOnce(&mut Self) -> Result<T, TokensError>,
    ) -> Result<T, TokensError> {
        let broken = || FileError::io("cannot write the tokens file", path);
        let _lock = lock_folder(folder_of(path)).map_err(broken())?;
        let mut tokens = match Self::read(path) {
            Err(TokensError::Missing(_)) => Self::default(),
            read => read?,
        };
        let value = change(&mut tokens)?;
        tokens.write(path).map_err(broken())?;
        Ok(value)
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        let text = toml::to_string(self).map_err(io::Error::other)?;
        write_whole(path, &format!("{HEADER}{text}"), Readers::Owner)
    }

    /// Makes a token and returns its text, which is stored nowhere.
    ///
    /// # Errors
    /// If the name is taken or invalid.
    pub fn make(
        &mut self,
        name: &str,
        roles: &[Role],
        rate: Option<u32>,
        created: String,
    ) -> Result<String, TokensError> {
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.@".contains(&b);
        if !(1..=MAX_NAME_BYTES).contains(&name.len()) || !name.bytes().all(is_plain) {
            return Err(TokensError::Name(name.into()));
        }
        if self.entries.iter().any(|entry| entry.name == name) {
            return Err(TokensError::Taken(name.into()));
        }
        let mut secret = [0; 32];
        SystemRandom::new()
            .fill(&mut secret)
            .map_err(|_| TokensError::Random)?;
        let token = format!("{PREFIX}{}", HEXLOWER.encode(&secret));
        let mut roles = roles.to_vec();
        roles.sort();
        roles.dedup();
        self.entries.push(TokenEntry {
            name: name.into(),
            roles,
            rate,
            created,
            hash: hash(&token),
        });
        Ok(token)
    }

    /// Removes a token.
    ///
    /// # Errors
    /// [`TokensError::Unknown`].
    pub fn revoke(&mut self, name: &str) -> Result<(), TokensError> {
        let index = self.entries.iter().position(|entry| entry.name == name);
        self.entries
            .remove(index.ok_or_else(|| TokensError::Unknown(name.into()))?);
        Ok(())
    }

    /// All tokens in the order of their creation.
    #[must_use]
    pub fn entries(&self) -> &[TokenEntry] {
        &self.entries
    }
}

/// The hash of a token. A token has 256 random bits, so a fast hash cannot be reversed by guessing.
pub(super) fn hash(token: &str) -> Hash {
    let mut hash = Hash::default();
    hash.copy_from_slice(digest(&SHA256, token.as_bytes()).as_ref());
    hash
}

/// A hash in a file, as hex digits.
mod hex {
    use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
    use serde::{Deserialize, Deserializer, Serializer, de};

    use super::Hash;

    pub(super) fn serialize<S: Serializer>(hash: &Hash, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&HEXLOWER.encode(hash))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Hash, D::Error> {
        let digits = String::deserialize(from)?;
        let hash = HEXLOWER_PERMISSIVE.decode(digits.as_bytes());
        let hash = hash.ok().and_then(|bytes| bytes.try_into().ok());
        hash.ok_or_else(|| de::Error::custom("a sha256 is not 64 hex digits"))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn file_stores_hashes_and_no_tokens() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("tokens.toml");
        let make = |name: &'static str| {
            Tokens::change(&path, |tokens| {
                tokens.make(
                    name,
                    &[Role::Work, Role::Read],
                    Some(7),
                    "2026-11-21".into(),
                )
            })
        };
        let (one, two) = (make("one").expect("made"), make("two").expect("made"));
        assert_ne!(one, two);
        let text = std::fs::read_to_string(&path).expect("it is there");
        assert!(
            !text.contains(&one[PREFIX.len()..]) && !text.contains(&two[PREFIX.len()..]),
            "{text}"
        );
        assert_eq!(
            path.metadata().expect("it is there").permissions().mode() & 0o777,
            0o600
        );
        let tokens = Tokens::read(&path).expect("sound");
        assert_eq!(
            tokens.entries().iter().map(|t| t.hash).collect::<Vec<_>>(),
            [hash(&one), hash(&two)]
        );
        assert_eq!(tokens.entries()[0].roles, [Role::Read, Role::Work]);
        assert!(matches!(make("one"), Err(TokensError::Taken(_))));
        assert!(matches!(make("two\nlines"), Err(TokensError::Name(_))));
        Tokens::change(&path, |tokens| tokens.revoke("one")).expect("it is there");
        assert!(matches!(
            Tokens::change(&path, |tokens| tokens.revoke("one")),
            Err(TokensError::Unknown(_))
        ));
        assert_eq!(Tokens::read(&path).expect("sound").entries().len(), 1);
    }

    #[test]
    fn change_follows_a_symbolic_link() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [file, link] = ["real.toml", "link.toml"].map(|name| folder.path().join(name));
        Tokens::change(&file, |tokens| {
            tokens.make("one", &[Role::Work], None, String::new())
        })
        .expect("made");
        std::os::unix::fs::symlink(&file, &link).expect("room");
        Tokens::change(&link, |tokens| tokens.revoke("one")).expect("it is there");
        assert_eq!(Tokens::read(&file).expect("sound").entries().len(), 0);
        assert!(link.is_symlink());
    }

    #[test]
    fn damaged_file_is_rejected() {
        let hash = "0".repeat(64);
        let entry = |name: &str, role: &str, hash: &str| {
            format!(
                "[[token]]\nname = '{name}'\nroles = ['{role}']\ncreated = ''\nsha256 = '{hash}'\n"
            )
        };
        assert!(Tokens::parse(&entry("a", "read", &hash)).is_ok());
        for (text, word) in [
            (
                entry("a", "king", &hash),
                "unknown variant `king`, expected one of `read`",
            ),
            (entry("a", "read", "12"), "64 hex digits"),
            (entry("a", "read", &"ü".repeat(32)), "64 hex digits"),
            (entry("a", "read", &hash).repeat(2), "twice"),
            ("[[token]]\nname = 'a'".into(), "missing field"),
            ("[[tokens]]".into(), "unknown field"),
            ("secret".into(), "TOML"),
        ] {
            let why = Tokens::parse(&text).expect_err(&text);
            assert!(why.contains(word), "{text}: {why}");
        }
    }
}

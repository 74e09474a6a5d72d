//! Versions of the protocol: who speaks with whom.

use std::fmt;

use tonic::Status;
use tonic::metadata::MetadataMap;

use crate::{OLDEST_PROTOCOL, PROTOCOL};

/// Where every request of our programs carries the [`Versions`] of its sender.
const HEADER: &str = "kagetsu-protocol";

/// What a program speaks: versions of the protocol, and its own version, as in `1 to 3 of kagetsu 0.1.0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The oldest that it speaks.
    pub oldest: u32,
    /// The newest.
    pub newest: u32,
    /// The program's version, as in `0.1.0`; empty where it is not known.
    pub program: String,
}

impl Versions {
    /// What this program speaks.
    #[must_use]
    pub fn ours() -> Self {
        Self {
            oldest: OLDEST_PROTOCOL,
            newest: PROTOCOL,
            program: env!("CARGO_PKG_VERSION").into(),
        }
    }

    /// What a request's sender speaks; none where it does not say, as programs that are not ours.
    #[must_use]
    pub fn of_request(metadata: &MetadataMap) -> Option<Self> {
        let text = metadata.get(HEADER)?.to_str().ok()?;
        let (range, program) = text.split_once(' ')?;
        let (oldest, newest) = range.split_once('-')?;
        Some(Self {
            oldest: oldest.parse().ok()?,
            newest: newest.parse().ok()?,
            program: program.into(),
        })
    }

    /// Puts them into a request that has none.
    pub fn put(&self, metadata: &mut MetadataMap) {
        if metadata.contains_key(HEADER) {
            return;
        }
        let text = format!("{}-{} {}", self.oldest, self.newest, self.program);
        if let Ok(value) = text.parse() {
            metadata.insert(HEADER, value);
        }
    }

    /// The newest version that both speak.
    ///
    /// # Errors
    /// `FAILED_PRECONDITION`, which says who is to be upgraded; `other` is as in "worker".
    pub fn agree(&self, with: &Self, other: &str) -> Result<u32, Status> {
        let common = self.newest.min(with.newest);
        if common >= self.oldest.max(with.oldest) {
            return Ok(common);
        }
        let (old, new, upgrade) = if with.newest < self.oldest {
            (other, self, "it")
        } else {
            ("coordinator", with, "the coordinator")
        };
        let to = if new.program.is_empty() {
            "the same version".into()
        } else {
            format!("kagetsu {}", new.program)
        };
        Err(Status::failed_precondition(format!(
            "the {other} speaks protocol {with}, this coordinator {self}: the {old} is too old; please upgrade {upgrade} to \
             {to}"
        )))
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            oldest,
            newest,
            program,
        } = self;
        if oldest == newest {
            write!(f, "{newest}")?
        } else {
            write!(f, "{oldest} to {newest}")?
        }
        if program.is_empty() {
            Ok(())
        } else {
            write!(f, " (kagetsu {program})")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn versions(oldest: u32, newest: u32, program: &str) -> Versions {
        Versions {
            oldest,
            newest,
            program: program.into(),
        }
    }

    #[test]
    fn the_newest_common_version_is_spoken_and_the_older_program_is_to_be_upgraded() {
        let here = versions(3, 5, "0.5.0");
        for (with, spoken) in [
            ((5, 5), 5),
            ((1, 3), 3),
            ((4, 9), 5),
            ((1, 9), 5),
            ((3, 4), 4),
        ] {
            assert_eq!(
                here.agree(&versions(with.0, with.1, ""), "worker").ok(),
                Some(spoken),
                "{with:?}"
            );
        }
        let words = |with: Versions| {
            here.agree(&with, "worker")
                .expect_err("nothing in common")
                .message()
                .to_string()
        };
        let old = words(versions(1, 2, "0.2.0"));
        assert!(
            old.contains("please upgrade it to kagetsu 0.5.0") && old.contains("worker is too old"),
            "{old}"
        );
        assert!(old.contains("1 to 2 (kagetsu 0.2.0)"), "{old}");
        let new = words(versions(6, 6, "0.9.0"));
        assert!(
            new.contains("please upgrade the coordinator to kagetsu 0.9.0"),
            "{new}"
        );
        assert!(words(versions(7, 7, "")).contains("to the same version"));
    }

    #[test]
    fn a_request_carries_them() {
        let mut metadata = MetadataMap::new();
        assert_eq!(Versions::of_request(&metadata), None);
        Versions::ours().put(&mut metadata);
        assert_eq!(Versions::of_request(&metadata), Some(Versions::ours()));
        for nonsense in ["", "1", "1-2", "a-b 0.1.0", "1 0.1.0"] {
            metadata.insert(HEADER, nonsense.parse().expect("plain text"));
            assert_eq!(Versions::of_request(&metadata), None, "{nonsense}");
        }
    }
}

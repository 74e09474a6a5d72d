//! The version of the protocol that a program speaks.

use std::fmt;

use kagetsu_game::quote;
use tonic::Status;
use tonic::metadata::MetadataMap;

use crate::PROTOCOL;

/// The metadata key under which our clients send their [`ProtocolVersion`], as in `1 0.1.0`.
const METADATA_KEY: &str = "kagetsu-protocol";

/// The protocol that a program speaks, and the program's own version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolVersion {
    /// The version of the protocol.
    pub protocol: u32,
    /// The program's version, as in `0.1.0`; empty where it is not known.
    pub program: String,
}

impl ProtocolVersion {
    /// Returns what this program speaks.
    #[must_use]
    pub fn ours() -> Self {
        Self {
            protocol: PROTOCOL,
            program: env!("CARGO_PKG_VERSION").into(),
        }
    }

    /// Returns what the sender of a request speaks; `None` where it does not say, as clients of
    /// other projects.
    #[must_use]
    pub fn from_metadata(metadata: &MetadataMap) -> Option<Self> {
        let text = metadata.get(METADATA_KEY)?.to_str().ok()?;
        let (protocol, program) = text.split_once(' ')?;
        Some(Self {
            protocol: protocol.parse().ok()?,
            program: program.into(),
        })
    }

    /// Adds it to the metadata of a request that has none.
    pub fn add_to(&self, metadata: &mut MetadataMap) {
        if metadata.contains_key(METADATA_KEY) {
            return;
        }
        if let Ok(value) = format!("{} {}", self.protocol, self.program).parse() {
            metadata.insert(METADATA_KEY, value);
        }
    }

    /// Checks on a coordinator of this version that a client speaks the same protocol. `client`
    /// names it, as in "worker".
    ///
    /// # Errors
    /// `FAILED_PRECONDITION`, which says which program to upgrade.
    pub fn check(&self, theirs: &Self, client: &str) -> Result<(), Status> {
        if self.protocol == theirs.protocol {
            return Ok(());
        }
        let is_client_older = theirs.protocol < self.protocol;
        let newer = if is_client_older { self } else { theirs };
        let older = if is_client_older {
            client
        } else {
            "coordinator"
        };
        let target = if newer.program.is_empty() {
            "the same version".into()
        } else {
            format!("kagetsu {}", quote(&newer.program))
        };
        Err(Status::failed_precondition(format!(
            "the {client} speaks protocol {theirs}, this coordinator {self}; please upgrade the {older} to {target}"
        )))
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.protocol)?;
        if self.program.is_empty() {
            Ok(())
        } else {
            write!(f, " (kagetsu {})", quote(&self.program))
        }
    }
}

/// Returns the numbers of a program's version, as in `0.1.0`; a later version has greater ones.
#[must_use]
pub fn version_numbers(text: &str) -> Option<Vec<u64>> {
    let (numbers, _) = text.split_once(['-', '+']).unwrap_or((text, ""));
    numbers
        .split('.')
        .map(|number| number.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(protocol: u32, program: &str) -> ProtocolVersion {
        ProtocolVersion {
            protocol,
            program: program.into(),
        }
    }

    #[test]
    fn the_older_program_is_to_be_upgraded() {
        let here = version(3, "0.5.0");
        assert!(here.check(&version(3, "0.4.9"), "worker").is_ok());
        let message = |theirs| {
            let refused = here.check(&theirs, "worker").expect_err("another protocol");
            refused.message().to_string()
        };
        for (theirs, expected) in [
            (
                version(2, "0.2.0"),
                "please upgrade the worker to kagetsu 0.5.0",
            ),
            (
                version(2, "0.2.0"),
                "the worker speaks protocol 2 (kagetsu 0.2.0)",
            ),
            (
                version(6, "0.9.0"),
                "please upgrade the coordinator to kagetsu 0.9.0",
            ),
            (version(7, ""), "to the same version"),
        ] {
            let message = message(theirs);
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn requests_carry_the_version() {
        let mut metadata = MetadataMap::new();
        assert_eq!(ProtocolVersion::from_metadata(&metadata), None);
        ProtocolVersion::ours().add_to(&mut metadata);
        assert_eq!(
            ProtocolVersion::from_metadata(&metadata),
            Some(ProtocolVersion::ours())
        );
        for invalid in ["", "1", "a 0.1.0", "-1 0.1.0"] {
            metadata.insert(METADATA_KEY, invalid.parse().expect("plain text"));
            assert_eq!(ProtocolVersion::from_metadata(&metadata), None, "{invalid}");
        }
    }
}

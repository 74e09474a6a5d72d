use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use kagetsu_game::Variant;

/// How an engine is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Universal Chess Interface.
    Uci,
    /// Universal Chinese Chess Interface.
    Ucci,
    /// Gomocup's protocol of Piskvork, with the extensions of Yixin where the engine knows them.
    Gomocup,
}

impl Protocol {
    const ALL: [(&'static str, Self); 3] = [
        ("gomocup", Self::Gomocup),
        ("uci", Self::Uci),
        ("ucci", Self::Ucci),
    ];

    /// Whether the protocol has words for the variant.
    #[must_use]
    pub const fn supports(self, variant: Variant) -> bool {
        match self {
            Self::Uci | Self::Ucci => matches!(variant, Variant::Xiangqi { .. }),
            Self::Gomocup => variant.gomoku().is_some(),
        }
    }

    /// What an engine of this protocol is tried in where nobody says what it plays.
    #[must_use]
    pub const fn usual_variants(self) -> &'static [Variant] {
        match self {
            Self::Uci | Self::Ucci => &[Variant::XIANGQI],
            Self::Gomocup => &[
                Variant::FREESTYLE_15,
                Variant::STANDARD_15,
                Variant::RENJU_15,
            ],
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL
            .iter()
            .find(|(_, protocol)| protocol == self)
            .map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

/// A protocol and a command, as in `uci:/usr/games/fairy-stockfish`. The command is cut into words as a shell does it;
/// nothing else that a shell does is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// How it is spoken to.
    pub protocol: Protocol,
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// Text that names no engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// No protocol before the first colon.
    #[error(
        "'{0}' does not begin with gomocup:, uci: or ucci:, as in uci:/usr/games/fairy-stockfish"
    )]
    Protocol(String),
    /// No command after it.
    #[error("'{0}' names no program, or a quote in it does not end")]
    Command(String),
    /// An option without a name or a value.
    #[error("'{0}' is no option; write it as NAME=VALUE, as in Hash=64")]
    Option(String),
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let wrong = || AddressError::Protocol(text.to_string());
        let (name, command) = text.split_once(':').ok_or_else(wrong)?;
        let (_, protocol) = *Protocol::ALL
            .iter()
            .find(|(known, _)| *known == name)
            .ok_or_else(wrong)?;
        let words = shlex::split(command).unwrap_or_default();
        let mut words = words.into_iter();
        let program = words.next().filter(|program| !program.is_empty());
        let program = program.ok_or_else(|| AddressError::Command(text.to_string()))?;
        Ok(Self {
            protocol,
            program,
            arguments: words.collect(),
        })
    }
}

/// An option and its value, as in `Hash=64`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionValue {
    /// Its name, as the engine spells it.
    pub name: String,
    /// What it is set to.
    pub value: String,
}

impl FromStr for OptionValue {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let is_line = !text.contains(['\n', '\r']);
        let parts = text
            .split_once('=')
            .filter(|(name, _)| is_line && !name.trim().is_empty());
        let (name, value) = parts.ok_or_else(|| AddressError::Option(text.to_string()))?;
        Ok(Self {
            name: name.trim().into(),
            value: value.into(),
        })
    }
}

/// How an engine is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Which.
    pub address: Address,
    /// Options set after our own, in this order.
    pub options: Vec<OptionValue>,
    /// Threads for one search.
    pub threads: u16,
    /// Memory for what it remembers, in MiB.
    pub memory_mib: u64,
    /// How long it may go without getting on.
    pub patience: Duration,
}

impl Settings {
    /// How long an engine may go without getting on, where nobody says otherwise.
    pub const PATIENCE: Duration = Duration::from_secs(60);

    /// One thread and 64 MiB.
    #[must_use]
    pub const fn new(address: Address) -> Self {
        Self {
            address,
            options: Vec::new(),
            threads: 1,
            memory_mib: 64,
            patience: Self::PATIENCE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_protocol_and_a_command() {
        let address: Address = "uci:'/opt/my engine' --quiet a:b"
            .parse()
            .expect("an engine");
        assert_eq!(
            (address.protocol, address.program.as_str()),
            (Protocol::Uci, "/opt/my engine")
        );
        assert_eq!(address.arguments, ["--quiet", "a:b"]);
        for wrong in [
            "fairy-stockfish",
            "xboard:gnuchess",
            "uci:",
            "uci:'",
            "uci:   ",
            "uci:''",
        ] {
            assert!(wrong.parse::<Address>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_option_is_a_name_and_a_value() {
        let option = |name: &str, value: &str| {
            Ok(OptionValue {
                name: name.into(),
                value: value.into(),
            })
        };
        assert_eq!("Skill Level=20".parse(), option("Skill Level", "20"));
        assert_eq!("EvalFile=a=b.nnue".parse(), option("EvalFile", "a=b.nnue"));
        for wrong in ["Hash", "=3", " =3", "a=b\nquit"] {
            assert!(wrong.parse::<OptionValue>().is_err(), "{wrong}");
        }
    }
}

use std::str::FromStr;
use std::time::Duration;

use kagetsu_game::Variant;

/// The protocol of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Universal Chess Interface.
    Uci,
    /// Universal Chinese Chess Interface.
    Ucci,
    /// Gomocup's protocol of Piskvork, with the extensions of Yixin where the engine knows them.
    Gomocup,
}

kagetsu_game::names!(Protocol { Uci = "uci", Ucci = "ucci", Gomocup = "gomocup" });

impl Protocol {
    /// Whether the protocol has words for the variant.
    #[must_use]
    pub const fn supports(self, variant: Variant) -> bool {
        match self {
            Self::Uci | Self::Ucci => matches!(variant, Variant::Xiangqi { .. }),
            Self::Gomocup => variant.gomoku().is_some(),
        }
    }

    /// The variants in which an engine of this protocol is checked when its user names none.
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

/// A protocol and a command, for example `uci:/usr/games/fairy-stockfish`. The command is split
/// into words by the shell's rules of quoting; no other feature of a shell applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineAddress {
    /// The protocol.
    pub protocol: Protocol,
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl FromStr for EngineAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "'{text}' does not begin with gomocup:, uci: or ucci:, as in \
                 uci:/usr/games/fairy-stockfish"
            )
        };
        let (name, command) = text.split_once(':').ok_or_else(wrong)?;
        let protocol = Protocol::named(name).ok_or_else(wrong)?;
        let words = shlex::split(command).unwrap_or_default();
        let mut words = words.into_iter();
        let program = words.next().filter(|program| !program.is_empty());
        let program = program
            .ok_or_else(|| format!("'{text}' names no program, or a quote in it does not end"))?;
        Ok(Self {
            protocol,
            program,
            arguments: words.collect(),
        })
    }
}

/// An engine option with its value, for example `Hash=64`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionValue {
    /// The name, as the engine spells it.
    pub name: String,
    /// The value.
    pub value: String,
}

impl FromStr for OptionValue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_line = !text.contains(['\n', '\r']);
        let parts = text
            .split_once('=')
            .filter(|(name, _)| is_line && !name.trim().is_empty());
        let (name, value) = parts.ok_or_else(|| {
            format!("'{text}' is no option; write it as NAME=VALUE, as in Hash=64")
        })?;
        Ok(Self {
            name: name.trim().into(),
            value: value.into(),
        })
    }
}

/// EngineSettings with which an engine is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineSettings {
    /// The program and its protocol.
    pub address: EngineAddress,
    /// Options that are set after Kagetsu's own, in this order.
    pub options: Vec<OptionValue>,
    /// Threads for one search.
    pub threads: u16,
    /// Memory for the engine's table, in MiB.
    pub memory_mib: u64,
    /// Longest time without progress.
    pub stall_timeout: Duration,
}

impl EngineSettings {
    /// Default of [`EngineSettings::stall_timeout`].
    pub const DEFAULT_STALL_TIMEOUT: Duration = Duration::from_secs(60);

    /// Returns settings with one thread and 64 MiB.
    #[must_use]
    pub const fn new(address: EngineAddress) -> Self {
        Self {
            address,
            options: Vec::new(),
            threads: 1,
            memory_mib: 64,
            stall_timeout: Self::DEFAULT_STALL_TIMEOUT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_a_protocol_and_a_command() {
        let address: EngineAddress = "uci:'/opt/my engine' --quiet a:b"
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
            assert!(wrong.parse::<EngineAddress>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn option_is_a_name_and_a_value() {
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

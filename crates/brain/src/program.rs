//! The engines as programs of their own, which managers and interfaces start without arguments.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};
use kagetsu_engines::uci::Dialect;
use kagetsu_game::Variant;
use kagetsu_program::{LogArgs, exit_with_usage};

use crate::{PlayArgs, gomocup, uci};

/// An engine that speaks one protocol.
#[derive(Clone, Copy, Debug)]
pub enum EngineProgram {
    /// `pbrain-kagetsu`: gomoku, by the Gomocup protocol.
    Gomocup,
    /// `uci-kagetsu`: xiangqi, or the game of the option `UCI_Variant`.
    Uci,
    /// `ucci-kagetsu`: xiangqi.
    Ucci,
}

#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
struct EngineCli {
    #[command(flatten)]
    play: PlayArgs,
    #[command(flatten)]
    log: LogArgs,
}

impl EngineProgram {
    /// Runs the program with the arguments of the process.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let (name, game) = match self {
            Self::Gomocup => ("pbrain-kagetsu", "gomoku by the Gomocup protocol"),
            Self::Uci => ("uci-kagetsu", "xiangqi by UCI"),
            Self::Ucci => ("ucci-kagetsu", "xiangqi by UCCI"),
        };
        let about = format!(
            "Plays {game}: from a book first, then by search\n\nA flag --some-name is also the \
             environment variable KAGETSU_SOME_NAME, and the key some-name of a TOML file: the \
             one given by --config, or else `{name}.toml` beside the program."
        );
        let command = || EngineCli::command().name(name).about(about.clone());
        kagetsu_program::run(name, || {
            let matches = kagetsu_program::parse_from(command(), arguments())?
                .unwrap_or_else(|error| exit_with_usage(&error));
            let cli = EngineCli::from_arg_matches(&matches)
                .unwrap_or_else(|error| exit_with_usage(&error.format(&mut command())));
            cli.log.start("warn")?;
            match self {
                Self::Gomocup => gomocup(&cli.play),
                Self::Uci => uci(Dialect::Uci, Variant::XIANGQI_CHASE, &cli.play),
                Self::Ucci => uci(Dialect::Ucci, Variant::XIANGQI_CHASE, &cli.play),
            }
        })
    }
}

/// Returns the arguments of the process, with the settings file beside the program if no other is
/// given.
fn arguments() -> Vec<OsString> {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    let names_file = |argument: &OsString| argument.to_string_lossy().starts_with("--config");
    let beside = std::env::current_exe()
        .ok()
        .map(|path| path.with_extension("toml"))
        .filter(|path| path.is_file());
    if let Some(path) = beside
        && !arguments.iter().any(names_file)
        && std::env::var_os("KAGETSU_CONFIG").is_none()
    {
        arguments.extend([OsString::from("--config"), path.into_os_string()]);
    }
    arguments
}

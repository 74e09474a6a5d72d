//! The engine `pbrain-kagetsu`, which managers of gomoku games start without arguments.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};
use kagetsu_brain::PlayArgs;
use kagetsu_program::{LogFormat, exit_with_usage, start_log};

/// Plays gomoku by the Gomocup protocol: from a book first, then by search.
///
/// A flag --some-name is also the environment variable KAGETSU_SOME_NAME, and the key some-name of
/// a TOML file: the one given by --config, or else `pbrain-kagetsu.toml` beside the program.
#[derive(Debug, Parser)]
#[command(name = "pbrain-kagetsu", version, max_term_width = 100)]
struct BrainCli {
    #[command(flatten)]
    play: PlayArgs,
    /// Log level on stderr: off, error, warn, info, debug, trace; or by module as in
    /// kagetsu=debug,h2=warn
    #[arg(long, default_value = "warn", value_name = "LEVEL")]
    log_level: String,
}

fn main() -> ExitCode {
    kagetsu_program::run("pbrain-kagetsu", || {
        let matches = kagetsu_program::parse_from(BrainCli::command(), arguments())?
            .unwrap_or_else(|error| exit_with_usage(&error));
        let cli = BrainCli::from_arg_matches(&matches)
            .unwrap_or_else(|error| exit_with_usage(&error.format(&mut BrainCli::command())));
        start_log(&cli.log_level, LogFormat::Text)?;
        kagetsu_brain::gomocup(&cli.play)
    })
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

//! The command `kagetsu bench`, a program of its own.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::process::Command;

use anyhow::{Context, Result, anyhow};
use kagetsu_program::{Exit, replace_process};

/// The program that measures; it lies beside this one.
const PROGRAM: &str = "kagetsu-bench";

/// Measures this program on this machine, and says how
///
/// The measurements are a program of their own, `kagetsu-bench`, which lies beside `kagetsu`.
///
/// Example: kagetsu bench signature
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// The measurement and its options; `kagetsu bench --help` lists them
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    arguments: Vec<OsString>,
}

pub(crate) fn run(args: Args) -> Result<Exit> {
    run_beside(args.arguments)
}

/// Replaces this process by `kagetsu-bench` with these arguments.
///
/// # Errors
/// If the program does not lie beside this one, or cannot start.
pub fn run_beside(arguments: impl IntoIterator<Item = OsString>) -> Result<Exit> {
    let program = std::env::current_exe()
        .context("cannot find the folder of this program")?
        .with_file_name(format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX));
    let error = replace_process(Command::new(&program).args(arguments));
    let shown = program.display();
    Err(match error.kind() {
        ErrorKind::NotFound => anyhow!(
            "there is no {shown}, which `kagetsu bench` runs; \
             build it with `cargo build --release -p kagetsu-bench`"
        ),
        _ => anyhow!("cannot start {shown}: {error}"),
    })
}

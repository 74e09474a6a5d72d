//! The command `kagetsu`.
#![forbid(unsafe_code)]

use std::io::Write;
use std::process::ExitCode;

use book_tool::Cli;

fn main() -> ExitCode {
    kagetsu_program::run("kagetsu", || {
        let cli: Cli = kagetsu_program::parse()?;
        let mut out = std::io::BufWriter::new(std::io::stdout());
        let exit = cli.run(&mut out)?;
        out.flush()?;
        Ok(exit)
    })
}

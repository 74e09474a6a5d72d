use std::io::Write;

use anyhow::Result;
use kagetsu_search::seeds;

/// Number of positions visited by ten fixed searches, the same on every machine
///
/// Example: kagetsu bench signature
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "signature {}", seeds::signature()?)?;
    Ok(())
}

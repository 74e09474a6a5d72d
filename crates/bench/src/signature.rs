use std::io::Write;

use anyhow::Result;
use kagetsu_search::seeds;
use kagetsu_terminal::json::write_json;
use serde::Serialize;

/// Number of positions visited by ten fixed searches, the same on every machine
///
/// Example: kagetsu bench signature
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct SignatureJson {
    signature: u64,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let signature = seeds::signature()?;
    if args.json {
        return write_json(out, &SignatureJson { signature });
    }
    writeln!(out, "signature {signature}")?;
    Ok(())
}

//! Results and live progress.

use std::io::Write;

use anyhow::Result;
use kagetsu_terminal::json::write_json;
use serde::Serialize;

pub(crate) mod progress;

/// The last flag of commands.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct OutputArgs {
    /// Prints one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

impl OutputArgs {
    /// Writes a result as JSON, where that is asked for. Returns where its text goes, which is
    /// nowhere then.
    pub(crate) fn report<'a>(
        self,
        out: &'a mut dyn Write,
        result: &impl Serialize,
    ) -> Result<Box<dyn Write + 'a>> {
        if !self.json {
            return Ok(Box::new(out));
        }
        write_json(out, result)?;
        Ok(Box::new(std::io::sink()))
    }
}

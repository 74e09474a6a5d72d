//! JSON on a command's output.

use std::io::Write;

use anyhow::Result;

/// Writes one JSON object on a line of its own.
///
/// # Errors
/// If the reader closed its end.
pub fn write_json(out: &mut dyn Write, value: &impl serde::Serialize) -> Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)?;
    out.flush()?;
    Ok(())
}

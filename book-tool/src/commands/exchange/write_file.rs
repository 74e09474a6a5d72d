use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;

/// Writes a file under a temporary name, so that no half-written file has the final one.
pub(crate) fn write_file<T>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    let half = half_written(path);
    let file = File::create_new(&half)?;
    let written = || -> Result<T> {
        let mut file = BufWriter::new(file);
        let done = write(&mut file)?;
        file.into_inner()
            .map_err(|error| error.into_error())?
            .sync_all()?;
        std::fs::rename(&half, path)?;
        Ok(done)
    };
    written().inspect_err(|_| {
        // The first error is the one to report.
        let _ = std::fs::remove_file(&half);
    })
}

/// Returns the temporary name of the output file.
fn half_written(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(format!(".{}.new", std::process::id()));
    name.into()
}

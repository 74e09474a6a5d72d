use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A temporary folder, removed at the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// # Errors
    /// If the system's temporary folder cannot be written.
    pub(crate) fn new() -> Result<Self> {
        let name = format!(
            "kagetsu-bench-{}-{}",
            std::process::id(),
            rand::random::<u32>()
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Files that stay in the system's temporary folder do no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns the result of a step and its milliseconds.
pub(crate) fn timed<T, E: Into<anyhow::Error>>(
    step: impl FnOnce() -> Result<T, E>,
) -> Result<(T, f64)> {
    let begun = std::time::Instant::now();
    let result = step().map_err(Into::into)?;
    Ok((result, begun.elapsed().as_secs_f64() * 1e3))
}

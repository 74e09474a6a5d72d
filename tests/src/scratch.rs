use std::path::{Path, PathBuf};

/// A folder of its own for one test, removed at its end.
#[derive(Debug)]
pub struct Scratch(tempfile::TempDir);

impl Scratch {
    /// An empty folder.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "making a folder is an effect")]
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// A path in it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.0.path()
    }
}

use std::path::{Path, PathBuf};

/// A temporary folder of one test, removed on drop.
#[derive(Debug)]
pub struct Scratch(tempfile::TempDir);

impl Scratch {
    /// Returns an empty folder.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "making a folder is an effect")]
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// Returns a path in the folder.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// Returns a path in the folder as an argument of a command.
    ///
    /// # Panics
    /// If the path is not text.
    #[must_use]
    pub fn text(&self, name: &str) -> String {
        let path = self.path(name);
        path.to_str().expect("a plain name").to_owned()
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.0.path()
    }
}

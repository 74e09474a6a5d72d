use std::fs;
use std::path::{Path, PathBuf};

/// A Rust file of the workspace.
#[derive(Debug)]
pub struct SourceFile {
    /// Its path from the workspace's root, with `/` between the parts.
    pub path: String,
    /// Its whole text.
    pub text: String,
}

/// A Markdown file of the workspace.
#[derive(Debug)]
pub struct Document {
    /// Its path from the workspace's root, with `/` between the parts.
    pub path: String,
    /// Its whole text.
    pub text: String,
}

/// Returns the workspace's root folder: that of the checkout in which cargo runs, also where the
/// test was compiled in another one and the folder of build output was copied.
pub fn workspace_root() -> PathBuf {
    let at_run_time = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    at_run_time
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")))
        .ancestors()
        .nth(2)
        .expect("this crate lies two folders below the root")
        .to_path_buf()
}

/// Reads every Rust file below `root`, sorted by path, without generated code and build output.
///
/// # Panics
/// If a file cannot be read.
pub fn rust_sources(root: &Path) -> Vec<SourceFile> {
    files_with_extension(root, "rs")
        .into_iter()
        .map(|(path, text)| SourceFile { path, text })
        .collect()
}

/// Reads every Markdown file below `root`, sorted by path.
///
/// # Panics
/// If a file cannot be read.
pub fn documents(root: &Path) -> Vec<Document> {
    files_with_extension(root, "md")
        .into_iter()
        .map(|(path, text)| Document { path, text })
        .collect()
}

fn files_with_extension(root: &Path, extension: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries {
            let entry = entry.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
            let path = entry.path();
            if path.is_dir() {
                if !is_skipped(&entry.file_name().to_string_lossy()) {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|found| found == extension) {
                let text = fs::read_to_string(&path)
                    .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                found.push((relative(root, &path), text));
            }
        }
    }
    found.sort();
    found
}

fn is_skipped(folder: &str) -> bool {
    folder.starts_with('.') || matches!(folder, "target" | "generated" | "node_modules")
}

fn relative(root: &Path, path: &Path) -> String {
    let parts: Vec<_> = path
        .strip_prefix(root)
        .expect("the file lies below the root")
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    parts.join("/")
}

use std::path::{Path, PathBuf};

/// Returns a file or folder of the real data beside the checkout; `None`, with a line that says so,
/// if it is absent.
#[must_use]
pub fn shared_data(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace");
    let path = root.join("../shared/data").join(name);
    if path.exists() {
        Some(path)
    } else {
        eprintln!("skipped: {name} is not in ../shared/data beside the checkout");
        None
    }
}

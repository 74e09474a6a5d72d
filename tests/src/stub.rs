use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Returns the test engine of `kagetsu-engines`, which misbehaves on demand: `PATH PROTOCOL MODE`.
#[must_use]
pub fn stub_engine() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/engines/Cargo.toml");
        let build = crate::program::cargo_build()
            .manifest_path(manifest)
            .example("stub_engine");
        let build = if cfg!(debug_assertions) {
            build
        } else {
            build.release()
        };
        build
            .run()
            .unwrap_or_else(|error| panic!("the stub does not build: {error}"))
            .path()
            .to_path_buf()
    })
}

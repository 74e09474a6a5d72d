//! The stub engine, built once for each test binary.
#![allow(dead_code, reason = "each program of tests uses a part")]

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use kagetsu_engines::{EngineAddress, EngineSettings};

fn path() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let build = escargot::CargoBuild::new()
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

/// Returns the settings of the stub engine in one of its modes.
pub(crate) fn stub(protocol: &str, mode: &str) -> EngineSettings {
    EngineSettings::new(
        format!("{protocol}:'{}' {protocol} {mode}", path().display())
            .parse()
            .expect("an address"),
    )
}

/// Returns the settings of a stub engine that misbehaves once.
pub(crate) fn stub_once(protocol: &str, mode: &str, file: &Path) -> EngineSettings {
    let mut settings = stub(protocol, mode);
    settings.address.arguments.push(file.display().to_string());
    settings
}

/// Returns the settings of an engine that is a shell script.
pub(crate) fn shell(protocol: &str, script: &str) -> EngineSettings {
    let mut address: EngineAddress = format!("{protocol}:sh -c").parse().expect("an address");
    address.arguments.push(script.into());
    EngineSettings::new(address)
}

/// Repeats a test with longer timeouts until it passes, because a busy machine may exceed the
/// shortest.
pub(crate) fn patiently(test: impl Fn(Duration) -> Result<(), String>) {
    let stall_timeout = [2, 10, 50].map(Duration::from_secs);
    let failures: Vec<String> = stall_timeout
        .into_iter()
        .map_while(|stall_timeout| test(stall_timeout).err())
        .collect();
    assert!(failures.len() < stall_timeout.len(), "{failures:#?}");
}

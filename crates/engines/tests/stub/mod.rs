//! The stub engine, built once for each program of tests.
#![allow(dead_code, reason = "each program of tests uses a part")]

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use kagetsu_engines::{Address, Settings};

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

/// The stub in one of its modes.
pub(crate) fn stub(protocol: &str, mode: &str) -> Settings {
    Settings::new(
        format!("{protocol}:'{}' {protocol} {mode}", path().display())
            .parse()
            .expect("an address"),
    )
}

/// The same, which misbehaves once.
pub(crate) fn stub_once(protocol: &str, mode: &str, file: &Path) -> Settings {
    let mut settings = stub(protocol, mode);
    settings.address.arguments.push(file.display().to_string());
    settings
}

/// Any command of the shell.
pub(crate) fn shell(protocol: &str, script: &str) -> Settings {
    let mut address: Address = format!("{protocol}:sh -c").parse().expect("an address");
    address.arguments.push(script.into());
    Settings::new(address)
}

/// Tests with more and more patience, until all is well: a loaded machine may take longer than the least of it for what an
/// engine says at once.
pub(crate) fn patiently(test: impl Fn(Duration) -> Result<(), String>) {
    let patience = [2, 10, 50].map(Duration::from_secs);
    let failures: Vec<String> = patience
        .into_iter()
        .map_while(|patience| test(patience).err())
        .collect();
    assert!(failures.len() < patience.len(), "{failures:#?}");
}

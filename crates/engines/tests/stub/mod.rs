//! Settings of the stub engine.
#![allow(dead_code, reason = "each program of tests uses a part")]

use std::path::Path;
use std::time::Duration;

use kagetsu_engines::{EngineAddress, EngineSettings};
use kagetsu_tests::stub_engine;

/// Returns the settings of the stub engine in one of its modes.
pub(crate) fn stub(protocol: &str, mode: &str) -> EngineSettings {
    EngineSettings::new(
        format!("{protocol}:'{}' {protocol} {mode}", stub_engine().display())
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

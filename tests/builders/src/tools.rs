use std::process::{Command, Stdio};

/// Says that a test is skipped for want of a tool that `.ci/run` installs. Where the environment
/// has `KAGETSU_REQUIRE_TOOLS`, as in `.ci/run`, the test fails.
///
/// # Panics
/// Where tools are required.
pub fn skip(tool: &str) {
    let is_required = std::env::var_os("KAGETSU_REQUIRE_TOOLS").is_some();
    assert!(
        !is_required,
        "{tool} is missing, which .ci/run installs; unset KAGETSU_REQUIRE_TOOLS to skip this test"
    );
    eprintln!("skipped: no {tool}");
}

/// Whether a program starts with these arguments and ends well; otherwise the test is skipped.
///
/// # Panics
/// Where tools are required and it does not.
#[must_use]
pub fn is_installed(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    let is_there = command.output().is_ok_and(|output| output.status.success());
    if !is_there {
        skip(program);
    }
    is_there
}

/// Whether `python3` has a module; otherwise the test is skipped.
///
/// # Panics
/// Where tools are required and it has not.
#[must_use]
pub fn has_python_module(module: &str) -> bool {
    let import = format!("import {module}");
    let mut command = Command::new("python3");
    let output = command.args(["-c", &import]).output();
    let is_there = output.is_ok_and(|output| output.status.success());
    if !is_there {
        skip(&format!("python3 with {module}"));
    }
    is_there
}

/// Returns what a test needs, or ends the test where this machine lacks it.
#[macro_export]
macro_rules! needed {
    ($found:expr) => {
        match $found {
            Some(found) => found,
            None => return,
        }
    };
}

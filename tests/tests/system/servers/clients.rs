//! The packages of other languages.

use std::path::Path;
use std::process::Command;

use kagetsu_tests::{Finished, Program};

/// Returns a Python that has the package `kagetsu` and pytest: KAGETSU_PYTHON, or python3.
pub(super) fn python() -> Option<String> {
    let python = std::env::var("KAGETSU_PYTHON").unwrap_or_else(|_| "python3".into());
    let output = Command::new(&python)
        .args(["-c", "import kagetsu, pytest"])
        .output();
    let is_there = output.is_ok_and(|output| output.status.success());
    if !is_there {
        kagetsu_builders::skip("Python with kagetsu (pip install ./clients/python) and pytest");
    }
    is_there.then_some(python)
}

/// Runs the package's own tests with the programs of this build.
#[test]
fn python_package_passes_its_tests() {
    let Some(python) = python() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../clients/python");
    let kagetsu = Program::Kagetsu.command(&[]).get_program().to_owned();
    let mut command = Command::new(python);
    command
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"])
        .current_dir(folder)
        .env("KAGETSU_PROGRAM", kagetsu)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let tested = Finished::of(command);
    assert_eq!(tested.code, Some(0), "{tested:#?}");
    println!("{}", tested.stdout);
}

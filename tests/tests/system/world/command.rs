//! The command line.

use std::path::Path;

use kagetsu_tests::{Finished, Program};

/// Runs the command line.
pub(crate) fn kagetsu(arguments: &[&str]) -> Finished {
    Program::Kagetsu.run(arguments)
}

/// Runs the command line with arguments that are separated by spaces.
pub(crate) fn kagetsu_line(line: &str) -> Finished {
    kagetsu(&line.split_whitespace().collect::<Vec<_>>())
}

/// Asserts that `kagetsu check` finds no fault.
#[track_caller]
pub(crate) fn assert_clean(book: &str) {
    let check = kagetsu(&["check", "--book", book]);
    assert_eq!(check.code, Some(0), "{check:#?}");
}

/// Returns a path as an argument.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("a plain name")
}

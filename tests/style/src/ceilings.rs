//! The ceilings of the workspace's size. A change that needs more room takes something away. Where
//! one leaves room, the ceiling comes down to 300 lines above, in hundreds.
//!
//! Count with `cargo run -p kagetsu-style --example report`. Lines are counted in files of Rust,
//! empty ones and comments among them. Tests are the folder `tests` of the workspace and of every
//! crate, files named `tests.rs`, and items with `#[cfg(test)]`. Generated code, examples, benches
//! and fuzz targets count as neither.

use crate::SourceFile;

/// Lines of Rust outside tests. The aim is 89,000.
pub const MAX_SOURCE_LINES: usize = 102_020;
/// Lines of tests. The aim is 47,000.
pub const MAX_TEST_LINES: usize = 59_500;
/// Lines of the checker of proofs, which must be read to be trusted.
pub const MAX_CERTIFICATE_LINES: usize = 2_000;
/// Entries (files and folders) that one source folder shows.
pub const MAX_ENTRIES: usize = 15;

/// Returns the lines of Rust outside tests and those of tests.
pub fn line_counts(sources: &[SourceFile]) -> (usize, usize) {
    let (mut outside, mut inside) = (0, 0);
    for source in sources {
        let folders: Vec<&str> = source.path.split('/').collect();
        let is_one_of = |names: &[&str]| folders.iter().any(|folder| names.contains(folder));
        let lines = source.text.lines().count();
        if is_one_of(&["examples", "benches", "fuzz"]) {
            continue;
        }
        let tested = match is_one_of(&["tests", "tests.rs"]) {
            true => lines,
            false => lines_of_test_items(source),
        };
        outside += lines - tested;
        inside += tested;
    }
    (outside, inside)
}

/// Counts the items with `#[cfg(test)]`. As rustfmt writes them, an item ends with the first line
/// that is a brace, or with its first line where that ends with a semicolon or a brace.
fn lines_of_test_items(source: &SourceFile) -> usize {
    let (mut count, mut lines) = (0, source.text.lines());
    while let Some(line) = lines.next() {
        if line != "#[cfg(test)]" {
            continue;
        }
        count += 1;
        for line in lines.by_ref() {
            count += 1;
            let is_begun = line.starts_with(|letter: char| letter.is_ascii_alphabetic());
            if line == "}" || is_begun && line.ends_with([';', '}']) {
                break;
            }
        }
    }
    count
}

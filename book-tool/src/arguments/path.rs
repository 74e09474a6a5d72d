//! Paths that are read, must exist, or must not.

use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use kagetsu_files::open_regular;

/// Opens a file, or stdin.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(BufReader::new(std::io::stdin())));
    }
    let file = open_regular(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Box::new(BufReader::new(file)))
}

/// Refuses a path without a book where to build one is no help.
///
/// # Errors
/// If nothing is there.
pub(crate) fn check_is_there(book: &Path) -> Result<()> {
    let is_compiled = book.extension().is_some_and(|ending| ending == "kbk");
    let may_exist = book.try_exists().unwrap_or(true);
    if may_exist || is_compiled || book.to_string_lossy().contains("://") {
        return Ok(());
    }
    bail!("there is no book at {}; check the name", book.display())
}

/// Refuses stdout.
///
/// # Errors
/// If the path is `-`.
pub(crate) fn refuse_stdout(path: &Path) -> Result<()> {
    ensure!(
        path.as_os_str() != "-",
        "-: this does not go to stdout; give it a name"
    );
    Ok(())
}

/// Refuses stdout, and to write over a file, unless it is to be replaced.
///
/// # Errors
/// If the file exists, or the path is a folder or a device.
pub(crate) fn check_is_new(path: &Path, replaces: bool) -> Result<()> {
    refuse_stdout(path)?;
    ensure!(
        !replaces || !path.exists() || path.is_file(),
        "{} is no file that --force can replace; name another file",
        path.display()
    );
    ensure!(
        replaces || !path.exists(),
        "{} is there already; name another file, or replace it by --force",
        path.display()
    );
    Ok(())
}

/// Whether two paths name the same folder.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    one.canonicalize()
        .is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::system;

/// The users that may read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Those that the process's mask or the folder allows.
    Usual,
    /// Its owner alone. Windows gives the file the rights of its folder.
    Owner,
}

/// Replaces a file whole or not at all: a reader, also one after a loss of power, finds the old
/// content or the new one. `write` gets the new file.
///
/// The content is written beside the file, under its name with some letters and `.new` behind it. A
/// process that is killed meanwhile leaves that file; nothing reads it.
///
/// # Errors
/// The error of `write`, or if there is no room, or the disk refuses; the file is as it was then.
pub fn replace_file<T, E: From<io::Error>>(
    path: &Path,
    readers: Readers,
    write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<T, E> {
    let no_name = || io::Error::from(io::ErrorKind::InvalidFilename);
    let name = path.file_name().ok_or_else(no_name)?;
    let mut beside = name.to_os_string();
    beside.push(".");
    let mut new = tempfile::Builder::new();
    new.prefix(&beside).suffix(".new");
    let made = new.make_in(folder_of(path), |new| system::create_new(new, readers))?;
    let (file, new) = made.into_parts();
    let mut file = BufWriter::new(file);
    let value = write(&mut file)?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    // Windows renames no file that is open.
    drop(file);
    system::rename_over(&new, path)?;
    system::sync_folder(folder_of(path))?;
    Ok(value)
}

/// Returns the folder of a file; a name alone is in the present folder.
#[must_use]
pub fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn failed_write_leaves_the_old_content() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let write = |text: &'static str, then: io::Result<u8>| {
            replace_file(&path, Readers::Usual, move |file| {
                file.write_all(text.as_bytes())?;
                then
            })
        };
        assert_eq!(write("one", Ok(1)).expect("room"), 1);
        write("two", Err(io::ErrorKind::Other.into())).expect_err("the writer failed");
        assert_eq!(fs::read_to_string(&path).expect("text"), "one");
        assert_eq!(write("three", Ok(3)).expect("room"), 3);
        assert_eq!(fs::read_to_string(&path).expect("text"), "three");
        let left = fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(left, 1, "nothing is left behind");
        let nowhere = replace_file(&path.join("x"), Readers::Usual, |_| io::Result::Ok(()));
        let message = nowhere.expect_err("a file is no folder").to_string();
        assert!(!message.contains(".new"), "{message}");
    }
}

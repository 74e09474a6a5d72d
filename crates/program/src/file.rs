use std::fmt::Display;
use std::io::ErrorKind::{InvalidInput, IsADirectory, NotFound};
use std::io::{Error, Result};
use std::path::{Path, PathBuf};

use kagetsu_files::{Readers, folder_of, others_may_read, read_file, replace_file};
use kagetsu_game::quote_line;

/// Writes the name of a file for a message: line ends and escape sequences in it are escaped, so
/// that no name changes a terminal.
#[must_use]
pub fn shown(path: &Path) -> String {
    quote_line(&path.to_string_lossy()).to_string()
}

/// Writes bytes as a whole file or not at all, as [`replace_file`] does. The target of a link is
/// replaced, not the link. Warns of a file for its owner alone that the system cannot protect.
///
/// # Errors
/// Those of [`check_place`], or if there is no room.
pub fn write_whole(
    path: &Path,
    bytes: &(impl AsRef<[u8]> + ?Sized),
    readers: Readers,
) -> Result<()> {
    let path = place(path)?;
    replace_file(&path, readers, |file| file.write_all(bytes.as_ref()))?;
    if readers == Readers::Owner && others_may_read(&path.metadata()?).is_none() {
        let file = shown(&path);
        eprintln!("warning: {file} is secret; keep it in a folder that no other user may read");
    }
    Ok(())
}

/// Reads a file that a flag names and hands its content on, as a parser of the flag's value.
///
/// # Errors
/// If the file cannot be read, or the error of `take`.
pub fn take_file<E: Display>(
    path: &str,
    take: impl FnOnce(&[u8]) -> std::result::Result<(), E>,
) -> std::result::Result<PathBuf, String> {
    let bytes = read_file(path.as_ref()).map_err(|error| error.to_string())?;
    take(&bytes).map_err(|error| error.to_string())?;
    Ok(path.into())
}

/// Checks that [`write_whole`] can write there, and changes nothing.
///
/// # Errors
/// If nothing can be written there; the message names the remedy where the cause is clear.
pub fn check_place(path: &Path) -> Result<()> {
    let path = place(path)?;
    tempfile::tempfile_in(path.parent().unwrap_or(Path::new("/"))).map(drop)
}

/// Returns the path that [`write_whole`] writes, with links resolved.
fn place(path: &Path) -> Result<PathBuf> {
    let path = match path.canonicalize() {
        Ok(path) => path,
        Err(error) if error.kind() != NotFound => return Err(error),
        Err(_) => {
            let folder = folder_of(path);
            if let Ok(target) = path.read_link() {
                // The link leads to a file that does not exist yet.
                return place(&folder.join(target));
            }
            let name = path
                .file_name()
                .ok_or_else(|| Error::new(InvalidInput, "it names no file"))?;
            let missing = |error: Error| match error.kind() {
                NotFound => Error::new(
                    error.kind(),
                    format!("there is no folder {}", folder.display()),
                ),
                _ => error,
            };
            return Ok(folder.canonicalize().map_err(missing)?.join(name));
        }
    };
    let refused = |kind, why| Err(Error::new(kind, why));
    if path.is_dir() {
        return refused(IsADirectory, "it is a folder; name a file in it");
    }
    if !path.is_file() {
        return refused(InvalidInput, "it is a device or a pipe; name a file");
    }
    Ok(path)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn rewriting_a_file_leaves_its_neighbours() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, beside, link) = (
            folder.path().join("a.url"),
            folder.path().join("a.new"),
            folder.path().join("l"),
        );
        std::fs::write(&beside, "another file").expect("room");
        std::os::unix::fs::symlink(&file, &link).expect("room");
        for (path, text) in [(&file, "one"), (&file, "two"), (&link, "three")] {
            write_whole(path, text, Readers::Owner).expect("room");
            assert_eq!(std::fs::read_to_string(&file).expect("text"), text);
            assert_eq!(
                std::fs::metadata(&file)
                    .expect("there")
                    .permissions()
                    .mode()
                    & 0o777,
                0o600
            );
        }
        std::fs::remove_file(&file).expect("there");
        write_whole(&link, "four", Readers::Owner).expect("room");
        assert!(link.is_symlink());
        assert_eq!(
            std::fs::read_to_string(&file).expect("text"),
            "four",
            "where the link leads to"
        );
        assert_eq!(
            std::fs::read_to_string(&beside).expect("text"),
            "another file"
        );
        assert_eq!(
            std::fs::read_dir(folder.path()).expect("a folder").count(),
            3,
            "nothing is left behind"
        );
    }

    #[test]
    fn unwritable_place_is_reported_with_the_way_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = |path: &Path| {
            write_whole(path, "text", Readers::Usual)
                .expect_err("no file")
                .to_string()
        };
        assert_eq!(error(folder.path()), "it is a folder; name a file in it");
        let away = folder.path().join("away");
        assert_eq!(
            error(&away.join("a.url")),
            format!("there is no folder {}", away.display())
        );
        assert_eq!(
            error(Path::new("/dev/null")),
            "it is a device or a pipe; name a file"
        );
        assert_eq!(
            check_place(Path::new("/dev/null"))
                .expect_err("a device")
                .kind(),
            InvalidInput
        );
        check_place(&folder.path().join("a.url")).expect("room");
        assert_eq!(error(Path::new("/")), "it is a folder; name a file in it");
        assert_eq!(error(&folder.path().join("x/..")), "it names no file");
        assert_eq!(
            std::fs::read_dir(folder.path()).expect("a folder").count(),
            0
        );
    }
}

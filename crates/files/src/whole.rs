//! Files that are read from begin to end.

use std::fs::{self, File};
use std::io::ErrorKind::IsADirectory;
use std::io::{self, Read};
use std::path::Path;

/// The most bytes of a file that is read into memory.
const MAX_WHOLE_BYTES: u64 = 1 << 30;
const TOO_LARGE: &str = "it has more than 1 GiB; split it";

/// Opens a regular file. A device may never end, and a named pipe waits for a writer.
///
/// # Errors
/// If it cannot be opened, or is something else.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let kind = fs::metadata(path)?.file_type();
    // The redirections of a shell, such as `<(command)`, stand there.
    let is_of_shell = path.starts_with("/dev/fd") || path == Path::new("/dev/stdin");
    if kind.is_file() || is_of_shell {
        return File::open(path);
    }
    Err(match kind.is_dir() {
        true => io::Error::new(IsADirectory, "it is a folder; name a file in it"),
        false => io::Error::other("it is a device or a pipe, and no regular file"),
    })
}

/// Reads a regular file whole.
///
/// # Errors
/// If reading fails, or if it has more than 1 GiB.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    if file.metadata()?.len() > MAX_WHOLE_BYTES {
        return Err(io::Error::other(TOO_LARGE));
    }
    read_whole(file)
}

/// Reads a text in UTF-8 whole.
///
/// # Errors
/// As [`read_file`], or if it is no such text.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_file(path)?).map_err(|_| io::Error::other("it is no text in UTF-8"))
}

/// Reads a stream to its end.
///
/// # Errors
/// If reading fails, or if it does not end before 1 GiB.
pub fn read_whole(stream: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(MAX_WHOLE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_WHOLE_BYTES {
        return Err(io::Error::other(TOO_LARGE));
    }
    Ok(bytes)
}

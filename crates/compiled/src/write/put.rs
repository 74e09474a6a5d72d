use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::CompiledError;
use crate::format::header::MAGIC;

/// Refuses to replace a file that is not a compiled book.
///
/// # Errors
/// If another kind of file has the name, or it cannot be read.
pub fn leave_others_alone(path: &Path) -> Result<(), CompiledError> {
    let mut magic = [0; MAGIC.len()];
    match File::open(path).and_then(|mut file| io::Read::read_exact(&mut file, &mut magic)) {
        Ok(()) if magic == MAGIC => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        _ => Err(CompiledError::Taken(path.into())),
    }
}

/// Writes a temporary file, makes it durable, and renames it.
pub(crate) fn put(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let mut name = path
        .file_name()
        .ok_or(io::ErrorKind::InvalidFilename)?
        .to_os_string();
    name.push(format!(".{}.new", std::process::id()));
    let temporary = path.with_file_name(name);
    let folder = path
        .parent()
        .filter(|folder| *folder != Path::new(""))
        .map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    let write = || {
        let mut file = BufWriter::new(File::create(&temporary)?);
        parts.iter().try_for_each(|part| file.write_all(part))?;
        file.into_inner()?.sync_all()?;
        fs::rename(&temporary, path)?;
        File::open(&folder)?.sync_all()
    };
    let written = write();
    if written.is_err() {
        // A partial file is of no use.
        let _ = fs::remove_file(&temporary);
    }
    written
}

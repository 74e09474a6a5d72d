use std::fs::File;
use std::io;
use std::path::Path;

use kagetsu_files::{Readers, replace_file};

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

/// Replaces a file, whole or not at all.
pub(crate) fn put(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    replace_file(path, Readers::Usual, |file| {
        parts.iter().try_for_each(|part| file.write_all(part))
    })
}

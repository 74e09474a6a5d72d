//! Packed files: zip, and gzip.

use std::io::{Cursor, Read};

use anyhow::{Context, Result, bail, ensure};
use flate2::read::MultiGzDecoder;
use zip::ZipArchive;

use crate::input::encoding::decode;

/// The most bytes that all files of an archive may have.
pub(crate) const MAX_UNPACKED_BYTES: u64 = 1 << 28;

/// A file in an archive.
pub(crate) struct PackedFile {
    /// Its name; empty where the archive has none.
    pub(crate) name: String,
    pub(crate) content: Vec<u8>,
}

/// Returns the names and contents of the files in an archive, in its order; `None` if the bytes are
/// no archive.
///
/// # Errors
/// If the archive is damaged, encrypted or too large.
pub(crate) fn files(bytes: &[u8]) -> Result<Option<Vec<PackedFile>>> {
    let mut left = MAX_UNPACKED_BYTES;
    if bytes.starts_with(b"\x1f\x8b") {
        let content = unpacked(MultiGzDecoder::new(bytes), &mut left)?;
        let name = String::new();
        return Ok(Some(vec![PackedFile { name, content }]));
    }
    if !bytes.starts_with(b"PK\x03\x04") {
        return Ok(None);
    }
    let mut archive = ZipArchive::new(Cursor::new(bytes)).context("the zip file is damaged")?;
    let mut files = Vec::with_capacity(archive.len());
    for at in 0..archive.len() {
        let file = archive.by_index(at).context(
            "the zip file is damaged, or has a password: unpack it, and name the files in it",
        )?;
        if file.is_dir() {
            continue;
        }
        // Programs on Windows write names in the encoding of their country.
        let name = decode(file.name_raw(), None, |_| 0).into_owned();
        let content = unpacked(file, &mut left).with_context(|| name.clone())?;
        files.push(PackedFile { name, content });
    }
    Ok(Some(files))
}

/// Reads a packed text; `left` is how many bytes it may have.
pub(crate) fn unpacked(packed: impl Read, left: &mut u64) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    let read = packed.take(*left + 1).read_to_end(&mut content);
    if let Err(error) = read {
        bail!("it cannot be unpacked: {error}");
    }
    let length = content.len() as u64;
    ensure!(
        length <= *left,
        "it unpacks to more than {MAX_UNPACKED_BYTES} bytes; unpack it, and name the files in it"
    );
    *left -= length;
    Ok(content)
}

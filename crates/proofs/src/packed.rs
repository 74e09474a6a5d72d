#[cfg(feature = "books")]
use std::io::Write;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use lzma_rust2::XzReader;
#[cfg(feature = "books")]
use lzma_rust2::{XzOptions, XzWriter};

#[cfg(feature = "books")]
use crate::short_form::shortened;
use crate::short_form::{Lengthener, SHORT};

/// The first bytes of a file that xz has packed.
const XZ: &[u8] = b"\xfd7zXZ\0";

/// The first bytes of a win tree of any version.
pub(crate) const MAGIC_WORD: &[u8] = b"kagetsu-proof ";

/// Whether a file begins as a win tree does, packed by xz or not.
#[must_use]
pub fn begins_as_win_tree(begin: &[u8]) -> bool {
    begin.starts_with(XZ) || begin.starts_with(MAGIC_WORD)
}

/// Returns a reader of a win tree's text, which may be packed by xz or in its short form.
///
/// # Errors
/// If the source cannot be read.
pub fn unpacked<'a>(mut source: impl BufRead + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
    let mut source: Box<dyn BufRead> = match source.fill_buf()?.starts_with(XZ) {
        true => Box::new(BufReader::new(Unpacker(XzReader::new(source, false)))),
        false => Box::new(source),
    };
    if !source.fill_buf()?.starts_with(SHORT.as_bytes()) {
        return Ok(source);
    }
    Ok(Box::new(BufReader::new(Lengthener::new(source))))
}

/// Returns a win tree in its short form, packed by xz into few bytes.
///
/// # Errors
/// If there is too little memory.
#[cfg(feature = "books")]
pub fn pack(tree: &kagetsu_certificate::Tree) -> io::Result<Vec<u8>> {
    let mut options = XzOptions::with_preset(9);
    // The text has no alignment, and a dictionary of all bytes would take much memory.
    let lzma = &mut options.lzma_options;
    (lzma.lc, lzma.pb, lzma.dict_size) = (4, 0, 16 << 20);
    let (mut text, mut out) = (Vec::new(), XzWriter::new(Vec::new(), options)?);
    tree.write(&mut text)?;
    out.write_all(shortened(&String::from_utf8_lossy(&text)).as_bytes())?;
    out.finish()
}

/// Names the end of a file that was cut off.
struct Unpacker<R: Read>(XzReader<R>);

impl<R: Read> Read for Unpacker<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => {
                io::Error::new(ErrorKind::InvalidData, "the packed file was cut off")
            }
            _ => error,
        })
    }
}

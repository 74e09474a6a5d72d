use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use lzma_rust2::XzReader;

/// The first bytes of a file that xz has packed.
const XZ: &[u8] = b"\xfd7zXZ\0";

/// The first bytes of a win tree of any version.
pub(crate) const MAGIC_WORD: &[u8] = b"kagetsu-proof ";

/// Whether a file begins as a win tree does, packed by xz or not.
#[must_use]
pub fn begins_as_win_tree(begin: &[u8]) -> bool {
    begin.starts_with(XZ) || begin.starts_with(MAGIC_WORD)
}

/// Returns a reader of a win tree's text, which xz may have packed.
///
/// # Errors
/// If the source cannot be read.
pub fn unpacked<'a>(mut source: impl BufRead + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
    Ok(match source.fill_buf()?.starts_with(XZ) {
        true => Box::new(BufReader::new(Unpacker(XzReader::new(source, false)))),
        false => Box::new(source),
    })
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

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

/// The first bytes that some editors write before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The first bytes of a win tree of any version.
pub(crate) const MAGIC_WORD: &[u8] = b"kagetsu-proof ";

/// Whether a file begins as a win tree does, packed by xz or not.
#[must_use]
pub fn begins_as_win_tree(begin: &[u8]) -> bool {
    let text = begin.strip_prefix(BYTE_ORDER_MARK).unwrap_or(begin);
    begin.starts_with(XZ) || text.starts_with(MAGIC_WORD)
}

/// Returns a reader of a win tree's text, which may be packed by xz or in its short form. Editors
/// of other systems may have put a byte order mark before it, or a return before each line feed.
///
/// # Errors
/// If the source cannot be read.
pub fn unpacked<'a>(mut source: impl BufRead + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
    let mut source: Box<dyn BufRead> = match source.fill_buf()?.starts_with(XZ) {
        true => Box::new(BufReader::new(Unpacker(XzReader::new(source, false)))),
        false => Box::new(source),
    };
    if source.fill_buf()?.starts_with(BYTE_ORDER_MARK) {
        source.consume(BYTE_ORDER_MARK.len());
    }
    let mut lines = source.fill_buf()?.split(|byte| *byte == b'\n');
    if lines.next().is_some_and(|first| first.ends_with(b"\r")) {
        source = Box::new(BufReader::new(WithoutReturns(source)));
    }
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

/// Leaves out the returns of a text, which no win tree has.
struct WithoutReturns<R: BufRead>(R);

impl<R: BufRead> Read for WithoutReturns<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let bytes = self.0.fill_buf()?;
            let read = bytes.len().min(into.len());
            let mut kept = 0;
            for byte in bytes[..read].iter().filter(|byte| **byte != b'\r') {
                into[kept] = *byte;
                kept += 1;
            }
            self.0.consume(read);
            if kept > 0 || read == 0 {
                return Ok(kept);
            }
        }
    }
}

#[cfg(all(test, feature = "books"))]
mod tests {
    use std::io::Read;

    use super::{begins_as_win_tree, pack, unpacked};

    #[test]
    fn line_ends_of_other_systems_are_read() {
        let text = include_str!("../../certificate/tests/trees/data/standard-large.proof");
        let tree = kagetsu_certificate::Tree::read(&mut text.as_bytes()).expect("a tree");
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        let marked = format!("\u{feff}{text}");
        let packed = pack(&tree).expect("memory");
        for source in [
            text.as_bytes(),
            windows.as_bytes(),
            marked.as_bytes(),
            &packed,
        ] {
            assert!(begins_as_win_tree(source));
            let mut read = String::new();
            let mut source = unpacked(source).expect("in memory");
            source.read_to_string(&mut read).expect("in memory");
            assert_eq!(read, text);
        }
    }
}

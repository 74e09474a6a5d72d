use std::fmt::Debug;
use std::io;

/// The bytes of a compiled book, wherever they are: a file, memory, or a server that answers
/// ranges.
pub trait ReadAt: Debug + Send + Sync {
    /// Returns the number of bytes.
    ///
    /// # Errors
    /// If it cannot be found out.
    fn length(&self) -> io::Result<u64>;

    /// Fills a buffer from a place on.
    ///
    /// # Errors
    /// If there are fewer bytes, or they cannot be read.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;

    /// Whether the bytes may be others than when the source was made. It is asked only about bytes
    /// that match no checksum.
    fn is_changed(&self) -> bool {
        false
    }
}

impl ReadAt for Vec<u8> {
    fn length(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let rest = usize::try_from(offset)
            .ok()
            .and_then(|offset| self.get(offset..));
        let found = rest.and_then(|rest| rest.get(..buffer.len()));
        buffer.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

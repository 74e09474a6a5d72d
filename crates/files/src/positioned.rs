use std::io;

/// A file that is read and written at places, by several threads at the same time.
pub trait PositionedFile {
    /// Fills a buffer from a place on.
    ///
    /// # Errors
    /// If the file ends before, or cannot be read.
    fn read_all_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;

    /// Writes bytes from a place on.
    ///
    /// # Errors
    /// If there is no room, or the file cannot be written.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
}

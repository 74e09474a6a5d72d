//! Files on every system: replaced whole, made durable, read at a place, told apart.
//!
//! All that Unix and Windows do in other ways with files stands in one module for each. The crate
//! refuses any knowledge of what is in a file.
#![forbid(unsafe_code)]

mod error;
mod identity;
mod replace;
#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod system;

pub use error::{FileError, is_disk_full};
pub use identity::FileIdentity;
pub use replace::{Readers, replace_file};
pub use system::{link_file, lock_folder, others_may_read, sync_folder};

use std::fs::File;
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

impl PositionedFile for File {
    fn read_all_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        system::read_all_at(self, buffer, offset)
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        system::write_all_at(self, bytes, offset)
    }
}

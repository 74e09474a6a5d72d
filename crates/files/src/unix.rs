use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, symlink};
use std::path::Path;

use crate::{PositionedFile, Readers};

/// Waits until the names of a folder's files are on the disk.
///
/// # Errors
/// If the folder cannot be opened, or the disk refuses.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Gives a new file the name of another one, whose readers go on reading it.
pub(crate) fn rename_over(new: &Path, path: &Path) -> io::Result<()> {
    fs::rename(new, path)
}

/// Waits for other processes that hold this lock, and holds it until the result is dropped.
///
/// # Errors
/// If the folder cannot be opened or locked.
pub fn lock_folder(folder: &Path) -> io::Result<File> {
    let lock = File::open(folder)?;
    lock.lock().map(|()| lock)
}

/// Gives a file that never changes a second name.
///
/// # Errors
/// If the name is taken, or the disk refuses.
pub fn link_file(file: &Path, link: &Path) -> io::Result<()> {
    symlink(file, link)
}

/// Whether users other than the owner and its group may read or write a file; `None` if the
/// system does not say.
#[must_use]
pub fn others_may_read(about: &Metadata) -> Option<bool> {
    Some(about.mode() & 0o007 != 0)
}

/// Makes a file; its name must be free.
pub(crate) fn create_new(path: &Path, readers: Readers) -> io::Result<File> {
    let mode = match readers {
        Readers::Usual => 0o666,
        Readers::Owner => 0o600,
    };
    let mut new = File::options();
    new.write(true).create_new(true).mode(mode).open(path)
}

impl PositionedFile for File {
    fn read_all_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_exact_at(buffer, offset)
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        FileExt::write_all_at(self, bytes, offset)
    }
}

/// Returns the device, the inode, and the time of the last change in seconds and nanoseconds.
pub(crate) fn inode(about: &Metadata) -> [u64; 4] {
    let time = [about.ctime(), about.ctime_nsec()].map(i64::cast_unsigned);
    [about.dev(), about.ino(), time[0], time[1]]
}

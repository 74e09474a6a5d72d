use std::fs::{self, File, Metadata};
use std::io;
use std::os::windows::fs::FileExt;
use std::path::Path;

use crate::{PositionedFile, Readers};

/// Does nothing: Windows opens no folder as a file, and has a journal of names.
pub fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Gives a new file the name of another one. A file that a reader has open or mapped is renamed to
/// `NAME.NUMBER.old` first, and goes when its readers have closed it.
pub(crate) fn rename_over(new: &Path, path: &Path) -> io::Result<()> {
    fs::rename(new, path).or_else(|error| {
        let aside = new.with_extension("old");
        fs::rename(path, &aside).map_err(|_| error)?;
        fs::rename(new, path).inspect_err(|_| {
            // The old file goes on under its name.
            let _ = fs::rename(&aside, path);
        })?;
        // Where the system keeps its name for the readers, nothing else reads it.
        let _ = fs::remove_file(&aside);
        Ok(())
    })
}

/// Waits for other processes that hold this lock, and holds it until the result is dropped. Windows
/// locks no folder, so the lock is a file in it.
///
/// # Errors
/// If the file cannot be made or locked.
pub fn lock_folder(folder: &Path) -> io::Result<File> {
    let lock = File::create(folder.join("kagetsu.lock"))?;
    lock.lock().map(|()| lock)
}

/// Gives a file that never changes a second name: a hard link, or a copy where the names are on
/// different disks.
///
/// # Errors
/// If the name is taken, or the disk refuses.
pub fn link_file(file: &Path, link: &Path) -> io::Result<()> {
    fs::hard_link(file, link).or_else(|_| fs::copy(file, link).map(drop))
}

/// Whether users other than the owner and its group may read or write a file; `None` if the
/// system does not say.
#[must_use]
pub fn others_may_read(_: &Metadata) -> Option<bool> {
    None
}

/// Makes a file with the rights of its folder; its name must be free.
pub(crate) fn create_new(path: &Path, _: Readers) -> io::Result<File> {
    File::create_new(path)
}

/// Each call names its place, so the position that Windows moves meanwhile does not matter.
impl PositionedFile for File {
    fn read_all_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            match self.seek_read(buffer, offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    buffer = &mut buffer[read..];
                    offset += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn write_all_at(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.seek_write(bytes, offset) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    bytes = &bytes[written..];
                    offset += written as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Returns the time at which the file was made: one that replaces another has its own.
pub(crate) fn inode(about: &Metadata) -> [u64; 4] {
    use std::os::windows::fs::MetadataExt;
    [about.creation_time(), 0, 0, 0]
}

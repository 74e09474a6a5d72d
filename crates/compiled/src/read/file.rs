use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::read::source::ReadAt;

/// The resolution of the times of files: the clock of a kernel may tick this rarely.
const TIME_RESOLUTION: Duration = Duration::from_millis(20);

/// The identity of a file's content, as far as the system tells it without reading: a file that was
/// replaced, cut or written has another one. The time of the last change, which no program sets,
/// is a part of it on Unix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileIdentity {
    bytes: u64,
    modified: Option<SystemTime>,
    /// Device, inode, and the time of the last change in seconds and nanoseconds.
    inode: [u64; 4],
}

impl FileIdentity {
    /// Returns the identity of the file with this metadata.
    #[must_use]
    pub fn of(about: &Metadata) -> Self {
        #[cfg(unix)]
        let inode = {
            use std::os::unix::fs::MetadataExt;
            let time = [about.ctime(), about.ctime_nsec()].map(i64::cast_unsigned);
            [about.dev(), about.ino(), time[0], time[1]]
        };
        #[cfg(not(unix))]
        let inode = [0; 4];
        Self {
            bytes: about.len(),
            modified: about.modified().ok(),
            inode,
        }
    }

    /// Whether a further change of the file gives it another identity. The times of two changes
    /// shortly after each other may be equal.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        let [_, _, seconds, nanos] = self.inode;
        let changed = SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos as u32);
        let changed = self.modified.map_or(changed, |time| time.max(changed));
        let age = SystemTime::now().duration_since(changed);
        age.is_ok_and(|age| age > TIME_RESOLUTION)
    }
}

/// An open file with the identity that it had when it was opened.
#[derive(Debug)]
pub(crate) struct FileSource {
    file: File,
    identity: FileIdentity,
    was_settled: bool,
}

impl FileSource {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::new(File::open(path)?)
    }

    pub(crate) fn new(file: File) -> io::Result<Self> {
        let about = file.metadata()?;
        if about.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let identity = FileIdentity::of(&about);
        Ok(Self {
            was_settled: identity.is_settled(),
            identity,
            file,
        })
    }
}

impl ReadAt for FileSource {
    fn length(&self) -> io::Result<u64> {
        Ok(self.identity.bytes)
    }

    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, buffer, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        use std::os::windows::fs::FileExt;
        while !buffer.is_empty() {
            match self.file.seek_read(buffer, offset) {
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

    fn is_changed(&self) -> bool {
        let about = self.file.metadata();
        let is_same = about.is_ok_and(|about| FileIdentity::of(&about) == self.identity);
        !is_same || !self.was_settled
    }
}

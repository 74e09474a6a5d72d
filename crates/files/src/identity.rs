use std::fs::Metadata;
use std::time::{Duration, SystemTime};

use crate::system;

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
        Self {
            bytes: about.len(),
            modified: about.modified().ok(),
            inode: system::inode(about),
        }
    }

    /// Returns the length of the file in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
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

use std::fs::File;
use std::io;
use std::path::Path;

use kagetsu_files::{FileIdentity, PositionedFile, open_regular};

use crate::read::source::ReadAt;

/// An open file with the identity that it had when it was opened.
#[derive(Debug)]
pub(crate) struct FileSource {
    file: File,
    identity: FileIdentity,
    was_settled: bool,
}

impl FileSource {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::new(open_regular(path)?)
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
        Ok(self.identity.bytes())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_all_at(buffer, offset)
    }

    fn is_changed(&self) -> bool {
        let about = self.file.metadata();
        let is_same = about.is_ok_and(|about| FileIdentity::of(&about) == self.identity);
        !is_same || !self.was_settled
    }
}

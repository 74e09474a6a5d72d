use std::fs::File;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

use crate::error::CompiledError;

/// A file mapped into memory, shared by all processes that have it open.
#[derive(Debug)]
pub(crate) struct Map(Mmap);

impl Map {
    pub(crate) fn open(path: &Path) -> Result<Self, CompiledError> {
        let fail = |error| CompiledError::io("cannot read", path)(error);
        let file = File::open(path).map_err(fail)?;
        // SAFETY: another process must not change the mapped bytes. No program of ours changes a
        // compiled book: a new one takes the name of the old one by a rename, and a reader keeps
        // the old file. A write by another program is like damage: checksums are verified, and
        // every access is bounds-checked. A truncation during a read ends the process with SIGBUS,
        // which is no access to other memory.
        #[expect(unsafe_code, reason = "there is no safe way to share a file as memory")]
        let map = unsafe { Mmap::map(&file) };
        map.map(Self).map_err(fail)
    }
}

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

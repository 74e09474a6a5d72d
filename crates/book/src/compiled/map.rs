use std::fs::File;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

use crate::BookError;

/// A file as memory, shared by all processes that have it open.
#[derive(Debug)]
pub(crate) struct Map(Mmap);

impl Map {
    pub(crate) fn open(path: &Path) -> Result<Self, BookError> {
        let fail = |error| BookError::io("cannot read", path)(error);
        let file = File::open(path).map_err(fail)?;
        // SAFETY: memory that another process changes under us is no memory of Rust's. A compiled book is never changed: a
        // new one takes the name of the old by a rename, and who has the old open keeps it. One that somebody writes into
        // all the same is no worse than a damaged one: its bytes are held against checksums, and every access keeps to bounds.
        // One that is cut while it is read ends the process, by SIGBUS: no error, and no access to what is not ours.
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

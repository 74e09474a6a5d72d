//! The functions that the host of the program gives: a browser, or Node.

use std::io;
use std::time::Duration;

use kagetsu_compiled::ReadAt;
use kagetsu_search::Note;

/// Bytes of the notes that a search takes at a time.
const MAX_NOTE_BYTES: usize = 1024 * Note::LEN;

#[cfg(target_family = "wasm")]
mod given {
    #[link(wasm_import_module = "host")]
    unsafe extern "C" {
        pub(super) safe fn now() -> f64;
        pub(super) fn pause(bytes: *mut u8, length: usize, room: usize) -> i32;
        pub(super) fn tell(bytes: *const u8, length: usize);
        pub(super) safe fn book_length() -> f64;
        pub(super) fn read(offset: f64, bytes: *mut u8, length: usize) -> i32;
    }
}

/// A host without functions, for checks of the crate on other systems.
#[cfg(not(target_family = "wasm"))]
mod given {
    pub(super) fn now() -> f64 {
        0.0
    }

    pub(super) unsafe fn pause(_: *mut u8, _: usize, _: usize) -> i32 {
        0
    }

    pub(super) unsafe fn tell(_: *const u8, _: usize) {}

    pub(super) fn book_length() -> f64 {
        -1.0
    }

    pub(super) unsafe fn read(_: f64, _: *mut u8, _: usize) -> i32 {
        0
    }
}

/// Returns the time since 1970, which never goes back.
pub(crate) fn now() -> Duration {
    Duration::try_from_secs_f64(given::now() / 1e3).unwrap_or_default()
}

/// Gives the host notes for the other searches of a question, and returns theirs; `None` where the
/// search is to end.
pub(crate) fn pause(notes: &[Note], is_shared: bool) -> Option<Vec<Note>> {
    let mut bytes: Vec<u8> = notes.iter().flat_map(|note| note.to_bytes()).collect();
    let length = bytes.len();
    if is_shared {
        bytes.resize(length.max(MAX_NOTE_BYTES), 0);
    }
    // SAFETY: the host reads and writes no more than the buffer holds before it returns.
    let given = unsafe { given::pause(bytes.as_mut_ptr(), length, bytes.len()) };
    let given = usize::try_from(given).ok()? / Note::LEN;
    let theirs = bytes.as_chunks().0.iter().take(given);
    Some(theirs.map(|bytes| Note::from_bytes(*bytes)).collect())
}

/// Tells the host how far a request is, as JSON.
pub(crate) fn tell(json: &str) {
    // SAFETY: the host reads these bytes before it returns.
    unsafe { given::tell(json.as_ptr(), json.len()) };
}

/// The book that the host reads, as by range requests.
#[derive(Debug)]
pub(crate) struct HostedBook;

impl ReadAt for HostedBook {
    fn length(&self) -> io::Result<u64> {
        let length = given::book_length();
        let missing = || io::Error::other("the server does not give the file");
        (length >= 0.0).then_some(length as u64).ok_or_else(missing)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        // SAFETY: the host writes no more than the buffer holds before it returns.
        let is_read = unsafe { given::read(offset as f64, buffer.as_mut_ptr(), buffer.len()) };
        let missing = || io::Error::other("the server did not give a part of the file");
        (is_read != 0).then_some(()).ok_or_else(missing)
    }
}

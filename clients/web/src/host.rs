//! The functions that the host of the program gives: a browser, or Node.

use std::io;
use std::time::Duration;

use kagetsu_compiled::ReadAt;

#[cfg(target_family = "wasm")]
mod given {
    #[link(wasm_import_module = "host")]
    unsafe extern "C" {
        pub(super) safe fn now() -> f64;
        pub(super) safe fn must_stop() -> i32;
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

    pub(super) fn must_stop() -> i32 {
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

/// Whether the host wants the search to end.
pub(crate) fn must_stop() -> bool {
    given::must_stop() != 0
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

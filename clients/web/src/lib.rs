//! Kagetsu in a browser: the rules, the search, compiled books and certificates as WebAssembly.
//!
//! The page and the npm package call it through `http/page/engine/kagetsu.js`. A request is a name
//! and JSON, and so is its answer, in the shapes of the HTTP API. The host gives four functions:
//! the clock, the bytes of the book, progress, and whether a search is to end.
//!
//! The crate has one thread, and refuses growing books, files and the network.
#![expect(unsafe_code, reason = "the host and the program share memory")]

mod answers;
mod host;
mod search;

use std::cell::RefCell;

use kagetsu_api::ErrorJson;
use serde_json::Value;

use crate::answers::OpenBooks;

thread_local! {
    static OPEN: RefCell<OpenBooks> = RefCell::default();
    /// The bytes of the last answer, until the next request.
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Returns memory for a request of `length` bytes, which [`kagetsu_call`] takes back.
#[unsafe(no_mangle)]
pub extern "C" fn kagetsu_take(length: usize) -> *mut u8 {
    Box::leak(vec![0; length].into_boxed_slice()).as_mut_ptr()
}

/// Answers a request: a name, a line feed, and JSON or the bytes of a file. Returns the length of
/// the answer, which stands at [`kagetsu_answer`].
///
/// # Safety
/// `bytes` must come from [`kagetsu_take`] with the same length, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kagetsu_call(bytes: *mut u8, length: usize) -> usize {
    // SAFETY: the caller passes the memory on that it was given, once.
    let request = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(bytes, length)) };
    let answered = OPEN.with_borrow_mut(|open| answer(open, &request));
    let json = answered.unwrap_or_else(|error| serde_json::to_value(error).unwrap_or_default());
    ANSWER.with_borrow_mut(|answer| {
        *answer = json.to_string().into_bytes();
        answer.len()
    })
}

/// Returns where the last answer stands.
#[unsafe(no_mangle)]
pub extern "C" fn kagetsu_answer() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}

/// Answers a request.
fn answer(open: &mut OpenBooks, request: &[u8]) -> Result<Value, ErrorJson> {
    let at = request.iter().position(|byte| *byte == b'\n');
    let (name, body) = request.split_at(at.unwrap_or(request.len()));
    let body = body.get(1..).unwrap_or_default();
    match name {
        b"load" => open.load(body),
        b"verify" => answers::verify(body),
        b"weights" => answers::take_weights(body),
        b"analyses" => search::analyse(body),
        _ => {
            let query = serde_json::from_slice(body);
            let query = query.map_err(|error| ErrorJson::new("bad_request", error.to_string()))?;
            open.answer(&String::from_utf8_lossy(name), &query)
        }
    }
}

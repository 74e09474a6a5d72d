//! The C interface of compiled books. `kagetsu_book.h` declares and documents every call.
//!
//! A panic never leaves the library; it becomes `KAGETSU_INTERNAL`.
//!
//! The interface offers what a compiled book holds, and neither book folders nor servers.
#![expect(unsafe_code, reason = "C calls take pointers")]

mod arguments;

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr::{self, NonNull};

use kagetsu_compiled::{Choice, Compiled, CompiledError};
use kagetsu_game::{Move, Position, Verdict};

use crate::arguments::{CallError, PositionArguments};

/// An open book; opaque to C.
pub struct OpenBook(Compiled);

/// The book's knowledge of one move; the header describes the fields.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KnownMove {
    /// The move as text, padded with zero bytes.
    pub text: [c_char; 8],
    /// Value in centi-units, or a forced win or loss.
    pub score: i32,
    /// Plies to the forced win or loss; 0 if there is none.
    pub plies: i32,
    /// How the score bounds the value.
    pub bound: u8,
    /// The proof, if any.
    pub proof: u8,
    /// Search depth in plies.
    pub depth: u8,
    reserved: u8,
}

const _: () = assert!(size_of::<KnownMove>() == 20);

const OK: c_int = 0;
const NOT_FOUND: c_int = 1;

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Runs the body of a call and keeps its fault for `kagetsu_last_error`.
fn call(body: impl FnOnce() -> Result<c_int, CallError>) -> c_int {
    let ended = catch_unwind(AssertUnwindSafe(body)).unwrap_or(Err(CallError::Internal));
    ended.unwrap_or_else(|fault| {
        let text = CString::new(fault.to_string().replace('\0', "?")).unwrap_or_default();
        LAST.with_borrow_mut(|last| *last = text);
        fault.status()
    })
}

/// Returns a text argument; `None` for a null pointer.
///
/// # Safety
/// A non-null pointer must lead to bytes that end with a zero byte and stay valid during the call.
unsafe fn text<'a>(
    what: &'static str,
    pointer: *const c_char,
) -> Result<Option<&'a str>, CallError> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(pointer) }.to_str();
    text.map(Some)
        .map_err(|_| CallError::Argument(format!("{what} is no UTF-8")))
}

fn missing(what: &'static str) -> CallError {
    CallError::Argument(format!("{what} is NULL"))
}

fn known(position: &Position, m: Move, verdict: &Verdict) -> KnownMove {
    let mut text = [0; 8];
    let name = position.write_move(m);
    for (to, from) in text[..7].iter_mut().zip(name.bytes()) {
        *to = from as c_char;
    }
    let plies = verdict
        .score
        .win_plies()
        .or(verdict.score.loss_plies())
        .unwrap_or(0);
    let bound = match verdict.bound {
        kagetsu_game::Bound::Upper => 1,
        kagetsu_game::Bound::Lower => 2,
        kagetsu_game::Bound::Exact => 3,
    };
    let proof = verdict.proof.map_or(0, |proof| match proof.claim {
        kagetsu_game::Claim::Draw => 1,
        kagetsu_game::Claim::Loss => 2,
        kagetsu_game::Claim::Win => 3,
    });
    let (score, depth) = (verdict.score.raw().into(), verdict.depth);
    KnownMove {
        text,
        score,
        plies: plies.into(),
        bound,
        proof,
        depth,
        reserved: 0,
    }
}

/// The output arguments of a look-up.
struct Out {
    first: *mut KnownMove,
    capacity: usize,
    count: NonNull<usize>,
}

impl Out {
    fn new(first: *mut KnownMove, capacity: usize, count: *mut usize) -> Result<Self, CallError> {
        let count = NonNull::new(count).ok_or_else(|| missing("count"))?;
        if first.is_null() && capacity > 0 {
            Err(missing("out"))
        } else {
            Ok(Self {
                first,
                capacity,
                count,
            })
        }
    }

    /// # Safety
    /// `first` must have room for `capacity` moves, `count` for a number.
    unsafe fn fill(&self, book: &Compiled, position: &Position) -> Result<c_int, CallError> {
        // SAFETY: the caller's promise.
        unsafe { self.count.write(0) };
        let Some((answer, _)) = book.lookup(position)? else {
            return Ok(NOT_FOUND);
        };
        let verdicts = answer.verdicts();
        for (at, (m, verdict)) in verdicts.iter().enumerate().take(self.capacity) {
            // SAFETY: `at` is below the capacity.
            unsafe { self.first.add(at).write(known(position, *m, verdict)) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.count.write(verdicts.len()) };
        Ok(if verdicts.is_empty() { NOT_FOUND } else { OK })
    }
}

/// # Safety
/// See the header: texts end with a zero byte; `book` has room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kagetsu_book_open(path: *const c_char, book: *mut *mut OpenBook) -> c_int {
    call(|| {
        let place = NonNull::new(book).ok_or_else(|| missing("book"))?;
        // SAFETY: the caller's promise.
        unsafe { place.write(ptr::null_mut()) };
        // SAFETY: the caller's promise.
        let path = unsafe { text("path", path) }?.ok_or_else(|| missing("path"))?;
        let opened = Compiled::open(Path::new(path))?;
        // SAFETY: the caller's promise.
        unsafe { place.write(Box::into_raw(Box::new(OpenBook(opened)))) };
        Ok(OK)
    })
}

/// # Safety
/// `book` comes from `kagetsu_book_open`, was not closed, and is not in use; or it is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kagetsu_book_close(book: *mut OpenBook) {
    if !book.is_null() {
        // SAFETY: the caller's promise: it came from a Box, once.
        drop(unsafe { Box::from_raw(book) });
    }
}

/// # Safety
/// `book` is an open book, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kagetsu_book_positions(book: *const OpenBook) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { book.as_ref() }.map_or(0, |book| book.0.len())
}

/// # Safety
/// See the header: an open book, texts that end with a zero byte, room for the output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kagetsu_book_lookup(
    book: *const OpenBook,
    variant: *const c_char,
    fen: *const c_char,
    moves: *const c_char,
    out: *mut KnownMove,
    capacity: usize,
    count: *mut usize,
) -> c_int {
    call(|| {
        let out = Out::new(out, capacity, count)?;
        // SAFETY: the caller's promise, for all of them.
        let (book, arguments) = unsafe {
            let arguments = PositionArguments {
                variant: text("variant", variant)?,
                fen: text("fen", fen)?,
                moves: text("moves", moves)?,
            };
            (book.as_ref(), arguments)
        };
        let position = arguments.position()?;
        // SAFETY: the caller's promise.
        unsafe { out.fill(&book.ok_or_else(|| missing("book"))?.0, &position) }
    })
}

/// # Safety
/// See the header: an open book, a text that ends with a zero byte, `length` cells, room for the
/// output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kagetsu_book_lookup_stones(
    book: *const OpenBook,
    variant: *const c_char,
    cells: *const u8,
    length: usize,
    side: c_int,
    out: *mut KnownMove,
    capacity: usize,
    count: *mut usize,
) -> c_int {
    call(|| {
        let out = Out::new(out, capacity, count)?;
        if cells.is_null() {
            return Err(missing("cells"));
        }
        // SAFETY: the caller's promise.
        let (book, variant) = unsafe { (book.as_ref(), text("variant", variant)?) };
        // SAFETY: not null, and the caller promises `length` cells; no more than a board has are
        // read.
        let cells =
            unsafe { std::slice::from_raw_parts(cells, length.min(arguments::MAX_CELLS + 1)) };
        let position = arguments::by_stones(variant, cells, side)?;
        // SAFETY: the caller's promise.
        unsafe { out.fill(&book.ok_or_else(|| missing("book"))?.0, &position) }
    })
}

/// # Safety
/// See the header: an open book, texts that end with a zero byte, room for a move.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kagetsu_book_pick(
    book: *const OpenBook,
    variant: *const c_char,
    fen: *const c_char,
    moves: *const c_char,
    temperature: f64,
    seed: u64,
    min_depth: u8,
    out: *mut KnownMove,
) -> c_int {
    call(|| {
        let out = NonNull::new(out).ok_or_else(|| missing("out"))?;
        // SAFETY: the caller's promise, for all of them.
        let (book, arguments) = unsafe {
            let arguments = PositionArguments {
                variant: text("variant", variant)?,
                fen: text("fen", fen)?,
                moves: text("moves", moves)?,
            };
            (book.as_ref().ok_or_else(|| missing("book"))?, arguments)
        };
        let position = arguments.position()?;
        let choice = Choice {
            temperature,
            seed: Some(seed),
            min_depth,
            margin: None,
        };
        if !choice.is_possible() {
            return Err(CallError::Argument(format!(
                "the temperature {temperature} is not 0 or more"
            )));
        }
        let Some((answer, _)) = book.0.lookup(&position)? else {
            return Ok(NOT_FOUND);
        };
        let Some((m, verdict)) = choice.pick(&answer) else {
            return Ok(NOT_FOUND);
        };
        // SAFETY: not null, and the caller's promise.
        unsafe { out.write(known(&position, *m, verdict)) };
        Ok(OK)
    })
}

/// Returns the message of this thread's last failed call.
#[unsafe(no_mangle)]
pub extern "C" fn kagetsu_last_error() -> *const c_char {
    LAST.with_borrow(|last| last.as_ptr())
}

/// Returns the version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn kagetsu_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}

impl From<CompiledError> for CallError {
    fn from(error: CompiledError) -> Self {
        match error {
            CompiledError::Damaged { .. } => Self::Damaged(error.to_string()),
            _ => Self::File(error.to_string()),
        }
    }
}

//! Files on every system: replaced whole, made durable, read at a place, told apart; and the
//! folders of a user.
//!
//! All that Unix and Windows do in other ways with files stands in one module for each. The crate
//! refuses any knowledge of what is in a file. In a browser, which has no files, it has the errors
//! alone.
#![forbid(unsafe_code)]

mod error;
#[cfg(any(unix, windows))]
mod identity;
#[cfg(any(unix, windows))]
mod installed;
#[cfg(any(unix, windows))]
mod positioned;
#[cfg(any(unix, windows))]
mod replace;
#[cfg(any(unix, windows))]
#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod system;
#[cfg(any(unix, windows))]
mod whole;

pub use error::{FileError, is_disk_full};
#[cfg(any(unix, windows))]
pub use identity::FileIdentity;
#[cfg(any(unix, windows))]
pub use installed::{books_folder, installed_book, installed_books, user_folder};
#[cfg(any(unix, windows))]
pub use positioned::PositionedFile;
#[cfg(any(unix, windows))]
pub use replace::{Readers, folder_of, replace_file};
#[cfg(any(unix, windows))]
pub use system::{link_file, lock_folder, others_may_read, sync_folder};
#[cfg(any(unix, windows))]
pub use whole::{open_regular, read_file, read_text, read_whole};

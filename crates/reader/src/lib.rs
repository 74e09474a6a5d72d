//! Reads a book: wherever it is, and in every way in which it is looked at.
//!
//! A [`Source`] is a book in a folder, a compiled file, a certificate, a database or a server, or
//! the book that a coordinator grows. [`open`] takes the name that the user gave. A command that
//! changes a folder opens it with [`open_book`] or [`fill`].
//!
//! # Views
//! A [`View`] is a way to read a source: a name, the options of its query, the JSON of its result,
//! the function between them, and how a terminal shows the result. It is one file in `views`, and
//! one line in [`VIEWS`]. All else is made from that list:
//!
//! - over gRPC, `Books.Read` takes the name, a position and the options as JSON, and returns JSON;
//!   `Lookup` and `Export` beside it are the compact forms for engines and copies;
//! - over HTTP, `/api/v1/NAME` takes the options as the query, and its OpenAPI operation has the
//!   schemas of the types;
//! - on the command line, `kagetsu COMMAND` takes them as flags, with their doc comments as help,
//!   and `--json` writes the same JSON;
//! - in Python, `Book` and `Client` have a method of that name.
//!
//! So these cannot differ: the limits and defaults stand in the types of the options ([`Ranged`]),
//! and a result is written once. A server runs a view on a thread for blocking work, few at a time,
//! and a growing book is read in parts, between which its writer serves others. Reading is one
//! permission, so a view names none.
//!
//! The crate refuses to change a book by itself, and all searching.
#![forbid(unsafe_code)]

mod database;
mod error;
mod found;
mod notices;
mod open;
mod open_folder;
mod print;
mod ranged;
mod registry;
mod results;
mod server;
mod source;
mod view;
pub mod views;

pub use error::ViewError;
pub use found::Found;
pub use open::{annotate, open, open_files};
pub use open_folder::{
    BookFolder, COORDINATOR_FLAG, fill, in_database, open_book, read_book, with_hint,
};
pub use print::TextBlock;
pub use ranged::Ranged;
pub use registry::{NamedSchema, RegisteredView, VIEWS, ViewSchemas, read_view};
pub use results::GameResults;
pub use server::ServerBook;
pub use source::{BookClosed, CertificateBook, FolderBook, GrowingBook, Source};
pub use view::{Subject, View, WholeBook};

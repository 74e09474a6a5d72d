//! Reads a book wherever it is: a folder, a compiled file, a certificate, a database, or a server.
//!
//! [`open`] takes the name that the user gave and returns a [`BookReader`]. Another place of books
//! is another implementation of the trait and one line in [`open`].
//!
//! A command that changes a folder opens it with [`open_book`] or [`fill`].
//!
//! The crate refuses to change a book by itself, and all searching.
#![forbid(unsafe_code)]

mod certificate;
mod compiled;
mod database;
mod folder;
mod notices;
mod open;
mod open_folder;
mod reader;
mod server;

pub use certificate::CertificateReader;
pub use compiled::CompiledReader;
pub use folder::FolderReader;
pub use open::{open, open_files};
pub use open_folder::{
    BookFolder, COORDINATOR_FLAG, fill, in_database, open_book, read_book, with_hint,
};
pub use reader::{BookReader, not_held};
pub use server::ServerReader;

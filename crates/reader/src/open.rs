use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result};
use kagetsu_book::{Annotation, AnnotationJson, Day};
use kagetsu_compiled::NamedBook;
use kagetsu_files::installed_book;
use kagetsu_game::Position;
use kagetsu_postgres::BookUrl;
use kagetsu_proofs::ProofBook;
use kagetsu_proto::Access;

use crate::open_folder::{open_book, read_book, with_hint};
use crate::server::ServerBook;
use crate::source::{CertificateBook, FolderBook, Source};

/// Opens a book to read: a folder, a compiled file, a certificate, a book in a database
/// (`postgres://`), or (any other name with `://`) a server, to which `access` applies.
///
/// # Errors
/// If there is no book, or a process is changing its folder.
pub fn open(name: &str, access: &Access) -> Result<Source> {
    if name.contains("://") && !BookUrl::is_one(name) {
        let server = ServerBook::connect(name, access)?;
        return Ok(Source::Server(Box::new(server)));
    }
    let how = "its URL in place of the folder; `kagetsu open` has none";
    open_files(Path::new(name)).map_err(|error| with_hint(error, how))
}

/// Writes an annotation of today into a book folder, or into the book of a coordinator.
///
/// # Errors
/// If the book cannot be changed, or the annotation is none of the position.
pub fn annotate(name: &str, access: &Access, at: &Position, note: AnnotationJson) -> Result<()> {
    if name.contains("://") && !BookUrl::is_one(name) {
        return ServerBook::connect(name, access)?.annotate(at, vec![note]);
    }
    let mut book = open_book(Path::new(name), false)?;
    let day = Day::today().0;
    book.annotate(
        at,
        &[Annotation {
            day,
            ..note.read(at)?
        }],
    )?;
    Ok(book.close()?)
}

/// Opens a book on this machine to read: a folder, a compiled file or a certificate. Several
/// processes may read one folder at the same time, and the user needs no permission to write to
/// it. A name that nothing here has is that of an installed book. Notices go to stderr.
///
/// # Errors
/// If there is no book, a process is changing its folder, or the path is a URL.
pub fn open_files(path: &Path) -> Result<Source> {
    let installed = installed_book(path);
    let path = installed.as_deref().unwrap_or(path);
    if path.is_file() {
        let about = || path.display().to_string();
        let file = File::open(path).with_context(about)?;
        let bytes = file.metadata().with_context(about)?.len();
        let proof = ProofBook::read(&mut BufReader::new(file)).with_context(about)?;
        return Ok(match proof {
            Some(proof) => Source::Certificate(CertificateBook { proof, bytes }),
            None => Source::File(Box::new(NamedBook::open(path)?)),
        });
    }
    Ok(Source::Folder(FolderBook {
        book: read_book(path)?,
        is_in_database: path.to_str().is_some_and(BookUrl::is_one),
    }))
}

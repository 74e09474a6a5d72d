use std::path::Path;

use anyhow::Result;
use kagetsu_postgres::BookUrl;
use kagetsu_proto::Access;

use crate::certificate::CertificateReader;
use crate::compiled::CompiledReader;
use crate::folder::FolderReader;
use crate::open_folder::with_hint;
use crate::reader::BookReader;
use crate::server::ServerReader;

/// Opens a book to read: a folder, a compiled file, a certificate, a book in a database (`postgres://`), or (any
/// other name with `://`) a server, to which `access` applies.
///
/// # Errors
/// If there is no book, or a process is changing its folder.
pub fn open(name: &str, access: &Access) -> Result<Box<dyn BookReader>> {
    if name.contains("://") && !BookUrl::is_one(name) {
        return Ok(Box::new(ServerReader::connect(name, access)?));
    }
    open_files(Path::new(name)).map_err(|error| with_hint(error, "its URL in place of the folder"))
}

/// Opens a book on this machine to read: a folder, a compiled file or a certificate.
///
/// # Errors
/// If there is no book, a process is changing its folder, or the path is a URL.
pub fn open_files(path: &Path) -> Result<Box<dyn BookReader>> {
    if path.is_file() {
        if let Some(certificate) = CertificateReader::open(path)? {
            return Ok(Box::new(certificate));
        }
        return Ok(Box::new(CompiledReader::open(path)?));
    }
    Ok(Box::new(FolderReader::open(path)?))
}

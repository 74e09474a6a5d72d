//! Downloads of compiled books over HTTP: a manifest, and files with ranges.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use axum::body::Body;
use axum::extract::{Path as PathParameter, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use data_encoding::HEXLOWER;
use http::header::{
    ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderName, IF_RANGE, RANGE,
};
use http::{HeaderMap, StatusCode};
use http_range_header::parse_range_header;
use kagetsu_api::{ArchiveFileJson, ArchiveJson, ErrorJson};
use kagetsu_compiled::{Compiled, FileIdentity};
use parking_lot::Mutex;
use ring::digest::{Context, SHA256};
use tokio::io::AsyncReadExt;
use tokio_stream::StreamExt;
use tokio_util::io::ReaderStream;

/// The ends of the names of files that are offered: books, deltas, and signatures of minisign.
const ENDS: [&str; 3] = [".kbk", ".delta", ".minisig"];
/// The begin of the names of programs that workers update themselves to.
const WORKER: &str = "kagetsu-worker-";
/// Bytes of a file that are read at a time.
const PIECE_BYTES: usize = 128 << 10;

/// A folder of compiled books that are offered for download.
#[derive(Clone)]
pub struct Archive {
    folder: Arc<Path>,
    /// Each name with the identity of the file whose digest was computed.
    known: Arc<Mutex<HashMap<String, (FileIdentity, ArchiveFileJson)>>>,
}

/// A file that is open, and the description of what it held when its digest was computed.
struct OpenArchiveFile {
    file: File,
    identity: FileIdentity,
    about: ArchiveFileJson,
}

impl Archive {
    /// Offers the files of a folder.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder: folder.into(),
            known: Arc::default(),
        }
    }

    /// Returns the routes, below the path whose requests need the permission to read.
    pub(crate) fn routes(self) -> Router {
        Router::new()
            .route("/api/v1/archive", get(manifest))
            .route("/api/v1/archive/{name}", get(download))
            .with_state(self)
    }

    /// Returns the names of the files that are offered, sorted.
    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            // A link may lead to a file, as after `ln -s`.
            let is_file = entry.path().is_file();
            if is_file && (ENDS.iter().any(|end| name.ends_with(end)) || name.starts_with(WORKER)) {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// Opens and describes a file; `None` for one that a program is writing. Its digest is that of
    /// the bytes behind the handle, and is computed once for each identity.
    fn open(&self, name: &str) -> io::Result<Option<OpenArchiveFile>> {
        let path = self.folder.join(name);
        let mut file = File::open(&path)?;
        let about = file.metadata()?;
        let identity = FileIdentity::of(&about);
        let known = self.known.lock().get(name).cloned();
        if let Some((_, about)) = known.filter(|(known, _)| *known == identity) {
            return Ok(Some(OpenArchiveFile {
                file,
                identity,
                about,
            }));
        }
        let is_settled = identity.is_settled();
        let modified = about.modified()?.duration_since(UNIX_EPOCH);
        let book = Compiled::open_file(file.try_clone()?, &path).ok();
        let about = ArchiveFileJson {
            name: name.into(),
            bytes: about.len(),
            sha256: digest(&mut file)?,
            modified: modified.map_or(0, |time| time.as_secs()),
            positions: book.as_ref().map(Compiled::len),
            games: book.map_or_else(Vec::new, |book| {
                let held = &book.overview().variants;
                held.iter().map(|held| held.variant.to_string()).collect()
            }),
        };
        if FileIdentity::of(&file.metadata()?) != identity {
            return Ok(None);
        }
        if is_settled {
            let known = (identity, about.clone());
            self.known.lock().insert(name.into(), known);
        }
        Ok(Some(OpenArchiveFile {
            file,
            identity,
            about,
        }))
    }

    /// Describes the files that are offered.
    ///
    /// # Errors
    /// If the folder or a file cannot be read.
    pub fn manifest(&self) -> io::Result<ArchiveJson> {
        let names = self.names()?;
        self.known.lock().retain(|name, _| names.contains(name));
        let mut files = Vec::new();
        for name in &names {
            files.extend(self.open(name)?.map(|open| open.about));
        }
        Ok(ArchiveJson { files })
    }

    /// Returns a file by its name; `None` for a name that is not in the list, or a file that a
    /// program is writing.
    fn find(&self, name: &str) -> io::Result<Option<OpenArchiveFile>> {
        if self.names()?.iter().any(|known| known == name) {
            self.open(name)
        } else {
            Ok(None)
        }
    }
}

fn digest(file: &mut File) -> io::Result<String> {
    let (mut piece, mut context) = (vec![0; PIECE_BYTES], Context::new(&SHA256));
    loop {
        let length = file.read(&mut piece)?;
        if length == 0 {
            return Ok(HEXLOWER.encode(context.finish().as_ref()));
        }
        context.update(&piece[..length]);
    }
}

async fn manifest(State(archive): State<Archive>) -> Response {
    match tokio::task::spawn_blocking(move || archive.manifest()).await {
        Ok(Ok(manifest)) => Json(manifest).into_response(),
        Ok(Err(error)) => failure(&error),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn download(
    State(archive): State<Archive>,
    PathParameter(name): PathParameter<String>,
    headers: HeaderMap,
) -> Response {
    let found = tokio::task::spawn_blocking(move || archive.find(&name)).await;
    let open = match found {
        Ok(Ok(Some(open))) => open,
        Ok(Ok(None)) => {
            let body = ErrorJson::new(
                "not_found",
                "the archive has no such file, or a program is writing it; /api/v1/archive lists \
                 them",
            );
            return (StatusCode::NOT_FOUND, Json(body)).into_response();
        }
        Ok(Err(error)) => return failure(&error),
        Err(_) => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    };
    let (tag, bytes) = (format!("\"{}\"", open.about.sha256), open.about.bytes);
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    if kagetsu_http::names_tag(&headers, &tag) {
        return (StatusCode::NOT_MODIFIED, [(ETAG, tag)]).into_response();
    }
    // A range of another version of the file would be of no use.
    let range = text(RANGE).filter(|_| text(IF_RANGE).is_none_or(|wanted| wanted == tag));
    let ranges = range.and_then(|range| parse_range_header(range).ok());
    let part = match ranges.map(|ranges| ranges.validate(bytes)) {
        None => None,
        Some(Ok(ranges)) if ranges.len() == 1 => ranges.into_iter().next(),
        // A server may answer several ranges with the whole file.
        Some(Ok(_)) => None,
        Some(Err(_)) => {
            let whole = [(CONTENT_RANGE, format!("bytes */{bytes}"))];
            return (StatusCode::RANGE_NOT_SATISFIABLE, whole).into_response();
        }
    };
    let (from, length) = part.as_ref().map_or((0, bytes), |part| {
        (*part.start(), part.end() + 1 - part.start())
    });
    let body = match stream(open, from, length) {
        Ok(body) => body,
        Err(error) => return failure(&error),
    };
    let about = [
        (ETAG, tag),
        (ACCEPT_RANGES, "bytes".into()),
        (CONTENT_TYPE, "application/octet-stream".into()),
        (CONTENT_LENGTH, length.to_string()),
    ];
    match part {
        None => (about, body).into_response(),
        Some(part) => {
            let range = format!("bytes {}-{}/{bytes}", part.start(), part.end());
            let range = [(CONTENT_RANGE, range)];
            (StatusCode::PARTIAL_CONTENT, about, range, body).into_response()
        }
    }
}

/// Sends a part of the file behind the handle whose digest is known. The answer breaks off where a
/// program writes into the file meanwhile.
fn stream(open: OpenArchiveFile, from: u64, length: u64) -> io::Result<Body> {
    let OpenArchiveFile {
        mut file, identity, ..
    } = open;
    let watched = file.try_clone()?;
    file.seek(SeekFrom::Start(from))?;
    let part = tokio::fs::File::from_std(file).take(length);
    let pieces = ReaderStream::with_capacity(part, PIECE_BYTES).map(move |piece| {
        if FileIdentity::of(&watched.metadata()?) == identity {
            piece
        } else {
            Err(io::Error::other("the file changed during the download"))
        }
    });
    Ok(Body::from_stream(pieces))
}

/// The answer to a file system that fails.
fn failure(error: &io::Error) -> Response {
    tracing::warn!("the archive cannot be read: {error}");
    let body = ErrorJson::new(
        "unavailable",
        format!("the archive cannot be read: {error}"),
    );
    (StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response()
}

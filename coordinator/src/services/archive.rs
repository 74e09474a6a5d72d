//! Downloads of compiled books over HTTP: a manifest, and files with ranges.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use axum::body::{Body, Bytes};
use axum::extract::{Path as PathParameter, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::header::{
    ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_NONE_MATCH, IF_RANGE,
    RANGE,
};
use http::{HeaderMap, StatusCode};
use kagetsu_api::ErrorJson;
use kagetsu_book::Compiled;
use parking_lot::Mutex;
use ring::digest::{Context, SHA256};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

/// The ends of the names of files that are offered: books, deltas, and signatures of minisign.
const ENDS: [&str; 3] = [".kbk", ".delta", ".minisig"];
/// Bytes of a piece of a download.
const PIECE_BYTES: usize = 128 << 10;
/// Pieces that wait for a slow client.
const MAX_WAITING_PIECES: usize = 2;

/// A file of the archive.
#[derive(Clone, Debug, Serialize)]
struct ArchiveFile {
    name: String,
    bytes: u64,
    sha256: String,
    /// Seconds since 1970-01-01.
    modified: u64,
    /// Positions of a compiled book; null for other files.
    positions: Option<u64>,
}

#[derive(Serialize)]
struct ArchiveManifest {
    files: Vec<ArchiveFile>,
}

/// A folder of compiled books that are offered for download.
#[derive(Clone)]
pub(crate) struct Archive {
    folder: Arc<Path>,
    /// Digests are computed once for each name, length and time.
    known: Arc<Mutex<HashMap<String, ArchiveFile>>>,
}

impl Archive {
    pub(crate) fn new(folder: PathBuf) -> Self {
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

    /// Returns the names and metadata of the files, by name.
    fn list(&self) -> io::Result<Vec<(String, std::fs::Metadata)>> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            // A link may lead to a file, as after `ln -s`.
            let Ok(about) = std::fs::metadata(entry.path()) else {
                continue;
            };
            let is_offered = ENDS.iter().any(|end| name.ends_with(end));
            if is_offered && about.is_file() {
                files.push((name, about));
            }
        }
        files.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(files)
    }

    fn describe(&self, name: &str, about: &std::fs::Metadata) -> io::Result<ArchiveFile> {
        let modified = about.modified()?.duration_since(UNIX_EPOCH);
        let modified = modified.map_or(0, |time| time.as_secs());
        if let Some(known) = self.known.lock().get(name)
            && (known.bytes, known.modified) == (about.len(), modified)
        {
            return Ok(known.clone());
        }
        let path = self.folder.join(name);
        let file = ArchiveFile {
            name: name.into(),
            bytes: about.len(),
            sha256: digest(&path)?,
            modified,
            positions: Compiled::open(&path).ok().map(|book| book.len()),
        };
        self.known.lock().insert(name.into(), file.clone());
        Ok(file)
    }

    fn manifest(&self) -> io::Result<ArchiveManifest> {
        let files = self.list()?;
        self.known
            .lock()
            .retain(|name, _| files.iter().any(|(known, _)| known == name));
        let files = files.iter().map(|(name, about)| self.describe(name, about));
        Ok(ArchiveManifest {
            files: files.collect::<io::Result<_>>()?,
        })
    }

    /// Opens a file by its name; `None` for a name that is not in the list.
    fn open(&self, name: &str) -> io::Result<Option<(ArchiveFile, File)>> {
        let Some((name, _)) = self.list()?.into_iter().find(|(known, _)| known == name) else {
            return Ok(None);
        };
        let file = File::open(self.folder.join(&name))?;
        let about = self.describe(&name, &file.metadata()?)?;
        Ok(Some((about, file)))
    }
}

fn digest(path: &Path) -> io::Result<String> {
    let (mut file, mut context) = (File::open(path)?, Context::new(&SHA256));
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let length = file.read(&mut piece)?;
        if length == 0 {
            let digest = context.finish();
            return Ok(digest
                .as_ref()
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect());
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
    let opened = tokio::task::spawn_blocking(move || archive.open(&name)).await;
    let (about, file) = match opened {
        Ok(Ok(Some(opened))) => opened,
        Ok(Ok(None)) => {
            let body = ErrorJson::new(
                "not_found",
                "the archive has no such file; /api/v1/archive lists them",
            );
            return (StatusCode::NOT_FOUND, Json(body)).into_response();
        }
        Ok(Err(error)) => return failure(&error),
        Err(_) => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    };
    let tag = format!("\"{}\"", about.sha256);
    let text = |name: http::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    if text(IF_NONE_MATCH).is_some_and(|tags| tags.split(',').any(|known| known.trim() == tag)) {
        return (StatusCode::NOT_MODIFIED, [(ETAG, tag)]).into_response();
    }
    // A range of another version of the file would be of no use.
    let is_current = text(IF_RANGE).is_none_or(|known| known == tag);
    let range = text(RANGE).filter(|_| is_current);
    let (status, begin, end) = match range.map(|range| parse_range(range, about.bytes)) {
        None | Some(RangeRequest::Whole) => (StatusCode::OK, 0, about.bytes),
        Some(RangeRequest::Part(begin, end)) => (StatusCode::PARTIAL_CONTENT, begin, end),
        Some(RangeRequest::Impossible) => {
            let length = format!("bytes */{}", about.bytes);
            return (StatusCode::RANGE_NOT_SATISFIABLE, [(CONTENT_RANGE, length)]).into_response();
        }
    };
    let mut response = Response::new(read_part(file, begin, end));
    *response.status_mut() = status;
    let fields = response.headers_mut();
    fields.insert(
        CONTENT_TYPE,
        http::HeaderValue::from_static("application/octet-stream"),
    );
    fields.insert(ACCEPT_RANGES, http::HeaderValue::from_static("bytes"));
    fields.insert(CONTENT_LENGTH, (end - begin).into());
    let part = format!("bytes {begin}-{}/{}", end.saturating_sub(1), about.bytes);
    let texts = [
        (ETAG, Some(tag)),
        (
            CONTENT_RANGE,
            (status == StatusCode::PARTIAL_CONTENT).then_some(part),
        ),
    ];
    for (name, value) in texts {
        if let Some(Ok(value)) = value.map(http::HeaderValue::try_from) {
            fields.insert(name, value);
        }
    }
    response
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

/// The meaning of a `Range` header for a file.
#[derive(Debug, PartialEq, Eq)]
enum RangeRequest {
    /// All of it: there is no range, or several, or one in another unit (RFC 9110, 14.2).
    Whole,
    /// From the first to before the second byte.
    Part(u64, u64),
    /// The range begins beyond the end.
    Impossible,
}

fn parse_range(text: &str, length: u64) -> RangeRequest {
    let Some((first, last)) = text
        .strip_prefix("bytes=")
        .and_then(|range| range.split_once('-'))
    else {
        return RangeRequest::Whole;
    };
    let (begin, end) = match (first.trim().parse::<u64>(), last.trim().parse::<u64>()) {
        (Ok(begin), Ok(last)) if begin <= last => (begin, last.saturating_add(1).min(length)),
        (Ok(begin), Err(_)) if last.trim().is_empty() => (begin, length),
        (Err(_), Ok(count)) if first.trim().is_empty() => (length.saturating_sub(count), length),
        _ => return RangeRequest::Whole,
    };
    if begin < end {
        RangeRequest::Part(begin, end)
    } else {
        RangeRequest::Impossible
    }
}

/// Returns a body that reads a part of a file as fast as the client takes it.
fn read_part(mut file: File, begin: u64, end: u64) -> Body {
    let (sender, pieces) = mpsc::channel::<io::Result<Bytes>>(MAX_WAITING_PIECES);
    tokio::task::spawn_blocking(move || {
        if let Err(error) = file.seek(SeekFrom::Start(begin)) {
            return drop(sender.blocking_send(Err(error)));
        }
        let mut left = end - begin;
        while left > 0 {
            let mut piece = vec![0; PIECE_BYTES.min(usize::try_from(left).unwrap_or(PIECE_BYTES))];
            let read = file.read_exact(&mut piece).map(|()| Bytes::from(piece));
            left = left.saturating_sub(PIECE_BYTES as u64);
            let has_failed = read.is_err();
            // A client that is gone wants no more.
            if sender.blocking_send(read).is_err() || has_failed {
                return;
            }
        }
    });
    Body::from_stream(ReceiverStream::new(pieces))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_rfc_9110_says() {
        use RangeRequest::{Impossible, Part, Whole};
        for (text, expected) in [
            ("bytes=0-0", Part(0, 1)),
            ("bytes=2-5", Part(2, 6)),
            ("bytes=2-", Part(2, 10)),
            ("bytes=9-99", Part(9, 10)),
            ("bytes=-3", Part(7, 10)),
            ("bytes=-99", Part(0, 10)),
            ("bytes=10-", Impossible),
            ("bytes=-0", Impossible),
            ("bytes=5-2", Whole),
            ("bytes=1-2,4-5", Whole),
            ("items=1-2", Whole),
            ("bytes=x-y", Whole),
            ("bytes=-", Whole),
        ] {
            assert_eq!(parse_range(text, 10), expected, "{text}");
        }
        assert_eq!(parse_range("bytes=0-0", 0), Impossible);
    }
}

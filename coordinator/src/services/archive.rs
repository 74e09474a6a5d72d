//! Downloads of compiled books over HTTP: a manifest, and files with ranges.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use axum::body::Body;
use axum::extract::{Path as PathParameter, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::StatusCode;
use http::header::{ETAG, IF_NONE_MATCH, IF_RANGE, RANGE};
use kagetsu_api::ErrorJson;
use kagetsu_compiled::Compiled;
use parking_lot::Mutex;
use ring::digest::{Context, SHA256};
use serde::Serialize;
use tower::ServiceExt;
use tower_http::services::ServeFile;

/// The ends of the names of files that are offered: books, deltas, and signatures of minisign.
const ENDS: [&str; 3] = [".kbk", ".delta", ".minisig"];
/// Bytes of a file that are read at a time.
const PIECE_BYTES: usize = 128 << 10;

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

    /// Returns a file by its name; `None` for a name that is not in the list.
    fn find(&self, name: &str) -> io::Result<Option<ArchiveFile>> {
        let files = self.list()?;
        let found = files.iter().find(|(known, _)| known == name);
        found
            .map(|(name, about)| self.describe(name, about))
            .transpose()
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
    mut request: Request,
) -> Response {
    let folder = Arc::clone(&archive.folder);
    let found = tokio::task::spawn_blocking(move || archive.find(&name)).await;
    let about = match found {
        Ok(Ok(Some(about))) => about,
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
    let headers = request.headers_mut();
    let is_known = |name| {
        let text = headers.get(name).and_then(|value| value.to_str().ok());
        text.map(|tags| tags.split(',').any(|known| known.trim() == tag))
    };
    if is_known(IF_NONE_MATCH) == Some(true) {
        return (StatusCode::NOT_MODIFIED, [(ETAG, tag)]).into_response();
    }
    // A range of another version of the file would be of no use.
    if is_known(IF_RANGE) == Some(false) {
        headers.remove(RANGE);
    }
    let file = ServeFile::new(folder.join(&about.name));
    match file.oneshot(request).await {
        Ok(part) => ([(ETAG, tag)], part.map(Body::new)).into_response(),
        Err(never) => match never {},
    }
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

//! The files of the explorer page, which the program contains.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use axum::Router;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use include_dir::{Dir, include_dir};
use tower_http::services::ServeDir;

static FOLDER: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/page");

/// Paths and texts of the page's files.
static ASSETS: LazyLock<Vec<(String, &str)>> = LazyLock::new(|| {
    let (mut folders, mut found) = (vec![&FOLDER], Vec::new());
    while let Some(folder) = folders.pop() {
        folders.extend(folder.dirs());
        for file in folder.files() {
            let path = file.path().to_string_lossy().replace('\\', "/");
            let path = match path.as_str() {
                "index.html" => "/".into(),
                path => format!("/page/{path}"),
            };
            found.extend(file.contents_utf8().map(|text| (path, text)));
        }
    }
    found.sort_unstable();
    found
});

/// The media type of a file, by the ending of its path.
fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/html; charset=utf-8",
    }
}

/// The folder of the page that has the files of the program for browsers.
pub(crate) const PROGRAM: &str = "/page/engine/";
/// The folder of the weights, beside the program.
const WEIGHTS: &str = "kagetsu-weights";

/// Returns where the program for browsers lies, if it was built: beside this program.
#[must_use]
pub fn program_for_browsers() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    own.with_file_name("kagetsu.wasm")
}

/// Returns the routes of a folder of static files, with ranges: of a site.
pub fn site(folder: &Path) -> Router {
    Router::new().fallback_service(ServeDir::new(folder))
}

/// Returns the files of a program for browsers that were built: the program, and the weights of
/// each game, which a page loads when it searches. Each stands with its path beside the program.
#[must_use]
pub fn program_files(program: &Path) -> Vec<(String, PathBuf)> {
    let found = std::fs::read_dir(program.with_file_name(WEIGHTS));
    let found = found.into_iter().flatten().flatten();
    let weights = found.map(|entry| {
        let name = entry.file_name();
        (
            format!("{WEIGHTS}/{}", name.to_string_lossy()),
            entry.path(),
        )
    });
    let program = ("kagetsu.wasm".into(), program.to_path_buf());
    let mut files: Vec<_> = std::iter::once(program).chain(weights).collect();
    files.retain(|(name, file)| file.is_file() && !name.ends_with(".json"));
    files.sort();
    files
}

/// Returns the paths of the page's files with their texts, for a site of static files.
pub fn page_files() -> impl Iterator<Item = (&'static str, &'static str)> {
    ASSETS.iter().map(|(path, text)| (path.as_str(), *text))
}

/// A file of the page. A browser revalidates it each time, because a new program may contain a new
/// page.
pub(crate) fn file(path: &str) -> Option<Response> {
    let (path, text) = page_files().find(|(asset, _)| *asset == path)?;
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(kind(path))),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    Some((headers, text).into_response())
}

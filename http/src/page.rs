//! The files of the explorer page, which the program contains.

use std::path::{Path, PathBuf};

use axum::Router;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use tower_http::services::ServeDir;

/// Paths and texts of the page's files.
macro_rules! assets {
    ($($file:literal,)*) => {
        &[
            ("/", include_str!("../page/index.html")),
            $((concat!("/page/", $file), include_str!(concat!("../page/", $file))),)*
        ]
    };
}

const ASSETS: &[(&str, &str)] = assets![
    "icon.svg",
    "main.js",
    "base/api.js",
    "base/api_error.js",
    "base/chinese.js",
    "base/element.js",
    "base/english.js",
    "base/messages.js",
    "base/server.js",
    "base/settings.js",
    "base/words.js",
    "board/board.js",
    "board/games.js",
    "board/notation.js",
    "board/openings.js",
    "board/values.js",
    "cluster/cluster.js",
    "cluster/start.js",
    "contents/contents.js",
    "contents/statistics.js",
    "engine/here.js",
    "engine/kagetsu.js",
    "engine/ranged_file.js",
    "engine/worker.js",
    "explorer/analysis.js",
    "explorer/annotate.js",
    "explorer/copy.js",
    "explorer/departure.js",
    "explorer/editor.js",
    "explorer/explorer.js",
    "explorer/games.js",
    "explorer/graph.js",
    "explorer/notes.js",
    "explorer/practice.js",
    "explorer/proof.js",
    "explorer/suspects.js",
    "explorer/tree.js",
    "explorer/typing.js",
    "explorer/verdicts.js",
    "explorer/why.js",
    "formats/read.js",
    "formats/write.js",
    "sw.js",
    "style/main.css",
    "style/panels.css",
];

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
    files.retain(|(_, file)| file.is_file());
    files.sort();
    files
}

/// Returns the paths of the page's files with their texts, for a site of static files.
pub fn page_files() -> impl Iterator<Item = (&'static str, &'static str)> {
    ASSETS.iter().copied()
}

/// A file of the page. A browser revalidates it each time, because a new program may contain a new
/// page.
pub(crate) fn file(path: &str) -> Option<Response> {
    let (path, text) = ASSETS.iter().find(|(asset, _)| *asset == path)?;
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(kind(path))),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    Some((headers, *text).into_response())
}

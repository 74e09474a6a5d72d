//! The files of the explorer page, which the program contains.

use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

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
    "base/chinese.js",
    "base/element.js",
    "base/english.js",
    "base/messages.js",
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
    "explorer/analysis.js",
    "explorer/copy.js",
    "explorer/editor.js",
    "explorer/explorer.js",
    "explorer/games.js",
    "explorer/graph.js",
    "explorer/notes.js",
    "explorer/practice.js",
    "explorer/suspects.js",
    "explorer/tree.js",
    "explorer/verdicts.js",
    "explorer/why.js",
    "formats/read.js",
    "formats/write.js",
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

/// The paths of the page's files.
pub(crate) fn paths() -> impl Iterator<Item = &'static str> {
    ASSETS.iter().map(|(path, _)| *path)
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

//! The files of the explorer page, which the program contains.

use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

/// A file of the page.
struct Asset {
    path: &'static str,
    kind: &'static str,
    text: &'static str,
}

macro_rules! asset {
    ($path:literal, $file:literal, $kind:literal) => {
        Asset {
            path: $path,
            kind: $kind,
            text: include_str!(concat!("../page/", $file)),
        }
    };
}

const ASSETS: &[Asset] = &[
    asset!("/", "index.html", "text/html; charset=utf-8"),
    asset!("/page/style.css", "style.css", "text/css; charset=utf-8"),
    asset!("/page/icon.svg", "icon.svg", "image/svg+xml"),
    asset!("/page/main.js", "main.js", "text/javascript; charset=utf-8"),
    asset!("/page/api.js", "api.js", "text/javascript; charset=utf-8"),
    asset!(
        "/page/board.js",
        "board.js",
        "text/javascript; charset=utf-8"
    ),
    asset!(
        "/page/games.js",
        "games.js",
        "text/javascript; charset=utf-8"
    ),
    asset!(
        "/page/explorer.js",
        "explorer.js",
        "text/javascript; charset=utf-8"
    ),
    asset!(
        "/page/values.js",
        "values.js",
        "text/javascript; charset=utf-8"
    ),
    asset!(
        "/page/cluster.js",
        "cluster.js",
        "text/javascript; charset=utf-8"
    ),
    asset!(
        "/page/start.js",
        "start.js",
        "text/javascript; charset=utf-8"
    ),
    asset!(
        "/page/words.js",
        "words.js",
        "text/javascript; charset=utf-8"
    ),
    asset!(
        "/page/messages.js",
        "messages.js",
        "text/javascript; charset=utf-8"
    ),
    asset!(
        "/page/element.js",
        "element.js",
        "text/javascript; charset=utf-8"
    ),
];

/// The paths of the page's files.
pub(crate) fn paths() -> impl Iterator<Item = &'static str> {
    ASSETS.iter().map(|asset| asset.path)
}

/// A file of the page. A browser revalidates it each time, because a new program may contain a new
/// page.
pub(crate) fn file(path: &str) -> Option<Response> {
    let asset = ASSETS.iter().find(|asset| asset.path == path)?;
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(asset.kind)),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    Some((headers, asset.text).into_response())
}

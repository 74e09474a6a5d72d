//! The command line.

use std::path::Path;

use kagetsu_tests::{Finished, Program, Running, words};
use serde_json::Value;

/// Runs the command line.
pub(crate) fn kagetsu(arguments: &[&str]) -> Finished {
    Program::Kagetsu.run(arguments)
}

/// Runs the command line with arguments that are separated by spaces.
pub(crate) fn kagetsu_line(line: &str) -> Finished {
    kagetsu(&line.split_whitespace().collect::<Vec<_>>())
}

/// Asserts that `kagetsu check` finds no fault.
#[track_caller]
pub(crate) fn assert_clean(book: &str) {
    kagetsu(&["check", "--book", book]).ok();
}

/// Asserts that a JSON object has these fields, maybe among others.
#[track_caller]
pub(crate) fn assert_fields(object: &Value, fields: &Value) {
    for (name, value) in fields.as_object().expect("an object") {
        assert_eq!(&object[name], value, "{name} of {object}");
    }
}

/// Serves a book, and returns the server with its addresses for gRPC and HTTP.
pub(crate) fn serve(book: &str, more: &[&str]) -> (Running, String, String) {
    let anywhere = words!("serve --listen 127.0.0.1:0 --http 127.0.0.1:0 --book {book} {more...}");
    let mut server = Program::Kagetsu.start(&anywhere);
    let grpc = server.address();
    let line = server.line();
    let http = line.strip_prefix("http on ").expect("an address");
    (server, grpc, http.into())
}

/// Returns a path as an argument.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("a plain name")
}

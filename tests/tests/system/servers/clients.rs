//! The example clients of other languages.

use std::path::Path;
use std::process::Command;

use kagetsu_tests::{Finished, Scratch, http};
use serde_json::json;

use crate::servers::http::HttpCoordinator;
use crate::world::{until, worker};

/// Returns a Python that has grpcio.
fn python() -> Option<&'static str> {
    let has_grpc = |python: &&str| {
        let output = Command::new(python)
            .args(["-c", "import grpc, google.protobuf"])
            .output();
        output.is_ok_and(|output| output.status.success())
    };
    let found = ["python3", "/usr/bin/python3"].into_iter().find(has_grpc);
    if found.is_none() {
        eprintln!(
            "skipped: no python3 with grpcio (Debian's packages python3-grpcio and python3-protobuf)"
        );
    }
    found
}

#[test]
fn python_reads_the_book_over_grpc() {
    let Some(python) = python() else { return };
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let door = HttpCoordinator::start(&["--book", book.to_str().expect("a plain name")]);
    let _worker = worker(&door.grpc);
    for (name, variant, root) in [
        ("g", "freestyle-15", "h8"),
        ("x", "xiangqi", "h2e2"),
        ("s", "surakarta", "a2a3"),
    ] {
        let body =
            json!({"name": name, "variant": variant, "roots": [root], "positions": 1, "depth": 2});
        door.post("/api/v1/jobs", &body);
        until("the book", || {
            (door.get(&format!("/api/v1/jobs/{name}"))["state"] == "done").then_some(())
        });
    }
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("../clients/python/kagetsu_client.py");
    let server = door.grpc.trim_start_matches("http://");
    let ask = |variant: &str, moves: &str| {
        let mut command = Command::new(python);
        command
            .arg(&client)
            .args(["--server", server, "--variant", variant, "--moves", moves]);
        Finished::of(command)
    };
    for (variant, root) in [
        ("freestyle-15", "h8"),
        ("xiangqi", "h2e2"),
        ("surakarta", "a2a3"),
    ] {
        let run = ask(variant, root);
        assert_eq!(run.code, Some(0), "{run:#?}");
        let known = door.get(&format!("/api/v1/book?variant={variant}&moves={root}"));
        let moves: Vec<&str> = run
            .stdout
            .lines()
            .filter_map(|line| line.split('\t').next())
            .collect();
        let mut expected: Vec<&str> = known["answers"]
            .as_array()
            .expect("answers")
            .iter()
            .filter_map(|v| v["move"].as_str())
            .collect();
        expected.push("pick");
        assert_eq!(moves, expected, "{variant}");
        let pick = run.stdout.lines().last().expect("the pick");
        assert_eq!(pick.split('\t').nth(1), known["best"].as_str(), "{variant}");
    }
    assert_eq!(ask("freestyle-15", "a1").code, Some(1));
    let run = ask("freestyle-15", "h8 h8");
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("h8 is taken"), "{run:#?}");
    assert_eq!(http(&door.http, "GET", "/healthz", "").status, 200);
}

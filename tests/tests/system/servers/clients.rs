//! The packages of other languages.

use std::path::Path;
use std::process::Command;

use kagetsu_tests::{Finished, Program, Running, Scratch, http};

use super::http::HttpCoordinator;
use super::site::from_npm;
use crate::world::{growing, kagetsu, worker};

/// Returns a Python that has the package `kagetsu` and pytest.
pub(super) fn python() -> Option<String> {
    python_with("kagetsu, pytest")
}

/// Returns a Python that has modules: KAGETSU_PYTHON, or python3.
fn python_with(modules: &str) -> Option<String> {
    let python = std::env::var("KAGETSU_PYTHON").unwrap_or_else(|_| "python3".into());
    let output = Command::new(&python)
        .args(["-c", &format!("import {modules}")])
        .output();
    let is_there = output.is_ok_and(|output| output.status.success());
    if !is_there {
        kagetsu_builders::skip(&format!("Python with {modules}, which .ci/run installs"));
    }
    is_there.then_some(python)
}

/// Runs the package's own tests with the programs of this build.
#[test]
fn python_package_passes_its_tests() {
    let Some(python) = python() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../clients/python");
    let kagetsu = Program::Kagetsu.command(&[]).get_program().to_owned();
    let mut command = Command::new(python);
    command
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"])
        .current_dir(folder)
        .env("KAGETSU_PROGRAM", kagetsu)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let tested = Finished::of(command).ok();
    println!("{}", tested.stdout);
}

/// A coordinator with a finished job `test` and a worker, and the description of its HTTP API in a
/// folder.
fn described() -> (HttpCoordinator, Running, Scratch) {
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let server = HttpCoordinator::start(&["--book", book.to_str().expect("a plain name")]);
    let worker = worker(&server.grpc);
    let line = growing("--coordinator", &server.grpc, 5, 2);
    kagetsu(&line.split(' ').collect::<Vec<_>>()).ok();
    let description = http(&server.http, "GET", "/api/v1/openapi.json", "").body;
    std::fs::write(scratch.path("openapi.json"), description).expect("room for it");
    (server, worker, scratch)
}

/// Runs a program that `.ci/run` installs beside Python.
fn beside_python(python: &str, program: &str, line: &str, folder: &Path) {
    let mut command = Command::new(Path::new(python).with_file_name(program));
    command.args(line.split(' ')).current_dir(folder);
    let run = Finished::of(command);
    assert_eq!(
        run.code,
        Some(0),
        "{program}: {}\n{}",
        run.stdout,
        run.stderr
    );
}

#[test]
fn strangers_tools_find_no_fault_in_http() {
    let python = kagetsu_builders::needed!(python_with("schemathesis, openapi_spec_validator"));
    let (server, _worker, scratch) = described();
    let run = |program, line: &str| beside_python(&python, program, line, scratch.folder());
    run("openapi-spec-validator", "openapi.json");
    // A description cannot say which moves are legal, so valid requests may be refused.
    run(
        "schemathesis",
        &format!(
            "run openapi.json --url http://{} --checks all --exclude-checks positive_data_acceptance \
             --max-examples 25 --generation-deterministic --no-color",
            server.http
        ),
    );
}

#[test]
fn generated_clients_make_every_call() {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/system/servers/scripts");
    let (Some(python), Some(types)) = (
        python_with("openapi_python_client"),
        from_npm("openapi-typescript/bin/cli.js"),
    ) else {
        return;
    };
    let (server, _worker, scratch) = described();
    let folder = scratch.folder();
    let generate = "generate --path openapi.json --meta none --output-path generated";
    beside_python(&python, "openapi-python-client", generate, folder);
    let script = scripts.join("every_call.py");
    let line = format!("{} . http://{}", script.display(), server.http);
    beside_python(&python, "python", &line, folder);

    let run = |program: &str, line: String| {
        let mut command = Command::new(program);
        command.args(line.split(' ')).current_dir(folder);
        let run = Finished::of(command);
        assert_eq!(run.code, Some(0), "{program} {line}: {run:#?}");
        run.stdout
    };
    let packages = types.ancestors().nth(3).expect("node_modules");
    std::os::unix::fs::symlink(packages, folder.join("node_modules")).expect("a new name");
    std::fs::copy(scripts.join("every_call.ts"), folder.join("every_call.ts")).expect("room");
    run(
        "node",
        format!(
            "{} openapi.json --output api.ts --default-non-nullable false",
            types.display()
        ),
    );
    let options =
        "--strict --target es2022 --module esnext --moduleResolution bundler --types node";
    let bundle = "--bundle --platform=node --format=esm --outfile=every_call.mjs every_call.ts";
    run(
        "node",
        format!("node_modules/typescript/bin/tsc --noEmit {options} every_call.ts"),
    );
    run("esbuild", bundle.into());
    let made = run("node", format!("every_call.mjs http://{}", server.http));
    assert!(made.starts_with("25 "), "{made}");
}

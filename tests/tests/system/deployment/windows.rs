//! The programs for Windows, under Wine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kagetsu_tests::{Finished, Scratch};

use crate::cluster::updates::minisign;

const TARGET: &str = "x86_64-pc-windows-gnu";
/// A library that Wine 8 lacks, and its source in `deploy/release`.
const LIBRARY: [&str; 2] = ["bcryptprimitives.dll", "random.c"];
/// System tests whose programs may be those for Windows: kills of each in a build on a cluster, an
/// engine's dialogue, pages in a browser.
const TESTS: [&str; 6] = [
    "cluster::kills::",
    "commands::build::",
    "commands::compiled::",
    "commands::maintenance::",
    "engines::brain::",
    "servers::reading::",
];
/// Crates whose own tests run on Windows.
const CRATES: [&str; 9] = [
    "kagetsu-game",
    "kagetsu-search",
    "kagetsu-files",
    "kagetsu-compiled",
    "kagetsu-book",
    "kagetsu-store",
    "kagetsu-formats",
    "kagetsu-certificate",
    "kagetsu-brain",
];

/// The programs for Windows, and a folder of their own for Wine.
struct Wine {
    programs: PathBuf,
    scratch: Scratch,
}

impl Wine {
    fn start() -> Self {
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), Into::into);
        succeed(Command::new(env!("CARGO")).args(["build", "--locked", "--target", TARGET]));
        let programs = target.join(TARGET).join("debug");
        for folder in [programs.clone(), programs.join("deps")] {
            compile(
                &root().join("deploy/release").join(LIBRARY[1]),
                &folder.join(LIBRARY[0]),
            );
        }
        Self {
            programs,
            scratch: Scratch::new(),
        }
    }

    /// Sets what Wine and the programs that it runs need.
    fn prepare<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("WINEDEBUG", "-all")
            .env("WINEPREFIX", self.scratch.path("prefix"))
            .stdin(Stdio::null())
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs a command in the workspace, and fails where it does.
fn succeed(command: &mut Command) {
    let status = command.current_dir(root()).status().expect("it starts");
    assert!(status.success(), "{command:?}: {status}");
}

/// Compiles a C source to a program or a library for Windows.
fn compile(source: &Path, to: &Path) {
    let mut compile = Command::new("x86_64-w64-mingw32-gcc");
    if to.extension().is_some_and(|ending| ending == "dll") {
        compile.arg("-shared");
    }
    succeed(compile.arg("-o").arg(to).arg(source).arg("-ladvapi32"));
}

#[test]
#[ignore = "needs Wine, mingw and the standard library for Windows; takes minutes"]
fn windows_programs_pass_system_tests() {
    let wine = Wine::start();
    let mut tests = Command::new(std::env::current_exe().expect("this test"));
    tests.args(TESTS).args(["--test-threads", "1"]);
    succeed(wine.prepare(tests.env("KAGETSU_WINE", &wine.programs)));
}

#[test]
#[ignore = "needs Wine, mingw and the standard library for Windows; takes minutes"]
fn crates_pass_their_tests_on_windows() {
    let wine = Wine::start();
    let mut tests = Command::new(env!("CARGO"));
    tests.args(["test", "--locked", "--no-fail-fast", "--target", TARGET]);
    tests.args(CRATES.map(|name| format!("--package={name}")));
    let runner = "CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER";
    succeed(wine.prepare(tests.env(runner, "wine")));
}

#[test]
#[ignore = "needs Wine, mingw and the standard library for Windows; takes minutes"]
fn worker_on_windows_updates_itself() {
    let wine = Wine::start();
    let (path, new) = (
        |name: &str| wine.scratch.text(name),
        "kagetsu-worker-windows-x86_64",
    );
    for name in ["kagetsu-worker.exe", LIBRARY[0]] {
        fs::copy(wine.programs.join(name), path(name)).expect("built");
    }
    let source = root().join("tests/tests/system/deployment/newer.c");
    compile(&source, Path::new(&path("curl.exe")));
    fs::copy(path("curl.exe"), path(new)).expect("room");
    let (key, secret) = (path("key"), path("secret"));
    minisign(&format!("-G -W -f -p {key} -s {secret}"), &[]);
    let comment = format!("{new} 9.0.0");
    minisign(&format!("-S -s {secret} -m {} -t", path(new)), &[&comment]);
    let line = format!(
        "--self-update --update-url file://{} --update-key key",
        path("")
    );
    let mut worker = Command::new("wine");
    worker.arg(path("kagetsu-worker.exe")).args(line.split(' '));
    wine.prepare(worker.current_dir(path("")));
    let updated = Finished::of(worker);
    let is_newer = updated.stdout.starts_with("newer: --self-update");
    let old = format!("kagetsu-worker.{}.old", env!("CARGO_PKG_VERSION"));
    let is_kept = wine.scratch.path(&old).exists();
    assert_eq!(
        (is_newer, is_kept, updated.code),
        (true, true, Some(0)),
        "{updated:#?}"
    );
}

//! The programs for Windows, under Wine.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kagetsu_tests::{Finished, Program, Running, Scratch};
use serde_json::Value;

use crate::world::until;

const TARGET: &str = "x86_64-pc-windows-gnu";
/// A library that Wine 8 lacks: the programs call its one function.
const RANDOM: &str = "#include <windows.h>\n\
    BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);\n\
    __declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE to, SIZE_T bytes)\n\
    { return SystemFunction036(to, (ULONG)bytes); }\n";

/// The programs for Windows, and a folder of their own for Wine.
struct Wine {
    programs: PathBuf,
    scratch: Scratch,
}

impl Wine {
    fn start() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .expect("the workspace");
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), Into::into);
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--locked", "--target", TARGET]);
        let built = Finished::of({
            build.current_dir(root);
            build
        });
        assert_eq!(built.code, Some(0), "{built:#?}");
        let wine = Self {
            programs: target.join(TARGET).join("debug"),
            scratch: Scratch::new(),
        };
        let source = wine.scratch.path("random.c");
        std::fs::write(&source, RANDOM).expect("room");
        let mut compile = Command::new("x86_64-w64-mingw32-gcc");
        compile.arg("-shared").arg("-o");
        compile.arg(wine.programs.join("bcryptprimitives.dll"));
        compile.arg(source).arg("-ladvapi32");
        let compiled = Finished::of(compile);
        assert_eq!(compiled.code, Some(0), "{compiled:#?}");
        wine
    }

    /// Returns a command that runs a program in the scratch folder.
    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("wine");
        command
            .arg(self.programs.join(format!("{program}.exe")))
            .args(arguments)
            .current_dir(self.scratch.path("."))
            .env("WINEDEBUG", "-all")
            .env("WINEPREFIX", self.scratch.path("prefix"))
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        Finished::of(self.command("kagetsu", arguments))
    }

    fn json(&self, arguments: &[&str]) -> Value {
        self.run(&[arguments, &["--json"]].concat()).json()
    }
}

#[test]
#[ignore = "needs Wine, mingw and the standard library for Windows; takes minutes"]
fn windows_programs_lose_nothing_and_play_alike() {
    let wine = Wine::start();
    let build = "build --book b --variant freestyle-15 --moves h8 --positions 200 --depth 4";
    let build: Vec<&str> = build.split(' ').collect();
    // A build is killed in its midst, and goes on.
    let mut killed = Running::of(wine.command("kagetsu", &build));
    let positions = || wine.json(&["stats", "--book", "b"])["positions"].as_u64();
    let journal = wine.scratch.path("b/journal");
    until("some positions", || {
        let bytes = std::fs::read_dir(&journal).ok()?.flatten();
        let bytes: u64 = bytes
            .filter_map(|file| Some(file.metadata().ok()?.len()))
            .sum();
        (bytes > 10_000).then_some(())
    });
    killed.kill();
    let kept = positions().expect("a count");
    assert!(kept > 0);
    let built = wine.run(&build);
    assert_eq!(built.code, Some(0), "{built:#?}");
    assert_eq!(positions(), Some(200));
    assert_eq!(wine.run(&["check", "--book", "b"]).code, Some(0));
    // The book is the same to programs of both systems, also compiled over a file in use.
    for _ in 0..2 {
        let compile = ["compile", "--book", "b", "--out", "b.kbk", "--force"];
        let compiled = wine.run(&compile);
        assert_eq!(compiled.code, Some(0), "{compiled:#?}");
    }
    let book = wine.scratch.path("b.kbk");
    let here = |book: &Path| {
        let book = book.to_str().expect("UTF-8");
        Program::Kagetsu
            .run(&["query", "--book", book, "--moves", "h8", "--json"])
            .json()
    };
    let there = wine.json(&["query", "--book", "b.kbk", "--moves", "h8"]);
    assert_eq!(here(&book)["best"], there["best"]);
    // The search is the same.
    let search = "analyze --variant standard-15 --moves h8,i9,j8 --nodes 3000 --threads 1 --json";
    let search: Vec<&str> = search.split(' ').collect();
    let (native, other) = (
        Program::Kagetsu.run(&search).json(),
        wine.run(&search).json(),
    );
    assert_eq!(native["best"], other["best"]);
    assert_eq!(native["score"], other["score"]);
}

//! Hostile text in files, names and arguments: messages repeat little of it, and nothing that
//! changes a terminal.

use std::ffi::OsStr;

use kagetsu_game::is_visible;
use kagetsu_tests::{Finished, Program, Scratch};

/// Longest output of a command that repeats foreign text, in bytes.
const MAX_OUTPUT_BYTES: usize = 20_000;
/// A beginning that clears a terminal, sets its title and turns the direction of text.
const ESCAPES: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}\u{200b}\u{9b}31m";

/// Returns hostile text of this many bytes and more.
fn foreign(bytes: usize) -> String {
    format!("{ESCAPES}{}", "x".repeat(bytes))
}

/// Checks that a command's output is short and harmless.
fn check(what: &str, ended: &Finished) {
    for output in [&ended.stdout, &ended.stderr] {
        let length = output.len();
        assert!(length < MAX_OUTPUT_BYTES, "{what}: {length} bytes");
        let hidden = output.chars().find(|c| !is_visible(*c) && *c != '\n');
        assert_eq!(hidden, None, "{what}: {output:?}");
    }
    assert!(ended.code.is_some(), "{what}: {ended:?}");
}

/// Format, variant and content of files, in which `TEXT` stands for hostile text, `HEAD` for the
/// first bytes of a library, and `\n` for the end of a line.
const FILES: &str = r#"
json freestyle-15 TEXT
json freestyle-15 {"variant":"TEXT","side":"first","answers":[]}
json freestyle-15 {"variant":"freestyle-15","board":["TEXT"],"side":"first","answers":[]}
json xiangqi {"variant":"xiangqi","fen":"TEXT","side":"first","answers":[]}
json freestyle-15 {"TEXT":1}
csv freestyle-15 TEXT
csv freestyle-15 variant,TEXT\nfreestyle-15,TEXT\n
yxdb freestyle-15 TEXT
lib freestyle-15 TEXT
lib freestyle-15 HEADTEXT
psq freestyle-15 TEXT
psq freestyle-15 Piskvorky 15x15, 11:11, 0\nTEXT\n8,8,0\n
sgf freestyle-15 TEXT
sgf freestyle-15 (;GM[4]SZ[TEXT];B[hh])
sgf freestyle-15 (;GM[4]SZ[15];B[TEXT];W[hh])
sgf freestyle-15 (;GM[4]SZ[15]C[TEXT];B[hh];W[hh])
rif renju-15 TEXT
rif renju-15 <?xml version="1.0" encoding="TEXT"?><database/>
rif renju-15 <database><games><game id="1"><move>TEXT</move></game></games></database>
openings freestyle-15 TEXT
openings freestyle-15 0,0,TEXT
hints freestyle-15 h8 TEXT
lines freestyle-15 h8 i9 TEXT
lines xiangqi TEXT | h2e2
fen xiangqi TEXT; bm h2e2; ce 3
fen xiangqi rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w; bm TEXT; ce 3
pgn xiangqi TEXT
pgn xiangqi [Game "Chinese Chess"]\n\n1. TEXT h9g7 1-0
pgn xiangqi [FEN "TEXT"]\n\n1. h2e2 h9g7 1-0
eleeye xiangqi TEXT
obk xiangqi TEXT
"#;

#[test]
fn files_of_all_formats_are_quoted() {
    let scratch = Scratch::new();
    let file = scratch.path("file \u{1b}[2J");
    let [path, book] =
        [&file, &scratch.path("book")].map(|path| path.to_str().expect("a plain name").to_string());
    for row in FILES.lines().filter(|row| !row.is_empty()) {
        let parts: Vec<&str> = row.splitn(3, ' ').collect();
        let [format, variant, content] = parts[..] else {
            panic!("a row has three parts: {row}")
        };
        let content = content
            .replace("\\n", "\n")
            .replace("HEAD", "\u{7f}RenLib\u{7f}\u{3}\u{4}");
        for bytes in [0, 3 << 20] {
            let text = if format == "json" && content.starts_with('{') {
                let text = serde_json::to_string(&foreign(bytes)).expect("text");
                text.trim_matches('"').to_string()
            } else {
                foreign(bytes)
            };
            std::fs::write(&file, content.replace("TEXT", &text)).expect("room");
            let arguments = ["import", "--format", format, "--book", &book];
            let rest = ["--variant", variant, &path];
            let ended = Program::Kagetsu.run(&[&arguments[..], &rest].concat());
            check(&format!("{format} {content} {bytes}"), &ended);
        }
    }
}

#[test]
fn names_in_files_are_quoted() {
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let book = book.to_str().expect("a plain name");
    let start = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w";
    let engine = serde_json::to_string(&foreign(100)).expect("text");
    let line = format!(
        r#"{{"variant":"xiangqi","fen":"{start}","side":"first","answers":[{{"move":"h2e2","score":3,
        "bound":"exact","depth":3,"nodes":9,"line":["h2e2"],"proof":"none","engine":{engine},
        "date":"2026-11-21"}}]}}"#
    );
    let hostile = scratch.path(&format!("{ESCAPES}.json"));
    std::fs::write(&hostile, line.replace('\n', " ")).expect("room");
    let hostile = hostile.to_str().expect("UTF-8");
    let ended = Program::Kagetsu.run(&["import", "--format", "json", "--book", book, hostile]);
    check("a file's name", &ended);
    // The name of an engine either keeps the file out, or is harmless wherever it is shown.
    let rows: [&[&str]; 3] = [
        &["query", "--variant", "xiangqi", "--book", book],
        &["tree", "--variant", "xiangqi", "--book", book],
        &["stats", "--book", book],
    ];
    for row in rows {
        check(&row.join(" "), &Program::Kagetsu.run(row));
    }
    for command in ["query", "stats", "verify", "check", "repair"] {
        let ended = Program::Kagetsu.run(&[command, "--book", &format!("{book}{ESCAPES}")]);
        check(command, &ended);
        assert_eq!(ended.code, Some(2), "{command}: {ended:?}");
    }
}

#[test]
fn names_of_files_are_escaped_everywhere() {
    let scratch = Scratch::new();
    let name = |end: &str| {
        let path = scratch.path(&format!("{ESCAPES}\n{end}"));
        path.to_str().expect("UTF-8").to_string()
    };
    let [book, merged, copy] = ["book", "merged", "copy"].map(name);
    let [lines, proof, small] = ["lines", "proof", "small"].map(name);
    let [compiled, written, certs] = ["book.kbk", "written", "certs"].map(name);
    let tree = include_str!("freestyle-15-h8-l9.proof");
    std::fs::write(&lines, "h8 i9\n").expect("room");
    std::fs::write(&proof, tree).expect("room");
    let kind = ["--variant", "freestyle-15"];
    let build = ["--depth", "1", "--positions", "3", "--book", &book];
    #[rustfmt::skip]
    let rows: Vec<(i32, Vec<&str>)> = vec![
        (0, [&["build"], &build[..], &kind[..]].concat()),
        (0, vec!["check", "--book", &book]),
        (0, vec!["repair", "--book", &book]),
        (0, vec!["compact", "--book", &book]),
        (0, vec!["stats", "--book", &book]),
        (0, vec!["compile", "--book", &book, "--out", &compiled]),
        (0, vec!["check", "--book", &compiled]),
        (0, vec!["merge", "--into", &merged, &book]),
        (0, vec!["diff", &book, &merged]),
        (0, vec!["backup", "--book", &book, "--to", &copy]),
        (0, vec!["export", "--format", "json", "--book", &book, &written]),
        (0, [&["import", "--format", "json", "--book", &book, &written], &kind[..]].concat()),
        (0, vec!["verify", &proof]),
        (0, vec!["shrink", "--out", &small, &proof]),
        (0, vec!["verify", "--book", &book]),
        (1, vec!["verify", &lines]),
        (2, vec!["serve", "--book", &lines]),
        (2, [&["query", "--book", &lines], &kind[..]].concat()),
        (2, vec!["compile", "--book", &lines, "--out", &compiled]),
        (0, vec!["certs", &certs]),
    ];
    for (code, row) in rows {
        let ended = Program::Kagetsu.run(&row);
        check(&format!("{row:?}"), &ended);
        assert_eq!(ended.code, Some(code), "{row:?}: {ended:?}");
    }
}

#[test]
fn arguments_and_variables_are_quoted() {
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let book = book.to_str().expect("a plain name");
    for text in [foreign(0), foreign(100_000)] {
        let text = &*text;
        let flag = format!("--{text}");
        let freestyle = ["--variant", "freestyle-15"];
        let build = ["build", "--book", book, "--variant", "freestyle-15"];
        let rows: Vec<Vec<&str>> = vec![
            vec![text],
            vec!["moves", &flag],
            vec!["moves", "--variant", text],
            [&["moves"], &freestyle[..], &["--moves", text]].concat(),
            vec!["moves", "--variant", "xiangqi", "--fen", text],
            [&["moves"], &freestyle[..], &["--board", text]].concat(),
            [&["query", "--book", text], &freestyle[..]].concat(),
            [&build[..], &["--depth", text]].concat(),
            [&build[..], &["--depth", "2", "--name", text]].concat(),
            [&build[..], &["--depth", "2", "--roots", text]].concat(),
            [&build[..], &["--depth", "2", "--policy", text]].concat(),
            vec!["jobs", "show", text, "--book", book],
            vec!["jobs", "list", "--coordinator", text],
            vec!["verify", text],
            vec!["import", "--format", text, "--book", book, "file"],
            vec!["import", "--format", "sgf", "--book", book, text],
            [&["analyze", "--engine", text], &freestyle[..]].concat(),
            [&["pick", "--seed", text, "--book", book], &freestyle[..]].concat(),
            vec!["--log-level", text, "stats", "--book", book],
            vec!["--config", text, "stats", "--book", book],
            vec!["token", "new", "--tokens", book, "--role", "read", text],
            vec!["token", "revoke", "--tokens", text, "x"],
            vec!["certs", text],
        ];
        for row in rows {
            let what = format!("{:.200}", format!("{row:?}"));
            // A folder of this name can be made where the name is short.
            if row == ["certs", text] && text.len() < 255 {
                continue;
            }
            let ended = Program::Kagetsu.run(&row);
            check(&what, &ended);
            assert_eq!(ended.code, Some(2), "{what}: {ended:?}");
        }
        for program in [Program::Coordinator, Program::Worker] {
            let mut command = program.command(&[]);
            command.env("KAGETSU_LOG_LEVEL", OsStr::new(text));
            let ended = Finished::of(command);
            check("a variable", &ended);
            assert_eq!(ended.code, Some(2), "{ended:?}");
        }
    }
}

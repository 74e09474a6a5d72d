//! Wrong inputs: a line of `table.txt` is an exit code, a command, and words of its message, or a
//! file behind `=`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use kagetsu_tests::{Finished, Program, Scratch};

const TABLE: &str = include_str!("table.txt");

/// The program that a row names, else the command line.
fn program_of(word: &str) -> Option<Program> {
    match word {
        "kagetsu-coordinator" => Some(Program::Coordinator),
        "kagetsu-worker" => Some(Program::Worker),
        "pbrain-kagetsu" => Some(Program::Pbrain),
        "uci-kagetsu" => Some(Program::Uci),
        _ => None,
    }
}

/// Runs `NAME=VALUE ... PROGRAM ARGUMENT ...` in a folder.
fn run(line: &str, folder: &Path) -> Finished {
    let mut words = line.split(' ').filter(|word| !word.is_empty()).peekable();
    let mut variables = Vec::new();
    while let Some(word) = words.next_if(|word| word.starts_with("KAGETSU_")) {
        variables.push(word.split_once('=').expect("NAME=VALUE"));
    }
    let program = words.peek().and_then(|word| program_of(word));
    if program.is_some() {
        words.next();
    }
    let arguments: Vec<&str> = words.collect();
    let mut command = program.unwrap_or(Program::Kagetsu).command(&arguments);
    command.envs(variables).current_dir(folder);
    Finished::of(command)
}

/// Makes the files of the table, and returns the paths by their names there.
fn made(scratch: &Scratch) -> Vec<(&'static str, String)> {
    let path = |name: &str| scratch.text(name);
    let build = format!(
        "build --variant freestyle-15 --moves h8 --positions 6 --depth 2 --threads 1 --book {}",
        path("book")
    );
    for line in [build, "compile --book book --out book.kbk".into()] {
        run(&line, scratch.folder()).ok();
    }
    let compiled = fs::read(path("book.kbk")).expect("it was made");
    let wide: Vec<u8> = "dept = 3\n"
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    let binary = [
        ("games.txt.zip", &b"PK\x03\x04\0\xff"[..]),
        ("games.txt.lib", b"\xffRenLib\xff\x03\0\0"),
        ("odd/wide.toml", &wide),
        ("odd/half.kbk", &compiled[..compiled.len() / 2]),
        ("odd/many.txt", &b"h8\n".repeat(20_001)),
        ("odd/noise", b"\x9d\x01\xfe\0\x13\xc3(\xff\0\0kagetsu\x80"),
        ("odd/old.cbl", b"CCBridge\x15\0\0\0\x03\0\0\0"),
        ("odd/noise.lib", b"\x9d\x01\xfe\0\x13\xc3("),
        ("odd/half.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb"),
    ];
    let made = TABLE.lines().filter_map(|line| line.strip_prefix("= "));
    let made = made.map(|line| {
        let (name, text) = line.split_once(" | ").unwrap_or((line, ""));
        (name, text.replace("\\n", "\n").into_bytes())
    });
    let binary = binary.map(|(name, content)| (name, content.to_vec()));
    for (name, content) in made.chain(binary) {
        let file = scratch.path(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("room");
        fs::write(file, content).expect("room");
    }
    symlink("loop", path("odd/loop")).expect("room");
    symlink("/nowhere", path("odd/dangling")).expect("room");
    let pipe = Command::new("mkfifo").arg(path("odd/pipe")).status();
    assert!(pipe.expect("it runs").success());
    let large = fs::File::create(path("odd/large.pgn")).expect("room");
    large.set_len(3 << 30).expect("no byte of it is written");
    fs::create_dir(path("odd/folder.kbk")).expect("room");
    let names = [
        ("{book}", "book"),
        ("{file}", "book.kbk"),
        ("{games}", "games.txt"),
        ("{folder}", "folder"),
        ("{odd}", "odd"),
        ("{other}", "other"),
        ("{none}", "none"),
    ];
    let mut paths: Vec<_> = names
        .iter()
        .map(|(name, file)| (*name, path(file)))
        .collect();
    paths.push(("{long}", "h8".repeat(2_000)));
    paths
}

#[test]
fn wrong_inputs_get_clear_messages() {
    let rows = || TABLE.lines().filter(|line| !line.starts_with(['#', '=']));
    assert!(rows().count() >= 440, "{} rows", rows().count());
    let scratch = Scratch::new();
    let paths = made(&scratch);
    let fill = |text: &str| {
        let filled = |text: String, (name, path): &(&str, String)| text.replace(name, path);
        paths.iter().fold(text.to_string(), filled)
    };
    let before = entries(scratch.folder());
    let mut faults = Vec::new();
    for row in rows() {
        let mut fields = row.split(" | ");
        let code = fields.next().and_then(|code| code.parse().ok());
        let line = fill(fields.next().unwrap_or_else(|| panic!("no command: {row}")));
        let words: Vec<String> = fields.map(fill).collect();
        assert_eq!(words.len(), 2, "{row}");
        let ended = run(&line, scratch.folder());
        let said = format!("{}{}", ended.stderr, ended.stdout);
        let is_complete = words.iter().all(|word| said.contains(word));
        let is_quiet = code == Some(0) || ended.stdout.is_empty();
        let is_short = said.len() < 2_000;
        if ended.code != code || !is_complete || !is_quiet || !is_short {
            faults.push(format!(
                "kagetsu {line:.200}\n  wanted {row}\n  {ended:.900?}"
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // No wrong command leaves anything behind.
    assert_eq!(entries(scratch.folder()), before);
}

/// Returns the entries of a folder and of those in it, but for the insides of a book.
fn entries(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("readable").path();
        if path.is_dir() && !path.ends_with("book") {
            names.extend(entries(&path));
        }
        names.push(path.to_string_lossy().into_owned());
    }
    names.sort();
    names
}

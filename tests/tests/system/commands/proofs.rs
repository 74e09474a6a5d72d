//! From a search to a checked win: a book's proof, exported and verified, whole and damaged.

use std::fs;
use std::path::Path;
use std::process::Command;

use kagetsu_tests::{Program, Scratch};
use serde_json::{Value, json};

use crate::world::{kagetsu, refused, text};

/// Two rows of two that meet: a win by threes and fours that one search finds.
const WON: &str = "h8 a1 i9 a4 h10 a7 i7 a10";

#[test]
fn damaged_certificate_is_refused() {
    let scratch = Scratch::new();
    let [book, proof] = ["won.book", "won.proof"].map(|name| scratch.text(name));
    let place = ["--variant", "freestyle-15", "--moves", WON];
    let build = ["build", "--book", &book, "--positions", "1", "--depth", "6"];
    kagetsu(&[&build[..], &place].concat()).ok();
    let export = ["export", "--format", "proof", "--book", &book];
    kagetsu(&[&export[..], &place, &[&proof]].concat()).ok();
    let verified = kagetsu(&["verify", &proof, "--json"]).json();
    assert_eq!(
        (&verified["holds"], &verified["tree"]["claim"]),
        (&json!(true), &json!("win")),
        "{verified}"
    );

    // A smaller tree proves the same.
    let small = scratch.text("small.proof");
    let shrunk = kagetsu(&["shrink", "--out", &small, &proof, "--json"]).json();
    assert!(
        shrunk["nodes"].as_u64() <= shrunk["before"].as_u64(),
        "{shrunk}"
    );
    let checked = kagetsu(&["verify", &small, "--moves", WON, "--json"]).json();
    assert_eq!(checked["holds"], json!(true), "{checked}");
    let before = WON.rsplit_once(' ').expect("moves").0;
    let other = scratch.text("other.proof");
    let open = kagetsu(&["shrink", "--out", &other, "--moves", before, &proof]);
    refused(&open, &["no tree answers"]);
    // The position needs no proof in a book where a tree is given.
    let empty = scratch.text("empty.book");
    let place = ["--variant", "freestyle-15", "--moves", "h8"];
    let none = [
        &[
            "build",
            "--book",
            &empty,
            "--positions",
            "1",
            "--nodes",
            "10",
        ],
        &place[..],
    ];
    kagetsu(&none.concat()).ok();
    let part = [
        "export", "--format", "proof", "--book", &empty, "--with", &proof,
    ];
    let again = [
        &part[..],
        &["--variant", "freestyle-15", "--moves", WON],
        &[&other],
    ]
    .concat();
    assert_eq!(kagetsu(&again).code, Some(0), "{part:?}");
    let same = fs::read_to_string(&other).expect("it is there");
    assert_eq!(same, fs::read_to_string(&proof).expect("it is there"));

    // A line is missing, and a reply lacks its answer.
    let text = fs::read_to_string(&proof).expect("it is there");
    let lines: Vec<&str> = text.lines().collect();
    let damaged = scratch.path("damaged.proof");
    for at in [4, lines.len() / 2, lines.len() - 2] {
        let rest: Vec<&str> = lines
            .iter()
            .enumerate()
            .filter(|(n, _)| *n != at)
            .map(|(_, line)| *line)
            .collect();
        fs::write(&damaged, rest.join("\n") + "\n").expect("room");
        let checked = kagetsu(&["verify", damaged.to_str().expect("a plain name"), "--json"]);
        let report: Value = serde_json::from_str(&checked.stdout).expect("JSON");
        assert_eq!((checked.code, &report["holds"]), (Some(1), &json!(false)));
        assert!(
            report["line"].as_u64().is_some_and(|line| line > at as u64),
            "{report}"
        );
    }
    let root = lines[lines.len() - 2];
    fs::write(
        &damaged,
        text.replacen(root, root.rsplit_once(' ').expect("answers").0, 1),
    )
    .expect("room");
    let name = damaged.to_str().expect("a plain name");
    let checked = kagetsu(&["verify", name]);
    assert_eq!(checked.code, Some(1), "{checked:#?}");
    assert!(
        checked.stdout.contains("does not hold: line "),
        "{checked:#?}"
    );
    fs::write(&damaged, text.replacen(lines[4], "1 o1", 1)).expect("room");
    let line = ["--variant", "freestyle-15", "--moves", WON];
    let part = [&part[..6], &[name], &line, &["x.proof"]].concat();
    refused(&kagetsu(&part), &["it does not hold: line "]);

    // A file that is not text is no certificate, neither valid nor invalid.
    let compiled = scratch.path("won.kbk");
    let compiled = compiled.to_str().expect("a plain name");
    kagetsu(&["compile", "--book", &book, "--out", compiled]).ok();
    refused(
        &kagetsu(&["verify", compiled]),
        &[compiled, "line 1", "kagetsu verify --book DIR"],
    );
    refused(
        &kagetsu(&["verify", &book]),
        &[&format!("`kagetsu verify --book {book}`"), "is a folder"],
    );
    refused(
        &kagetsu(&["verify", "nowhere.proof"]),
        &["cannot read nowhere.proof"],
    );
    fs::write(&damaged, "h8 i9\n").expect("room");
    assert_eq!(
        kagetsu(&["verify", damaged.to_str().expect("a plain name")]).code,
        Some(1)
    );

    let unproven = kagetsu(
        &[
            &export[..],
            &["--variant", "freestyle-15", "--moves", "h8", "-"],
        ]
        .concat(),
    );
    assert_eq!(unproven.code, Some(2), "{unproven:#?}");
    assert!(
        unproven.stderr.contains("has proven no win"),
        "{unproven:#?}"
    );
    let nowhere = kagetsu(&[&export[..], &["-"]].concat());
    assert!(nowhere.stderr.contains("--variant"), "{nowhere:#?}");
    let imported = kagetsu(&["import", "--format", "proof", "--book", &book, &proof]);
    refused(&imported, &["kagetsu verify"]);
}

/// Returns a position of freestyle-15 with one verdict, as `export --format json` writes it.
fn record(line: &str, verdict: Value) -> String {
    let mut rows = vec![vec!['.'; 15]; 15];
    for (name, number) in line.split(' ').zip(0..) {
        let (column, row) = name.split_at(1);
        let (column, row) = (
            usize::from(column.as_bytes()[0] - b'a'),
            row.parse::<usize>().expect("a row"),
        );
        rows[15 - row][column] = if number % 2 == 0 { 'X' } else { 'O' };
    }
    let board: Vec<String> = rows.into_iter().map(String::from_iter).collect();
    let side = if line.split(' ').count().is_multiple_of(2) {
        "first"
    } else {
        "second"
    };
    let record =
        json!({"variant": "freestyle-15", "board": board, "side": side, "answers": [verdict]});
    format!("{record}\n")
}

fn verdict(m: &str, claim: &str, plies: u64, kind: &str, line: &[&str]) -> Value {
    let (win, loss) = if claim == "win" {
        (Some(plies), None)
    } else {
        (None, Some(plies))
    };
    json!({"move": m, "win_in": win, "loss_in": loss, "bound": "exact", "depth": plies, "nodes": 1, "line": line,
        "proof": claim, "proof_kind": kind, "engine": "test", "date": "2026-11-21"})
}

#[test]
fn false_claims_of_a_book_are_named() {
    // A three closed at g8, and two stones above k8: two fours, the second of them open.
    let fours = "h8 g8 i8 a1 j8 a3 k9 a5 k10 a7";
    let answered = "h8 g8 i8 a1 j8 a3 k9 a5 k10 a7 k8";
    // The opponent has a four.
    let refuted = "h8 a1 i8 a2 j8 a3 k1 a4";
    let rows = [
        (
            fours,
            verdict("k8", "win", 5, "vcf", &["k8", "l8", "k11"]),
            [1, 0, 0],
            [1, 0, 0],
            "",
        ),
        (
            fours,
            verdict("k8", "win", 3, "vcf", &["k8", "l8", "k11"]),
            [0, 1, 0],
            [0, 1, 0],
            "takes 5 plies",
        ),
        (
            fours,
            verdict("k8", "win", 5, "vct", &["k8"]),
            [0, 1, 0],
            [0, 1, 0],
            "has no answer",
        ),
        (
            fours,
            verdict("k8", "win", 5, "manual", &["k8"]),
            [0, 1, 0],
            [0, 1, 0],
            "only claimed",
        ),
        (
            fours,
            verdict("k8", "win", 1, "terminal", &["k8"]),
            [0, 0, 1],
            [0, 0, 1],
            "the game goes on",
        ),
        (
            refuted,
            verdict("k8", "win", 3, "vcf", &["k8"]),
            [0, 0, 1],
            [0, 0, 1],
            "ends the game otherwise",
        ),
        (
            answered,
            verdict("l8", "loss", 4, "vct", &["l8"]),
            [0, 0, 0],
            [0, 1, 0],
            "the line ends before",
        ),
        (
            answered,
            verdict("b1", "loss", 2, "vcf", &["b1", "l8"]),
            [0, 0, 0],
            [1, 0, 0],
            "",
        ),
        (
            fours,
            verdict("k8", "win", 5, "terminal", &["k8", "l8", "k11"]),
            [0, 0, 1],
            [0, 0, 1],
            "the game goes on",
        ),
        (
            fours,
            verdict("k8", "win", 1, "manual", &["k8"]),
            [0, 0, 1],
            [0, 0, 1],
            "the game goes on",
        ),
        (
            answered,
            verdict("b1", "loss", 2, "terminal", &["b1"]),
            [0, 0, 0],
            [1, 0, 0],
            "",
        ),
        (
            answered,
            verdict("l8", "loss", 2, "terminal", &["l8"]),
            [0, 0, 0],
            [0, 0, 1],
            "no reply to it ends",
        ),
    ];
    let scratch = Scratch::new();
    for (number, (line, verdict, positions, moves, why)) in rows.iter().enumerate() {
        let [book, file] =
            ["book", "json"].map(|ending| scratch.path(&format!("{number}.{ending}")));
        fs::write(&file, record(line, verdict.clone())).expect("room");
        let [book, file] = [&book, &file].map(|path| path.to_str().expect("a plain name"));
        kagetsu(&["import", "--format", "json", "--book", book, file]).ok();
        let checked = kagetsu(&["verify", "--book", book, "--json"]);
        let found: Value = serde_json::from_str(&checked.stdout).expect("JSON");
        let counts = |of: &str| {
            ["hold", "open", "failed"].map(|what| found[of][what].as_u64().expect("a count"))
        };
        assert_eq!(
            (counts("positions"), counts("moves")),
            (*positions, *moves),
            "{verdict}: {found}"
        );
        // A refuted claim does not hold, nor does a book without a claim that can be replayed.
        let holds = moves[0] > 0;
        assert_eq!(
            (checked.code, &found["holds"]),
            (Some(i32::from(!holds)), &json!(holds)),
            "{found}"
        );
        let output = kagetsu(&["verify", "--book", book]).stdout;
        assert!(
            output.contains(why) && output.contains("freestyle-15") != why.is_empty(),
            "{output}"
        );
        assert_eq!(
            output.contains("none of these claims is verified"),
            !holds,
            "{output}"
        );
        assert_eq!(
            output.contains("--play-out") && output.contains("kagetsu verify FILE"),
            moves[1] > 0,
            "{output}"
        );
    }
    let played = kagetsu(&[
        "verify",
        "--book",
        scratch.path("6.book").to_str().expect("a plain name"),
        "--play-out",
        "--json",
    ]);
    assert_eq!(played.json()["moves"]["hold"], json!(1), "{played:#?}");
    let neither = kagetsu(&["verify", "--book", "http://127.0.0.1:1"]);
    refused(&neither, &["kagetsu backup"]);
}

#[test]
fn proof_build_ends_with_valid_claims() {
    let scratch = Scratch::new();
    let path = scratch.path("proven.book");
    let book = path.to_str().expect("a plain name");
    // One ply before the win, after any reply.
    let place = [
        "--variant",
        "freestyle-9",
        "--moves",
        "e5 a1 f6 a4 e7 a7 f4",
    ];
    let built = kagetsu(
        &[
            &["build", "--policy", "prove", "--book", book, "--json"],
            &place[..],
        ]
        .concat(),
    )
    .json();
    assert_eq!(built["state"], json!("done"), "{built}");
    let [proof] = &built["proofs"].as_array().expect("a root")[..] else {
        panic!("{built}")
    };
    assert_eq!(
        (&proof["proven"], &proof["proof"], &proof["attacker"]),
        (&json!(true), &json!("loss"), &json!("first"))
    );
    let again = kagetsu(&[&["build", "--policy", "prove", "--book", book], &place[..]].concat());
    let expected = format!("{}: first wins in {}, proven", place[3], proof["loss_in"]);
    assert!(
        again.code == Some(0) && again.stdout.contains(&expected),
        "{again:#?}"
    );
    let other = scratch.path("open.book");
    let other = other.to_str().expect("a plain name");
    let open = [
        "build",
        "--policy",
        "prove",
        "--book",
        other,
        "--variant",
        "freestyle-15",
        "--moves",
        "h8 a1",
    ];
    let open = kagetsu(&[&open[..], &["--positions", "1", "--nodes", "100"]].concat());
    assert!(
        open.code == Some(0) && open.stdout.contains("h8 a1: not proven yet"),
        "{open:#?}"
    );
    let root = kagetsu(&[&["query", "--book", book, "--json"], &place[..]].concat()).json();
    assert_eq!(root["proof"], json!("loss"), "{root}");
    let checked = kagetsu(&["verify", "--book", book, "--play-out", "--json"]).json();
    assert_eq!(
        (&checked["holds"], &checked["positions"]["open"]),
        (&json!(true), &json!(0)),
        "{checked}"
    );
    let proven = checked["positions"]["hold"].as_u64().expect("a count");
    assert!(
        proven > 1 && checked["moves"]["hold"].as_u64() > Some(proven),
        "{checked}"
    );
}

/// A part of the certificate of h8 in freestyle-15. Behind e9 f9 it makes six in a row, which does
/// not win standard-15; another quiet move does.
const GUIDE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/system/commands/freestyle-15-h8-l9.proof"
);

#[test]
fn build_proves_what_an_export_lacks() {
    let scratch = Scratch::new();
    let [book, open, proof] = ["a.book", "open.txt", "a.proof"].map(|name| scratch.text(name));
    let place = ["--book", &book, "--variant", "standard-15"];
    let prove = ["build", "--policy", "prove", "--top", "5", "--threads", "1"];
    let root = ["--moves", "h8 l9 g9 h10 f8 g8"];
    kagetsu(&[&prove[..], &place, &root, &["--positions", "1"]].concat()).ok();
    let export = ["export", "--format", "proof", "--with", GUIDE];
    let export = [&export[..], &place, &root, &["--open", &open, &proof]].concat();
    // With its usual effort the export finds the win by itself.
    let lacking = kagetsu(&[&export[..], &["--nodes", "3000"]].concat());
    assert_eq!(lacking.code, Some(1), "{lacking:#?}");
    assert!(
        lacking.stdout.contains("without a proof: 1,"),
        "{lacking:#?}"
    );
    let leaf = "h8 l9 g9 h10 f8 g8 e9 f9\n";
    assert_eq!(fs::read_to_string(&open).expect("it is there"), leaf);
    assert!(!scratch.path("a.proof").exists());

    // Another engine advises where the search for threats finds no win.
    let adviser = Program::Pbrain.command(&[]);
    let adviser = format!("gomocup:'{}'", text(Path::new(adviser.get_program())));
    let more = [
        "--roots",
        &open,
        "--positions",
        "1000",
        "--engine",
        &adviser,
    ];
    let built = kagetsu(&[&prove[..], &place, &more].concat());
    assert!(built.stdout.contains("proven"), "{built:#?}");
    // The file still names the position, which is not open any more.
    let written = kagetsu(&export).ok();
    assert!(
        !written.stdout.contains("; 1 positions"),
        "the book's proof is used: {written:#?}"
    );
    let checked = kagetsu(&["verify", &proof, "--json", root[0], root[1]]).json();
    assert_eq!(checked["holds"], json!(true), "{checked}");
}

/// The same certificate leads to a win on smaller and larger boards.
#[test]
fn window_of_a_certificate_guides_other_boards() {
    if !kagetsu_builders::is_installed("python3", &["--version"]) {
        return;
    }
    let scratch = Scratch::new();
    let [book, guide, proof] = ["a.book", "guide", "14"].map(|name| scratch.text(name));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../proofs/window.py");
    let root = ["--moves", "h7 l8 g8 h9 f7 g7"];
    let larger = ["--moves", "h10 l11 g11 h12 f10 g10"];
    for (board, root) in [(["17", "0", "-2"], larger), (["14", "0", "1"], root)] {
        let mut window = std::process::Command::new("python3");
        let cut = window.args([script, GUIDE]).args(board).output();
        fs::write(&guide, cut.expect("python3 starts").stdout).expect("room");
        let (variant, proof) = (format!("freestyle-{}", board[0]), scratch.text(board[0]));
        let place = ["--book", &book, "--variant", &variant];
        let build = ["build", "--policy", "prove", "--positions", "1"];
        kagetsu(&[&build[..], &place, &root].concat()).ok();
        let export = ["export", "--format", "proof", "--nodes", "3000", &proof];
        let export = [&export[..], &place, &root].concat();
        refused(&kagetsu(&export), &["has proven no win"]);
        kagetsu(&[&export[..], &["--with", &guide]].concat()).ok();
    }

    // It has a short form, which says the same.
    let turn = |file: &str| {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../proofs/short.py");
        let turned = Command::new("python3").args([script, file]).output();
        turned.expect("python3 starts").stdout
    };
    fs::write(&guide, turn(&proof)).expect("room");
    let read = |file: &str| fs::read(file).expect("it is there");
    assert!(read(&guide).starts_with(b"kagetsu-proof 2\n"));
    assert_eq!(turn(&guide), read(&proof));
    for file in [&proof, &guide] {
        let checked = kagetsu(&["verify", file, "--json", root[0], root[1]]).json();
        assert_eq!(checked["holds"], json!(true), "{checked}");
    }
}

#[test]
fn packed_certificate_is_read_or_said_to_be_cut() {
    const PACKED: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../proofs/standard-15-h8.proof.xz"
    );
    kagetsu(&["pick", "--book", PACKED, "--variant", "standard-15"]).ok();
    let (scratch, packed) = (Scratch::new(), fs::read(PACKED).expect("a file"));
    fs::write(scratch.path("cut"), &packed[..9_999]).expect("room");
    let verified = kagetsu(&["verify", &scratch.text("cut")]);
    refused(&verified, &["the packed file was cut off"]);
}

/// Rocq checks the proof of the checker, which then checks certificates.
#[test]
#[ignore = "needs Rocq; takes minutes"]
fn formal_checker_is_proven_and_checks() {
    if !kagetsu_builders::is_installed("coqc", &["--version"]) {
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../proofs/formal/check.sh");
    let scratch = Scratch::new();
    let output = Command::new(script)
        .arg(scratch.text("formal"))
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{output:#?}");
}

//! Maintenance of books by the commands: backups of a growing book, removal of positions, repair,
//! and kills in the middle of each.

use std::path::Path;
use std::time::Duration;

use kagetsu_tests::{Program, Scratch, kagetsu, words};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::json;

use crate::world::{BookBuild, Cluster, assert_clean, kagetsu, refused, text, until};

/// Builds a book of h8, two plies deep.
fn build(book: &str, positions: u32) {
    let build = BookBuild {
        positions,
        ..BookBuild::H8
    };
    build.run_in(book);
}

fn positions(book: &str) -> u64 {
    kagetsu(&["stats", "--book", book, "--json"]).json()["positions"]
        .as_u64()
        .expect("a number")
}

/// Copies the folder of a book that no process has open.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("room");
    for entry in std::fs::read_dir(from)
        .expect("it is there")
        .map(|entry| entry.expect("it is there"))
    {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("room");
        }
    }
}

#[test]
fn book_is_backed_up_during_a_cluster_build() {
    let scratch = Scratch::new();
    let [book, safe, again] = ["book", "safe", "again"].map(|name| scratch.path(name));
    let cluster = Cluster::start(&book);
    let _worker = cluster.worker();
    let _client = cluster.build(60, 3);
    let acknowledged = || {
        cluster
            .job()
            .and_then(|job| job["positions"].as_u64())
            .unwrap_or(0)
    };
    until("something is built", || (acknowledged() > 5).then_some(()));
    let mut before = 0;
    for _ in 0..3 {
        let least = acknowledged();
        let made = kagetsu!("backup --book {book} --to {safe} --json").json();
        assert_eq!(
            made["bytes"].as_u64().expect("a number") - made["copied"].as_u64().expect("a number"),
            before
        );
        before = made["bytes"].as_u64().expect("a number");
        let restored = kagetsu!("restore --from {safe} --book {again} --json").json();
        assert!(
            restored["positions"].as_u64().expect("a number") >= least,
            "{least} acknowledged, {restored}"
        );
        assert_clean(text(&again));
    }
    // Every command that needs the book for itself names the process that holds it.
    let held = kagetsu(&["prune", "--book", text(&book), "--max-ply", "1"]);
    refused(&held, &["is open in process"]);
    cluster.stop();
}

#[test]
fn pruned_book_keeps_its_job_waiting() {
    let scratch = Scratch::new();
    let book = scratch.path("book");
    build(text(&book), 30);
    let prune = [
        "prune",
        "--book",
        text(&book),
        "--variant",
        "freestyle-15",
        "--moves",
        "a1 b1",
    ];
    refused(
        &kagetsu(&prune),
        &[
            "does not hold the root freestyle-15 a1 b1",
            "nothing was removed",
        ],
    );
    assert_eq!(positions(text(&book)), 30);
    let pruned = kagetsu(&["prune", "--book", text(&book), "--max-ply", "1", "--json"]).json();
    assert_eq!(
        pruned["kept"]
            .as_u64()
            .zip(pruned["removed"].as_u64())
            .map(|(a, b)| a + b),
        Some(30),
        "{pruned}"
    );
    assert_eq!(
        pruned["paused"].as_array().map(Vec::len),
        Some(1),
        "{pruned}"
    );
    assert_clean(text(&book));
    let stats = kagetsu(&["stats", "--book", text(&book), "--json"]).json();
    assert_eq!(stats["positions"], pruned["kept"]);
    let grades = stats["grades"].as_array().expect("grades");
    assert!(
        grades.len() <= 2 && grades.iter().any(|grade| grade["holes"] != json!(0)),
        "{stats}"
    );
    let jobs = kagetsu(&["jobs", "list", "--book", text(&book), "--json"]).stdout;
    assert!(jobs.contains("\"paused\""), "{jobs}");
    // A prune without a limit is refused, and one that says the same again removes nothing.
    refused(
        &kagetsu(&["prune", "--book", text(&book)]),
        &["nothing says what to remove", "--max-ply"],
    );
    let nothing = kagetsu(&["prune", "--book", text(&book), "--max-ply", "1", "--json"]).json();
    assert_eq!(nothing["removed"], json!(0));
}

#[test]
fn holes_are_named_as_command_arguments() {
    let scratch = Scratch::new();
    let book = scratch.path("book");
    build(text(&book), 30);
    let stats = kagetsu(&["stats", "--book", text(&book), "--json"]).json();
    let holes = stats["holes"].as_array().expect("holes");
    assert!(!holes.is_empty());
    for hole in holes {
        let moves = hole["moves"]
            .as_array()
            .expect("moves")
            .iter()
            .map(|m| m.as_str().expect("a move"));
        let moves: Vec<&str> = moves.collect();
        let line = moves.join(" ");
        // The book leads to the hole: each position on the way is one of its own.
        for plies in 1..=moves.len() {
            let before = moves[..plies].join(" ");
            let place = ["--variant", "freestyle-15", "--moves", &before];
            let found = kagetsu(&[&["query", "--book", text(&book)], &place[..]].concat());
            assert_eq!(found.code, Some(0), "{line}: {found:#?}");
        }
        assert_eq!(hole["position"], json!(format!("freestyle-15 {line}")));
        let place = ["--variant", "freestyle-15", "--moves", &line, "--json"];
        let found = kagetsu(&[&["query", "--book", text(&book)], &place[..]].concat()).json();
        assert_eq!(found["key"], hole["key"]);
    }
    let fen = "3k5/9/9/9/9/9/9/9/9/4K4 w";
    let unknown = kagetsu!("query --book {book} --variant xiangqi --fen {fen}");
    assert!(
        unknown.code == Some(1) && unknown.stderr.contains(&format!("xiangqi from \"{fen}")),
        "{unknown:#?}"
    );
}

#[test]
fn pick_respects_margin_and_book_edge() {
    let scratch = Scratch::new();
    let book = scratch.path("book");
    build(text(&book), 30);
    let pick =
        |more: &[&str]| kagetsu!("pick --book {book} --variant freestyle-15 --moves h8 {more...}");
    let best = pick(&[]).ok();
    for seed in ["1", "2", "3"] {
        let more = words!("--temperature 1000 --margin 0 --seed {seed} --json");
        let near = pick(&more.iter().map(|word| &**word).collect::<Vec<_>>()).json();
        assert_eq!(near["score"], pick(&["--json"]).json()["score"]);
    }
    // The book's positions depend on chance: the best move may lead out of it.
    let line = format!("h8 {}", best.stdout.trim());
    let known = kagetsu!("query --book {book} --variant freestyle-15 --moves {line}");
    let near = pick(&["--before-edge", "1"]);
    assert_eq!(near.code, known.code, "{near:#?} {known:#?}");
    assert!(
        near.code == Some(1) || near.stdout == best.stdout,
        "{near:#?}"
    );
    let far = pick(&["--before-edge", "100"]);
    assert!(
        far.code == Some(1) && far.stderr.contains("the book ends"),
        "{far:#?}"
    );
}

#[test]
fn damaged_journal_is_refused_and_repaired() {
    let scratch = Scratch::new();
    let whole = scratch.path("whole");
    build(text(&whole), 20);
    let before = kagetsu(&["repair", "--book", text(&whole), "--json"]).json();
    let count = |report: &serde_json::Value, name: &str| report[name].as_u64().expect("a number");
    for part in [1, 2] {
        let book = scratch.path(&format!("book-{part}"));
        copy(&whole, &book);
        let journal = book.join("journal/000001.journal");
        let mut bytes = std::fs::read(&journal).expect("it is there");
        let place = bytes.len() * part / 3;
        bytes[place] ^= 1;
        std::fs::write(&journal, &bytes).expect("room");
        refused(
            &kagetsu(&["stats", "--book", text(&book)]),
            &["kagetsu repair"],
        );
        let repaired = kagetsu(&["repair", "--book", text(&book), "--json"]);
        let report: serde_json::Value = serde_json::from_str(&repaired.stdout).expect("one object");
        assert_eq!(
            (repaired.code, &report["whole"]),
            (Some(1), &json!(false)),
            "{report}"
        );
        // One entry is lost: a position, or the job that asked for them. Other entries of that job
        // are skipped.
        assert_eq!(
            count(&report, "kept") + count(&report, "left_out") + 1,
            count(&before, "kept"),
            "{report}"
        );
        assert!(
            count(&report, "lost_bytes") > 0 && [19, 20].contains(&count(&report, "positions")),
            "{report}"
        );
        assert_clean(text(&book));
        build(text(&book), 20);
        kagetsu(&["repair", "--book", text(&book)]).ok();
    }
}

/// Copies a book so that its journal has every answer twice, a weaker one first.
fn learn_again(own: &Path, twice: &Path) {
    let weak = twice.with_extension("weak.jsonl");
    let exported = kagetsu(&["export", "--format", "json", "--book", text(own), "-"]).stdout;
    std::fs::write(&weak, exported.replace("\"depth\":2,", "\"depth\":1,")).expect("room");
    for file in [text(&weak), text(own)] {
        let learned = match file.ends_with("jsonl") {
            true => kagetsu(&["import", "--format", "json", "--book", text(twice), file]),
            false => kagetsu(&["merge", "--into", text(twice), file]),
        };
        assert_eq!(learned.code, Some(0), "{learned:#?}");
    }
}

#[test]
fn compacted_book_answers_the_same_in_fewer_bytes() {
    let scratch = Scratch::new();
    let [own, twice] = ["own", "twice"].map(|name| scratch.path(name));
    build(text(&own), 30);
    learn_again(&own, &twice);
    let compact = || kagetsu(&["compact", "--book", text(&twice), "--json"]).json();
    let report = compact();
    let count = |report: &serde_json::Value, name: &str| report[name].as_u64().expect("a number");
    assert_eq!(
        (
            count(&report, "positions"),
            count(&report, "entries"),
            count(&report, "entries_before")
        ),
        (30, 30, 60)
    );
    assert!(
        count(&report, "bytes") < count(&report, "bytes_before"),
        "{report}"
    );
    assert_clean(text(&twice));
    kagetsu(&["diff", text(&own), text(&twice)]).ok();
    assert_eq!(count(&compact(), "entries"), 30);
    // A job resumes.
    assert!(
        kagetsu(&["compact", "--book", text(&own)])
            .stdout
            .contains("30 positions")
    );
    build(text(&own), 40);
    assert_eq!(positions(text(&own)), 40);
    assert_clean(text(&own));
}

/// Kills merge, import, prune, compact and backup at random moments, `times` times each, and
/// repeats them.
fn kill(times: u32, seed: u64) {
    println!("seed {seed}");
    let mut chance = StdRng::seed_from_u64(seed);
    let scratch = Scratch::new();
    let [own, file, merged, read, safe, calm] =
        ["own", "file", "merged", "read", "safe", "calm"].map(|name| scratch.path(name));
    build(text(&own), 120);
    kagetsu!("export --format json --book {own} {file}").ok();
    copy(&own, &calm);
    let pruned =
        kagetsu(&["prune", "--book", text(&calm), "--max-ply", "2", "--json"]).json()["kept"]
            .as_u64();
    let mut at_random = |arguments: &[&str]| {
        let mut running = Program::Kagetsu.start(arguments);
        std::thread::sleep(Duration::from_millis(chance.random_range(0..150)));
        running.kill();
    };
    let merge = ["merge", "--into", text(&merged), text(&own)];
    let import = [
        "import",
        "--format",
        "json",
        "--book",
        text(&read),
        text(&file),
    ];
    let backup = ["backup", "--book", text(&own), "--to", text(&safe)];
    for (command, book) in [
        (&merge[..], &merged),
        (&import[..], &read),
        (&backup[..], &safe),
    ] {
        for _ in 0..times {
            at_random(command);
            if book.join("journal").exists() {
                assert_clean(text(book));
            }
        }
        kagetsu(command).ok();
        assert_clean(text(book));
        kagetsu(&["diff", text(&own), text(book)]).ok();
    }
    for _ in 0..times {
        let shorn = scratch.path("shorn");
        let _ = std::fs::remove_dir_all(&shorn);
        copy(&own, &shorn);
        let prune = ["prune", "--book", text(&shorn), "--max-ply", "2"];
        at_random(&prune);
        assert_clean(text(&shorn));
        let left = positions(text(&shorn));
        assert!(left == 120 || Some(left) == pruned, "{left} of 120");
        kagetsu(&prune).ok();
        assert_clean(text(&shorn));
        kagetsu(&["diff", text(&calm), text(&shorn)]).ok();
    }
    let twice = scratch.path("twice");
    learn_again(&own, &twice);
    for _ in 0..times {
        let tight = scratch.path("tight");
        let _ = std::fs::remove_dir_all(&tight);
        copy(&twice, &tight);
        let compact = ["compact", "--book", text(&tight)];
        at_random(&compact);
        assert_clean(text(&tight));
        kagetsu(&["diff", text(&own), text(&tight)]).ok();
        kagetsu(&compact).ok();
        assert_clean(text(&tight));
        kagetsu(&["diff", text(&own), text(&tight)]).ok();
    }
}

#[test]
fn maintenance_survives_kills() {
    kill(3, 5);
}

#[test]
#[ignore = "minutes"]
fn maintenance_survives_fifty_kills() {
    kill(50, 6);
}

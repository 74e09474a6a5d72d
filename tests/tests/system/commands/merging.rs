//! Books copied, merged and compared by the commands.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kagetsu_tests::{Program, Scratch, kagetsu, shared_data, words};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};

use crate::world::{BookBuild, assert_clean, assert_fields, kagetsu, refused, text};

/// Builds a book three plies deep.
fn build(book: &str, variant: &str, moves: &str, positions: u32) {
    let build = BookBuild {
        variant,
        moves,
        positions,
        depth: 3,
    };
    build.run_in(book);
}

fn differences(a: &str, b: &str) -> Value {
    let found = kagetsu(&["diff", a, b, "--json"]);
    serde_json::from_str(&found.stdout).unwrap_or_else(|error| panic!("{error}: {found:#?}"))
}

#[test]
fn books_of_all_games_round_trip_through_json() {
    for (variant, moves) in [
        ("freestyle-15", "h8"),
        ("renju-15", "h8 h9"),
        ("xiangqi", "h2e2"),
        ("surakarta", ""),
    ] {
        let scratch = Scratch::new();
        let [own, file, copy, again] =
            ["own", "own.jsonl", "copy", "again.jsonl"].map(|name| scratch.path(name));
        let [own, file, copy, again] = [text(&own), text(&file), text(&copy), text(&again)];
        build(own, variant, moves, 12);
        let export =
            |book: &str, file: &str| kagetsu(&["export", "--format", "json", "--book", book, file]);
        // A file beside the book does not belong to Kagetsu.
        let beside = format!("{file}.new");
        std::fs::write(&beside, "precious").expect("room for it");
        export(own, file).ok();
        assert_eq!(
            std::fs::read_to_string(&beside).expect("it is there"),
            "precious"
        );
        let import = ["import", "--format", "json", "--book", copy, file, "--json"];
        assert_eq!(
            kagetsu(&import).json(),
            json!({"read": 12, "positions": 12, "new": 12})
        );
        // A second merge changes nothing.
        assert_eq!(
            kagetsu(&import).json(),
            json!({"read": 12, "positions": 12, "new": 0})
        );
        assert_clean(copy);
        kagetsu(&["diff", own, copy]).ok();
        export(copy, again).ok();
        let read = |path: &str| std::fs::read_to_string(path).expect("written");
        assert_eq!(read(file), read(again), "{variant}");
        // An existing file is not overwritten.
        refused(&export(own, file), &["is there already"]);
        assert_eq!(
            kagetsu(&["export", "--format", "json", "--book", own, "-"]).stdout,
            read(file)
        );
    }
}

#[test]
fn merge_is_commutative_and_idempotent() {
    let scratch = Scratch::new();
    let [a, b, one, other] = ["a", "b", "one", "other"].map(|name| scratch.path(name));
    let [a, b, one, other] = [text(&a), text(&b), text(&one), text(&other)];
    build(a, "freestyle-15", "h8 h9", 15);
    build(b, "freestyle-15", "h8 i9", 10);
    let merge = |into: &str, books: [&str; 2]| {
        kagetsu(&["merge", "--into", into, books[0], books[1], "--json"]).json()
    };
    let merged = merge(one, [a, b]);
    assert_fields(&merged, &json!({"read": 25, "conflict_count": 0}));
    assert_eq!(merge(other, [b, a])["positions"], merged["positions"]);
    kagetsu(&["diff", one, other]).ok();
    let again = merge(one, [b, a]);
    assert_fields(&again, &json!({"new": 0, "changed": 0}));
    assert_clean(one);
    let found = differences(a, one);
    assert_eq!(found["only_a"], json!(0), "{found}");
    for command in [
        ["merge", "--into", one, one],
        ["merge", "--into", one, &format!("{one}/.")],
    ] {
        refused(&kagetsu(&command), &[one, "merged into itself"]);
    }
    refused(
        &kagetsu(&["backup", "--book", one, "--to", one]),
        &[one, "itself"],
    );
    let file = scratch.path("file");
    std::fs::write(&file, "").expect("room");
    for command in [
        words!("build --variant freestyle-15 --depth 2 --book {file}"),
        words!("backup --book {one} --to {file}"),
    ] {
        let why = [text(&file), "is a file, and this needs the folder"];
        refused(&Program::Kagetsu.run(&command), &why);
    }
    assert_clean(one);
}

#[test]
fn conflicting_proofs_are_reported() {
    let scratch = Scratch::new();
    let (a, b, file) = (scratch.path("a"), scratch.path("b"), scratch.path("file"));
    let record = |proof: &str, plies: u16| {
        json!({"variant": "freestyle-5", "board": [".....", ".....", "..X..", ".....", "....."], "side": "second",
            "answers": [{"move": "a1", format!("{proof}_in"): plies, "bound": "exact", "depth": 9, "nodes": 1, "line": ["a1"],
                "proof": proof, "proof_kind": "search", "engine": "other", "date": "2026-11-21"}]})
    };
    for (book, record) in [(&a, record("win", 7)), (&b, record("loss", 8))] {
        std::fs::write(&file, record.to_string()).expect("room for it");
        kagetsu!("import --format json --book {book} {file}").ok();
    }
    let conflict = "c3, a1: win in 7 by search against loss in 8 by search";
    let copy = scratch.path("copy");
    kagetsu(&["merge", "--into", text(&copy), text(&a)]).ok();
    // The file is the last source of b's content.
    let imported = kagetsu!("import --format json --book {copy} {file}");
    let merged = kagetsu(&["merge", "--into", text(&a), text(&b)]);
    for finished in [merged, imported] {
        assert_eq!(finished.code, Some(1), "{finished:#?}");
        assert!(finished.stdout.contains(conflict), "{finished:#?}");
    }
    assert_clean(text(&a));
}

#[test]
fn part_behind_a_line_is_exported_in_every_format() {
    let games = [
        (
            "freestyle-15",
            vec![
                "l8 l10 l13 j7 k11",
                "i7 j8 h10 h9 g5",
                "k9 e4 e7 e6",
                "e12 h11 g12 d10 j8",
            ],
            vec!["json", "csv", "sqlite", "yxdb", "lib", "sgf", "openings"],
        ),
        (
            "xiangqi",
            vec!["h2e2"],
            vec!["json", "csv", "sqlite", "fen", "eleeye", "pgn", "xqf"],
        ),
    ];
    for (variant, roots, formats) in games {
        let scratch = Scratch::new();
        let books = roots.into_iter().enumerate().map(|(number, root)| {
            let book = scratch.path(&format!("book{number}"));
            build(text(&book), variant, root, 12);
            let query = ["query", "--book", text(&book), "--variant", variant];
            let known = kagetsu(&[&query[..], &["--moves", root, "--json"]].concat()).json();
            (root, book, known)
        });
        // A file of openings holds balanced positions only.
        let needs_balance = formats.contains(&"openings");
        let fits = |(_, _, known): &(&str, PathBuf, Value)| {
            let score = known["score"].as_i64();
            !needs_balance || score.is_some_and(|score| score.abs() <= 60)
        };
        let (root, book, known) = books.into_iter().find(fits).expect("a balanced root");
        let book = text(&book);
        // The last answers may change the best move, so the book need not hold the position behind
        // it.
        let answers = known["answers"].as_array().expect("answers");
        let mut lines = answers
            .iter()
            .map(|known| format!("{root} {}", known["move"].as_str().expect("a move")));
        let query = ["query", "--book", book, "--variant", variant, "--moves"];
        let is_held = |line: &String| kagetsu(&[&query[..], &[line]].concat()).code == Some(0);
        let line = lines.find(is_held).expect("a move to a held position");
        let export = |format: &str, name: &str, part: &[&str]| {
            let file = scratch.path(&format!("{name}.{format}"));
            let file = text(&file).to_string();
            let fixed = ["export", "--format", format, "--book", book, "--json"];
            let variant = ["--variant", variant];
            let written = kagetsu(&[&fixed[..], &variant, part, &[&file]].concat()).ok();
            (written.json()["written"].as_u64().expect("a number"), file)
        };
        for format in formats {
            let (whole, _) = export(format, "whole", &[]);
            let (part, file) = export(format, "part", &["--moves", &line]);
            // A file of openings has the roots alone.
            let is_smaller = part < whole || format == "openings";
            assert!(0 < part && is_smaller, "{format}: {part} of {whole}");
            if !["json", "csv", "yxdb"].contains(&format) {
                continue;
            }
            let copy = scratch.path(&format!("copy-{format}"));
            let copy = text(&copy);
            let import = ["import", "--format", format, "--book", copy, &file];
            kagetsu(&[&import[..], &["--variant", variant]].concat()).ok();
            for (moves, is_held) in [(root, false), (&line, true)] {
                let query = ["query", "--book", copy, "--variant", variant];
                let found = kagetsu(&[&query[..], &["--moves", moves]].concat());
                let code = if is_held { 0 } else { 1 };
                assert_eq!(found.code, Some(code), "{format} {moves}: {found:#?}");
            }
        }
    }
}

#[test]
fn variant_selects_imported_and_exported_positions() {
    let scratch = Scratch::new();
    let [both, file, part] = ["both", "file", "part"].map(|name| scratch.path(name));
    build(text(&both), "freestyle-15", "h8", 3);
    build(text(&both), "surakarta", "", 4);
    for format in ["json", "csv"] {
        for (variant, positions, others) in [("freestyle-15", 3, 4), ("surakarta", 4, 3)] {
            let exported =
                kagetsu!("export --format {format} --book {both} --variant {variant} {file}");
            assert_eq!(exported.code, Some(0), "{exported:#?}");
            for says in [
                format!("{positions} positions\n"),
                format!("{others} positions of other games"),
            ] {
                assert!(exported.stdout.contains(&says), "{exported:#?}");
            }
            std::fs::remove_file(&file).expect("it was written");
        }
        kagetsu!("export --format {format} --book {both} {file}").ok();
        let import =
            kagetsu!("import --format {format} --book {part} --variant surakarta {file} --json");
        let found = import.json();
        let lost = &found["losses"]["positions_of_other_games"];
        assert_eq!(
            json!([found["read"], found["positions"], lost]),
            json!([4, 4, 3])
        );
        std::fs::remove_file(&file).expect("it was written");
        std::fs::remove_dir_all(&part).expect("it was made");
    }
    for format in ["json", "csv", "yxdb", "lib", "openings"] {
        refused(
            &kagetsu!("export --format {format} --book {both} --variant standard-19 {file}"),
            &["standard-19", "freestyle-15"],
        );
        assert!(!file.exists());
    }
}

#[test]
fn tree_shows_played_and_bounded_moves() {
    let scratch = Scratch::new();
    let (book, file) = (scratch.path("book"), scratch.path("file"));
    std::fs::write(&file, "h8 i9 h9\nh8 i9 g7\nh8 i9 h9\nh8 j8\n").expect("room for it");
    kagetsu!("import --format lines --variant freestyle-15 --book {book} {file}").ok();
    let tree = || {
        let tree = kagetsu!("tree --book {book} --variant freestyle-15 --moves h8 --plies 2");
        assert_eq!(tree.code, Some(0), "{tree:#?}");
        tree.stdout
            .lines()
            .skip(1)
            .map(str::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        tree(),
        [
            "  i9  made 3 times",
            "    h9  made 2 times",
            "    g7  made once",
            "  j8  made once"
        ]
    );
    // A search has another best move, and gives these an upper bound.
    let mut board = ["..............."; 15];
    board[7] = ".......X.......";
    let of = |name: &str, score: i32, bound: &str| {
        json!({"move": name, "score": score, "bound": bound, "depth": 9, "nodes": 1, "line": [], "proof": "none",
            "engine": "other", "date": "2026-11-21"})
    };
    let answers = [
        of("h9", 30, "exact"),
        of("i9", 30, "upper"),
        of("j8", -5, "lower"),
        of("k8", 30, "upper"),
    ];
    let record =
        json!({"variant": "freestyle-15", "board": board, "side": "second", "answers": answers});
    std::fs::write(&file, record.to_string()).expect("room for it");
    kagetsu!("import --format json --book {book} {file}").ok();
    let expected = [
        "  h9  +0.30  depth 9",
        "  j8  at least -0.05  depth 9",
        "  i9  at most +0.30  depth 9",
    ];
    assert_eq!(tree()[..3], expected);
}

#[test]
fn import_names_bad_line_and_keeps_earlier_ones() {
    let scratch = Scratch::new();
    let [own, file, copy] = ["own", "file", "copy"].map(|name| scratch.path(name));
    build(text(&own), "freestyle-15", "h8", 5);
    kagetsu!("export --format json --book {own} {file}").ok();
    let good = std::fs::read(&file).expect("written");
    let lines: Vec<&[u8]> = good.split_inclusive(|byte| *byte == b'\n').collect();
    for wrong in [
        &b"{}\n"[..],
        b"\xff\n",
        b"[1, 2\n",
        &lines[0][..lines[0].len() / 2],
    ] {
        let _ = std::fs::remove_dir_all(&copy);
        std::fs::write(&file, [lines[0], lines[1], wrong].concat()).expect("room for it");
        let import = kagetsu!("import --format json --book {copy} {file}");
        assert_eq!(import.code, Some(2), "{import:#?}");
        assert!(
            import.stderr.contains("line 3") && import.stderr.contains("2 positions before it"),
            "{import:#?}"
        );
        let found = differences(text(&own), text(&copy));
        assert_fields(&found, &json!({"only_a": 3, "only_b": 0}));
        assert_clean(text(&copy));
    }
}

#[test]
fn failed_start_leaves_no_empty_book() {
    let scratch = Scratch::new();
    let [own, held, new, empty, file] =
        ["own", "held", "new", "empty", "file"].map(|name| scratch.path(name));
    let [own, held, new, empty, file] = [&own, &held, &new, &empty, &file].map(|path| text(path));
    build(own, "freestyle-15", "h8", 5);
    let mut holder = Program::Coordinator.start(&["--book", held, "--listen", "127.0.0.1:0"]);
    holder.address();
    std::fs::write(file, "{}\n").expect("room for it");
    let exported = kagetsu(&["export", "--format", "json", "--book", own, "-"]).stdout;
    let unsaid = scratch.path("unsaid");
    let answers = exported.find("\"answers\":").expect("a record");
    std::fs::write(
        &unsaid,
        format!("{}\"answers\":[]}}\n", &exported[..answers]),
    )
    .expect("room for it");
    for (command, why) in [
        (words!("merge --into {new} {held}"), "is open in process"),
        (words!("merge --into {new} {file}"), "is a file"),
        (words!("import --format json --book {new} {file}"), "line 1"),
        (
            words!("import --format json --book {new} {unsaid}"),
            "line 1",
        ),
        (
            words!("build --deepen --variant freestyle-15 --depth 4 --book {new}"),
            "there is no book at",
        ),
        (
            words!("build --variant xiangqi --depth 1 --max-ply 3 --book {new}"),
            "max_ply: xiangqi does not tell",
        ),
    ] {
        refused(&Program::Kagetsu.run(&command), &[why]);
        assert!(!Path::new(new).exists(), "{command:?}");
    }
    // An existing folder stays unchanged.
    std::fs::create_dir(empty).expect("room");
    let is_held = |run| refused(&run, &["is open in process"]);
    is_held(kagetsu!("merge --into {empty} {held}"));
    assert_eq!(std::fs::read_dir(empty).expect("it is there").count(), 0);
    // The content of an earlier book is still in it.
    is_held(kagetsu!("merge --into {new} {own} {held}"));
    assert_eq!(differences(own, new)["same"], json!(5));
    is_held(kagetsu!("merge --into {new} {held}"));
    assert_clean(new);
}

#[test]
fn killed_merge_and_import_can_be_repeated() {
    let scratch = Scratch::new();
    let [own, file, copy, merged] =
        ["own", "file", "copy", "merged"].map(|name| scratch.path(name));
    let [own, file, copy, merged] = [text(&own), text(&file), text(&copy), text(&merged)];
    build(own, "freestyle-15", "h8", 150);
    kagetsu(&["export", "--format", "json", "--book", own, file]).ok();
    let import = ["import", "--format", "json", "--book", copy, file];
    let merge = ["merge", "--into", merged, own];
    let mut chance = StdRng::seed_from_u64(3);
    for (command, book) in [(&import[..], copy), (&merge[..], merged)] {
        for _ in 0..8 {
            let mut running = Program::Kagetsu.start(command);
            std::thread::sleep(Duration::from_millis(chance.random_range(0..120)));
            running.kill();
            // Killed before there was a book: nothing to check.
            if Path::new(book).join("journal").exists() {
                assert_clean(book);
            }
        }
        kagetsu(command).ok();
        assert_clean(book);
        kagetsu(&["diff", own, book]).ok();
    }
}

#[test]
fn rapfi_database_round_trips() {
    let raw = kagetsu_builders::needed!(shared_data("gomoku/yxdb/rapfi_search_raw.db"));
    let packed = kagetsu_builders::needed!(shared_data("gomoku/yxdb/rapfi_search_lz4.db"));
    let scratch = Scratch::new();
    let [one, other, again, file, broken] =
        ["one", "other", "again", "out.db", "broken.db"].map(|name| scratch.path(name));
    let import =
        |file: &Path, book: &Path| kagetsu!("import --format yxdb --book {book} {file} --json");
    let read = import(&raw, &one).json();
    assert_eq!(read, import(&packed, &other).json());
    assert_eq!(
        (&read["read"], &read["losses"]["texts"]),
        (&json!(353), &json!(0)),
        "{read}"
    );
    assert_clean(text(&one));
    kagetsu(&["diff", text(&one), text(&other)]).ok();
    // All 941 positions are exported again, and another program reads the same from them.
    let export = kagetsu!("export --format yxdb --book {one} {file}");
    assert!(
        export.code == Some(0) && export.stdout.contains("941 positions"),
        "{export:#?}"
    );
    assert_eq!(import(&file, &again).json(), read);
    let found = differences(text(&one), text(&again));
    assert_fields(&found, &json!({"only_a": 0, "only_b": 0}));
    // A damaged file makes no book.
    let bytes = std::fs::read(&packed).expect("readable");
    std::fs::write(&broken, &bytes[..bytes.len() / 2]).expect("room for it");
    let never = scratch.path("never");
    refused(&import(&broken, &never), &["no database of Yixin or Rapfi"]);
    assert!(!never.exists());
}

#[test]
fn sources_are_read_beside_other_readers() {
    let scratch = Scratch::new();
    let [one, two, both, file] = ["one", "two", "both", "one.kbk"].map(|name| scratch.path(name));
    let lock = one.join("lock");
    let [one, two, both, file] = [text(&one), text(&two), text(&both), text(&file)];
    build(one, "freestyle-15", "h8", 6);
    build(two, "freestyle-15", "h8 h9", 6);
    let reader = std::fs::File::open(lock).expect("a book has a lock");
    reader.lock_shared().expect("no process changes the book");
    for (arguments, code) in [
        (&["merge", "--into", both, one, two][..], 0),
        (&["diff", one, two], 1),
        (&["compile", "--book", one, "--out", file], 0),
        (&["verify", "--book", one], 0),
        (&["jobs", "list", "--book", one], 0),
    ] {
        let done = kagetsu(arguments);
        assert_eq!(done.code, Some(code), "{done:#?}");
    }
    assert_clean(both);
}

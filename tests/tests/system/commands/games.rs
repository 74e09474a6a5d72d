//! Imported games: their players and results, in queries and in files of other programs.

use std::path::Path;

use kagetsu_tests::{Scratch, kagetsu, shared_data};
use serde_json::Value;

use crate::world::{kagetsu, text};

const GAMES: &str = "[Event \"Spring Cup\"]\n[Date \"1997.11.16\"]\n[Round \"3\"]\n[Red \"Hu Ronghua\"]\n\
    [Black \"Lu Qin\"]\n[Result \"1-0\"]\n\n1. C2=5 H8+7 2. H2+3 R9=8 1-0\n\n\
    [Event \"Autumn Cup\"]\n[Date \"2001.03.02\"]\n[Red \"Liu Dahua\"]\n[Black \"Hu Ronghua\"]\n\
    [Result \"1/2-1/2\"]\n\n1. C8=5 H2+3 2. H8+7 C8=5 1/2-1/2\n\n\
    [Event \"Autumn Cup\"]\n[Red \"Xu\"]\n[Black \"Zhao\"]\n[Result \"0-1\"]\n\n1. P3+1 P3+1 0-1\n";

/// Runs a command that prints JSON.
fn json(arguments: &[&str]) -> Value {
    let done = kagetsu(arguments);
    assert_eq!(done.code, Some(0), "{arguments:?}: {done:#?}");
    serde_json::from_str(&done.stdout).expect("JSON")
}

fn import(file: &Path, book: &Path) -> Value {
    let done = kagetsu!("import --format pgn --json --book {book} {file}");
    serde_json::from_str(&done.stdout).expect("JSON")
}

fn games(book: &Path, more: &[&str]) -> Value {
    let query = [
        "query",
        "--book",
        text(book),
        "--variant",
        "xiangqi",
        "--json",
    ];
    json(&[&query[..], more].concat())["games"].clone()
}

#[test]
fn imported_games_are_found_and_written() {
    let scratch = Scratch::new();
    let [file, book] = ["games.pgn", "book"].map(|name| scratch.path(name));
    std::fs::write(&file, GAMES).expect("room");
    assert_eq!(
        import(&file, &book)["games"],
        serde_json::json!({"read": 3, "new": 3})
    );
    assert_eq!(import(&file, &book)["games"]["new"], 0, "they are known");

    // The two cannon moves are the same by symmetry.
    let all = games(&book, &["--games"]);
    assert_eq!(
        (&all["games"], &all["moves"][0]["games"]),
        (&3.into(), &2.into()),
        "{all}"
    );
    assert_eq!(all["moves"][0]["score"], 75.0, "a win and a draw of Red");
    // Results are counts, and no values.
    let query = ["query", "--book", text(&book), "--json"];
    let answer = json(&query);
    let counts = serde_json::json!({"wins": 1, "draws": 1, "losses": 1});
    assert_eq!(
        (&answer["games"], &answer["score"]),
        (&counts, &Value::Null)
    );
    let first = &answer["answers"][0];
    let counts = serde_json::json!({"wins": 1, "draws": 1, "losses": 0});
    assert_eq!((&first["games"], &first["score"]), (&counts, &Value::Null));
    assert_eq!(answer["best"], first["move"], "the most frequent");
    for by in ["value", "games", "both"] {
        let pick = kagetsu!("pick --book {book} --json --by {by} --half-life 2");
        assert_eq!(pick.json()["move"], first["move"], "{by}");
    }
    let listed = all["played"].as_array().expect("games").iter();
    let dates: Vec<_> = listed.map(|game| &game["date"]).collect();
    assert_eq!(dates, ["2001-03-02", "1997-11-16", ""]);
    assert_eq!(all["played"][1]["source"], "games.pgn");
    for (filter, count) in [
        (&["--player", "ronghua"][..], 2),
        (&["--event", "autumn"], 2),
        (&["--event", "autumn", "--result", "second"], 1),
        (&["--result", "unknown"], 0),
        (&["--player", "Hu", "--moves", "h2e2"], 2),
        (&["--player", "Hu", "--moves", "g3g4"], 0),
    ] {
        assert_eq!(games(&book, filter)["games"], count, "{filter:?}");
    }
    let finished = kagetsu!("query --book {book} --notation chinese --games");
    for part in [
        "3 games passed here",
        "炮二平五",
        "75.0%",
        "Hu Ronghua",
        "Spring Cup 3",
        "1-0",
    ] {
        assert!(finished.stdout.contains(part), "{part}: {finished:#?}");
    }

    // Copies of the book have the games.
    let [merged, copy] = ["merged", "copy"].map(|name| scratch.path(name));
    kagetsu(&["merge", "--into", text(&merged), text(&book)]).ok();
    kagetsu(&["backup", "--book", text(&book), "--to", text(&copy)]).ok();
    for other in [&merged, &copy] {
        assert_eq!(
            games(other, &["--games"])["games"],
            3,
            "{}",
            other.display()
        );
    }

    // Each notation is read again.
    let export = ["export", "--format", "pgn", "--book", text(&book)];
    for (notation, part) in [
        ("engine", "H2-E2"),
        ("wxf", "C2=5"),
        ("chinese", "炮二平五"),
    ] {
        let out = scratch.path(&format!("{notation}.pgn"));
        let more = ["--notation", notation, "--json", text(&out)];
        let written = json(&[&export[..], &more].concat());
        assert_eq!(written["written"], 3, "{notation}");
        let pgn = std::fs::read_to_string(&out).expect("written");
        assert!(
            pgn.contains(part) && pgn.contains("[Red \"Hu Ronghua\"]"),
            "{pgn}"
        );
        let again = scratch.path(notation);
        assert_eq!(import(&out, &again)["games"]["new"], 3, "{notation}");
    }
    let line = ["--variant", "xiangqi", "--moves", "g3g4"];
    let part = kagetsu(&[&export[..], &line, &["-"]].concat());
    assert!(
        part.stdout.contains("Zhao") && !part.stdout.contains("Lu Qin"),
        "{part:#?}"
    );

    // Other books have no games, and say so.
    let compiled = scratch.path("book.kbk");
    kagetsu!("compile --games --book {book} --out {compiled}").ok();
    let [own, other] = [&book, &compiled].map(|book| {
        let done = kagetsu!("query --json --variant xiangqi --book {book}").json();
        let first = &done["answers"][0];
        [&done["games"], &first["games"], &done["best"]].map(Value::clone)
    });
    assert!(own == other && own[0]["wins"].is_u64(), "{own:?} {other:?}");
    let place = ["--variant", "xiangqi", "--games"];
    let done = kagetsu(&[&["query", "--book", text(&compiled)][..], &place].concat());
    assert_eq!(done.code, Some(2), "{done:#?}");
    assert!(done.stderr.contains("give the folder"), "{done:#?}");
    let done = kagetsu(&["export", "--format", "sgf", "--book", text(&book), "-"]);
    assert_eq!(done.code, Some(2), "{done:#?}");
    assert!(
        done.stderr.contains("no imported game for --format sgf"),
        "{done:#?}"
    );
}

#[test]
fn games_are_annotated_in_a_batch() {
    let scratch = Scratch::new();
    let [sgf, pgn, out] = ["a.sgf", "b.pgn", "out"].map(|name| scratch.path(name));
    // White lets Black make an open four.
    let game = "(;GM[4]SZ[15]PB[Ann]PW[Bo];B[hh];W[aa];B[ih];W[ac];B[jh];W[ae];B[kh];W[ag];B[lh])";
    std::fs::write(&sgf, game).expect("room");
    std::fs::write(&pgn, GAMES).expect("room");
    let annotate = || kagetsu!("annotate -v freestyle-15 --depth 2 --json --out {out} {sgf}");
    let number = |of: &Value| of.as_f64().expect("a number");
    let counts = |report: &Value| ["games", "moves", "valued"].map(|of| number(&report[0][of]));
    let report = annotate().json();
    assert_eq!(counts(&report), [1.0, 9.0, 9.0]);
    assert!(number(&report[0]["mean_loss"]) > 0.0, "{report}");
    let written = std::fs::read_to_string(out.join("a.annotated.sgf")).expect("written");
    for part in ["PB[Ann]", "V[", "best ", "win in 1"] {
        assert!(written.contains(part), "{part}: {written}");
    }
    // The annotated file is a game again; a file that is there is not replaced.
    let book = scratch.path("book");
    let annotated = out.join("a.annotated.sgf");
    kagetsu!("import --variant freestyle-15 --book {book} {annotated}").ok();
    let done = annotate();
    assert_eq!(done.code, Some(2), "{done:#?}");
    assert!(done.stderr.contains("is there already"), "{done:#?}");

    // A book gives the values that it has, and no search fills in the rest.
    kagetsu!("import --format pgn --book {book} {pgn}").ok();
    let report =
        kagetsu!("annotate --book {book} --notation chinese --json --out {out} {pgn}").json();
    assert_eq!(counts(&report), [3.0, 10.0, 0.0]);
    let written = std::fs::read_to_string(out.join("b.annotated.pgn")).expect("written");
    let has = ["炮二平五", "[Event \"Autumn Cup\"]", "best"].map(|part| written.contains(part));
    assert_eq!(has, [true, true, false], "{written}");
}

#[test]
fn annotation_says_where_a_side_left_the_book() {
    let scratch = Scratch::new();
    let [sgf, other, book, games, out] =
        ["a.sgf", "b.sgf", "book", "games", "out"].map(|name| scratch.path(name));
    std::fs::write(&sgf, "(;GM[4]SZ[15]PB[Ann]PW[Bo];B[aa];W[hh])").expect("room");
    std::fs::write(&other, "(;GM[4]SZ[15];B[hh])").expect("room");
    kagetsu!("build --book {book} --variant freestyle-15 --positions 1 --depth 4").ok();
    kagetsu!("import --variant freestyle-15 --book {games} {other}").ok();
    for (book, has_values) in [(&book, true), (&games, false)] {
        let report = kagetsu!("annotate --book {book} --json --out {out} {sgf}").json();
        let departures = report[0]["departures"].as_array().expect("a list");
        let [left] = &departures[..] else {
            panic!("Bo was never in the book: {report}");
        };
        let left = ["player", "side", "ply", "played"].map(|of| left[of].to_string());
        assert_eq!(left.join(" "), r#""Ann" "first" 1 "a15""#);
        let written = std::fs::read_to_string(out.join("a.annotated.sgf")).expect("written");
        assert_eq!(written.contains("best "), has_values, "{written}");
        std::fs::remove_dir_all(&out).expect("it is there");
    }
    let done = kagetsu!("annotate --book {book} --depth 2 --out {out} {sgf}");
    assert!(
        done.stdout.contains("left the book") && done.stdout.contains("Ann"),
        "{done:#?}"
    );
}

#[test]
fn comments_of_a_book_are_written_as_pgn() {
    let scratch = Scratch::new();
    let [pgn, book, copy, out] = ["a.pgn", "book", "copy", "b.pgn"].map(|name| scratch.path(name));
    let game = "[Red \"Xu\"]\n\n{start} 1. C2=5 {sharp} (1. C8=4 {odd}) H8+7 *\n";
    std::fs::write(&pgn, game).expect("room");
    for done in [
        kagetsu!("import --book {book} {pgn}"),
        kagetsu!("export --tree --book {book} {out}"),
        kagetsu!("import --book {copy} {out}"),
    ] {
        assert_eq!(done.code, Some(0), "{done:#?}");
    }
    let [first, again] = [&book, &copy].map(|book| {
        let at = ["--variant", "xiangqi", "--moves", "h2e2", "--json"];
        let done = json(&[&["query", "--book", text(book)][..], &at].concat());
        done["annotations"][0]["text"].clone()
    });
    assert_eq!((&first, &again), (&"sharp".into(), &"sharp".into()));
    let written = std::fs::read_to_string(&out).expect("written");
    assert!(written.contains("{start}"), "{written}");
    // The words of both are the same, whatever the names of their files.
    let done = kagetsu!("diff {book} {copy}");
    assert_eq!(done.code, Some(0), "{done:#?}");
    std::fs::write(&pgn, game.replace("sharp", "blunt")).expect("room");
    assert_eq!(kagetsu!("import --book {copy} {pgn}").code, Some(0));
    let done = kagetsu!("diff {book} {copy}");
    assert_eq!(done.code, Some(1), "{done:#?}");
    let only = format!("a comment only in {}: blunt", text(&copy));
    assert!(done.stdout.contains(&only), "{done:#?}");
}

#[test]
fn variations_are_annotated_too() {
    let scratch = Scratch::new();
    let [sgf, pgn, out] = ["a.sgf", "b.pgn", "out"].map(|name| scratch.path(name));
    let tree = "(;GM[4]SZ[15]C[a study];B[hh];W[ih](;B[hi]C[solid])(;B[aa];W[ii]))";
    std::fs::write(&sgf, tree).expect("room");
    let tree = "[Red \"Xu\"]\n\n1. C2=5 {sharp} (1. C8=4 H2+3) H8+7 *\n";
    std::fs::write(&pgn, tree).expect("room");
    for (file, variant, moves, variations) in
        [(&sgf, "freestyle-15", 3, 2), (&pgn, "xiangqi", 2, 2)]
    {
        let annotate = ["annotate", "--variant", variant, "--depth", "2", "--json"];
        let done = json(&[&annotate[..], &["--out", text(&out), text(file)]].concat());
        let of = |name: &str| done[0][name].as_u64();
        assert_eq!(
            (of("moves"), of("valued")),
            (Some(moves), Some(moves)),
            "{done}"
        );
        assert_eq!(of("variations"), Some(variations), "{done}");
        assert_eq!(of("valued_variations"), Some(variations), "{done}");
    }
    let written = std::fs::read_to_string(out.join("a.annotated.sgf")).expect("written");
    assert_eq!(written.matches("V[").count(), 5, "{written}");
    for part in ["C[a study]", "C[solid; ", "(;B[hi]", "(;B[aa]", "best "] {
        assert!(written.contains(part), "{part}: {written}");
    }
    let written = std::fs::read_to_string(out.join("b.annotated.pgn")).expect("written");
    for part in ["{sharp; ", "(1. B2-F2 {", "1... H9-G7 {"] {
        let unbroken = written.replace('\n', " ");
        assert!(unbroken.contains(part), "{part}: {written}");
    }
}

#[test]
fn xqf_games_keep_their_players() {
    let file = kagetsu_builders::needed!(shared_data("xiangqi/files/test.xqf"));
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let done = kagetsu!("import --format xqf --book {book} --json {file}").json();
    assert_eq!(
        done["games"],
        serde_json::json!({"read": 1, "new": 1}),
        "{done}"
    );
    let found = games(&book, &["--player", "柳大华", "--moves", "c3c4"]);
    assert_eq!(
        (&found["games"], &found["played"][0]["result"]),
        (&1.into(), &"0-1".into())
    );
    assert_eq!(
        found["played"][0]["moves"].as_array().map(Vec::len),
        Some(110)
    );
}

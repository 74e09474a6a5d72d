//! A book built and read by the command line alone.

use kagetsu_tests::{Program, Scratch, kagetsu, shared_data};
use serde_json::{Value, json};

use crate::world::{BookBuild, assert_clean, assert_fields, refused, text};

const VARIANT: [&str; 2] = ["--variant", "freestyle-15"];

/// Builds a book of freestyle-15, three plies deep, after some moves.
fn grow(book: &str, moves: &str, positions: u32) -> serde_json::Value {
    let build = BookBuild {
        moves,
        positions,
        depth: 3,
        ..BookBuild::H8
    };
    build.run_in(book)
}

fn ask(command: &str, book: &str, more: &[&str]) -> kagetsu_tests::Finished {
    Program::Kagetsu.run(&[&[command, "--book", book], &VARIANT[..], more].concat())
}

#[test]
fn book_is_built_queried_and_checked() {
    let scratch = Scratch::new();
    let path = scratch.path("h8.book");
    let book = path.to_str().expect("a plain name");
    let job = grow(book, "h8", 40);
    assert_fields(&job, &json!({"state": "done", "positions": 40}));

    let answer = ask("query", book, &["--moves", "h8", "--json"]).json();
    assert_fields(
        &answer,
        &json!({"variant": "freestyle-15", "side": "second"}),
    );
    let best = answer["best"].as_str().expect("a best move").to_string();
    // A move with only an upper bound may stand before it.
    let valued = answer["answers"]
        .as_array()
        .and_then(|all| all.iter().find(|a| a["bound"] != "upper"));
    let valued = valued.expect("a move with a value");
    assert_eq!(
        (&valued["move"], &valued["line"][0]),
        (&json!(best), &json!(best)),
        "{answer}"
    );

    let picked = ask("pick", book, &["--moves", "h8"]);
    assert_eq!(
        (picked.code, picked.stdout.trim()),
        (Some(0), best.as_str())
    );
    let by_chance = |seed| {
        ask(
            "pick",
            book,
            &["--moves", "h8", "--temperature", "50", "--seed", seed],
        )
        .stdout
    };
    assert_eq!(by_chance("7"), by_chance("7"));

    let tree = ask("tree", book, &["--moves", "h8", "--plies", "2"]);
    assert!(tree.stdout.contains(&format!("  {best}  ")), "{tree:#?}");

    let stats = Program::Kagetsu
        .run(&["stats", "--book", book, "--json"])
        .json();
    assert_eq!(stats["positions"], json!(40));
    Program::Kagetsu.run(&["check", "--book", book]).ok();
    let jobs = Program::Kagetsu
        .run(&["jobs", "list", "--book", book, "--json"])
        .json();
    assert_eq!(
        (&jobs[0]["state"], &jobs[0]["target"]),
        (&json!("done"), &json!(40)),
        "{jobs}"
    );
}

#[test]
fn repeated_build_adds_nothing_greater_target_resumes() {
    let scratch = Scratch::new();
    let path = scratch.path("book");
    let book = path.to_str().expect("a plain name");
    let grown = |target| grow(book, "h8 i9", target)["positions"].clone();
    assert_eq!(grown(10), json!(10));
    assert_eq!(grown(10), json!(10));
    assert_eq!(grown(25), json!(25));
    let stats = Program::Kagetsu
        .run(&["stats", "--book", book, "--json"])
        .json();
    assert_eq!(stats["positions"], json!(25));
}

#[test]
fn deepening_adds_no_positions() {
    let scratch = Scratch::new();
    let path = scratch.path("book");
    let book = path.to_str().expect("a plain name");
    let build = |more: &[&str]| {
        kagetsu!("build --book {book} --variant freestyle-15 --moves 'h8 i9' --json {more...}")
    };
    let stats = || {
        Program::Kagetsu
            .run(&["stats", "--book", book, "--json"])
            .json()["positions"]
            .clone()
    };
    assert_eq!(
        build(&["--depth", "2", "--positions", "8"]).json()["state"],
        json!("done")
    );
    let deepened = build(&["--deepen", "--depth", "4", "--priority", "-7"]).json();
    assert_fields(&deepened, &json!({"state": "done", "priority": -7}));
    // A move that the deeper search no longer values is not entered.
    let entered = |job: &Value| job["positions"].as_u64().expect("a count");
    assert!((1..=8).contains(&entered(&deepened)), "{deepened}");
    assert_eq!(stats(), json!(8));
    let facts = ask("query", book, &["--moves", "h8 i9", "--json", "--searched"]).json();
    assert_eq!(facts["answers"][0]["depth"], json!(4), "{facts}");
    // A repetition adds nothing, and counts no position twice. It shows answers that came after the
    // end of the job, behind moves that are no longer valued.
    let repeated = build(&["--deepen", "--depth", "4"]).json();
    assert!(
        (entered(&deepened)..=8).contains(&entered(&repeated)),
        "{repeated} after {deepened}"
    );
    assert_eq!(stats(), json!(8));
    // A restart sees positions that came later.
    assert_eq!(
        build(&["--depth", "2", "--positions", "16"]).json()["state"],
        json!("done")
    );
    let again = build(&["--deepen", "--depth", "4"]).json();
    assert_eq!((&again["state"], stats()), (&json!("done"), json!(16)));
    assert!(
        entered(&again) > entered(&deepened),
        "{again} after {deepened}"
    );
    Program::Kagetsu.run(&["check", "--book", book]).ok();

    let spent = build(&["--depth", "2", "--name", "spent", "--total-nodes", "1"]).json();
    assert_fields(&spent, &json!({"state": "done", "total_nodes": 1}));
    assert!(spent["nodes"].as_u64() >= Some(1), "{spent}");
    let name = deepened["name"].as_str().expect("a name");
    let turned = kagetsu!("jobs priority {name} --priority 12 --book {book} --json").json();
    assert_eq!(turned["priority"], json!(12));
    let shown = Program::Kagetsu.run(&["jobs", "show", "spent", "--book", book]);
    assert!(
        shown
            .stdout
            .contains("ends when its searches have visited 1 positions"),
        "{shown:#?}"
    );
    let nowhere = [
        "build",
        "--book",
        book,
        "--variant",
        "freestyle-15",
        "--deepen",
        "--depth",
        "2",
        "--moves",
    ];
    for (line, root) in [
        ("h8 i9 j10", "the root freestyle-15 h8 i9 j10"),
        ("", "the root freestyle-15,"),
    ] {
        crate::world::refused(
            &Program::Kagetsu.run(&[&nowhere[..], &[line]].concat()),
            &["does not hold", root],
        );
    }
    Program::Kagetsu
        .run(&[&nowhere[..], &["a1 b2", "--moves", "h8 i9"]].concat())
        .ok();
    let prove = build(&["--deepen", "--policy", "prove"]);
    refused(&prove, &["another policy"]);
    assert!(!prove.stderr.contains("coordinator"), "{prove:#?}");
    let dated = build(&["--deepen", "--depth", "2", "--before", "2020-02-29"]).json();
    assert!(
        dated["name"]
            .as_str()
            .is_some_and(|name| name.ends_with("-deepen-depth-2-before-2020-02-29")),
        "{dated}"
    );
    refused(&build(&["--before", "2026-01-01"]), &["--deepen"]);
}

#[test]
fn job_shows_settings_and_cancelled_job_ends() {
    let scratch = Scratch::new();
    let path = scratch.path("book");
    let book = path.to_str().expect("a plain name");
    let build = |more: &[&str]| {
        kagetsu!(
            "build --book {book} --variant freestyle-15 --moves 'h8 i9' --name mine
            {more...}"
        )
    };
    let jobs = |what: &str, more: &[&str]| {
        Program::Kagetsu.run(&[&["jobs", what, "mine", "--book", book], more].concat())
    };
    let settings = [
        "--depth",
        "2",
        "--alpha",
        "2.5",
        "--margin",
        "70",
        "--exclude",
        "h8 i9 a1",
        "--positions",
        "2",
    ];
    assert_eq!(build(&settings).code, Some(0));
    let shown = jobs("show", &["--json"]).json();
    assert_eq!(
        (
            &shown["settings"]["roots"],
            &shown["settings"]["alpha"],
            &shown["settings"]["margin"]
        ),
        (&json!(["h8 i9"]), &json!(2.5), &json!(70))
    );
    let settings_line = "started with --moves \"h8 i9\" --policy drop-out --alpha 2.5 --depth 2 --top 3 --margin 70 --exclude \"";
    let shown = jobs("show", &[]);
    assert!(shown.stdout.contains(settings_line), "{shown:#?}");
    let differs = build(&["--depth", "2"]);
    refused(&differs, &["`kagetsu jobs show mine`"]);
    // A finished job cannot be cancelled.
    let more = [
        &settings[..8],
        &["--positions", "100000", "--time", "100ms"],
    ]
    .concat();
    assert_eq!(build(&more).code, Some(0));
    assert_eq!(jobs("cancel", &[]).code, Some(0));
    for over in [jobs("resume", &[]), jobs("retry", &[]), build(&settings)] {
        let is_explained = over.stderr.contains("the job 'mine' is cancelled")
            && over.stderr.contains("another --name");
        assert!(
            over.code == Some(2) && over.stdout.is_empty() && is_explained,
            "{over:#?}"
        );
    }
}

#[test]
fn symmetric_and_transposed_lines_share_a_record() {
    let scratch = Scratch::new();
    let path = scratch.path("book");
    let book = path.to_str().expect("a plain name");
    grow(book, "h8 i9 j8", 1);
    let of = |line| ask("query", book, &["--moves", line, "--json"]).json();
    let (found, turned) = (of("h8 i9 j8"), of("j8 i7 h8"));
    assert_eq!(
        (&found["key"], &found["score"]),
        (&turned["key"], &turned["score"])
    );
    assert_eq!(ask("query", book, &["--moves", "h8 i9"]).code, Some(1));
}

#[test]
fn real_openings_build_in_one_run() {
    let lists = [
        ("gomocup-2026-15x15.json", "freestyle-15"),
        ("piskvork_openings.txt", "freestyle-20"),
    ];
    for (name, variant) in lists {
        let Some(roots) = shared_data(&format!("gomoku/openings/{name}")) else {
            continue;
        };
        let scratch = Scratch::new();
        let book = scratch.text("book");
        let build = BookBuild {
            variant,
            moves: "",
            positions: 60,
            ..BookBuild::H8
        };
        let job = build.run(&["--roots", text(&roots), "--book", &book]);
        assert_eq!(job["positions"], json!(60), "{name}: {job}");
        assert_clean(&book);
    }
}

#[test]
fn example_roots_are_built() {
    let scratch = Scratch::new();
    let roots = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../examples/gomoku-openings.txt"
    );
    let build = BookBuild {
        moves: "",
        positions: 20,
        ..BookBuild::H8
    };
    let job = build.run(&["--roots", roots, "--book", &scratch.text("book")]);
    assert_eq!(job["positions"], json!(20), "{job}");
}

#[test]
fn suspects_are_deepened() {
    let scratch = Scratch::new();
    let (book, roots) = (scratch.text("book"), scratch.text("roots.txt"));
    grow(&book, "h8", 12);
    let top = ["--moves", "h8", "--top", "3"];
    let listed = ask("suspects", &book, &[&top[..], &["--json"]].concat()).json();
    let listed = listed["suspects"].as_array().expect("positions").clone();
    assert!(!listed.is_empty());
    let text = ask("suspects", &book, &top).ok().stdout;
    assert!(text.contains("  # doubt "), "{text}");
    std::fs::write(&roots, text).expect("room");
    // The listed positions and no others are searched deeper.
    let deepen = ["--deepen", "--roots", &roots, "--depth", "7"];
    let count = listed.len().to_string();
    let done = ask(
        "build",
        &book,
        &[&deepen[..], &["--positions", &count, "--json"]].concat(),
    );
    assert_fields(
        &done.json(),
        &json!({"state": "done", "positions": listed.len()}),
    );
    for suspect in listed {
        let moves = suspect["moves"].as_array().expect("moves").iter();
        let line: Vec<&str> = moves.filter_map(serde_json::Value::as_str).collect();
        let facts = ["--moves", &line.join(" "), "--json", "--searched"];
        let known = ask("query", &book, &facts).json();
        assert!(known["answers"][0]["depth"].as_u64() >= Some(7), "{known}");
    }
}

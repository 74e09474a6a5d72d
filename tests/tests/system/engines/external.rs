//! Engines of other programs as workers, in real processes.

use std::path::PathBuf;

use kagetsu_tests::{Program, Running, Scratch, kagetsu, stub_engine, words};
use serde_json::json;

use crate::world::{BookBuild, Cluster, assert_clean, assert_fields, refused, until};

/// Returns the path of Fairy-Stockfish; prints a line if it is not installed.
fn fairy_stockfish() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/games")]);
    let found = folders
        .map(|folder| folder.join("fairy-stockfish"))
        .find(|program| program.exists());
    if found.is_none() {
        kagetsu_builders::skip("fairy-stockfish");
    }
    found
}

fn worker(url: &str, engine: &str, more: &[&str]) -> Running {
    Program::Worker.start(
        &[
            &["--coordinator", url, "--slots", "2", "--engine", engine],
            more,
        ]
        .concat(),
    )
}

#[test]
fn fairy_stockfish_builds_a_xiangqi_book() {
    let engine = kagetsu_builders::needed!(fairy_stockfish());
    let scratch = Scratch::new();
    let path = scratch.path("xiangqi.book");
    let book = path.to_str().expect("a plain name");
    let cluster = Cluster::start(&path);
    let engine = format!("uci:'{}'", engine.display());
    let workers = [
        worker(&cluster.url, &engine, &[]),
        worker(&cluster.url, &engine, &["--engine-option", "Hash=16"]),
    ];
    let build = [
        "build",
        "--coordinator",
        &cluster.url,
        "--variant",
        "xiangqi",
        "--positions",
        "100",
        "--depth",
        "5",
    ];
    let job = Program::Kagetsu
        .run(&[&build[..], &["--json"]].concat())
        .json();
    assert_fields(&job, &json!({"state": "done", "positions": 100}));
    drop(workers);
    cluster.stop();

    let answer = Program::Kagetsu
        .run(&["query", "--book", book, "--variant", "xiangqi", "--json"])
        .json();
    // A move with only an upper bound may stand before the best.
    let answers = answer["answers"].as_array().expect("a list");
    let best = answers
        .iter()
        .find(|a| a["bound"] != "upper")
        .expect("a move with a value");
    let by = best["engine"].as_str().expect("a name");
    assert!(by.starts_with("Fairy-Stockfish"), "{by}");
    assert!(
        best["depth"].as_u64() >= Some(5)
            && best["nodes"].as_u64() > Some(0)
            && best["proof"] == "none",
        "{best}"
    );
    assert_eq!(best["line"][0], best["move"]);
    assert!(answers.len() > 3, "every move has a bound: {answer}");
    Program::Kagetsu.run(&["check", "--book", book]).ok();
}

#[test]
fn fairy_stockfish_works_without_a_cluster() {
    let engine = kagetsu_builders::needed!(fairy_stockfish());
    let engine = format!("uci:'{}'", engine.display());
    let scratch = Scratch::new();
    let path = scratch.path("book");
    let common = [
        "--variant",
        "xiangqi",
        "--engine",
        &engine,
        "--threads",
        "1",
        "--json",
    ];
    let analyze = Program::Kagetsu
        .run(&[&["analyze", "--depth", "6", "--moves", "h2e2"], &common[..]].concat())
        .json();
    let names =
        |answer: &serde_json::Value| answer["answers"][0]["engine"].as_str().map(String::from);
    assert!(
        names(&analyze).is_some_and(|name| name.starts_with("Fairy")),
        "{analyze}"
    );
    let book = path.to_str().expect("a plain name");
    let job = kagetsu!(
        "build --book {book} --moves h2e2 --nodes 2000 --positions 5
        {common...}"
    )
    .json();
    assert_fields(&job, &json!({"state": "done", "positions": 5}));
}

#[test]
fn own_gomocup_engine_serves_as_external_engine() {
    let program = Program::Pbrain
        .command(&[])
        .get_program()
        .to_string_lossy()
        .into_owned();
    let engine = format!("gomocup:'{program}' --table-mib 4");
    for variant in ["freestyle-15", "standard-15", "renju-15"] {
        // Black has an open three: White must answer it, and reports it over the pipe.
        let answer = kagetsu!(
            "analyze --variant {variant} --moves 'h8 a1 h9 a15 h10' --depth
            4 --engine {engine} --threads 1 --json"
        )
        .json();
        let best = &answer["answers"][0];
        let m = best["move"].as_str().expect("a move");
        assert!(["h6", "h7", "h11", "h12"].contains(&m), "{variant}: {best}");
        assert!(
            best["engine"]
                .as_str()
                .is_some_and(|name| name.starts_with("Kagetsu")),
            "{best}"
        );
    }
    // The engine has Yixin's extensions: one search gives three lines.
    let three = [
        "analyze",
        "--variant",
        "freestyle-15",
        "--moves",
        "h8 i9 h10",
        "--depth",
        "4",
        "--top",
        "3",
    ];
    let answer = Program::Kagetsu
        .run(
            &[
                &three[..],
                &["--engine", &engine, "--threads", "1", "--json"],
            ]
            .concat(),
        )
        .json();
    let exact = |rank: usize| {
        answer["answers"][rank]["bound"] == "exact" && answer["answers"][rank]["depth"] == 4
    };
    assert!((0..3).all(exact) && !exact(3), "{answer}");
    let scratch = Scratch::new();
    let path = scratch.path("book");
    let book = path.to_str().expect("a plain name");
    let build = BookBuild {
        depth: 3,
        ..BookBuild::H8
    };
    let job = build.run(&["--book", book, "--engine", &engine]);
    assert_eq!(job["positions"], json!(5), "{job}");
    assert_clean(book);
}

#[test]
fn workers_get_the_variants_of_their_engines() {
    let scratch = Scratch::new();
    let path = scratch.path("both.book");
    let book = path.to_str().expect("a plain name");
    let cluster = Cluster::start(&path);
    let stub = |protocol: &str, mode: &str| {
        format!("{protocol}:'{}' {protocol} {mode}", stub_engine().display())
    };
    let workers = [
        worker(
            &cluster.url,
            &stub("gomocup", "yixin"),
            &["--variant", "standard-15"],
        ),
        worker(&cluster.url, &stub("ucci", "good"), &[]),
    ];
    let variants = ["standard-15", "xiangqi"];
    let builds = variants.map(|variant| {
        let build = [
            "build",
            "--coordinator",
            &cluster.url,
            "--variant",
            variant,
            "--positions",
            "30",
            "--depth",
            "2",
        ];
        Program::Kagetsu.start(&build)
    });
    for mut build in builds {
        assert!(build.wait().success());
    }
    drop(workers);
    cluster.stop();
    for (variant, name) in variants.into_iter().zip(["Stub yixin 1", "Stub good"]) {
        let answer = Program::Kagetsu
            .run(&["query", "--book", book, "--variant", variant, "--json"])
            .json();
        assert_eq!(answer["answers"][0]["engine"], name, "{answer}");
    }
    let stats = Program::Kagetsu
        .run(&["stats", "--book", book, "--json"])
        .json();
    assert_eq!(stats["positions"], json!(60), "none was set aside");
}

#[test]
fn faulty_engine_is_refused_by_name() {
    let scratch = Scratch::new();
    let book = scratch.path("book").display().to_string();
    let stub = |mode: &str| format!("uci:'{}' uci {mode}", stub_engine().display());
    let illegal = "the engine Stub illegal-check played 'a0a9'";
    let rows: [(&[&str], &str, &str); 5] = [
        (
            &["analyze", "--variant", "xiangqi"],
            "illegal-check",
            illegal,
        ),
        (
            &["build", "--book", &book, "--variant", "xiangqi"],
            "illegal-check",
            illegal,
        ),
        (
            &["analyze", "--variant", "freestyle-15"],
            "good",
            "the engine Stub good does not play freestyle-15",
        ),
        (
            &["analyze", "--variant", "xiangqi"],
            "chess",
            "played 'e2e4' in xiangqi, which is not legal",
        ),
        (
            &[
                "analyze",
                "--variant",
                "xiangqi",
                "--coordinator",
                "http://127.0.0.1:1",
            ],
            "good",
            "kagetsu-worker --engine",
        ),
    ];
    for (command, mode, words) in rows {
        let engine = stub(mode);
        let refused =
            Program::Kagetsu.run(&[command, &["--depth", "3", "--engine", &engine]].concat());
        assert_eq!(refused.code, Some(2), "{refused:#?}");
        assert!(refused.stderr.contains(words), "{refused:#?}");
    }
    let engine = stub("chess");
    let worker = Program::Worker.run(&["--coordinator", "http://127.0.0.1:1", "--engine", &engine]);
    assert_eq!(worker.code, Some(2), "{worker:#?}");
    let unknown = Program::Worker.run(&["--engine", "xboard:gnuchess"]);
    refused(&unknown, &["gomocup:, uci: or ucci:"]);
}

/// A process as Linux describes it. Another process may get its number later, but not its start
/// time.
#[cfg(target_os = "linux")]
struct Status {
    id: u32,
    state: String,
    parent: u32,
    begun: u64,
}

#[cfg(target_os = "linux")]
impl Status {
    /// Returns `None` after the process has gone.
    fn of(id: u32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // From the third field of proc(5) on: the second is a name and may contain anything.
        let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        Some(Self {
            id,
            state: fields[0].into(),
            parent: number(4)? as u32,
            begun: number(22)?,
        })
    }

    fn has_ended(&self) -> bool {
        Self::of(self.id)
            .is_none_or(|now| now.begun != self.begun || ["Z", "X"].contains(&now.state.as_str()))
    }
}

/// Returns the child processes of `parent`.
#[cfg(target_os = "linux")]
fn children(parent: u32) -> Vec<Status> {
    let all = std::fs::read_dir("/proc")
        .expect("Linux")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    all.filter_map(Status::of)
        .filter(|status| status.parent == parent)
        .collect()
}

#[cfg(target_os = "linux")]
#[test]
fn no_engine_outlives_its_worker() {
    use nix::sys::signal::Signal;
    let scratch = Scratch::new();
    let cluster = Cluster::start(&scratch.path("book"));
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        let engine = format!("uci:'{}' uci hang", stub_engine().display());
        let mut worker = worker(&cluster.url, &engine, &["--grace", "0s"]);
        let engines = until("the engine has started", || {
            Some(children(worker.id())).filter(|all| !all.is_empty())
        });
        worker.signal(signal);
        worker.wait();
        until("the engines are gone", || {
            engines.iter().all(Status::has_ended).then_some(())
        });
    }
    cluster.stop();
}

#[test]
fn match_plays_another_program() {
    let scratch = Scratch::new();
    let openings = scratch.path("openings.txt");
    std::fs::write(&openings, "h8 i9 g7\n").expect("a file");
    let openings = openings.to_str().expect("a plain name");
    let play = |against: &str, limits: &[&str]| {
        Program::Bench.run(&words!(
            "match table=8MiB --against {against} --openings {openings} --threads 1
            {limits...}"
        ))
    };
    let pbrain = Program::Pbrain.command(&[]);
    let pbrain = format!(
        "gomocup:'{}' --table-mib 8",
        pbrain.get_program().to_string_lossy()
    );
    for limit in [["--against-nodes", "200"], ["--against-time", "20ms"]] {
        let limits = [&["--nodes", "500", "--json"], &limit[..]].concat();
        let played = play(&pbrain, &limits);
        assert_eq!(played.code, Some(0), "{played:?}");
        let found = played.json();
        let count = |name: &str| found[name].as_u64().expect("a number of games");
        let games = count("wins") + count("draws") + count("losses");
        assert_eq!(games, 2, "{}", played.stdout);
    }
    // Kagetsu's own settings as B have no limits of their own.
    for limit in [["--against-nodes", "200"], ["--against-time", "20ms"]] {
        let refused = Program::Bench.run(&words!(
            "match default default --nodes 5 --pairs 1 {limit...}"
        ));
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains(limit[0]), "{refused:?}");
    }
    let ended = play("gomocup:true", &["--nodes", "500"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("true has ended"), "{ended:?}");
}

#[test]
fn match_plays_from_a_book_of_each_side() {
    let scratch = Scratch::new();
    let plain = |name: &str| {
        let path = scratch.path(name);
        path.to_str().expect("a plain name").to_string()
    };
    let (file, book, openings) = (plain("game.txt"), plain("book"), plain("openings.txt"));
    // Both sides have four in a row, and the book plays elsewhere.
    let line = "h8 h1 i8 i1 j8 j1 k8 k1";
    std::fs::write(&openings, format!("{line}\n")).expect("room");
    std::fs::write(&file, format!("{line} a15 0-1\n")).expect("room");
    let import = ["import", "--format", "lines", "--book", &book, &file];
    Program::Kagetsu
        .run(&[&import[..], &["--variant", "freestyle-15"]].concat())
        .ok();
    for (books, wins, losses) in [
        (&[][..], 1, 1),
        (&["--book", &book], 0, 2),
        (&["--against-book", &book], 2, 0),
        (&["--book", &book, "--against-book", &book], 1, 1),
    ] {
        let openings = ["--openings", &openings, "--play-out", "--json"];
        let played = Program::Bench
            .run(&words!(
                "match default default --nodes 300 --threads 1 {openings...}
            {books...}"
            ))
            .ok();
        let score = played.json();
        assert_eq!(
            (&score["wins"], &score["losses"]),
            (&json!(wins), &json!(losses)),
            "{books:?}: {score}"
        );
    }
}

//! The HTTP API of coordinators and readers.

use kagetsu_tests::{Program, Running, Scratch, events, http, kagetsu};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::world::{BookBuild, serve, until, worker};

/// A coordinator with HTTP on a free port.
pub(crate) struct HttpCoordinator {
    pub(crate) coordinator: Running,
    pub(crate) grpc: String,
    pub(crate) http: String,
}

impl HttpCoordinator {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let all = [
            arguments,
            &["--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"],
        ]
        .concat();
        let mut coordinator = Program::Coordinator.start(&all);
        let grpc = coordinator.address();
        let line = coordinator.line();
        let http = line
            .strip_prefix("http on ")
            .unwrap_or_else(|| panic!("no address in '{line}'"))
            .to_string();
        Self {
            coordinator,
            grpc,
            http,
        }
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let answered = http(&self.http, "GET", path, "");
        assert_eq!(answered.status, 200, "{answered:#?}");
        answered.json()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        let answered = http(&self.http, "POST", path, &body.to_string());
        assert!(answered.status < 300, "{answered:#?}");
        answered.json()
    }
}

#[test]
fn build_is_started_and_watched_over_http() {
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let mut server = HttpCoordinator::start(&["--book", book.to_str().expect("a plain name")]);
    assert_eq!(server.get("/api/v1/jobs"), json!([]));
    let _worker = worker(&server.grpc);
    until("the worker", || {
        server
            .get("/api/v1/workers")
            .as_array()
            .is_some_and(|all| all.len() == 1)
            .then_some(())
    });

    let body = json!({"name": "test", "variant": "freestyle-15", "roots": ["h8"], "positions": 12, "depth": 2});
    assert_eq!(server.post("/api/v1/jobs", &body)["name"], "test");
    let mut seen = Vec::new();
    events(
        &server.http,
        "GET",
        "/api/v1/jobs/test/events",
        "",
        |name, job| {
            assert_eq!(name, "job");
            seen.push(job["positions"].as_u64().expect("a number"));
            job["state"] == "done"
        },
    );
    assert!(seen.is_sorted() && seen.last() == Some(&12), "{seen:?}");

    let url = "/api/v1/book?variant=freestyle-15&moves=h8";
    let grpc = &server.grpc;
    let finished = kagetsu!("query --book {grpc} --variant freestyle-15 --moves h8 --json");
    assert_eq!(
        server.get(url),
        finished.json(),
        "the same JSON as the command's"
    );
    assert_eq!(server.get("/api/v1/status")["positions"], 12);
    let listed = Program::Kagetsu
        .run(&["jobs", "list", "--coordinator", &server.grpc, "--json"])
        .json();
    assert_eq!(
        server.get("/api/v1/jobs")[0]["positions"],
        listed[0]["positions"]
    );
    let history = until("a point of the history", || {
        let history = server.get("/api/v1/jobs/test/history");
        history.as_array().and_then(|points| points.last().cloned())
    });
    assert!(history["at_ms"].is_u64(), "{history}");
    let ways = server.get("/api/v1/transpositions?variant=freestyle-15&moves=");
    assert!(
        ways["behind"].as_array().is_some_and(|all| all.len() == 1),
        "{ways}"
    );

    let refused = http(&server.http, "POST", "/api/v1/jobs/none/pause", "{}");
    assert_eq!(
        (refused.status, &refused.json()["error"]["code"]),
        (404, &"not_found".into())
    );
    server.coordinator.signal(Signal::SIGTERM);
    assert_eq!(server.coordinator.wait().code(), Some(0), "a clean stop");
}

#[test]
fn builds_of_every_policy_start_over_http() {
    let scratch = Scratch::new();
    let (book, game) = (scratch.path("book"), scratch.path("game"));
    let (book, game) = (
        book.to_str().expect("a plain name"),
        game.to_str().expect("a plain name"),
    );
    // The book holds the root without an answer, as a played game.
    std::fs::write(game, "h8 i9\n").expect("room for it");
    kagetsu!("import --format lines --variant freestyle-15 --book {book} {game}").ok();
    let server = HttpCoordinator::start(&["--book", book]);
    // Without a worker the jobs stay as they were started.
    let common = json!({"variant": "freestyle-15", "roots": ["h8"]});
    let with = |more: Value| {
        let mut all = common.clone();
        let fields = all.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        all
    };
    let rows = [
        json!({"name": "usual", "priority": -5, "total_nodes": 1_000_000, "until_stable": 50}),
        json!({"name": "one side", "policy": "one-side", "side": "second", "margin": 40, "noise": 0.5, "seed": 3,
            "exclude": ["h8 i9"], "cover": ["h8 h9 h10"]}),
        json!({"name": "proof", "policy": "prove", "priority": 100}),
        json!({"name": "deeper", "deepen": {"depth": 8, "before": "2026-01-01", "engine": "kagetsu 0.1.0"}}),
    ];
    for row in rows {
        let started = server.post("/api/v1/jobs", &with(row.clone()));
        for field in ["name", "priority", "total_nodes", "until_stable"] {
            let usual = if field == "priority" {
                json!(0)
            } else {
                Value::Null
            };
            assert_eq!(
                started[field],
                row.get(field).cloned().unwrap_or(usual),
                "{field} of {started}"
            );
        }
        // The same settings name the same job; other settings are a conflict.
        assert_eq!(
            server.post("/api/v1/jobs", &with(row.clone()))["name"],
            row["name"]
        );
        let other = with(json!({"name": row["name"], "policy": "one-side", "margin": 7}));
        assert_eq!(
            http(&server.http, "POST", "/api/v1/jobs", &other.to_string()).status,
            409,
            "{other}"
        );
    }
    let jobs = server.get("/api/v1/jobs");
    // Each job waits at its roots.
    let states: Vec<_> = jobs
        .as_array()
        .expect("jobs")
        .iter()
        .map(|job| (&job["state"], &job["frontier"]))
        .collect();
    let running = json!("running");
    assert_eq!(
        states,
        [1, 3, 1, 1]
            .map(|waiting| json!(waiting))
            .iter()
            .map(|waiting| (&running, waiting))
            .collect::<Vec<_>>()
    );
    assert_eq!(
        server.post("/api/v1/jobs/usual/priority", &json!({"priority": 9}))["priority"],
        9
    );
    let settings = &server.get("/api/v1/jobs/one%20side")["settings"];
    let counts = ["root_count", "exclude_count", "seed"].map(|what| settings[what].as_u64());
    assert_eq!(
        (&settings["policy"], &settings["side"], counts),
        (&json!("one-side"), &json!("second"), [3, 1, 3].map(Some))
    );
    let deeper = &server.get("/api/v1/jobs/deeper")["settings"]["deepen"];
    assert_eq!(
        deeper,
        &json!({"depth": 8, "before": "2026-01-01", "engine": "kagetsu 0.1.0"})
    );
    let wrong = [
        (json!({"name": "x", "policy": "best"}), 400, "policy"),
        (json!({"name": "x", "priority": 101}), 400, "-100 to 100"),
        (
            json!({"name": "x", "deepen": {"before": "yesterday"}}),
            400,
            "yesterday",
        ),
        (
            json!({"name": "x", "deepen": {"depth": 8}, "policy": "prove"}),
            400,
            "another policy",
        ),
        (
            json!({"name": "x", "deepen": {"depth": 8}, "roots": ["a1"]}),
            409,
            "does not hold the root freestyle-15 a1",
        ),
        (json!({"name": "x", "exclude": ["h8 h8"]}), 400, "taken"),
        (
            json!({"name": "x", "exclude": ["h8"]}),
            400,
            "never entered",
        ),
    ];
    for (row, status, what) in wrong {
        let refused = http(
            &server.http,
            "POST",
            "/api/v1/jobs",
            &with(row.clone()).to_string(),
        );
        let message = refused.json()["error"]["message"].to_string();
        assert!(
            refused.status == status && message.contains(what),
            "{row}: {refused:#?}"
        );
    }
}

#[test]
fn analysis_over_http_ends_with_its_client() {
    let mut server = HttpCoordinator::start(&[]);
    let _worker = worker(&server.grpc);
    let body = json!({"variant": "renju-15", "moves": "h8 h9", "depth": 3, "top": 2}).to_string();
    let mut last = Value::Null;
    events(
        &server.http,
        "POST",
        "/api/v1/analyses",
        &body,
        |name, answer| {
            assert_eq!(name, "answer", "{answer}");
            last = answer.clone();
            answer["is_final"] == true
        },
    );
    assert_eq!(last["is_final"], true);
    assert_eq!(
        (&last["depth"], &last["variant"]),
        (&3.into(), &"renju-15".into())
    );
    // The analysis ends when its client disconnects.
    let body = json!({"variant": "freestyle-15", "moves": "h8", "depth": 60}).to_string();
    events(
        &server.http,
        "POST",
        "/api/v1/analyses",
        &body,
        |_, answer| answer["workers"] == 1,
    );
    until("the worker to be free", || {
        (server.get("/api/v1/workers")[0]["tasks"] == 0).then_some(())
    });
    let refused = http(
        &server.http,
        "POST",
        "/api/v1/analyses",
        "{\"variant\": \"freestyle-15\"}",
    );
    assert_eq!(refused.status, 400, "{refused:#?}");
    assert!(refused.body.contains("an effort is needed"), "{refused:#?}");
    let refused = http(&server.http, "GET", "/api/v1/book?variant=freestyle-15", "");
    assert_eq!(refused.status, 409, "{refused:#?}");
    server.coordinator.signal(Signal::SIGTERM);
    assert_eq!(server.coordinator.wait().code(), Some(0), "a clean stop");
}

#[test]
fn http_beyond_loopback_needs_a_flag() {
    let run = Program::Coordinator.run(&["--listen", "127.0.0.1:0", "--http", "0.0.0.0:0"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("--insecure"), "{run:#?}");
    let run = Program::Coordinator.run(&["--listen", "127.0.0.1:0", "--http", "nowhere"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("127.0.0.1:7616"), "{run:#?}");
}

#[test]
fn reader_serves_a_book_read_only() {
    let scratch = Scratch::new();
    let (book, file) = (scratch.path("book"), scratch.path("book.kbk"));
    let (book, file) = (
        book.to_str().expect("a plain name"),
        file.to_str().expect("a plain name"),
    );
    let place = ["--variant", "freestyle-15", "--moves", "h8"];
    BookBuild::H8.run_in(book);
    Program::Kagetsu
        .run(&["compile", "--book", book, "--out", file])
        .ok();
    let query = |book: &str| {
        Program::Kagetsu
            .run(&[&["query", "--json", "--book", book], &place[..]].concat())
            .json()
    };
    for served in [book, file] {
        let expected = query(served);
        let (mut server, grpc, at) = serve(served, &[]);
        let at = &*at;
        assert_eq!(query(&grpc), expected, "{served}");
        let answered = http(at, "GET", "/api/v1/book?variant=freestyle-15&moves=h8", "");
        assert_eq!(answered.json(), expected, "{served}");
        assert!(
            answered.head.to_lowercase().contains("etag: "),
            "{answered:#?}"
        );
        let status = http(at, "GET", "/api/v1/status", "").json();
        let about = ["positions", "may_change", "is_cluster"].map(|name| status[name].clone());
        assert_eq!(about, [json!(5), json!(false), json!(false)]);
        assert_eq!(http(at, "GET", "/api/v1/jobs", "").json(), json!([]));
        assert_eq!(http(at, "POST", "/api/v1/jobs", "{}").status, 403);
        assert!(http(at, "GET", "/", "").body.contains("<!doctype html>"));
        server.signal(Signal::SIGTERM);
        assert_eq!(server.wait().code(), Some(0), "a clean stop");
    }
    let wrong = Program::Kagetsu.run(&["serve", "--book", file, "--listen", "0.0.0.0:0"]);
    assert_eq!(
        (wrong.code, wrong.stderr.contains("--insecure")),
        (Some(2), true),
        "{wrong:#?}"
    );
    let wrong = Program::Kagetsu.run(&["serve", "--book", "/nowhere"]);
    assert_eq!(wrong.code, Some(2), "{wrong:#?}");
}

#[test]
fn certificate_is_served_as_a_book() {
    let scratch = Scratch::new();
    let proof = scratch.text("four.proof");
    let tree = "kagetsu-proof 1\nvariant freestyle-15\nposition h8 a1 i8 a3 j8 a5\n\
        claim win 3\n1 l8\n2 g8\n3 k8 g8>1 *>2\nend 3\n";
    std::fs::write(&proof, tree).expect("room");
    let (mut server, grpc, at) = serve(&proof, &[]);
    let at = &*at;
    // The winner's move, each reply of the loser, and the answer to one of them.
    for (line, moves, best) in [
        (
            "h8 a1 i8 a3 j8 a5",
            1,
            json!({"win_in": 3, "loss_in": null}),
        ),
        (
            "h8 a1 i8 a3 j8 a5 k8",
            218,
            json!({"win_in": null, "loss_in": 2}),
        ),
        (
            "h8 a1 i8 a3 j8 a5 k8 o15",
            1,
            json!({"win_in": 1, "loss_in": null}),
        ),
    ] {
        let place = ["--json", "--variant", "freestyle-15", "--moves", line];
        let query = |book: &str| {
            let run = Program::Kagetsu.run(&[&["query", "--book", book], &place[..]].concat());
            run.json()
        };
        let target = format!(
            "/api/v1/book?variant=freestyle-15&moves={}",
            line.replace(' ', "%20")
        );
        let page = http(at, "GET", &target, "").json();
        assert_eq!((&query(&grpc), &query(&proof)), (&page, &page), "{line}");
        assert_eq!(
            page["answers"].as_array().map(Vec::len),
            Some(moves),
            "{page}"
        );
        for name in ["win_in", "loss_in"] {
            assert_eq!(page[name], best[name], "{page}");
        }
    }
    let status = http(at, "GET", "/api/v1/status", "").json();
    assert_eq!(status["positions"], json!(3), "{status}");
    let refused = http(at, "GET", "/api/v1/statistics", "");
    assert_eq!(refused.status, 409, "{refused:#?}");
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0), "a clean stop");
    std::fs::write(&proof, tree.replace("end 3", "end 4")).expect("room");
    let wrong = Program::Kagetsu.run(&["serve", "--book", &proof]);
    assert_eq!(
        (wrong.code, wrong.stderr.contains("line 8")),
        (Some(2), true),
        "{wrong:#?}"
    );
}

#[test]
fn annotations_are_written_and_taken_back() {
    let scratch = Scratch::new();
    let (book, library) = (scratch.text("book"), scratch.text("a.sgf"));
    let sgf = "(;SZ[15]C[the start];B[hh]C[one\n\ntwo]LB[ii:A]TR[gg];W[ih])";
    std::fs::write(&library, sgf).expect("room");
    let imported = kagetsu!("import --variant renju-15 --book {book} --json {library}");
    assert_eq!(imported.json()["annotations"], 4);
    let server = HttpCoordinator::start(&["--book", &book]);
    let at = "/api/v1/annotations?variant=renju-15&moves=h8";
    let of = |answer: &Value| -> Vec<(Value, Value, Value)> {
        let notes = answer["annotations"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let part = |note: &Value| {
            (
                note["move"].clone(),
                note["kind"].clone(),
                note["text"].clone(),
            )
        };
        notes.iter().map(part).collect()
    };
    let before = server.get(at);
    let expected = [
        (json!(null), json!("comment"), json!("one\n\ntwo")),
        (json!("g9"), json!("mark"), json!("TR")),
        (json!("i7"), json!("text"), json!("A")),
    ];
    let found = of(&before);
    assert!(expected.iter().all(|note| found.contains(note)), "{before}");
    assert_eq!(before["annotations"][0]["source"], "a.sgf");

    let written = json!({"variant": "renju-15", "moves": "h8", "written": [
        {"move": "i8", "kind": "score", "score": -34, "text": "too slow", "author": "Ann"},
        {"move": null, "kind": "win", "text": "known"},
    ], "taken_back": [before["annotations"][0]]});
    let after = server.post("/api/v1/annotations", &written);
    assert_eq!(of(&after).len(), 4, "{after}");
    let answer = server.get("/api/v1/book?variant=renju-15&moves=h8");
    assert_eq!(answer["hand"]["outcome"], "win");
    assert_eq!(answer["annotations"], after["annotations"]);
    let i8 = &answer["answers"][0];
    assert_eq!(
        (&i8["move"], &i8["hand"]["score"]),
        (&json!("i8"), &json!(-34))
    );
    assert_eq!(i8["score"], json!(null), "no search says it");
    let url = server.grpc.as_str();
    assert_eq!(
        kagetsu!("query --book {url} --moves h8 --json").json(),
        answer
    );
    assert!(
        kagetsu!("query --book {url} --moves h8")
            .stdout
            .contains("too slow")
    );
    for written in [
        json!({"kind": "word"}),
        json!({"kind": "mark", "move": "z99"}),
    ] {
        let body = json!({"variant": "renju-15", "written": [written]}).to_string();
        let refused = http(&server.http, "POST", "/api/v1/annotations", &body);
        assert_eq!(refused.status, 400, "{refused:#?}");
    }

    // A copy of the server's book has them, and so has what is written from it.
    let copy = scratch.text("copy.jsonl");
    kagetsu!("export --book {url} {copy}").ok();
    let lines = std::fs::read_to_string(&copy).expect("just written");
    assert!(
        lines.contains("too slow") && lines.contains("the start"),
        "{lines}"
    );
}

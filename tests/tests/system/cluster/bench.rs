//! `kagetsu bench cluster`.

use kagetsu_tests::{Program, Scratch};

#[test]
fn cluster_bench_prints_only_its_own_lines() {
    // The log may only mention that a connection timed out on a busy machine.
    let has_only_warnings = |measured: &kagetsu_tests::Finished| {
        measured.code == Some(0) && measured.stderr.lines().all(|line| line.contains(" WARN "))
    };
    let measured = Program::Kagetsu.run(&[
        "bench",
        "cluster",
        "--positions",
        "4",
        "--depth",
        "1",
        "--rounds",
        "1",
    ]);
    assert!(has_only_warnings(&measured), "{measured:#?}");
    assert!(measured.stdout.contains("\nratio "), "{measured:#?}");
    let position = [
        "bench",
        "cluster",
        "--position",
        "--openings",
        "2",
        "--depth",
        "2",
        "--rounds",
        "1",
    ];
    let measured = Program::Kagetsu.run(&position);
    assert!(has_only_warnings(&measured), "{measured:#?}");
    for words in [
        "; 2 balanced openings, one after another, at depth 2",
        "\ngeometric mean over the positions: ",
    ] {
        assert!(measured.stdout.contains(words), "{measured:#?}");
    }
}

#[test]
fn simulated_cluster_is_deterministic() {
    let scratch = Scratch::new();
    let (times, plot) = (scratch.path("times"), scratch.path("plot.svg"));
    let (times, drawn) = (
        times.to_str().expect("a plain name"),
        plot.to_str().expect("a plain name"),
    );
    let recorded = Program::Kagetsu.run(&["bench", "cluster", "--record", times, "--depth", "2"]);
    assert_eq!(recorded.code, Some(0), "{recorded:#?}");
    let position = [
        "--simulate=position",
        "--sizes",
        "1,3",
        "--depth",
        "5",
        "--json",
    ];
    let openings = [&position[..], &["--openings", "3"]].concat();
    let book = [
        "--simulate=book",
        "--sizes",
        "1,20",
        "--length",
        "3s",
        "--times",
        times,
        "--life",
        "500ms",
        "--json",
    ];
    for (what, simulation) in [
        ("position", &position[..]),
        ("position", &openings),
        ("book", &book[..]),
    ] {
        let simulation = [&["bench", "cluster", "--plot", drawn], simulation].concat();
        let once = Program::Kagetsu.run(&simulation);
        assert_eq!(
            (once.code, once.stderr.as_str()),
            (Some(0), ""),
            "{once:#?}"
        );
        assert_eq!(
            once.stdout,
            Program::Kagetsu.run(&simulation).stdout,
            "{what}"
        );
        let tables = once.json();
        assert_eq!(tables[0]["what"], what);
        let rows = tables[0]["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), 2, "{tables:#}");
        for row in rows {
            let number = |name: &str| row[name].as_f64().expect("a number");
            assert!((0.0..=1.0).contains(&number("idle")), "{row:#}");
            assert!(
                number("speed_up") > 0.0 && number("speed_up") <= 2.0 * number("workers"),
                "{row:#}"
            );
            assert!(number("tasks") > 0.0, "{row:#}");
        }
        let svg = std::fs::read_to_string(&plot).expect("it was drawn");
        assert!(svg.contains("<svg") && svg.contains(what), "{svg}");
        std::fs::remove_file(&plot).expect("it was drawn");
    }
}

#[test]
fn impossible_simulations_are_refused() {
    let scratch = Scratch::new();
    let times = scratch.path("times");
    std::fs::write(&times, "100\nmany\n").expect("room");
    let times = times.to_str().expect("a plain name");
    let cases: [(&[&str], &str); 5] = [
        (
            &["--openings", "3"],
            "--openings is for positions: add --position or --simulate=position",
        ),
        (
            &["--simulate=book", "--times", times],
            "line 2 is not a number of positions: \"many\"",
        ),
        (
            &["--simulate=book", "--times", "/nowhere/times"],
            "cannot read /nowhere/times",
        ),
        (
            &["--simulate=position", "--sizes", "1001", "--depth", "1"],
            "at most 1000 for a position",
        ),
        (
            &[
                "--simulate=book",
                "--sizes",
                "1",
                "--length",
                "1s",
                "--plot",
                "/nowhere/plot.svg",
            ],
            "/nowhere/plot.svg",
        ),
    ];
    for (arguments, words) in cases {
        let ended = Program::Kagetsu.run(&[&["bench", "cluster"], arguments].concat());
        assert_eq!(ended.code, Some(2), "{ended:#?}");
        assert!(ended.stderr.contains(words), "{ended:#?}");
    }
}

#[test]
fn coordinator_load_can_be_measured() {
    let says = |arguments: &[&str], all: &[&str]| {
        let measured =
            Program::Kagetsu.run(&[&["bench", "cluster", "--length", "1s"], arguments].concat());
        // The log may mention a stream that ends during a call.
        assert_eq!(measured.code, Some(0), "{measured:#?}");
        for words in all {
            assert!(
                measured.stdout.contains(words),
                "no '{words}' in {measured:#?}"
            );
        }
    };
    says(
        &["--streams", "3"],
        &[
            " round trips/s on ",
            "a second of one core",
            "p99 ",
            "positions in the book",
        ],
    );
    says(&["--idle", "5"], &["5 workers", " % of a core, "]);
}

#[test]
fn missing_bench_program_says_how_to_build_it() {
    let scratch = Scratch::new();
    let alone = scratch.path("kagetsu");
    let kagetsu = Program::Kagetsu.command(&[]);
    std::fs::copy(kagetsu.get_program(), &alone).expect("room for the program");
    for arguments in [
        &["bench", "--help"][..],
        &["--log-level", "info", "bench", "signature"],
    ] {
        let mut command = std::process::Command::new(&alone);
        command.args(arguments).env_remove("KAGETSU_CONFIG");
        let ended = kagetsu_tests::Finished::of(command);
        assert_eq!(ended.code, Some(2), "{ended:#?}");
        let build = "build it with `cargo build --release -p kagetsu-bench`";
        assert!(ended.stderr.contains(build), "{ended:#?}");
    }
}

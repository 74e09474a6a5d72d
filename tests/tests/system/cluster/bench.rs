//! `kagetsu bench cluster`.

use kagetsu_tests::{Finished, Program, Scratch};

#[test]
fn cluster_bench_compares_real_workers() {
    // The log may only mention that a connection timed out on a busy machine.
    let run = |arguments: &str| {
        let line = format!("bench cluster --rounds 1 {arguments}");
        let measured = Program::Kagetsu.run(&line.split(' ').collect::<Vec<_>>());
        let has_only_warnings = measured.stderr.lines().all(|line| line.contains(" WARN "));
        assert!(
            measured.code == Some(0) && has_only_warnings,
            "{measured:#?}"
        );
        measured
    };
    let built = run("--positions 4 --depth 1");
    assert!(built.stdout.contains("\nratio "), "{built:#?}");
    let searched = run("--position --openings 2 --depth 2 --json").json();
    assert_eq!(searched["positions"], 2, "{searched:#}");
    let ratio = searched["ratio_of_each"][0].as_f64();
    assert!(ratio.is_some_and(|ratio| ratio > 0.0), "{searched:#}");
    let cpu = &searched["rounds"][0]["coordinator_cpu_ms"];
    assert!(cpu.as_f64().is_some(), "{searched:#}");
}

#[test]
fn simulated_cluster_is_deterministic() {
    let simulation = [
        "bench",
        "cluster",
        "--simulate",
        "--sizes",
        "1,20",
        "--length",
        "3s",
        "--json",
    ];
    let once = Program::Kagetsu.run(&simulation);
    assert_eq!((once.code, &*once.stderr), (Some(0), ""), "{once:#?}");
    assert_eq!(once.stdout, Program::Kagetsu.run(&simulation).stdout);
    let found = once.json();
    for (row, workers) in found["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .zip([1.0, 20.0])
    {
        let number = |name: &str| row[name].as_f64().expect("a number");
        assert_eq!(number("workers"), workers, "{row:#}");
        assert!((0.0..=1.0).contains(&number("idle")), "{row:#}");
        assert!(number("speed_up") > 0.0 && number("speed_up") <= workers);
        assert!(number("positions") > 0.0, "{row:#}");
    }
    let refused = Program::Kagetsu.run(&["bench", "cluster", "--openings", "3"]);
    let words = "--openings is for positions: add --position";
    assert!(refused.stderr.contains(words), "{refused:#?}");
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
        let ended = Finished::of(command);
        assert_eq!(ended.code, Some(2), "{ended:#?}");
        let build = "build it with `cargo build --release -p kagetsu-bench`";
        assert!(ended.stderr.contains(build), "{ended:#?}");
    }
}

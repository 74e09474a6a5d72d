//! `kagetsu bench cluster`.

use kagetsu_tests::{Finished, Program, Scratch};

#[test]
fn cluster_bench_compares_real_workers() {
    let line = "bench cluster --rounds 1 --positions 4 --depth 1";
    let measured = Program::Kagetsu.run(&line.split(' ').collect::<Vec<_>>());
    // The log may only mention that a connection timed out on a busy machine.
    let has_only_warnings = measured.stderr.lines().all(|line| line.contains(" WARN "));
    assert!(
        measured.code == Some(0) && has_only_warnings,
        "{measured:#?}"
    );
    for figure in ["\nratio ", "  coordinator_cpu_ms "] {
        assert!(measured.stdout.contains(figure), "{measured:#?}");
    }
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

//! `kagetsu bench cluster`.

use kagetsu_tests::Program;

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

//! The metrics of a coordinator.

use std::collections::BTreeSet;
use std::fs::File;

use kagetsu_tests::{Program, Running, Scratch, http, words};
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::world::{Cluster, until};

/// Returns the value of a series.
pub(super) fn value(text: &str, series: &str) -> Option<f64> {
    let line = text.lines().find(|line| {
        line.strip_prefix(series)
            .is_some_and(|rest| rest.starts_with(' '))
    })?;
    line.rsplit_once(' ')?.1.parse().ok()
}

#[test]
fn metrics_show_builds_and_probes_answer() {
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let mut coordinator = Program::Coordinator.start(&words!(
        "--book {book} --listen 127.0.0.1:0 --http off --metrics 127.0.0.1:0"
    ));
    let url = coordinator.address();
    let line = coordinator.line();
    let at = line
        .strip_prefix("metrics on ")
        .unwrap_or_else(|| panic!("no address in '{line}'"))
        .to_string();
    let cluster = Cluster { coordinator, url };
    for probe in ["/healthz", "/readyz"] {
        assert_eq!(http(&at, "GET", probe, "").status, 200, "{probe}");
    }
    assert_eq!(
        http(&at, "GET", "/api/v1/jobs", "").status,
        404,
        "metrics alone"
    );

    let _worker = cluster.worker();
    let mut client = cluster.build(8, 3);
    client.rest();
    let text = until("the worker waits for more", || {
        let answered = http(&at, "GET", "/metrics", "");
        assert!(
            answered.head.to_lowercase().contains("openmetrics-text"),
            "{}",
            answered.head
        );
        let idle = value(&answered.body, "kagetsu_idle_workers{reason=\"no tasks\"}");
        (idle == Some(1.0)).then_some(answered.body)
    });
    let at_least = |series: &str, least: f64| {
        let found = value(&text, series).unwrap_or_else(|| panic!("no {series} in\n{text}"));
        assert!(found >= least, "{series} {found}");
    };
    at_least("kagetsu_workers", 1.0);
    at_least("kagetsu_book_positions", 8.0);
    at_least("kagetsu_job_positions{job=\"test\"}", 8.0);
    at_least("kagetsu_job_frontier{job=\"test\"}", 1.0);
    at_least("kagetsu_task_events_total{event=\"done\"}", 8.0);
    at_least("kagetsu_lease_seconds_count", 8.0);
    at_least(
        "kagetsu_request_seconds_count{method=\"kagetsu.v1.Builds/Start\"}",
        1.0,
    );
    assert_eq!(
        value(&text, "kagetsu_demand"),
        Some(0.0),
        "nothing is left to do"
    );
    assert!(
        text.contains("kagetsu_worker_nodes_per_second{worker=\""),
        "{text}"
    );
    cluster.stop();
}

#[test]
fn json_logs_follow_a_task_from_job_to_end() {
    let scratch = Scratch::new();
    let start = |program: Program, name: &str, arguments: &[&str]| {
        let mut command = program
            .command(&[arguments, &["--log-format", "json", "--log-level", "debug"]].concat());
        command.stderr(File::create(scratch.path(name)).expect("room"));
        Running::of(command)
    };
    let book = scratch.path("book");
    let book = [
        "--book",
        book.to_str().expect("a plain name"),
        "--listen",
        "127.0.0.1:0",
        "--http",
        "off",
    ];
    let mut coordinator = start(Program::Coordinator, "coordinator.log", &book);
    let url = coordinator.address();
    let cluster = Cluster { coordinator, url };
    let mut worker = start(
        Program::Worker,
        "worker.log",
        &["--coordinator", &cluster.url, "--name", "w", "--slots", "1"],
    );
    cluster.build(3, 2).rest();
    worker.signal(Signal::SIGTERM);
    worker.wait();
    cluster.stop();
    let lines = |name: &str| -> Vec<Value> {
        let text = std::fs::read_to_string(scratch.path(name)).expect("a log");
        text.lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"))
            })
            .collect()
    };
    let tasks = |name: &str, message: &str, is_it: fn(&Value) -> bool| -> BTreeSet<u64> {
        let is_wanted = |fields: &Value| fields["message"] == message && is_it(fields);
        let lines = lines(name);
        lines
            .iter()
            .map(|line| &line["fields"])
            .filter(|f| is_wanted(f))
            .filter_map(|f| f["task"].as_u64())
            .collect()
    };
    let given = tasks("coordinator.log", "a task is handed out", |fields| {
        fields["job_id"].is_u64()
    });
    let begun = tasks("worker.log", "a task starts", |_| true);
    let ended = tasks("worker.log", "a task ends", |_| true);
    let whole = given
        .iter()
        .filter(|task| begun.contains(task) && ended.contains(task))
        .count();
    assert!(whole >= 3, "{given:?} {begun:?} {ended:?}");
}

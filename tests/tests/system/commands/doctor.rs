//! `kagetsu doctor` on healthy and on faulty things.

use std::fs;

use kagetsu_tests::{Finished, Program, Scratch};
use serde_json::Value;

use crate::world::{Cluster, growing, until};

/// Runs the doctor and returns its report.
fn doctor(arguments: &[&str], code: i32) -> Vec<Value> {
    let run = Program::Kagetsu.run(&[&["doctor", "--json"], arguments].concat());
    assert_eq!(run.code, Some(code), "{run:#?}");
    let report: Value = serde_json::from_str(&run.stdout).expect("one object");
    assert_eq!(report["healthy"], code == 0, "{report}");
    report["findings"].as_array().expect("findings").clone()
}

fn find<'a>(findings: &'a [Value], subject: &str, level: &str) -> &'a Value {
    let found = findings.iter().find(|finding| {
        finding["level"] == level
            && finding["subject"]
                .as_str()
                .is_some_and(|text| text.ends_with(subject))
    });
    found.unwrap_or_else(|| panic!("no {level} about {subject} in {findings:#?}"))
}

#[test]
fn doctor_judges_a_book_folder() {
    let scratch = Scratch::new();
    let book = scratch.path("book");
    let name = book.to_str().expect("a plain name");
    let missing = doctor(&["--book", name], 1);
    let found = find(&missing, "book", "fault")["found"].to_string();
    assert!(found.contains("kagetsu build"), "{found}");

    let built = growing("--book", name, 3, 2);
    Program::Kagetsu
        .run(&built.split(' ').collect::<Vec<_>>())
        .ok();
    let findings = doctor(&["--book", name], 0);
    let found = find(&findings, name, "ok")["found"].to_string();
    assert!(found.contains("3 positions"), "{found}");

    let cluster = Cluster::start(&book);
    let findings = doctor(&["--book", name], 0);
    let process = cluster.coordinator.id().to_string();
    let held = find(&findings, name, "ok")["found"].to_string();
    assert!(held.contains(&process), "{held}");
    cluster.stop();

    fs::write(book.join("journal/000001.journal"), [0; 64]).expect("room");
    find(&doctor(&["--book", name], 1), name, "fault");
}

#[test]
fn doctor_judges_a_coordinator() {
    let scratch = Scratch::new();
    let cluster = Cluster::start(&scratch.path("book"));
    find(
        &doctor(&["--coordinator", &cluster.url], 0),
        "workers",
        "ok",
    );
    let mut client = cluster.build(3, 2);
    until("the job runs", || cluster.job());
    let findings = doctor(&["--coordinator", &cluster.url], 1);
    find(&findings, "workers", "fault");
    let _worker = cluster.worker();
    client.rest();
    find(
        &doctor(&["--coordinator", &cluster.url], 0),
        "workers",
        "ok",
    );
    let url = cluster.url.clone();
    cluster.stop();
    find(&doctor(&["--coordinator", &url], 1), &url, "fault");
    let text: Finished = Program::Kagetsu.run(&["doctor", "--coordinator", &url]);
    assert!(text.stdout.contains("FAULT"), "{text:#?}");
}

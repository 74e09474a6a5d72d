//! Workers that update themselves, and coordinators that want newer ones.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use kagetsu_tests::{Finished, Program, Running, Scratch};

use crate::world::{Cluster, until};

/// A folder of programs, and two keys of minisign.
struct Archive {
    scratch: Scratch,
}

impl Archive {
    fn new() -> Option<Self> {
        if !kagetsu_builders::is_installed("minisign", &["-v"])
            || !kagetsu_builders::is_installed("curl", &["--version"])
        {
            return None;
        }
        let archive = Self {
            scratch: Scratch::new(),
        };
        for key in ["ours", "theirs"] {
            let secret = archive.text(&format!("{key}.key"));
            minisign(
                &format!("-G -W -f -p {} -s {secret}", archive.text(key)),
                &[],
            );
        }
        Some(archive)
    }

    fn text(&self, name: &str) -> String {
        self.scratch.path(name).display().to_string()
    }

    fn program(&self) -> String {
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        format!("kagetsu-worker-{os}-{arch}")
    }

    /// Offers a program that only says its version, or that it runs.
    fn offer(&self, version: &str, comment: &str, key: &str) {
        let path = self.text(&self.program());
        let text = format!(
            "#!/bin/sh\n[ \"$1\" = -V ] && echo kagetsu-worker {version} || echo newer: $@\n"
        );
        fs::write(&path, text).expect("room");
        let key = self.text(&format!("{key}.key"));
        let comment = comment.replace('P', &self.program());
        minisign(&format!("-S -H -s {key} -m {path} -t"), &[&comment]);
    }

    /// Returns the command of a copy of our worker. Its coordinator may refuse it.
    fn command(&self, url: &str, more: &[&str]) -> Command {
        let path = self.scratch.path("kagetsu-worker");
        let _ = fs::remove_file(&path);
        Program::Worker.copy_to(&path);
        let mut command = Command::new(&path);
        let (archive, key) = (self.text(""), self.text("ours"));
        let line = format!(
            "--coordinator {url} --table-mib 1 --update-url file://{archive} --update-key {key}"
        );
        command.args(line.split(' ')).args(more);
        command
    }

    /// Runs a copy of our worker, beside which lies an older one.
    fn start(&self, url: &str, more: &[&str]) -> Finished {
        fs::write(self.old(), "older").expect("room");
        Finished::of(self.command(url, more))
    }

    /// The path of the program that was replaced.
    fn old(&self) -> PathBuf {
        let name = format!("kagetsu-worker.{}.old", env!("CARGO_PKG_VERSION"));
        self.scratch.path(&name)
    }
}

pub(crate) fn minisign(line: &str, more: &[&str]) {
    let mut command = Command::new("minisign");
    command.args(line.split(' ')).args(more);
    Finished::of(command).ok();
}

#[test]
fn worker_takes_only_newer_programs_of_the_key() {
    let archive = kagetsu_builders::needed!(Archive::new());
    let wanted = "--min-worker-version 9.0.0 --worker-url https://a.example";
    let wanted: Vec<&str> = wanted.split(' ').collect();
    let cluster = Cluster::start_with(&archive.scratch.path("book"), &wanted);
    for (version, comment, key, says) in [
        ("9.0.0", "P 9.0.0", "ours", "newer: --coordinator"),
        ("0.0.9", "P 0.0.9", "ours", "from version 9.0.0 on"),
        ("9.0.0", "P 9.0.0", "theirs", "is not signed by the key"),
        ("0.0.9", "P 9.0.0", "ours", "is not 9.0.0"),
        (
            "9.0.0",
            "kagetsu-worker-other 9.0.0",
            "ours",
            "is that of 'kagetsu-worker-other",
        ),
    ] {
        archive.offer(version, comment, key);
        let ran = archive.start(&cluster.url, &["--self-update"]);
        let is_newer = says.starts_with("newer");
        let case = format!("{comment} {key}: {ran:#?}");
        assert!(
            ran.stdout.contains(says) || ran.stderr.contains(says),
            "{case}"
        );
        assert_eq!(ran.stdout.contains("newer"), is_newer, "{case}");
        assert_eq!(ran.code == Some(0), is_newer, "{case}");
        // The program before lies beside the newer one. The next start removes it.
        assert_eq!(archive.old().exists(), is_newer, "{case}");
    }
    let refused = archive.start(&cluster.url, &[]);
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    assert!(
        refused.stderr.contains("from https://a.example"),
        "{refused:#?}"
    );
    let mut first = archive.command(&cluster.url, &["--self-update"]);
    fs::write(archive.old(), "older").expect("room");
    first.env("KAGETSU_FIRST_START", "1");
    let first = Finished::of(first);
    assert!(archive.old().exists(), "{first:#?}");
    cluster.stop();
}

#[test]
fn working_worker_goes_on_as_a_newer_program() {
    let archive = kagetsu_builders::needed!(Archive::new());
    let cluster = Cluster::start(&archive.scratch.path("book"));
    let mut worker =
        Running::of(archive.command(&cluster.url, &["--self-update", "--update-every", "100ms"]));
    let _client = cluster.build(100_000, 4);
    until("positions", || {
        (cluster.job()?["positions"].as_u64()? > 3).then_some(())
    });
    archive.offer("9.0.0", "P 9.0.0", "ours");
    assert!(worker.line().starts_with("newer: --coordinator"));
    assert_eq!(worker.wait().code(), Some(0));
    assert!(archive.old().exists());
    cluster.stop();
}

//! A book whose database is kept by Patroni: its primary is killed while a build runs.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use kagetsu_tests::{Program, Scratch};

use super::replication::Auditor;
use crate::world::{RecordingWorker, growing, until};

/// Kills in a run, unless `KAGETSU_PATRONI_KILLS` says another number.
const KILLS: u32 = 50;
/// Answers that are acknowledged between two kills.
const PROGRESS: usize = 5;
/// The first of the ports of the script.
const FIRST_PORT: u16 = 25_432;

/// The script with the servers that it started. They are stopped on drop.
struct Failover {
    scratch: Scratch,
}

impl Failover {
    fn run(&self, action: &str) -> String {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/postgres/failover");
        let coordinator = Program::Coordinator.command(&[]);
        let programs = Path::new(coordinator.get_program()).parent();
        let programs = programs.expect("a folder").display();
        let path = std::env::var("PATH").unwrap_or_default();
        let log = self.scratch.path("script.log");
        let status = Command::new("bash")
            .arg(script)
            .arg(self.scratch.path("servers"))
            .arg(action)
            .env("PATH", format!("{programs}:{path}"))
            .env("FIRST_PORT", FIRST_PORT.to_string())
            .stdin(Stdio::null())
            .stdout(std::fs::File::create(&log).expect("room"))
            .status()
            .expect("bash runs");
        let output = std::fs::read_to_string(&log).expect("text");
        assert!(status.success(), "{action}: {output}");
        output
    }
}

impl Drop for Failover {
    fn drop(&mut self) {
        self.run("stop");
    }
}

#[test]
#[ignore = "needs Patroni and etcd, and takes half an hour"]
fn patroni_leader_killed_fifty_times_loses_nothing() {
    let kills = std::env::var("KAGETSU_PATRONI_KILLS").ok();
    let kills = kills.map_or(KILLS, |text| text.parse().expect("a number"));
    let scratch = Scratch::new();
    // The servers run as another user.
    let open = Permissions::from_mode(0o755);
    set_permissions(scratch.path("."), open).expect("our own folder");
    let failover = Failover { scratch };
    let output = failover.run("start");
    let urls = output
        .lines()
        .find_map(|line| line.strip_prefix("coordinators: "))
        .expect("addresses");
    let recorders = [1, 2].map(|number| RecordingWorker::start(urls, number));
    let acknowledged = || RecordingWorker::acknowledged(&recorders);
    let line = growing("--coordinator", urls, 1_000_000, 3);
    until("the job is known", || {
        let client = Program::Kagetsu.start(&line.split(' ').collect::<Vec<_>>());
        std::thread::sleep(std::time::Duration::from_secs(2));
        drop(client);
        let jobs = Program::Kagetsu.run(&["jobs", "list", "--coordinator", urls, "--json"]);
        jobs.stdout.contains("test").then_some(())
    });
    let ports = [FIRST_PORT, FIRST_PORT + 1, FIRST_PORT + 2];
    let hosts = ports.map(|port| format!("127.0.0.1:{port}")).join(",");
    let database = format!(
        "postgres://kagetsu:secret@{hosts}/postgres?target_session_attrs=read-write&book=failover"
    );
    let mut auditor = None;
    for kill in 1..=kills {
        let before = acknowledged().len();
        until("progress", || {
            (acknowledged().len() >= before + PROGRESS).then_some(())
        });
        failover.run("kill");
        let known = acknowledged();
        let auditor = auditor.get_or_insert_with(|| {
            let cache = failover.scratch.path("audit");
            Auditor::open(&database, &cache).0
        });
        auditor.has(&known);
        failover.run("rejoin");
        println!(
            "kill {kill}: {} positions acknowledged, none lost",
            known.len()
        );
    }
    let pauses = recorders.iter().map(RecordingWorker::longest_pause);
    println!("longest pause of a worker {:?}", pauses.max());
}

//! Workers on machines that other programs use, and behind a proxy.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::process::Command;

use kagetsu_tests::{Finished, Program, Running, Scratch};

use crate::world::{Cluster, Relay, until};

/// Mounts what a machine tells over what Linux tells, and runs a program.
const MOUNT: &str = "mount --bind $0/power_supply /sys/class/power_supply &&
    mount --bind $0/stat /proc/stat && exec \"$@\"";

/// A machine whose batteries and load are made up, for programs in a mount namespace.
struct Machine {
    scratch: Scratch,
    /// Hundredths of a second of one core, busy with other programs and idle.
    times: [u64; 2],
}

impl Machine {
    fn new() -> Self {
        let mut machine = Self {
            scratch: Scratch::new(),
            times: [1000; 2],
        };
        machine.set_supply("mouse", &[("scope", "Device"), ("status", "Discharging")]);
        File::create(machine.scratch.path("stat")).expect("room");
        machine.go_on(false);
        machine
    }

    /// Says what Linux tells of a battery.
    fn set_supply(&self, name: &str, files: &[(&str, &str)]) {
        let folder = self.scratch.path("power_supply").join(name);
        fs::create_dir_all(&folder).expect("room");
        for (file, text) in files {
            fs::write(folder.join(file), format!("{text}\n")).expect("room");
        }
    }

    /// Lets time pass. A reader finds all of the line before or after.
    fn go_on(&mut self, is_busy: bool) {
        self.times[usize::from(!is_busy)] += 10_000;
        let [busy, idle] = self.times;
        let line = |name| format!("{name} {busy:012} 0 0 {idle:012} 0 0 0 0 0 0\n");
        let mut stat = OpenOptions::new()
            .write(true)
            .open(self.scratch.path("stat"))
            .expect("made before");
        let text = line("cpu ") + &line("cpu0");
        stat.write_all(text.as_bytes()).expect("room");
    }

    fn command(&self, program: &Command) -> Command {
        let mut command = Command::new("unshare");
        let line = ["--map-root-user", "--mount", "sh", "-c", MOUNT];
        command.args(line).arg(self.scratch.folder());
        command.arg(program.get_program()).args(program.get_args());
        command
    }

    /// Waits until the worker's log has a text so often.
    fn wait_for(&mut self, text: &str, times: usize, is_busy: bool) {
        until(text, || {
            self.go_on(is_busy);
            let log = fs::read_to_string(self.scratch.path("log")).ok()?;
            (log.matches(text).count() >= times).then_some(())
        });
    }
}

#[test]
fn worker_pauses_on_battery_and_beside_other_programs() {
    let mut machine = Machine::new();
    if Finished::of(machine.command(&Command::new("true"))).code != Some(0) {
        eprintln!("skipped: a mount namespace needs rights");
        return;
    }
    let cluster = Cluster::start(&machine.scratch.path("book"));
    let _client = cluster.build(1_000_000, 3);
    machine.set_supply("BAT0", &[("scope", "System"), ("status", "Discharging")]);
    let line = format!(
        "--coordinator {} --idle-only --not-on-battery --slots 1 --table-mib 1",
        cluster.url
    );
    let line: Vec<_> = line.split(' ').collect();
    let mut command = machine.command(&Program::Worker.command(&line));
    command.stderr(File::create(machine.scratch.path("log")).expect("room"));
    let _worker = Running::of(command);
    machine.wait_for("waiting: the machine runs on battery", 1, false);
    assert_eq!(cluster.workers().len(), 0);
    machine.set_supply("BAT0", &[("status", "Charging")]);
    machine.wait_for("working for", 1, false);
    machine.wait_for("pausing: other programs keep", 1, true);
    machine.wait_for("working for", 2, false);
    machine.set_supply("BAT0", &[("status", "Discharging")]);
    machine.wait_for("pausing: the machine runs on battery", 1, false);
    until("it is gone", || cluster.workers().is_empty().then_some(()));
    cluster.stop();
}

#[test]
fn worker_connects_through_a_proxy() {
    const HOST: &str = "coordinator.example:7615";
    let scratch = Scratch::new();
    let cluster = Cluster::start(&scratch.path("book"));
    let proxy = Relay::proxy_to(&cluster.url, HOST);
    let url = format!("http://{HOST}");
    let mut command = Program::Worker.command(&["--coordinator", &url, "--table-mib", "1"]);
    command.env("HTTP_PROXY", proxy.url()).env("NO_PROXY", "");
    let _worker = Running::of(command);
    assert_eq!(cluster.build(20, 3).wait().code(), Some(0));
    cluster.stop();
}

//! The Slurm scripts, in a real Slurm of several nodes on this machine.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use kagetsu_tests::{Browser, Finished, Program, ReservedPort, Running, Scratch};
use serde_json::{Value, json};

use crate::world::{book_keys, until, until_or};

/// Slurm's daemons, as root starts them.
const DAEMONS: [&str; 3] = ["munged", "slurmctld", "slurmd"];

fn find(program: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<_> = std::env::split_paths(&folders).collect();
    folders.push("/usr/sbin".into());
    folders
        .into_iter()
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}

/// A Slurm with four nodes; its daemons end on drop.
struct Slurm {
    scratch: Scratch,
    ports: [ReservedPort; 5],
    daemons: Vec<Child>,
}

impl Slurm {
    /// Returns `None` if Slurm is not installed or the test may not start it.
    fn start() -> Option<Self> {
        if !nix::unistd::Uid::effective().is_root() {
            eprintln!("skipped: Slurm's daemons need root");
            return None;
        }
        if DAEMONS.iter().any(|name| find(name).is_none()) {
            kagetsu_builders::skip("slurmctld, slurmd and munged");
            return None;
        }
        let mut slurm = Self {
            scratch: Scratch::new(),
            ports: Default::default(),
            daemons: Vec::new(),
        };
        for folder in ["state", "spool", "shared"] {
            fs::create_dir(slurm.path(folder)).expect("room");
        }
        slurm.munge();
        fs::write(slurm.path("slurm.conf"), slurm.settings()).expect("room");
        slurm.daemon("slurmctld", &["-D", "-i"]);
        for node in 1..=4 {
            slurm.daemon("slurmd", &["-D", "-N", &format!("n{node}")]);
        }
        until("the nodes are idle", || {
            let shown = slurm.ask("sinfo", &["--noheader", "--format=%T %D"]);
            (shown.stdout.trim() == "idle 4").then_some(())
        });
        Some(slurm)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("a plain name").into()
    }

    /// Starts the authentication daemon for this Slurm alone.
    fn munge(&mut self) {
        let key = self.path("munge.key");
        fs::write(&key, rand::random::<[u8; 32]>().repeat(4)).expect("room");
        fs::set_permissions(&key, fs::Permissions::from_mode(0o400)).expect("our own");
        fs::set_permissions(self.scratch.folder(), fs::Permissions::from_mode(0o755))
            .expect("our own");
        let file = |what: &str, name: &str| format!("--{what}={}", self.text(name));
        let arguments = [
            file("key-file", "munge.key"),
            file("socket", "munge.socket"),
            file("pid-file", "munge.pid"),
            file("log-file", "munge.log"),
            file("seed-file", "munge.seed"),
        ];
        let mut munged = Command::new(find("munged").expect("found"));
        munged.args(["--foreground", "--force"]).args(arguments);
        self.daemons.push(
            munged
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("it starts"),
        );
        until("munge listens", || {
            self.path("munge.socket").exists().then_some(())
        });
    }

    fn settings(&self) -> String {
        let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
        let host = host.trim();
        let ports = self.ports.each_ref().map(ReservedPort::number);
        let (socket, state, spool) = (
            self.text("munge.socket"),
            self.text("state"),
            self.text("spool"),
        );
        let pids = self.text("");
        let mut text = format!(
            "ClusterName=kagetsu\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={}\nSlurmUser=root\nSlurmdUser=root\n\
             AuthType=auth/munge\nAuthInfo=socket={socket}\nCredType=cred/munge\nCryptoType=crypto/munge\n\
             StateSaveLocation={state}\nSlurmdSpoolDir={spool}/%n\nSlurmctldPidFile={pids}ctld.pid\n\
             SlurmdPidFile={pids}%n.pid\nSlurmctldLogFile={pids}ctld.log\nSlurmdLogFile={pids}%n.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSlurmdParameters=config_overrides\n\
             SchedulerParameters=batch_sched_delay=0,sched_interval=1\nReturnToService=2\nKillWait=15\nMinJobAge=300\n\
             JobRequeue=1\nAccountingStorageType=accounting_storage/none\nJobAcctGatherType=jobacct_gather/none\n",
            ports[0]
        );
        for (node, port) in (1..=4).zip(&ports[1..]) {
            let about = "CPUs=2 RealMemory=8000 State=UNKNOWN";
            text += &format!(
                "NodeName=n{node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} {about}\n"
            );
        }
        text + "PartitionName=all Nodes=n[1-4] Default=YES MaxTime=INFINITE State=UP\n"
    }

    fn daemon(&mut self, name: &str, arguments: &[&str]) {
        let mut daemon = Command::new(find(name).expect("found"));
        daemon
            .arg("-f")
            .arg(self.path("slurm.conf"))
            .args(arguments);
        self.daemons.push(
            daemon
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("it starts"),
        );
    }

    fn ask(&self, program: &str, arguments: &[&str]) -> Finished {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env("SLURM_CONF", self.path("slurm.conf"));
        Finished::of(command)
    }

    /// Submits a script. Returns the job's number.
    fn submit(&self, script: &str, more: &[&str]) -> String {
        let script = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../deploy/slurm")
            .join(script);
        let (shared, log) = (self.text("shared"), self.text("%x.%A.%a.log"));
        let programs = [Program::Coordinator, Program::Worker, Program::Kagetsu].map(|program| {
            let command = program.command(&[]);
            Path::new(command.get_program())
                .parent()
                .expect("a folder")
                .to_str()
                .expect("a plain name")
                .to_string()
        });
        let path = format!(
            "{}:{}",
            programs.join(":"),
            std::env::var("PATH").expect("a path")
        );
        let mut command = Command::new("sbatch");
        command
            .args(["--parsable", "--mem=0", "--output", &log])
            .args(more)
            .arg(script);
        command
            .env("SLURM_CONF", self.path("slurm.conf"))
            .env("PATH", path)
            .env("KAGETSU_SHARED", shared);
        command
            .env("KAGETSU_TABLE_MIB", "16")
            .env("KAGETSU_HOST", "127.0.0.1");
        command
            .env("KAGETSU_SLOTS", "1")
            .env("KAGETSU_GRACE", "2s")
            .current_dir(self.scratch.folder());
        let submitted = Finished::of(command).ok();
        submitted.stdout.trim().into()
    }

    /// Runs a command of `kagetsu` with the certificates and the token that the coordinator's job
    /// made.
    fn kagetsu(&self, arguments: &[&str]) -> std::process::Command {
        let file = |name: &str| self.text(&format!("shared/{name}"));
        let mut command = Program::Kagetsu.command(arguments);
        command
            .args(["--tls-ca", &file("certs/ca.pem")])
            .args(["--tls-cert", &file("certs/client.pem")])
            .args(["--tls-key", &file("certs/client.key")])
            .args(["--token-file", &file("admin.token")]);
        command
    }

    /// Returns a field of a job, by its letter in squeue's formats.
    fn squeue(&self, job: &str, field: &str) -> String {
        let format = format!("--format={field}");
        let query = ["--noheader", "--states=all", "--job", job, &format];
        let shown = self.ask("squeue", &query);
        shown.stdout.trim().into()
    }

    fn state(&self, job: &str) -> String {
        self.squeue(job, "%T")
    }

    /// Returns Slurm's view of a job and its nodes, and the job's output, to explain a failure.
    fn shown(&self, job: &str) -> String {
        let shown = self.ask("scontrol", &["show", "job", job]).stdout;
        let nodes = self.ask("sinfo", &["--Node", "--long"]).stdout;
        format!("{shown}\n{nodes}\n{}", self.logs())
    }

    /// Returns every log, to explain a failure.
    fn logs(&self) -> String {
        let files = fs::read_dir(self.scratch.folder())
            .expect("it is there")
            .map_while(Result::ok);
        let logs = files.filter(|file| file.file_name().to_string_lossy().contains("kagetsu-"));
        logs.map(|file| fs::read_to_string(file.path()).unwrap_or_default())
            .collect()
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        let _ = Command::new("scancel")
            .args(["--signal=KILL", "--full", "--user=root"])
            .env("SLURM_CONF", self.path("slurm.conf"))
            .status();
        for daemon in self.daemons.iter_mut().rev() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

#[test]
fn slurm_scripts_build_a_book_through_requeues() {
    let slurm = kagetsu_builders::needed!(Slurm::start());
    let file = slurm.path("shared/coordinator.url");
    let url = || {
        until("the coordinator has an address", || {
            fs::read_to_string(&file).ok()
        })
        .trim()
        .to_string()
    };
    // Workers may start first.
    let workers = slurm.submit("workers.sbatch", &["--array=1-2", "--cpus-per-task=1"]);
    let coordinator = slurm.submit("coordinator.sbatch", &["--cpus-per-task=1"]);
    let first = url();
    let place = "--variant freestyle-15 --moves h8 --positions 60 --depth 5 --name test";
    let place: Vec<&str> = place.split(' ').collect();
    let by_file = slurm.text("shared/coordinator.url");
    let build = [
        &["build", "--coordinator-file", &by_file, "--json"],
        &place[..],
    ]
    .concat();
    let mut client = Running::of(slurm.kagetsu(&build));
    let jobs = |url: &str| -> Option<Value> {
        let list = ["jobs", "list", "--coordinator", url, "--json"];
        let listed = Finished::of(slurm.kagetsu(&list));
        serde_json::from_str::<Value>(&listed.stdout)
            .ok()?
            .get(0)
            .cloned()
    };
    let positions = |job: &Value| job["positions"].as_u64().unwrap_or_default();
    until("work is done", || {
        (positions(&jobs(&first)?) > 3).then_some(())
    });

    is_safe_by_default(&slurm, &first);
    shows_its_page(&slurm);

    // A worker is requeued, then the coordinator, which comes back at another address.
    let node = slurm.squeue(&coordinator, "%N");
    slurm
        .ask("scontrol", &["requeue", &format!("{workers}_1")])
        .ok();
    slurm.ask("scontrol", &["requeue", &coordinator]).ok();
    // Slurm holds a requeued job for two minutes; an operator would release it, too. The first node
    // stays out, because a node kills a job that it ended within the same second.
    until("it waits", || {
        (slurm.state(&coordinator) == "PENDING").then_some(())
    });
    let [job, elsewhere] = [
        format!("jobid={coordinator}"),
        format!("excnodelist={node}"),
    ];
    let second = until_or(
        "it has another address",
        || slurm.shown(&coordinator),
        || {
            if slurm.state(&coordinator) == "PENDING" {
                // Repeated, because the job may end after the first call, and the hold of two
                // minutes starts then.
                slurm.ask("scontrol", &["update", &job, &elsewhere, "starttime=now"]);
            }
            Some(url()).filter(|url| *url != first)
        },
    );
    // The client reads the new address by itself.
    assert_eq!(client.wait().code(), Some(0));
    // The job may have ended before a worker found the new address.
    until("a worker is back", || {
        let list = ["workers", "list", "--coordinator", &second, "--json"];
        let listed = Finished::of(slurm.kagetsu(&list));
        let listed: Value = serde_json::from_str(&listed.stdout).ok()?;
        listed.get(0)?.is_object().then_some(())
    });

    // A cancelled worker says goodbye and stays away.
    for job in [&workers, &coordinator] {
        slurm.ask("scancel", &[job]).ok();
        until("it has ended", || {
            slurm
                .state(job)
                .lines()
                .all(|state| state == "CANCELLED")
                .then_some(())
        });
    }
    until("no stale address stays", || (!file.exists()).then_some(()));
    let logs = slurm.logs();
    assert!(logs.contains("goodbye=true"), "{logs}");
    assert_eq!(book_keys(&slurm.path("shared/book"), 5).len(), 60, "{logs}");
}

/// Checks that only callers with a certificate and a token use the cluster, and that the folder's
/// secrets are readable by their owner alone.
fn is_safe_by_default(slurm: &Slurm, url: &str) {
    assert!(url.starts_with("https://"), "{url}");
    let list = ["jobs", "list", "--coordinator", url];
    let refused = Program::Kagetsu.run(&list);
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    let authority = slurm.text("shared/certs/ca.pem");
    let refused = Program::Kagetsu.run(&[&list[..], &["--tls-ca", &authority]].concat());
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    for name in ["worker.token", "admin.token", "certs/ca.key", "tokens.toml"] {
        let file = fs::metadata(slurm.path("shared").join(name)).expect("the job made it");
        assert_eq!(file.permissions().mode() & 0o077, 0, "{name}");
    }
}

/// Opens the page at the address that the job printed, with the token that it made.
fn shows_its_page(slurm: &Slurm) {
    let url = fs::read_to_string(slurm.path("shared/page.url")).expect("the job wrote it");
    assert!(slurm.logs().contains(&format!("page: {}", url.trim())));
    let mut browser = kagetsu_builders::needed!(Browser::start());
    browser.command(
        "Security.setIgnoreCertificateErrors",
        json!({"ignore": true}),
    );
    browser.set_window(1440, 900, false);
    browser.open(&format!("{}#/cluster", url.trim()));
    browser.wait_for("document.querySelector('dialog.token input')");
    let token = fs::read_to_string(slurm.path("shared/admin.token")).expect("the job made it");
    browser.click("dialog.token input");
    browser.type_text(token.trim());
    browser.press("Enter");
    browser.wait_for("document.body.innerText.includes('test')");
}

/// The test sends the signal as Slurm does: to the script alone, while the job runs.
#[test]
fn worker_requeues_at_signal_before_time_limit() {
    let slurm = kagetsu_builders::needed!(Slurm::start());
    let coordinator = slurm.submit("coordinator.sbatch", &["--cpus-per-task=1"]);
    let workers = slurm.submit("workers.sbatch", &["--array=1", "--cpus-per-task=1"]);
    until("it works", || {
        slurm.logs().contains("working for").then_some(())
    });
    let job = format!("{workers}_1");
    slurm
        .ask("scancel", &["--batch", "--signal=TERM", &job])
        .ok();
    until("it waits again", || {
        (slurm.state(&workers) == "PENDING").then_some(())
    });
    let logs = slurm.logs();
    assert!(
        logs.contains("goodbye=true") && logs.contains("stopping:"),
        "{logs}"
    );
    for job in [&workers, &coordinator] {
        slurm.ask("scancel", &[job]).ok();
        until("it is gone for good", || {
            slurm
                .state(job)
                .lines()
                .all(|state| state == "CANCELLED")
                .then_some(())
        });
    }
}

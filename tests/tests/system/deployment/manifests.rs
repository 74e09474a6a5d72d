//! The files of `deploy`, compared with the programs that they start and the formats that they use.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kagetsu_tests::{Finished, Program};

/// Variables that are not flags: a token, and the scripts' own.
const NON_FLAGS: [&str; 4] = [
    "KAGETSU_TOKEN",
    "KAGETSU_SHARED",
    "KAGETSU_HOST",
    "KAGETSU_PORT",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("it is there").path();
        if path.is_dir() {
            all.extend(files(&path))
        } else {
            all.push(path)
        }
    }
    all
}

/// Returns the words of a text that begin with `begin` and consist of letters and the characters in
/// `also`.
pub(super) fn words<'a>(text: &'a str, begin: &str, also: &str) -> BTreeSet<&'a str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || also.contains(c);
    let starts = text.match_indices(begin).map(|(at, _)| &text[at..]);
    starts
        .map(|rest| rest.find(|c| !is_part(c)).map_or(rest, |end| &rest[..end]))
        .collect()
}

#[test]
fn every_deployed_setting_is_a_flag() {
    let help =
        [Program::Coordinator, Program::Worker].map(|program| program.run(&["--help"]).stdout);
    let flags: BTreeSet<String> = help
        .iter()
        .flat_map(|help| words(help, "--", "-"))
        .map(String::from)
        .collect();
    assert!(
        flags.contains("--tls-client-ca") && flags.contains("--spool"),
        "{flags:?}"
    );
    let mut seen = 0;
    for file in files(&folder()) {
        let bytes = fs::read(&file).expect("readable");
        let text = String::from_utf8_lossy(&bytes);
        for variable in words(&text, "KAGETSU_", "_")
            .into_iter()
            .filter(|name| !NON_FLAGS.contains(name))
        {
            let flag = format!(
                "--{}",
                variable["KAGETSU_".len()..]
                    .to_lowercase()
                    .replace('_', "-")
            );
            assert!(
                flags.contains(&flag),
                "{}: {variable} is no setting",
                file.display()
            );
            seen += 1;
        }
    }
    assert!(seen > 40, "only {seen} settings");
}

/// The services read certificates and tokens where the operator changes them, because systemd
/// copies the files of LoadCredential when a unit starts, and not when it reloads.
#[test]
fn systemd_reload_reads_changed_secrets() {
    for name in ["coordinator", "worker"] {
        let file = format!("systemd/kagetsu-{name}.service");
        let unit = fs::read_to_string(folder().join(file)).expect("text");
        assert!(!unit.contains("LoadCredential"), "{unit}");
        assert!(unit.contains("User=kagetsu\n"), "{unit}");
        let settings = format!("EnvironmentFile=-/etc/kagetsu/{name}.env\n");
        assert!(unit.contains(&settings), "{unit}");
        assert!(folder().join(format!("systemd/{name}.env")).exists());
    }
    let unit = folder().join("systemd/kagetsu-coordinator.service");
    let unit = fs::read_to_string(unit).expect("text");
    assert!(
        unit.contains("ExecReload=/bin/kill -HUP $MAINPID\n"),
        "{unit}"
    );
}

/// systemd's own check of the units, with stand-ins for the programs.
#[test]
fn systemd_accepts_the_units() {
    if Command::new("systemd-analyze")
        .arg("--version")
        .output()
        .is_err()
    {
        println!("skipped: no systemd-analyze");
        return;
    }
    let scratch = kagetsu_tests::Scratch::new();
    let mut check = Command::new("systemd-analyze");
    check.args(["verify", "--man=no", "--recursive-errors=no"]);
    for name in ["coordinator", "worker"] {
        let file = format!("kagetsu-{name}.service");
        let unit = fs::read_to_string(folder().join("systemd").join(&file)).expect("text");
        let program = if name == "worker" {
            Program::Worker
        } else {
            Program::Coordinator
        };
        let program = program.command(&[]).get_program().to_owned();
        let start = format!("ExecStart={}", program.to_string_lossy());
        let unit = unit.replace(&format!("ExecStart=kagetsu-{name}"), &start);
        fs::write(scratch.path(&file), unit).expect("room");
        check.arg(scratch.path(&file));
    }
    let checked = Finished::of(check).ok();
    assert!(!checked.stderr.contains("kagetsu-"), "{checked:#?}");
}

#[test]
fn scripts_pass_the_shell_check() {
    let mut scripts = files(&folder().join("slurm"));
    scripts.push(folder().join("kubernetes/secrets.sh"));
    for file in scripts {
        let mut shell = Command::new("bash");
        shell.arg("-n").arg(&file);
        Finished::of(shell).ok();
        let text = fs::read_to_string(&file).expect("text");
        let is_batch = file.extension().is_some_and(|end| end == "sbatch");
        let batch = ["#SBATCH --requeue", "#SBATCH --signal=B:TERM@"];
        let lines = batch.iter().filter(|_| is_batch);
        // The secrets that a script writes are readable by their owner alone.
        for line in lines.chain(&["set -euo pipefail", "umask 077"]) {
            assert!(text.contains(line), "{}: no {line}", file.display());
        }
    }
}

/// Whether `kubectl` is there, which `.ci/run` does not install.
fn has_kubectl() -> bool {
    let mut kubectl = Command::new("kubectl");
    let output = kubectl.args(["version", "--client"]).output();
    let is_there = output.is_ok_and(|output| output.status.success());
    if !is_there {
        println!("skipped: no kubectl");
    }
    is_there
}

/// Returns the manifests that kustomize makes of a folder.
fn kustomize(folder: &Path) -> String {
    let mut kubectl = Command::new("kubectl");
    kubectl.arg("kustomize").arg(folder);
    let made = Finished::of(kubectl).ok();
    made.stdout
}

/// Runs lines of Python, and returns what they print.
fn python(lines: &str, files: &[PathBuf]) -> String {
    let mut python = Command::new("python3");
    python.args(["-c", lines]).args(files);
    let ran = Finished::of(python).ok();
    ran.stdout
}

#[test]
fn kubernetes_manifests_match_published_schemas() {
    if !has_kubectl() || !kagetsu_builders::has_python_module("kubernetes_validate, yaml") {
        return;
    }
    let scratch = kagetsu_tests::Scratch::new();
    // kustomize accepts relative paths only.
    let up = "../".repeat(scratch.folder().components().count());
    let place = |name: &str| {
        let path = folder().join(name).canonicalize().expect("it is there");
        up.clone() + path.display().to_string().trim_start_matches('/')
    };
    let overlay = format!(
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n\
         resources: [{}]\ncomponents: [{}]\n",
        place("kubernetes"),
        place("monitoring")
    );
    fs::write(scratch.path("kustomization.yaml"), overlay).expect("room");
    let parts = [
        kustomize(scratch.folder()),
        secrets(&scratch),
        kustomize(&folder().join("kubernetes-postgres")),
    ];
    let file = scratch.path("all.yaml");
    fs::write(&file, parts.join("---\n")).expect("room");
    // The kinds of the Prometheus operator have no schema there.
    let check = "import sys, yaml, kubernetes_validate as k\n\
                 for d in filter(None, yaml.safe_load_all(open(sys.argv[1]))):\n    \
                 'monitoring.coreos.com' in d['apiVersion'] or \
                 k.validate(d, k.latest_version(), strict=True); print(d['kind'])";
    let found = python(check, &[file]);
    for kind in "StatefulSet Deployment HorizontalPodAutoscaler NetworkPolicy PodDisruptionBudget \
                 Service ServiceMonitor PrometheusRule ConfigMap Secret"
        .split(' ')
    {
        assert!(found.lines().any(|line| line == kind), "{kind}: {found}");
    }
}

/// The package's models are made from the operator's definitions of its kinds. A field that they
/// lack is an error, as is one of another type. Prints why it is skipped where a tool is absent.
#[test]
fn monitoring_matches_the_operators_models() {
    let models = "cloudcoil.models.prometheus_operator";
    if !has_kubectl() || !kagetsu_builders::has_python_module(models) {
        return;
    }
    let whole = kustomize(&folder().join("monitoring"));
    let scratch = kagetsu_tests::Scratch::new();
    let changes = [
        ("", ""),
        ("port: metrics", "prot: metrics"),
        ("severity: ", "severity: !!int 1 #"),
    ];
    let files = changes.map(|(right, wrong)| {
        assert!(whole.contains(right), "no '{right}'");
        let file = scratch.path(&format!("{}.yaml", right.len()));
        fs::write(&file, whole.replace(right, wrong)).expect("room");
        file
    });
    // One process for all files, since the models take seconds to load.
    let check = "import sys, yaml\n\
                 from cloudcoil.models.prometheus_operator import v1\n\
                 def kinds(path):\n    \
                 for d in filter(None, yaml.safe_load_all(open(path))):\n        \
                 if d['apiVersion'] == 'monitoring.coreos.com/v1': \
                 getattr(v1, d['kind']).model_validate(d, extra='forbid'); yield d['kind']\n\
                 for path in sys.argv[1:]:\n    \
                 try: print(*sorted(set(kinds(path))))\n    \
                 except ValueError as fault: print(type(fault).__name__)";
    let found = python(check, &files);
    let right = "PrometheusRule ServiceMonitor";
    let wanted = [right, "ValidationError", "ValidationError"];
    assert_eq!(Vec::from_iter(found.lines()), wanted);
}

/// Returns the secrets that `secrets.sh` makes; a second run keeps the files and prints the same.
fn secrets(scratch: &kagetsu_tests::Scratch) -> String {
    let command = Program::Kagetsu.command(&[]);
    let programs = Path::new(command.get_program()).parent().expect("a folder");
    let path = std::env::var("PATH").expect("a path");
    let run = || {
        let mut script = Command::new("bash");
        script
            .arg(folder().join("kubernetes/secrets.sh"))
            .arg(scratch.path("secrets"))
            .env("PATH", format!("{}:{path}", programs.display()));
        Finished::of(script)
    };
    let (first, second) = (run(), run());
    assert_eq!(first.code, Some(0), "{first:#?}");
    assert_eq!(first.stdout, second.stdout);
    first.stdout
}

/// Needs no tool: the manifests contain everything that an operator relies on.
#[test]
fn kubernetes_manifests_are_complete() {
    let read = |name: &str| {
        fs::read_to_string(folder().join("kubernetes").join(name)).expect("it is there")
    };
    let list = read("kustomization.yaml");
    let mut manifests = files(&folder().join("kubernetes"));
    manifests.retain(|file| file.extension().is_some_and(|end| end == "yaml"));
    for file in manifests {
        let name = file
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a plain name")
            .to_string();
        let text = read(&name);
        assert!(
            name == "kustomization.yaml" || list.contains(&format!("- {name}")),
            "{name} is not listed"
        );
        assert!(!text.contains('\t'), "{name} has tabs");
        assert!(
            text.contains("apiVersion: ") && text.contains("kind: "),
            "{name}"
        );
    }
    let safe = [
        "runAsNonRoot: true",
        "readOnlyRootFilesystem: true",
        "drop: [ALL]",
        "seccompProfile:",
    ];
    for (name, lines) in [
        ("coordinator.yaml", &safe[..]),
        ("workers.yaml", &safe),
        ("coordinator.yaml", &["livenessProbe:", "readinessProbe:"]),
        ("workers.yaml", &["terminationGracePeriodSeconds:"]),
        ("autoscaling.yaml", &["name: kagetsu_demand"]),
        ("network.yaml", &["policyTypes: [Ingress, Egress]"]),
    ] {
        for line in lines {
            assert!(read(name).contains(line), "{name}: no {line}");
        }
    }
}

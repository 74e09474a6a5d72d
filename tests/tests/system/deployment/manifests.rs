//! The files of `deploy`, compared with the programs that they start and the formats that they use.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kagetsu_tests::{Finished, Program};

/// Variables that are not flags: a token, and the scripts' own.
const NON_FLAGS: [&str; 3] = ["KAGETSU_TOKEN", "KAGETSU_SHARED", "KAGETSU_HOST"];

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
fn words<'a>(text: &'a str, begin: &str, also: &str) -> BTreeSet<&'a str> {
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
        let text = fs::read_to_string(&file).expect("text");
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

/// systemd copies the files of LoadCredential when a unit starts, and not when it reloads.
#[test]
fn systemd_reload_copies_changed_credentials() {
    let unit =
        fs::read_to_string(folder().join("systemd/kagetsu-coordinator.service")).expect("text");
    assert!(
        !unit
            .lines()
            .any(|line| line.trim_start_matches('#').starts_with("LoadCredential=")),
        "{unit}"
    );
    let commands = |key: &str| {
        let lines = unit
            .lines()
            .filter_map(|line| line.trim_start_matches('#').strip_prefix(key));
        lines.map(String::from).collect::<Vec<_>>()
    };
    let (before, mut again) = (commands("ExecStartPre="), commands("ExecReload="));
    assert_eq!(
        again.pop().as_deref(),
        Some("/bin/kill -HUP $MAINPID"),
        "the last: all is there by then"
    );
    assert_eq!((before.len(), before), (2, again), "{unit}");
}

#[test]
fn scripts_pass_the_shell_check() {
    for file in files(&folder().join("slurm")) {
        let mut shell = Command::new("bash");
        shell.arg("-n").arg(&file);
        let checked = Finished::of(shell);
        assert_eq!(checked.code, Some(0), "{checked:#?}");
        let text = fs::read_to_string(&file).expect("text");
        for line in [
            "#SBATCH --requeue",
            "#SBATCH --signal=B:TERM@",
            "set -euo pipefail",
        ] {
            assert!(text.contains(line), "{}: no {line}", file.display());
        }
    }
}

/// Prints why it is skipped where the tool is absent.
#[test]
fn kubernetes_manifests_match_published_schemas() {
    let is_there = |program: &str, arguments: &[&str]| {
        Command::new(program)
            .args(arguments)
            .output()
            .is_ok_and(|output| output.status.success())
    };
    let code = "import kubernetes_validate, yaml";
    if !is_there("kubectl", &["version", "--client"]) || !is_there("python3", &["-c", code]) {
        println!("skipped: no kubectl, or no kubernetes-validate for python3");
        return;
    }
    validate("kubernetes-postgres");
    let checked = validate("kubernetes");
    for kind in [
        "StatefulSet",
        "Deployment",
        "HorizontalPodAutoscaler",
        "NetworkPolicy",
        "Service",
    ] {
        assert!(
            checked.stdout.lines().any(|line| line == kind),
            "{checked:#?}"
        );
    }
}

/// Validates the manifests that kustomize makes of a folder, and returns their kinds.
fn validate(name: &str) -> Finished {
    let mut kubectl = Command::new("kubectl");
    kubectl.arg("kustomize").arg(folder().join(name));
    let whole = Finished::of(kubectl);
    assert_eq!(whole.code, Some(0), "{whole:#?}");
    let scratch = kagetsu_tests::Scratch::new();
    let file = scratch.path("all.yaml");
    fs::write(&file, &whole.stdout).expect("room");
    let check = "import sys, yaml, kubernetes_validate as k\n\
                 for d in yaml.safe_load_all(open(sys.argv[1])):\n    \
                 k.validate(d, k.latest_version(), strict=True); print(d['kind'])";
    let mut python = Command::new("python3");
    python.args(["-c", check]).arg(&file);
    let checked = Finished::of(python);
    assert_eq!(checked.code, Some(0), "{checked:#?}");
    checked
}

/// Needs no tool: the manifests contain everything that an operator relies on.
#[test]
fn kubernetes_manifests_are_complete() {
    let read = |name: &str| {
        fs::read_to_string(folder().join("kubernetes").join(name)).expect("it is there")
    };
    let list = read("kustomization.yaml");
    for file in files(&folder().join("kubernetes")) {
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
    for (name, lines) in [
        (
            "coordinator.yaml",
            &[
                "kind: StatefulSet",
                "volumeClaimTemplates:",
                "livenessProbe:",
                "readinessProbe:",
            ][..],
        ),
        (
            "workers.yaml",
            &[
                "kind: Deployment",
                "secret: {secretName: kagetsu-worker",
                "terminationGracePeriodSeconds:",
            ],
        ),
        (
            "autoscaling.yaml",
            &["kind: HorizontalPodAutoscaler", "name: kagetsu_demand"],
        ),
        (
            "network.yaml",
            &["kind: NetworkPolicy", "policyTypes: [Ingress, Egress]"],
        ),
    ] {
        let text = read(name);
        assert!(
            lines.iter().all(|line| text.contains(line)),
            "{name}: not all of {lines:?}"
        );
    }
    for name in ["coordinator.yaml", "workers.yaml"] {
        let text = read(name);
        for line in [
            "runAsNonRoot: true",
            "readOnlyRootFilesystem: true",
            "drop: [ALL]",
            "seccompProfile:",
        ] {
            assert!(text.contains(line), "{name}: no {line}");
        }
    }
}

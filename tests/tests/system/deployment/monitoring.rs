//! The dashboard and the alerts of `deploy/monitoring`, against a coordinator's metrics and a real
//! Prometheus.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use kagetsu_tests::{Finished, ReservedPort, Scratch, http};
use serde_json::{Value, json};

use super::manifests::words;
use crate::servers::http::HttpCoordinator;
use crate::world::{kagetsu_line, until, until_or, worker};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/monitoring")
}

fn read(name: &str) -> String {
    fs::read_to_string(folder().join(name)).expect("it is there")
}

/// Returns the queries of the dashboard's panels.
fn queries() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(&read("dashboard.json")).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels
        .iter()
        .filter_map(|panel| panel["targets"].as_array())
        .flatten();
    let queries: Vec<_> = targets
        .map(|target| target["expr"].as_str().expect("a query").to_string())
        .collect();
    assert!(queries.len() > 20, "only {} queries", queries.len());
    queries
}

/// A coordinator whose every metric has a value.
fn busy_coordinator(scratch: &Scratch) -> (HttpCoordinator, kagetsu_tests::Running) {
    let book = scratch.path("book");
    let server = HttpCoordinator::start(&["--book", book.to_str().expect("a plain name")]);
    let worker = worker(&server.grpc);
    let body = json!({"name": "test", "variant": "freestyle-15", "roots": ["h8"], "positions": 5, "depth": 2});
    server.post("/api/v1/jobs", &body);
    until("the job is done", || {
        (server.get("/api/v1/jobs/test")["state"] == "done").then_some(())
    });
    let (book, copy) = (book.display(), scratch.path("copy"));
    kagetsu_line(&format!("backup --book {book} --to {}", copy.display())).ok();
    (server, worker)
}

#[test]
fn dashboard_and_alerts_name_existing_metrics() {
    let scratch = Scratch::new();
    let (server, _worker) = busy_coordinator(&scratch);
    let metrics = http(&server.http, "GET", "/metrics", "").body;
    let series = |line: &str| {
        let end = line.find(['{', ' ']).unwrap_or(line.len());
        line[..end].to_string()
    };
    let known: BTreeSet<String> = metrics
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(series)
        .collect();
    let alerts = read("alerts.yaml");
    let named = queries().join(" ") + &alerts;
    let named = words(&named, "kagetsu_", "_");
    assert!(named.len() > 20, "{named:?}");
    for name in &named {
        assert!(known.contains(*name), "no metric {name} in\n{metrics}");
    }
    // A metric that the dashboard does not show is a gap.
    for name in known
        .iter()
        .filter(|name| !name.ends_with("_sum") && !name.ends_with("_count"))
    {
        assert!(
            named.contains(name.as_str()),
            "the dashboard lacks {name}: {named:?}"
        );
    }
}

#[test]
fn operator_rules_repeat_the_alerts() {
    let indented: String = read("alerts.yaml")
        .lines()
        .map(|line| format!("  {line}\n"))
        .collect();
    let rule = read("prometheus-rule.yaml");
    let (_, spec) = rule.split_once("\nspec:\n").expect("a specification");
    assert_eq!(spec, indented);
}

/// A Prometheus that scrapes one coordinator each second.
struct Prometheus {
    child: Child,
    address: String,
    _port: ReservedPort,
}

impl Prometheus {
    /// Returns `None` where Prometheus is not installed.
    fn start(scratch: &Scratch, target: &str) -> Option<Self> {
        if !["prometheus", "promtool"]
            .iter()
            .all(|tool| kagetsu_builders::is_installed(tool, &["--version"]))
        {
            return None;
        }
        let config = read("prometheus.yml")
            .replace("scrape_interval: 15s", "scrape_interval: 1s")
            .replace("127.0.0.1:7616", target)
            .replace(
                "[alerts.yaml]",
                &format!("['{}']", folder().join("alerts.yaml").display()),
            );
        let file = scratch.path("prometheus.yml");
        fs::write(&file, config).expect("room");
        let port = ReservedPort::default();
        let address = format!("127.0.0.1:{}", port.number());
        let mut command = Command::new("prometheus");
        command
            .arg(format!("--config.file={}", file.display()))
            .arg(format!(
                "--storage.tsdb.path={}",
                scratch.path("tsdb").display()
            ))
            .arg(format!("--web.listen-address={address}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn().expect("it starts");
        let started = Self {
            child,
            address,
            _port: port,
        };
        // It listens before it has read its own log, and answers with status 503 until then.
        until("prometheus is ready", || {
            std::net::TcpStream::connect(&started.address).ok()?;
            (http(&started.address, "GET", "/-/ready", "").status == 200).then_some(())
        });
        Some(started)
    }

    fn get(&self, path: &str) -> Value {
        let answered = http(&self.address, "GET", path, "");
        assert_eq!(answered.status, 200, "{path}: {answered:#?}");
        answered.json()["data"].clone()
    }

    /// Returns the number of series that a query finds.
    fn series(&self, query: &str) -> usize {
        let encoded: String = query.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let data = self.get(&format!("/api/v1/query?query={encoded}"));
        data["result"].as_array().map_or(0, Vec::len)
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn prometheus_answers_the_dashboard() {
    let scratch = Scratch::new();
    let (server, _worker) = busy_coordinator(&scratch);
    let prometheus = kagetsu_builders::needed!(Prometheus::start(&scratch, &server.http));
    for query in queries() {
        let query = query
            .replace("$__rate_interval", "1m")
            .replace("$instance", ".*");
        until_or(
            "the query finds something",
            || query.clone(),
            || {
                // Requests of HTTP are measured after the first.
                server.get("/api/v1/status");
                (prometheus.series(&query) > 0).then_some(())
            },
        );
    }
    let rules = until("the alerts are evaluated", || {
        let rules = prometheus.get("/api/v1/rules")["groups"][0]["rules"].clone();
        let rules = rules.as_array()?.clone();
        rules
            .iter()
            .all(|rule| rule["health"] != "unknown")
            .then_some(rules)
    });
    for rule in rules {
        assert_eq!(rule["health"], "ok", "{rule}");
        assert_eq!(rule["state"], "inactive", "{rule}");
    }
}

#[test]
fn alerts_pass_their_own_tests() {
    let mut promtool = Command::new("promtool");
    promtool
        .args(["test", "rules", "alerts-test.yaml"])
        .current_dir(folder());
    match promtool.output() {
        Err(_) => kagetsu_builders::skip("promtool"),
        Ok(output) => assert!(output.status.success(), "{output:?}"),
    }
    let mut promtool = Command::new("promtool");
    promtool.arg("check").arg("config").arg("prometheus.yml");
    promtool.current_dir(folder());
    if promtool.output().is_ok() {
        Finished::of(promtool).ok();
    }
}

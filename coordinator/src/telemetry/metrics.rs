//! Counters and histograms, for Prometheus.

use std::fmt;
use std::time::Duration;

use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use crate::auth::Permission;
use crate::telemetry::cluster_metrics::Snapshot;
use crate::telemetry::labels::{Labels, labels};

/// Content type of the metrics: OpenMetrics, which Prometheus reads.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Counters and histograms of a coordinator. Values that can be counted at any time are in a
/// [`Snapshot`].
pub(crate) struct Metrics {
    registry: Registry,
    /// Seconds from the assignment of a task to its report.
    pub(crate) lease_time: Histogram,
    request_time: RequestTimes,
    http_time: RequestTimes,
    /// Answers that the book could not merge.
    pub(crate) merge_conflicts: Counter,
}

/// Times of requests, by one label.
type RequestTimes = Family<Labels, Histogram, fn() -> Histogram>;

fn request_buckets() -> Histogram {
    Histogram::new(exponential_buckets(0.000_25, 4.0, 9))
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("kagetsu");
        let lease_time = Histogram::new(exponential_buckets(0.01, 2.0, 20));
        let [request_time, http_time] =
            [(); 2].map(|()| RequestTimes::new_with_constructor(request_buckets));
        let merge_conflicts = Counter::default();
        let help = "From handing a task out to its report";
        registry.register_with_unit("lease", help, Unit::Seconds, lease_time.clone());
        let help = "From a request of gRPC to the head of its answer";
        registry.register_with_unit("request", help, Unit::Seconds, request_time.clone());
        let help = "From a request of HTTP to the head of its answer";
        registry.register_with_unit("http_request", help, Unit::Seconds, http_time.clone());
        let help = "Answers that the book could not bring together with what it knew";
        registry.register("merge_conflicts", help, merge_conflicts.clone());
        Self {
            registry,
            lease_time,
            request_time,
            http_time,
            merge_conflicts,
        }
    }
}

impl Metrics {
    /// Records the time from a gRPC request to the head of its response.
    pub(crate) fn answered(&self, path: &str, time: Duration) {
        // Requests of unknown methods must not create labels.
        let is_known = Permission::of_rpc(path).is_some();
        let method = if is_known {
            path.trim_start_matches('/')
        } else {
            "other"
        };
        self.request_time
            .get_or_create(&labels("method", method))
            .observe(time.as_secs_f64());
    }

    /// Records the time from an HTTP request to the head of its response.
    pub(crate) fn answered_http(&self, method: &str, route: &str, time: Duration) {
        // A method can be any word.
        let method = if matches!(method, "GET" | "HEAD" | "POST" | "OPTIONS") {
            method
        } else {
            "other"
        };
        self.http_time
            .get_or_create(&labels("route", &format!("{method} {route}")))
            .observe(time.as_secs_f64());
    }

    /// Returns all metrics as text.
    ///
    /// # Errors
    /// None in practice: writing to text in memory does not fail.
    pub(crate) fn render(&self, snapshot: Snapshot) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode_registry(&mut text, &self.registry)?;
        let mut now = Registry::with_prefix("kagetsu");
        now.register_collector(Box::new(snapshot));
        encode_registry(&mut text, &now)?;
        encode_eof(&mut text)?;
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use kagetsu_schedule::{Counts, Totals, WorkerId, WorkerStatus};
    use kagetsu_verification::{Class, Profile, WorkerTrust};

    use super::*;
    use crate::cluster::connections::WorkerView;

    #[test]
    fn rendered_metrics_are_valid_and_unique() {
        let metrics = Metrics::default();
        metrics.lease_time.observe(3.0);
        metrics.answered("/kagetsu.v1.Builds/List", Duration::from_millis(3));
        metrics.answered("/no/such/path", Duration::from_millis(3));
        metrics.answered_http("POST", "/api/v1/jobs", Duration::from_millis(3));
        metrics.answered_http("UNKNOWN", "/api/v1/jobs", Duration::from_millis(3));
        metrics.merge_conflicts.inc();
        let counts = Counts {
            waiting_tasks: 3,
            totals: Totals {
                reassigned: 5,
                ..Totals::default()
            },
            ..Counts::default()
        };
        let snapshot = Snapshot {
            counts,
            refusals: vec![("role", 2)],
            book: Some((7, 8)),
            quarantines: 4,
            ..Snapshot::default()
        };
        let text = metrics.render(snapshot).expect("text");
        assert!(text.ends_with("# EOF\n"), "{text}");
        let mut seen = BTreeSet::new();
        for line in text.lines() {
            let (series, value) = line.rsplit_once(' ').expect("a name and a value");
            assert!(
                seen.insert(series) || line.starts_with('#'),
                "twice: {line}"
            );
            assert!(
                line.starts_with('#') || value.parse::<f64>().is_ok(),
                "no number: {line}"
            );
        }
        for line in [
            "kagetsu_lease_seconds_count 1",
            "kagetsu_request_seconds_count{method=\"kagetsu.v1.Builds/List\"} 1",
            "kagetsu_request_seconds_count{method=\"other\"} 1",
            "kagetsu_http_request_seconds_count{route=\"POST /api/v1/jobs\"} 1",
            "kagetsu_http_request_seconds_count{route=\"other /api/v1/jobs\"} 1",
            "kagetsu_merge_conflicts_total 1",
            "kagetsu_tasks{state=\"waiting\"} 3.0",
            "kagetsu_queue_depth 3.0",
            "kagetsu_demand 3.0",
            "kagetsu_task_events_total{event=\"reassigned\"} 5",
            "kagetsu_refusals_total{reason=\"role\"} 2",
            "kagetsu_idle_workers{reason=\"no tasks\"} 0.0",
            "kagetsu_idle_workers{reason=\"in quarantine\"} 0.0",
            "kagetsu_book_positions 7.0",
            "kagetsu_quarantines_total 4",
        ] {
            assert!(
                text.lines().any(|found| found == line),
                "no '{line}' in\n{text}"
            );
        }
    }

    #[test]
    fn names_are_escaped() {
        for (name, escaped) in [
            ("rack \"7\"", r#"rack \"7\""#),
            (r"a\n", r"a\\n"),
            (
                "x\"} 1\nkagetsu_demand 1000000\n",
                r#"x\"} 1\nkagetsu_demand 1000000\n"#,
            ),
        ] {
            let info = Profile {
                name: name.into(),
                engine: "kagetsu".into(),
                slots: 1,
                threads: 1,
                plays: Arc::default(),
                token: None,
                class: Class::Operator,
            };
            let status = WorkerStatus {
                id: WorkerId(1),
                slots: 1,
                tasks: Vec::new(),
                done: 0,
                speed: 5,
                last_seen: Duration::ZERO,
                idle: None,
            };
            let workers = vec![WorkerView {
                info,
                status,
                trust: WorkerTrust::default(),
            }];
            let text = Metrics::default()
                .render(Snapshot {
                    workers,
                    ..Snapshot::default()
                })
                .expect("text");
            let line = format!("kagetsu_worker_nodes_per_second{{worker=\"{escaped}\"}} 5.0");
            assert!(
                text.lines().any(|found| found == line),
                "no '{line}' in\n{text}"
            );
            assert!(
                !text.lines().any(|found| found == "kagetsu_demand 1000000"),
                "{text}"
            );
        }
    }
}

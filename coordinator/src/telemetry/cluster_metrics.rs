use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use kagetsu_book::JobState;
use kagetsu_schedule::{Counts, Idle, WorkerStatus};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

use crate::book::handle::JobView;
use crate::cluster::connections::WorkerView;
use crate::telemetry::labels::labels;

/// Everything that can be counted at a moment.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    /// Whether this coordinator leads its book, if it has one.
    pub(crate) leads: bool,
    pub(crate) counts: Counts,
    pub(crate) workers: Vec<WorkerView>,
    /// Workers quarantined since the start.
    pub(crate) quarantines: u64,
    pub(crate) jobs: Vec<Arc<JobView>>,
    /// Positions of the book, and entries of its journal; none without a book that is led here.
    pub(crate) book: Option<(u64, u64)>,
    /// Bytes that the disk of the book's folder has room for.
    pub(crate) disk_free: Option<u64>,
    /// Unix time of the last backup of the book's folder.
    pub(crate) backed_up: Option<u64>,
    /// Requests refused, by reason.
    pub(crate) refusals: Vec<(&'static str, u64)>,
}

/// A row of a table of one column and one value.
type Row = (String, f64);

impl Snapshot {
    /// Returns the number of tasks to do now: waiting and running ones, or the positions that
    /// running jobs still want if these are more. A cluster scales by it.
    fn demand(&self) -> u64 {
        let running = self
            .jobs
            .iter()
            .filter(|view| view.job.state == JobState::Running);
        let wanted = |view: &Arc<JobView>| {
            view.job
                .frontier
                .min(view.job.target().saturating_sub(view.job.positions))
        };
        let tasks = (self.counts.waiting_tasks + self.counts.leased_tasks) as u64;
        // Positions that a job has handed out are in its frontier, too.
        tasks.max(running.map(wanted).sum())
    }

    fn idle(&self) -> Vec<Row> {
        // Reasons without a worker are 0, so that a monitor can tell them from unknown ones.
        let mut reasons: BTreeMap<String, u32> =
            Idle::ALL.iter().map(|idle| (idle.to_string(), 0)).collect();
        for idle in self.workers.iter().filter_map(|view| view.status.idle) {
            *reasons.entry(idle.to_string()).or_default() += 1;
        }
        reasons
            .into_iter()
            .map(|(reason, count)| (reason, count.into()))
            .collect()
    }

    fn of_workers(&self, value: impl Fn(&WorkerStatus) -> f64) -> Vec<Row> {
        let mut names = BTreeMap::<&str, f64>::new();
        // Workers of one name are one row: Prometheus rejects a repeated row.
        for view in &self.workers {
            *names.entry(&view.info.name).or_default() += value(&view.status);
        }
        names
            .into_iter()
            .map(|(name, value)| (name.to_string(), value))
            .collect()
    }

    fn job_states(&self) -> Vec<Row> {
        let states = ["running", "paused", "done", "cancelled", "failed"];
        let named = self.jobs.iter().map(|view| view.job.state.to_string());
        let named = Vec::from_iter(named);
        let count = |state: &str| named.iter().filter(|named| *named == state).count();
        states
            .map(|state| (state.into(), count(state) as f64))
            .into()
    }

    fn of_jobs(&self, value: impl Fn(&JobView) -> f64) -> Vec<Row> {
        self.jobs
            .iter()
            .map(|view| (view.job.spec.name.clone(), value(view)))
            .collect()
    }
}

fn counted<'a>(rows: impl AsRef<[(&'a str, u64)]>) -> Vec<Row> {
    let rows = rows.as_ref().iter();
    rows.map(|(row, value)| ((*row).into(), *value as f64))
        .collect()
}

/// Returns the rows of a metric without a label, which is left out where its value is not known.
fn one(value: impl Into<Option<u64>>) -> Vec<Row> {
    let value = value.into().map(|value| (String::new(), value as f64));
    value.into_iter().collect()
}

impl Snapshot {
    /// Returns the rows of a metric of the table.
    fn rows(&self, name: &str) -> Vec<Row> {
        let (counts, totals) = (self.counts, self.counts.totals);
        let is_quarantined = |view: &&WorkerView| view.trust.quarantine.is_some();
        let (waiting, leased) = (counts.waiting_tasks as u64, counts.leased_tasks as u64);
        let (open, unsettled) = (
            counts.open_questions as u64,
            counts.unsettled_questions as u64,
        );
        match name {
            "tasks" => counted([("waiting", waiting), ("leased", leased)]),
            "questions" => counted([("open", open), ("unsettled", unsettled)]),
            "queue_depth" => one(waiting),
            "demand" => one(self.demand()),
            "task_events" => counted([
                ("assigned", totals.assigned),
                ("reassigned", totals.reassigned),
                ("done", totals.done),
                ("late", totals.late),
                ("handed_back", totals.handed_back),
                ("failed", totals.failed),
                ("stalled", totals.stalled),
                ("overdue", totals.overdue),
                ("lost", totals.lost),
                ("regained", totals.regained),
                ("moved", totals.moved),
            ]),
            "question_events" => counted([
                ("finished", totals.finished),
                ("set_aside", totals.set_aside),
                ("cancelled", totals.cancelled),
            ]),
            "workers" => one(self.workers.len() as u64),
            "slots" => one(counts.slots),
            "idle_workers" => self.idle(),
            "worker_nodes_per_second" => self.of_workers(|status| status.speed as f64),
            "worker_tasks" => self.of_workers(|status| status.tasks.len() as f64),
            "quarantined_workers" => one(self.workers.iter().filter(is_quarantined).count() as u64),
            "quarantines" => one(self.quarantines),
            "job_frontier" => self.of_jobs(|view| view.job.frontier as f64),
            "job_positions" => self.of_jobs(|view| view.job.positions as f64),
            "job_set_aside" => self.of_jobs(|view| view.job.set_aside as f64),
            "job_running" => self.of_jobs(|view| (view.job.state == JobState::Running).into()),
            "jobs" => self.job_states(),
            "leads" => one(u64::from(self.leads)),
            "book_positions" => one(self.book.map(|(positions, _)| positions)),
            "book_entries" => one(self.book.map(|(_, entries)| entries)),
            "disk_free_bytes" => one(self.disk_free),
            "backup_timestamp_seconds" => one(self.backed_up),
            "refusals" => counted(&self.refusals),
            _ => counted([(env!("CARGO_PKG_VERSION"), 1)]),
        }
    }
}

/// All metrics, each with its kind, its name, its label (`-`: one value) and what it counts.
const METRICS: &str = include_str!("metrics.txt");

impl Collector for Snapshot {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        for line in METRICS.lines() {
            let mut words = line.splitn(4, ' ');
            let [kind, name, label, help] = std::array::from_fn(|_| words.next().unwrap_or(""));
            let rows = self.rows(name);
            if rows.is_empty() && label == "-" {
                continue;
            }
            let is_counter = kind == "counter";
            let kind = if is_counter {
                MetricType::Counter
            } else {
                MetricType::Gauge
            };
            let write = |encoder: MetricEncoder<'_>, value: f64| {
                if is_counter {
                    ConstCounter::new(value as u64).encode(encoder)
                } else {
                    ConstGauge::new(value).encode(encoder)
                }
            };
            let mut encoder = encoder.encode_descriptor(name, help, None, kind)?;
            if label == "-" {
                write(encoder, rows[0].1)?;
                continue;
            }
            for (row, value) in &rows {
                write(encoder.encode_family(&labels(label, row))?, *value)?;
            }
        }
        Ok(())
    }
}

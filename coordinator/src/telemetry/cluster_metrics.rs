use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use kagetsu_book::JobState;
use kagetsu_schedule::{Counts, Idle, WorkerStatus};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::TypedMetric;
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
/// Returns the rows of a table of counts.
fn rows(counts: &[(&str, usize)]) -> Vec<Row> {
    let row = |(name, count): &(&str, usize)| (name.to_string(), *count as f64);
    counts.iter().map(row).collect()
}

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

/// Writes tables of values.
struct Writer<'a>(DescriptorEncoder<'a>);

impl Writer<'_> {
    fn one<M: EncodeMetric>(&mut self, name: &str, help: &str, metric: M) -> fmt::Result {
        let kind = metric.metric_type();
        metric.encode(self.0.encode_descriptor(name, help, None, kind)?)
    }

    /// Writes a table whose rows have a label each.
    fn table<M: EncodeMetric + TypedMetric>(
        &mut self,
        (name, help, label): (&str, &str, &'static str),
        rows: impl IntoIterator<Item = (impl AsRef<str>, M)>,
    ) -> fmt::Result {
        let mut encoder = self.0.encode_descriptor(name, help, None, M::TYPE)?;
        for (row, metric) in rows {
            metric.encode(encoder.encode_family(&labels(label, row.as_ref()))?)?;
        }
        Ok(())
    }
}

impl Collector for Snapshot {
    fn encode(&self, encoder: DescriptorEncoder) -> fmt::Result {
        let mut out = Writer(encoder);
        let Counts {
            slots,
            open_questions,
            unsettled_questions,
            waiting_tasks,
            leased_tasks,
            totals,
            ..
        } = self.counts;
        let is_quarantined = |view: &&WorkerView| view.trust.quarantine.is_some();
        let quarantined = self.workers.iter().filter(is_quarantined).count() as u64;
        let (positions, entries) = self.book.unzip();
        for (name, help, value) in [
            (
                "queue_depth",
                "Tasks that wait for a worker",
                Some(waiting_tasks as u64),
            ),
            (
                "demand",
                "Tasks that there are to do now, for scaling by",
                Some(self.demand()),
            ),
            (
                "workers",
                "Workers connected",
                Some(self.workers.len() as u64),
            ),
            (
                "slots",
                "Tasks that the workers can run at a time",
                Some(slots),
            ),
            (
                "quarantined_workers",
                "Workers connected that are in quarantine",
                Some(quarantined),
            ),
            (
                "leads",
                "Whether this coordinator leads its book",
                Some(self.leads.into()),
            ),
            ("book_positions", "Positions of the book", positions),
            ("book_entries", "Entries of the book's journal", entries),
            (
                "disk_free_bytes",
                "Room on the disk of the book's folder",
                self.disk_free,
            ),
            (
                "backup_timestamp_seconds",
                "Unix time of the last backup",
                self.backed_up,
            ),
        ] {
            if let Some(value) = value {
                out.one(name, help, ConstGauge::new(value as f64))?;
            }
        }
        let tasks = [("waiting", waiting_tasks), ("leased", leased_tasks)];
        let questions = [("open", open_questions), ("unsettled", unsettled_questions)];
        let version = env!("CARGO_PKG_VERSION").to_string();
        for (about, rows) in [
            (("tasks", "Tasks that are not done", "state"), rows(&tasks)),
            (
                ("questions", "Questions that are not on disk", "state"),
                rows(&questions),
            ),
            (
                ("idle_workers", "Workers with a free slot", "reason"),
                self.idle(),
            ),
            (
                (
                    "worker_nodes_per_second",
                    "Positions that a worker visits a second",
                    "worker",
                ),
                self.of_workers(|status| status.speed as f64),
            ),
            (
                ("worker_tasks", "Tasks in a worker's hands", "worker"),
                self.of_workers(|status| status.tasks.len() as f64),
            ),
            (
                ("job_frontier", "Positions of a job that wait", "job"),
                self.of_jobs(|view| view.job.frontier as f64),
            ),
            (
                ("job_positions", "Positions that a job has added", "job"),
                self.of_jobs(|view| view.job.positions as f64),
            ),
            (
                (
                    "job_set_aside",
                    "Positions that a job goes on without",
                    "job",
                ),
                self.of_jobs(|view| view.job.set_aside as f64),
            ),
            (
                ("job_running", "Whether a job is running", "job"),
                self.of_jobs(|view| f64::from(u8::from(view.job.state == JobState::Running))),
            ),
            (("jobs", "Jobs of the book", "state"), self.job_states()),
            (
                ("version", "Which version this is; always 1", "version"),
                vec![(version, 1.0)],
            ),
        ] {
            let row = |(name, value)| (name, ConstGauge::new(value));
            out.table(about, rows.into_iter().map(row))?;
        }
        let task_events = [
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
        ];
        let question_events = [
            ("finished", totals.finished),
            ("set_aside", totals.set_aside),
            ("cancelled", totals.cancelled),
        ];
        for (about, rows) in [
            (
                ("task_events", "What has happened to tasks", "event"),
                &task_events[..],
            ),
            (
                ("question_events", "What has become of questions", "event"),
                &question_events,
            ),
            (
                ("refusals", "Requests that a guard refused", "reason"),
                &self.refusals,
            ),
        ] {
            let row = |&(name, count)| (name, ConstCounter::new(count));
            out.table(about, rows.iter().map(row))?;
        }
        out.one(
            "quarantines",
            "Workers put into quarantine",
            ConstCounter::new(self.quarantines),
        )
    }
}

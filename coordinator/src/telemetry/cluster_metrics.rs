use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use kagetsu_book::JobState;
use kagetsu_schedule::{Counts, Idle, WorkerStatus};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
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
/// A number of a job.
type JobValue = fn(&JobView) -> f64;

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
    fn gauge(&mut self, name: &str, help: &str, value: f64) -> fmt::Result {
        let gauge = ConstGauge::new(value);
        gauge.encode(
            self.0
                .encode_descriptor(name, help, None, MetricType::Gauge)?,
        )
    }

    fn gauges(&mut self, name: &str, help: &str, label: &'static str, rows: &[Row]) -> fmt::Result {
        let mut encoder = self
            .0
            .encode_descriptor(name, help, None, MetricType::Gauge)?;
        for (row, value) in rows {
            ConstGauge::new(*value).encode(encoder.encode_family(&labels(label, row))?)?;
        }
        Ok(())
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) -> fmt::Result {
        let counter = ConstCounter::new(value);
        counter.encode(
            self.0
                .encode_descriptor(name, help, None, MetricType::Counter)?,
        )
    }

    fn counters(
        &mut self,
        name: &str,
        help: &str,
        label: &'static str,
        rows: &[(&str, u64)],
    ) -> fmt::Result {
        let mut encoder = self
            .0
            .encode_descriptor(name, help, None, MetricType::Counter)?;
        for (row, value) in rows {
            ConstCounter::new(*value).encode(encoder.encode_family(&labels(label, row))?)?;
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
        let number = |count: usize| count as f64;
        let states = [("waiting", waiting_tasks), ("leased", leased_tasks)];
        let states = states.map(|(state, count)| (state.to_string(), number(count)));
        out.gauges("tasks", "Tasks that are not done", "state", &states)?;
        let states = [("open", open_questions), ("unsettled", unsettled_questions)];
        let states = states.map(|(state, count)| (state.to_string(), number(count)));
        out.gauges(
            "questions",
            "Questions that are not on disk",
            "state",
            &states,
        )?;
        let (waiting, demand) = (number(waiting_tasks), self.demand() as f64);
        out.gauge("queue_depth", "Tasks that wait for a worker", waiting)?;
        out.gauge(
            "demand",
            "Tasks that there are to do now, for scaling by",
            demand,
        )?;
        let events = [
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
        out.counters(
            "task_events",
            "What has happened to tasks",
            "event",
            &events,
        )?;
        let events = [
            ("finished", totals.finished),
            ("set_aside", totals.set_aside),
            ("cancelled", totals.cancelled),
        ];
        out.counters(
            "question_events",
            "What has become of questions",
            "event",
            &events,
        )?;

        out.gauge("workers", "Workers connected", number(self.workers.len()))?;
        out.gauge(
            "slots",
            "Tasks that the workers can run at a time",
            slots as f64,
        )?;
        out.gauges(
            "idle_workers",
            "Workers with a free slot",
            "reason",
            &self.idle(),
        )?;
        let speeds = self.of_workers(|status| status.speed as f64);
        out.gauges(
            "worker_nodes_per_second",
            "Positions that a worker visits a second",
            "worker",
            &speeds,
        )?;
        let tasks = self.of_workers(|status| number(status.tasks.len()));
        out.gauges(
            "worker_tasks",
            "Tasks in a worker's hands",
            "worker",
            &tasks,
        )?;

        let quarantined = self
            .workers
            .iter()
            .filter(|view| view.trust.quarantine.is_some())
            .count();
        out.gauge(
            "quarantined_workers",
            "Workers connected that are in quarantine",
            number(quarantined),
        )?;
        out.counter(
            "quarantines",
            "Workers put into quarantine",
            self.quarantines,
        )?;

        let jobs: [(&str, &str, JobValue); 4] = [
            ("job_frontier", "Positions of a job that wait", |view| {
                view.job.frontier as f64
            }),
            ("job_positions", "Positions that a job has added", |view| {
                view.job.positions as f64
            }),
            (
                "job_set_aside",
                "Positions that a job goes on without",
                |view| view.job.set_aside as f64,
            ),
            ("job_running", "Whether a job is running", |view| {
                f64::from(u8::from(view.job.state == JobState::Running))
            }),
        ];
        for (name, help, value) in jobs {
            out.gauges(name, help, "job", &self.of_jobs(value))?;
        }
        out.gauges("jobs", "Jobs of the book", "state", &self.job_states())?;
        let leads = u64::from(self.leads);
        let (positions, entries) = self.book.unzip();
        for (name, help, value) in [
            (
                "leads",
                "Whether this coordinator leads its book",
                Some(leads),
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
                out.gauge(name, help, value as f64)?;
            }
        }
        out.counters(
            "refusals",
            "Requests that a guard refused",
            "reason",
            &self.refusals,
        )?;
        out.gauges(
            "version",
            "Which version this is; always 1",
            "version",
            &[(env!("CARGO_PKG_VERSION").into(), 1.0)],
        )
    }
}

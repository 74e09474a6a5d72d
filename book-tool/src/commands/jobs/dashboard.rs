//! A live view of a build and its workers in the terminal.

use std::time::Duration;

use console::{Term, truncate_str};
use indicatif::{HumanCount, ProgressBar};
use kagetsu_api::{JobJson, WorkerJson};

use crate::output::progress::bar;
use kagetsu_terminal::echo::EchoOff;
use kagetsu_terminal::table::one_line;

/// Cells of the bar.
const BAR: u64 = 30;

/// Drawn in place on stderr, where that is a terminal.
pub(crate) struct Dashboard {
    bar: ProgressBar,
    job: Option<JobJson>,
    workers: Vec<WorkerJson>,
    _keys: EchoOff,
}

impl Dashboard {
    /// Begins to show.
    #[must_use]
    pub(crate) fn new() -> Self {
        let bar = bar(None, "{spinner} {msg}");
        bar.enable_steady_tick(Duration::from_millis(100));
        Self {
            bar,
            job: None,
            workers: Vec::new(),
            _keys: EchoOff::start(),
        }
    }

    /// Whether the output is a terminal.
    #[must_use]
    pub(crate) fn is_seen(&self) -> bool {
        !self.bar.is_hidden()
    }

    /// The job has moved on.
    pub(crate) fn job(&mut self, job: JobJson) {
        self.job = Some(job);
        self.draw();
    }

    /// The workers have.
    pub(crate) fn workers(&mut self, workers: Vec<WorkerJson>) {
        self.workers = workers;
        self.draw();
    }

    /// A line that stays.
    pub(crate) fn tell(&self, line: String) {
        self.bar.println(line);
    }

    /// Leaves the terminal as it was.
    pub(crate) fn clear(self) {
        self.bar.finish_and_clear();
    }

    fn draw(&self) {
        let Some(job) = &self.job else { return };
        let (rows, columns) = Term::stderr().size();
        let lines = lines(job, &self.workers, usize::from(rows).saturating_sub(2));
        // Two cells are the spinner's.
        let width = usize::from(columns).saturating_sub(2);
        let lines: Vec<_> = lines
            .iter()
            .map(|line| truncate_str(line, width, "..").into_owned())
            .collect();
        self.bar.set_message(lines.join("\n"));
    }
}

/// Returns at most `rows` lines: the job, all workers together, and as many single workers as there
/// is room for. Idle workers come first, because they may need attention.
fn lines(job: &JobJson, workers: &[WorkerJson], rows: usize) -> Vec<String> {
    let mut lines = vec![headline(job)];
    let speed: u64 = workers.iter().map(|worker| worker.speed).sum();
    let tasks: u32 = workers.iter().map(|worker| worker.tasks).sum();
    let slots: u32 = workers.iter().map(|worker| worker.slots).sum();
    lines.push(match workers.len() {
        0 => "no workers: start one with `kagetsu-worker --coordinator URL`".into(),
        count => format!(
            "workers {count}, slots {slots}, tasks {tasks}, {} nodes/s",
            HumanCount(speed)
        ),
    });
    let mut shown: Vec<_> = workers
        .iter()
        .map(|worker| (one_line(&worker.name), worker))
        .collect();
    shown.sort_by_key(|(_, worker)| (worker.idle.is_none(), std::cmp::Reverse(worker.speed)));
    let all = shown.len();
    let room = rows.saturating_sub(lines.len());
    // The last line says how many are left.
    shown.truncate(if all > room {
        room.saturating_sub(1)
    } else {
        room
    });
    let width = shown
        .iter()
        .map(|(name, _)| name.chars().count())
        .max()
        .unwrap_or_default();
    let rest = all - shown.len();
    for (name, worker) in shown {
        let idle = worker
            .idle
            .as_ref()
            .map_or_else(String::new, |idle| format!("  idle: {idle}"));
        let (speed, done) = (
            HumanCount(worker.speed).to_string(),
            HumanCount(worker.done).to_string(),
        );
        lines.push(format!(
            "  {name:<width$}  {:>3} tasks in {:>3} slots  {speed:>11} nodes/s  {done:>9} done{idle}",
            worker.tasks, worker.slots
        ));
    }
    if rest > 0 && rows > 2 {
        lines.push(format!(
            "  and {rest} more; `kagetsu workers list` shows all"
        ));
    }
    lines
}

/// The job in one line: how far it is, how fast, how long it takes.
fn headline(job: &JobJson) -> String {
    let mut line = format!("{} {}  ", one_line(&job.name), job.state);
    match job.target {
        Some(target) if target > 0 => {
            let done = (job.positions.min(target) * BAR / target) as usize;
            line += &format!("{}{}  ", "#".repeat(done), ".".repeat(BAR as usize - done));
            line += &format!(
                "{} of {} positions",
                HumanCount(job.positions),
                HumanCount(target)
            );
        }
        _ => line += &format!("{} positions", HumanCount(job.positions)),
    }
    line += &format!(", {:.1}/s, {} waiting", job.rate, HumanCount(job.frontier));
    if job.set_aside > 0 {
        line += &format!(", {} set aside", job.set_aside);
    }
    if let Some(why) = &job.waits_for {
        line += &format!(", waiting: {why}");
    }
    if let Some(left) = job.time_left() {
        line += &format!(", {} left", humantime::format_duration(left));
    }
    line
}

#[cfg(test)]
mod tests {
    use kagetsu_proto::v1;

    use super::*;

    fn job(positions: u64, target: Option<u64>) -> JobJson {
        let state = v1::JobState::Running.into();
        JobJson::from(&v1::Job {
            name: "h8".into(),
            state,
            positions,
            target,
            rate: 2.0,
            frontier: 1_234,
            ..v1::Job::default()
        })
    }

    fn worker(index: u32, idle: &str) -> WorkerJson {
        WorkerJson::from(v1::Worker {
            name: format!("w{index}"),
            idle: idle.into(),
            slots: 2,
            ..v1::Worker::default()
        })
    }

    #[test]
    fn a_job_in_one_line() {
        let full = headline(&job(50, Some(100)));
        assert_eq!(
            full,
            "h8 running  ###############...............  50 of 100 positions, 2.0/s, 1,234 waiting, 25s left"
        );
        assert_eq!(
            headline(&job(1_000, None)),
            "h8 running  1,000 positions, 2.0/s, 1,234 waiting"
        );
        assert!(
            headline(&job(120, Some(100))).contains(&"#".repeat(30)),
            "more than was asked for"
        );
        let waits_for = Some("no worker is connected".to_string());
        assert!(
            headline(&JobJson {
                waits_for,
                ..job(1, None)
            })
            .ends_with("1,234 waiting, waiting: no worker is connected")
        );
    }

    #[test]
    fn no_more_lines_than_fit_and_the_idle_first() {
        let workers: Vec<_> = (0..50)
            .map(|index| worker(index, if index == 40 { "on probation" } else { "" }))
            .collect();
        for rows in 2..60 {
            let lines = lines(&job(1, None), &workers, rows);
            assert!(lines.len() <= rows.max(2), "{rows}: {lines:#?}");
            assert!(
                rows < 4 || lines[2].contains("w40") && lines[2].contains("idle: on probation"),
                "{lines:#?}"
            );
            assert_eq!(
                lines.last().is_some_and(|line| line.contains("more")),
                (3..52).contains(&rows),
                "{lines:#?}"
            );
        }
        assert!(lines(&job(1, None), &[], 24)[1].contains("kagetsu-worker"));
        assert_eq!(lines(&job(1, None), &workers, 100).len(), 52);
    }
}

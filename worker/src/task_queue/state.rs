use std::collections::BTreeMap;
use std::time::Instant;

use kagetsu_game::Question;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_proto::{FIRST_CALIBRATION_TASK, v1};
use kagetsu_search::Control;

use crate::outcome::TaskResult;

/// The coordinator's name of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TaskId {
    /// The coordinator process that assigned it.
    pub(super) epoch: u64,
    pub(super) task: u64,
    pub(super) attempt: u32,
}

impl TaskId {
    /// Whether the task belongs to the worker's calibration.
    const fn is_calibration(self) -> bool {
        self.task >= FIRST_CALIBRATION_TASK
    }
}

/// A task's part in the search of its question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchRole {
    /// The only search of its question.
    Whole,
    /// One of several searches of the same question.
    Member {
        /// Its index, from 0.
        number: u32,
        /// The number of searches.
        of: u32,
    },
}

/// A task that waits for a slot.
#[derive(Debug)]
pub(super) struct WaitingTask {
    pub(super) id: TaskId,
    pub(super) question: Question,
    pub(super) role: SearchRole,
    pub(super) arrived: Instant,
}

/// A task in a slot.
#[derive(Debug)]
pub(super) struct RunningTask {
    pub(super) id: TaskId,
    pub(super) question: Question,
    pub(super) role: SearchRole,
    pub(super) control: Control,
    pub(super) arrived: Instant,
    /// The coordinator no longer wants the answer.
    pub(super) is_revoked: bool,
    /// A user follows the progress.
    pub(super) is_watched: bool,
    /// The result of the last iteration, until it is sent.
    pub(super) unsent_progress: Option<v1::Answer>,
}

/// A task with a report that the coordinator has not acknowledged.
#[derive(Debug)]
pub(super) struct ReportedTask {
    pub(super) id: TaskId,
    /// The question, if there is an answer.
    pub(super) question: Option<Question>,
    pub(super) result: TaskResult,
}

impl ReportedTask {
    pub(super) fn report(&self) -> v1::Report {
        let TaskId { task, attempt, .. } = self.id;
        self.result.clone().report(task, attempt)
    }
}

/// The tasks of a worker.
#[derive(Default)]
pub(super) struct QueueState {
    /// By priority, then by arrival.
    pub(super) waiting: BTreeMap<(u64, u64), WaitingTask>,
    /// By arrival.
    pub(super) running: BTreeMap<u64, RunningTask>,
    /// By arrival.
    pub(super) reported: BTreeMap<u64, ReportedTask>,
    /// Reports that were not sent on this connection.
    pub(super) unsent: Vec<u64>,
    /// The number of the last arrival.
    pub(super) arrivals: u64,
    /// The coordinator process of this connection; `None` before its welcome.
    pub(super) epoch: Option<u64>,
    /// Whether this coordinator process wants strategies.
    pub(super) wants_strategies: bool,
    /// Most stones of this coordinator process's end tables.
    pub(super) end_tables: u8,
    pub(super) is_retired: bool,
    pub(super) is_closed: bool,
}

impl QueueState {
    /// Restores the reports of a spool, by number.
    pub(super) fn restored(spooled: Vec<(u64, v1::Spooled)>) -> Self {
        let mut state = Self::default();
        for (number, entry) in spooled {
            state.arrivals = state.arrivals.max(number);
            let question = entry.question.as_ref();
            let question = question.and_then(|question| Question::try_from(question).ok());
            let Some(report) = entry.report else {
                continue;
            };
            let Some(outcome) = report.outcome else {
                continue;
            };
            let id = TaskId {
                epoch: entry.epoch,
                task: report.task,
                attempt: report.attempt,
            };
            let strategies = report.strategies;
            let result = TaskResult {
                outcome,
                strategies,
            };
            let reported = ReportedTask {
                id,
                question,
                result,
            };
            state.reported.insert(number, reported);
        }
        state
    }

    /// Adds a report on a task that was not searched.
    pub(super) fn report(&mut self, id: TaskId, outcome: Outcome) {
        self.arrivals += 1;
        let reported = ReportedTask {
            id,
            question: None,
            result: outcome.into(),
        };
        self.reported.insert(self.arrivals, reported);
        self.unsent.push(self.arrivals);
    }

    /// Renames a task that the worker has already to its newer assignment. A task is recognized by
    /// its number, or by its question when another coordinator process assigned it. A reported task
    /// is sent again. Returns whether it was known.
    pub(super) fn reassign(&mut self, id: TaskId, question: &Question) -> bool {
        let is_same = |known: TaskId, known_question: Option<&Question>| {
            if known.epoch == id.epoch {
                known.task == id.task
            } else {
                known_question == Some(question)
            }
        };
        let mut reported = self.reported.iter_mut();
        if let Some((&number, reported)) =
            reported.find(|(_, reported)| is_same(reported.id, reported.question.as_ref()))
        {
            reported.id = id;
            self.unsent.push(number);
            return true;
        }
        let mut running = self
            .running
            .values_mut()
            .filter(|running| !running.is_revoked);
        if let Some(running) = running.find(|running| is_same(running.id, Some(&running.question)))
        {
            running.id = id;
            return true;
        }
        let mut waiting = self.waiting.values_mut();
        if let Some(waiting) = waiting.find(|waiting| is_same(waiting.id, Some(&waiting.question)))
        {
            waiting.id = id;
            return true;
        }
        false
    }

    /// Takes the unsent reports of calibration questions, which the coordinator reads before its
    /// welcome. The others wait for it.
    pub(super) fn take_calibration_reports(&mut self) -> Vec<v1::Report> {
        let mut reports = Vec::new();
        for number in std::mem::take(&mut self.unsent) {
            match self.reported.get(&number) {
                Some(reported) if reported.id.is_calibration() => reports.push(reported.report()),
                _ => self.unsent.push(number),
            }
        }
        reports
    }

    /// Forgets the calibration questions of an earlier connection.
    pub(super) fn forget_calibration(&mut self) {
        self.waiting
            .retain(|_, waiting| !waiting.id.is_calibration());
        self.reported
            .retain(|_, reported| !reported.id.is_calibration());
        for running in self.running.values_mut() {
            if running.id.is_calibration() {
                running.is_revoked = true;
                running.control.stop();
            }
        }
    }

    /// Whether a retiring worker still has to answer a task: the coordinator accepts its other
    /// reports only after its calibration.
    pub(super) fn must_answer(&self, id: TaskId) -> bool {
        let running = self.running.values().map(|running| running.id);
        let reported = self.reported.values().map(|reported| reported.id);
        let mut others = running.chain(reported);
        id.is_calibration() && others.any(|other| !other.is_calibration())
    }

    /// Running tasks that the coordinator of this connection assigned and still wants.
    pub(super) fn wanted(&self) -> impl Iterator<Item = &RunningTask> {
        let epoch = self.epoch.unwrap_or_default();
        let is_wanted =
            move |running: &&RunningTask| !running.is_revoked && running.id.epoch == epoch;
        self.running.values().filter(is_wanted)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.running.is_empty() && self.reported.is_empty()
    }
}

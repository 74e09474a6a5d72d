//! Tasks in the hands of workers: handing out, progress, reports.

use std::sync::Arc;
use std::time::Duration;

use kagetsu_game::Answer;
use kagetsu_proto::v1;
use kagetsu_proto::v1::to_worker::Message;
use kagetsu_schedule::{Report, Task, TaskId, TaskRole, WorkerId};
use kagetsu_verification::{AnswerLimits, max_plausible_nodes};
use prost::bytes::Bytes;

use super::analysis_progress::AnalysisProgress;
use super::dispatcher::Dispatcher;
use super::expectation::Expectation;
use super::purpose::Purpose;
use crate::verification::strategies::Strategies;

impl Dispatcher {
    /// Sends a task to a worker.
    pub(crate) fn assign(&mut self, worker: WorkerId, task: Task) {
        let job_id = match self.scheduler.payload_mut(task.question) {
            Some(Purpose::Build(work, _)) => Some(work.job.0),
            _ => None,
        };
        let (id, attempt) = (task.id.0, task.attempt);
        let name = self.name(worker);
        tracing::debug!(
            task = id,
            attempt,
            job_id,
            worker = name,
            "a task is handed out"
        );
        let message = v1::Task {
            task: id,
            attempt,
            question: Some((&task.part).into()),
            priority: task.priority,
            role: role(&task),
        };
        self.connections.send(worker, Message::Task(message));
    }

    /// Returns what an answer to this task is held against; `None` for an unknown task.
    pub(crate) fn expectation(
        &self,
        worker: WorkerId,
        task: TaskId,
        now: Duration,
        day: u32,
    ) -> Option<Expectation> {
        let (question, since) = self.scheduler.assignment(worker, task)?;
        let info = self.connections.info(worker)?;
        let elapsed = now.saturating_sub(since);
        let limits = AnswerLimits {
            engine: Arc::clone(&info.engine),
            day,
            max_nodes: max_plausible_nodes(info.threads, elapsed),
        };
        Some(Expectation {
            question: question.clone(),
            limits: (!self.verification.trusts_all()).then_some(limits),
        })
    }

    /// Takes in a worker's report.
    pub(crate) fn report(
        &mut self,
        worker: WorkerId,
        task: TaskId,
        attempt: u32,
        report: Report,
        strategies: Option<Strategies>,
    ) {
        let is_awaited = self.scheduler.awaits(worker, task, attempt);
        if is_awaited && let Some((_, since)) = self.scheduler.assignment(worker, task) {
            let leased = self.now.saturating_sub(since);
            self.metrics.lease_time.observe(leased.as_secs_f64());
        }
        if !self.verification.is_admitted(worker) {
            if self.verification.is_quarantined(worker) {
                self.acknowledge(worker, task, attempt);
            }
            return;
        }
        if let Some(progress) = self.progress_of(task) {
            progress.ended(task);
        }
        match &report {
            Report::Done(_) => {
                self.verification.succeeded(worker);
                if let Some(Purpose::Build(_, known)) = self.purpose_of(task)
                    && is_awaited
                {
                    known.extend(strategies);
                }
            }
            Report::Failed(reason) => {
                let name = self.name(worker);
                tracing::warn!(worker = name, task = task.0, reason, "a task failed");
                let now = self.clock();
                self.verification.failed(now, worker, reason);
            }
            Report::HandedBack => {}
        }
        self.scheduler
            .report(self.now, worker, task, attempt, report);
    }

    /// Takes in a worker's heartbeat: nodes visited in each task, and what was found on the way.
    pub(crate) fn heartbeat(
        &mut self,
        worker: WorkerId,
        progress: Vec<(TaskId, u64, Option<Answer>)>,
    ) {
        let visited: Vec<_> = progress
            .iter()
            .map(|(task, nodes, _)| (*task, *nodes))
            .collect();
        self.scheduler.heartbeat(self.now, worker, &visited);
        for (task, nodes, so_far) in progress {
            // A heartbeat may come after the report.
            if self.scheduler.holds(worker, task)
                && let Some(analysis) = self.progress_of(task)
            {
                analysis.progress(worker, task, nodes, so_far);
            }
        }
    }

    /// Passes on table entries to the workers that search the same question with the same engine.
    pub(crate) fn relay(&self, worker: WorkerId, task: TaskId, notes: &Bytes) {
        if !self.scheduler.holds(worker, task) {
            return;
        }
        let engine = |worker| self.connections.info(worker).map(|info| &info.engine);
        for (other, task) in self.scheduler.leases_beside(task) {
            if other != worker && engine(other) == engine(worker) {
                let notes = v1::Notes {
                    task: task.0,
                    notes: notes.clone(),
                };
                self.connections.send_optional(other, Message::Notes(notes));
            }
        }
    }

    /// Returns the purpose of the question that a task belongs to.
    fn purpose_of(&mut self, task: TaskId) -> Option<&mut Purpose> {
        self.scheduler
            .payload_mut(self.scheduler.question_of(task)?)
    }

    /// Returns the progress of the analysis that a task belongs to.
    fn progress_of(&mut self, task: TaskId) -> Option<&mut AnalysisProgress> {
        match self.purpose_of(task)? {
            Purpose::Analysis(analysis) => Some(&mut analysis.progress),
            Purpose::Build(..) | Purpose::Check(_) => None,
        }
    }
}

/// Returns a task's role as the protocol has it.
fn role(task: &Task) -> Option<v1::task::Role> {
    match task.role {
        TaskRole::Whole => None,
        TaskRole::Member { number, of } => Some(v1::task::Role::Member(v1::Member {
            number: number.into(),
            of: of.into(),
        })),
    }
}

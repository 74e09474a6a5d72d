//! Tasks that were handed out, and the data that their answers are compared with.

use std::collections::BTreeMap;
use std::time::Duration;

use kagetsu_game::Question;
use kagetsu_proto::v1;
use kagetsu_schedule::{QuestionId, Report, TaskId, WorkerId};
use kagetsu_verification::{AnswerLimits, conform};

use crate::verification::strategies::Strategies;

/// A task that was handed out.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) id: QuestionId,
    /// The last worker that got it.
    pub(crate) worker: WorkerId,
    /// The worker's question: the whole question or a part of it.
    pub(crate) question: Question,
    /// When the last worker got it.
    pub(crate) since: Duration,
    /// The strategies of its report.
    pub(crate) strategies: Option<Strategies>,
}

/// All tasks that were handed out, until their questions are answered.
#[derive(Default)]
pub(crate) struct Assignments {
    by_task: BTreeMap<TaskId, Assignment>,
    by_question: BTreeMap<QuestionId, Vec<TaskId>>,
}

impl Assignments {
    pub(super) fn insert(&mut self, task: TaskId, assignment: Assignment) {
        let question = assignment.id;
        if self.by_task.insert(task, assignment).is_none() {
            self.by_question.entry(question).or_default().push(task);
        }
    }

    pub(crate) fn get(&self, task: TaskId) -> Option<&Assignment> {
        self.by_task.get(&task)
    }

    /// Keeps the strategies of a worker's report on a task that it has.
    pub(super) fn keep(&mut self, task: TaskId, worker: WorkerId, strategies: Strategies) {
        let assignment = self.by_task.get_mut(&task);
        if let Some(assignment) = assignment.filter(|assignment| assignment.worker == worker) {
            assignment.strategies = Some(strategies);
        }
    }

    /// Takes the strategies of the reports on a question.
    pub(super) fn take_strategies(&mut self, question: QuestionId) -> Vec<Strategies> {
        let tasks = self.by_question.get(&question).into_iter().flatten();
        let taken = tasks.filter_map(|task| self.by_task.get_mut(task)?.strategies.take());
        taken.collect()
    }

    pub(super) fn of(&self, question: QuestionId) -> impl Iterator<Item = (TaskId, &Assignment)> {
        let tasks = self.by_question.get(&question).into_iter().flatten();
        tasks.filter_map(|task| Some((*task, self.by_task.get(task)?)))
    }

    pub(crate) fn forget(&mut self, question: QuestionId) {
        for task in self.by_question.remove(&question).unwrap_or_default() {
            self.by_task.remove(&task);
        }
    }
}

/// The data that an answer is compared with, copied while the lock is held.
pub(crate) struct Expectation {
    pub(super) question: Question,
    pub(super) limits: Option<AnswerLimits>,
}

impl Expectation {
    /// Returns a worker's answer as a report: cut to what was asked, or a failure.
    pub(crate) fn read(&self, answer: &v1::Answer) -> Report {
        let position = &self.question.position;
        let answer = match answer.about(position) {
            Ok(answer) => answer,
            Err(error) => return Report::Failed(format!("an impossible answer: {error}")),
        };
        if position.outcome().is_some() && answer.is_empty() {
            return Report::Done(answer);
        }
        match &self.limits {
            None if answer.is_empty() => Report::Failed("an answer without a move".into()),
            None => Report::Done(answer),
            Some(limits) => match conform(&self.question, &answer, limits) {
                Ok(answer) => Report::Done(answer),
                Err(fault) => Report::Failed(fault.to_string()),
            },
        }
    }
}

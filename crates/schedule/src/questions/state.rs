use alloc::vec::Vec;
use core::time::Duration;

use kagetsu_game::{Answer, Question};

use crate::{Split, TaskId, WorkerId};

/// A question and the answers received so far.
#[derive(Debug)]
pub(crate) struct QuestionState<P> {
    /// The payload of the caller; `None` once the caller has taken it.
    pub(crate) payload: Option<P>,
    pub(crate) question: Question,
    pub(crate) shallow: Answer,
    pub(crate) split: Split,
    pub(crate) priority: u64,
    pub(crate) tasks: Vec<TaskId>,
    /// Number of tasks created, for a shared search.
    pub(crate) members: u16,
    /// The time at which the search must end.
    pub(crate) until: Option<Duration>,
    /// The merged answer so far.
    pub(crate) answer: Answer,
    nodes: u64,
    /// In the order of the reports.
    pub(crate) acknowledgements: Vec<Acknowledgement>,
}

/// The worker, the task and the attempt of a report.
pub(crate) type Acknowledgement = (WorkerId, TaskId, u32);

impl<P> QuestionState<P> {
    pub(crate) fn new(
        question: Question,
        shallow: Answer,
        split: Split,
        priority: u64,
        payload: P,
    ) -> Self {
        Self {
            payload: Some(payload),
            members: 0,
            until: None,
            question,
            shallow,
            split,
            priority,
            tasks: Vec::new(),
            answer: Answer::new(),
            nodes: 0,
            acknowledgements: Vec::new(),
        }
    }

    /// Merges the first answer to one of its tasks. `acknowledgement` is kept until the answer is
    /// stored.
    pub(crate) fn learn(&mut self, answer: Answer, acknowledgement: Acknowledgement) {
        self.nodes = self.nodes.saturating_add(answer.nodes());
        self.answer.merge(answer);
        self.acknowledgements.push(acknowledgement);
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.acknowledgements.len() == self.tasks.len()
    }

    /// Returns the answer, the positions visited for it, and the workers in the order of their
    /// reports. The state then only waits to be settled.
    pub(crate) fn take_answer(&mut self) -> (Answer, u64, Vec<WorkerId>) {
        let by = self.acknowledgements.iter().map(|(worker, ..)| *worker);
        (core::mem::take(&mut self.answer), self.nodes, by.collect())
    }
}

use alloc::vec::Vec;
use core::time::Duration;

use kagetsu_game::{Answer, Question};

use crate::{Effect, Split, TaskId, WorkerId};

/// A question on its way to its answer.
#[derive(Debug)]
pub(crate) struct Inquiry {
    pub(crate) question: Question,
    pub(crate) shallow: Answer,
    pub(crate) split: Split,
    pub(crate) priority: u64,
    pub(crate) parts: Vec<TaskId>,
    /// Tasks made so far, where every worker searches all of it.
    pub(crate) members: u16,
    /// When it must end.
    pub(crate) until: Option<Duration>,
    answer: Answer,
    nodes: u64,
    receipts: Vec<Effect>,
}

impl Inquiry {
    pub(crate) fn new(question: Question, shallow: Answer, split: Split, priority: u64) -> Self {
        Self {
            members: 0,
            until: None,
            question,
            shallow,
            split,
            priority,
            parts: Vec::new(),
            answer: Answer::new(),
            nodes: 0,
            receipts: Vec::new(),
        }
    }

    /// Takes in the answer to one part that nobody had answered.
    ///
    /// `receipt` is what to do when the answer is safe.
    pub(crate) fn learn(&mut self, answer: Answer, receipt: Effect) {
        self.nodes = self.nodes.saturating_add(answer.nodes());
        self.answer.merge(answer);
        self.receipts.push(receipt);
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.receipts.len() == self.parts.len()
    }

    /// What is known so far, where that is of interest.
    pub(crate) const fn answer(&self) -> &Answer {
        &self.answer
    }

    /// The answer, the positions visited for it, and who found it; what remains only waits to be settled.
    pub(crate) fn take_answer(&mut self) -> (Answer, u64, Vec<WorkerId>) {
        let by = self.receipts.iter().filter_map(|receipt| match receipt {
            Effect::Acknowledge { worker, .. } => Some(*worker),
            _ => None,
        });
        (core::mem::take(&mut self.answer), self.nodes, by.collect())
    }

    /// The acknowledgements that its workers wait for, in the order in which they reported.
    pub(crate) fn into_receipts(self) -> Vec<Effect> {
        self.receipts
    }
}

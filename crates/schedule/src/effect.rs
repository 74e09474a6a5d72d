use alloc::string::String;
use alloc::vec::Vec;

use kagetsu_game::{Answer, Question};

use crate::{QuestionId, TaskId, WorkerId};

/// An instruction to the caller, to be carried out in the order of
/// [`Scheduler::poll`](crate::Scheduler::poll).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect<P = ()> {
    /// Send the task to the worker.
    Assign {
        /// The receiver.
        worker: WorkerId,
        /// The work.
        task: Task,
    },
    /// Tell the worker to stop the task: its report is not needed. A worker without the task
    /// ignores this. A worker that has already reported the task keeps the report until it is
    /// acknowledged.
    Revoke {
        /// The receiver.
        worker: WorkerId,
        /// The task to stop.
        task: TaskId,
    },
    /// The report on the task has been processed: the worker may delete it.
    Acknowledge {
        /// The receiver.
        worker: WorkerId,
        /// The reported task.
        task: TaskId,
        /// The reported attempt; a report under another attempt is acknowledged separately.
        attempt: u32,
    },
    /// A task of a split question was answered.
    Progress {
        /// The question.
        question: QuestionId,
        /// The merged answer of the tasks reported so far.
        answer: Answer,
    },
    /// A question is answered. Its reports are acknowledged when the caller
    /// [settles](crate::Scheduler::settle) it.
    Finished {
        /// The question.
        question: QuestionId,
        /// The merged answer; it does not depend on the order of the reports.
        answer: Answer,
        /// Positions visited by all tasks; more than [`Answer::nodes`] where tasks repeat the seed
        /// move.
        nodes: u64,
        /// The workers whose answers were merged, in the order of their reports.
        by: Vec<WorkerId>,
    },
    /// The worker has had a task for too long, so that another may get it too.
    Behind {
        /// The worker, which keeps the task.
        worker: WorkerId,
    },
    /// A question has failed too often and is dropped. No task of it remains.
    Failed {
        /// The question.
        question: QuestionId,
        /// The payload of the caller; `None` if the caller has taken it.
        payload: Option<P>,
        /// The last failure, and the number of failures.
        reason: String,
    },
}

/// One piece of work for one worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The task's id.
    pub id: TaskId,
    /// Number of this assignment, from 1. The worker repeats it in its report, so that a stale
    /// report is recognised. A worker that already has the task under an older attempt continues
    /// and reports under the newer one; a worker that has already answered it sends the same answer
    /// again.
    pub attempt: u32,
    /// The question that the task belongs to.
    pub question: QuestionId,
    /// The content: the whole question, or some of its root moves.
    pub part: Question,
    /// The relation of the task to its question.
    pub role: TaskRole,
    /// A worker begins its waiting tasks in ascending order of this number, then of assignment.
    pub priority: u64,
}

/// The relation of a task to its question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskRole {
    /// The whole question or some of its root moves, searched independently.
    #[default]
    Whole,
    /// The whole question, searched by several workers that exchange table entries.
    Member {
        /// Number of this member, from 0.
        number: u16,
        /// Number of members, present or expected.
        of: u16,
    },
}

/// The end of a worker's work on a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The answer.
    Done(Answer),
    /// The worker is about to stop and did not do the task. It gets no more tasks until it joins
    /// again.
    HandedBack,
    /// The worker could not do the task, with the reason.
    Failed(String),
}

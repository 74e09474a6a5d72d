use alloc::string::String;
use alloc::vec::Vec;

use kagetsu_game::{Answer, Question};

use crate::{QuestionId, TaskId, WorkerId};

/// What the caller has to do, in this order; see [`Scheduler::poll`](crate::Scheduler::poll).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Send the task to the worker.
    Assign {
        /// To whom.
        worker: WorkerId,
        /// What to do.
        task: Task,
    },
    /// Tell the worker to stop the task: no report is wanted. Means nothing to a worker that does not have it, and nothing
    /// to one that has reported it: the report is kept until it is acknowledged.
    Revoke {
        /// Whom to tell.
        worker: WorkerId,
        /// What is no longer wanted of it.
        task: TaskId,
    },
    /// Nothing more will be done with what the worker reported about the task: it may forget it.
    Acknowledge {
        /// Whom to tell.
        worker: WorkerId,
        /// What it reported.
        task: TaskId,
        /// Under which attempt; a report under another one stays to be acknowledged.
        attempt: u32,
    },
    /// More is known of a question that is split.
    Progress {
        /// Which.
        question: QuestionId,
        /// All that its parts have said so far.
        answer: Answer,
    },
    /// A question is answered. Its reports are acknowledged when the caller [settles](crate::Scheduler::settle) it.
    Finished {
        /// Which.
        question: QuestionId,
        /// The merged answer, the same for every order in which the parts came in.
        answer: Answer,
        /// Positions visited for it by all parts; more than [`Answer::nodes`] where parts searched the seed move again.
        nodes: u64,
        /// Whose answers it was merged from, in the order in which they came.
        by: Vec<WorkerId>,
    },
    /// A question is set aside: it failed too often. Nothing of it remains.
    Failed {
        /// Which.
        question: QuestionId,
        /// What went wrong the last time, and how often it did.
        reason: String,
    },
}

/// One piece of work for one worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its name.
    pub id: TaskId,
    /// The how-manieth time it is handed out, from 1. A report repeats it; it tells a stale report from a fresh one. A
    /// worker that has the task already, under an older attempt, goes on with it and reports under the newer one; a
    /// worker that has answered it already sends the same answer again.
    pub attempt: u32,
    /// What it is a part of.
    pub question: QuestionId,
    /// What to answer: the whole question, or some of its root moves.
    pub part: Question,
    /// What it is to the question.
    pub role: Role,
    /// Of the tasks that a worker has not begun, it begins the one of least priority first, then the earliest assigned.
    pub priority: u64,
}

/// What a task is to its question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// All of it, or some of its root moves, to be searched with nothing known before.
    #[default]
    Whole,
    /// All of it, as others search it too: what the worker's table learns is for them, and what theirs learn for it.
    Member {
        /// Which of them this is, from 0.
        number: u16,
        /// How many there are, or may be soon.
        of: u16,
    },
}

/// What a worker says about a task that it no longer works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The answer.
    Done(Answer),
    /// The worker is about to stop and will not do it. It gets no further task until it joins again.
    HandedBack,
    /// The worker tried and could not, and why.
    Failed(String),
}

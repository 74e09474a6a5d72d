use alloc::vec::Vec;

use kagetsu_game::{Answer, Move, Position, Proof, Question};
use kagetsu_schedule::{QuestionId, WorkerId};

use crate::CheckId;

/// An answered question on its way into the book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The scheduler's number of the question.
    pub id: QuestionId,
    /// The question as it was asked.
    pub question: Question,
    /// Number of the job that asked; `None` for an analysis that a client asked for.
    pub job: Option<u32>,
    /// Priority of the question, which a second opinion inherits.
    pub priority: u64,
}

/// The coordinator's attempt to find the claimed proofs of an answer by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// Moves whose claim it did not find; each claim may still be true.
    pub unproven: Vec<Move>,
    /// Moves whose claim contradicts the rules.
    pub refuted: Vec<Move>,
    /// Moves whose claim it found with more plies than the worker, and the proof that it found.
    pub longer: Vec<(Move, Proof)>,
}

/// An instruction to the caller of [`Verification`](crate::Verification).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Replay the claimed proofs of an answer, then call
    /// [`replayed`](crate::Verification::replayed).
    Replay {
        /// The answered question.
        id: QuestionId,
        /// The question as it was asked.
        question: Question,
        /// The answer with the claims.
        answer: Answer,
    },
    /// Put the answer into the book.
    Accept {
        /// The answered question.
        id: QuestionId,
        /// The answer, in which claims without evidence are opinions.
        answer: Answer,
    },
    /// Drop the answer and ask the question anew.
    Reject {
        /// The answered question.
        id: QuestionId,
    },
    /// Ask one of the operator's workers, then call
    /// [`second_opinion`](crate::Verification::second_opinion) or
    /// [`unanswered`](crate::Verification::unanswered).
    Ask {
        /// The check that needs the answer.
        check: CheckId,
        /// The same question at the same effort.
        question: Question,
        /// Priority of the first question.
        priority: u64,
        /// Workers that must not be asked.
        except: Vec<WorkerId>,
    },
    /// No worker is left to answer this check: cancel its question.
    Withdraw {
        /// The check.
        check: CheckId,
    },
    /// Search with the coordinator's own engine, then call
    /// [`searched`](crate::Verification::searched).
    Search {
        /// The check that needs the answer.
        check: CheckId,
        /// The same question at the same effort.
        question: Question,
        /// Lines that are said to win or to lose, each with its first move: to be tried.
        lines: Vec<Vec<Move>>,
    },
    /// Take answers out of the book and ask their positions anew.
    Retract {
        /// Job (`None` for an analysis) and position of each answer.
        answers: Vec<(Option<u32>, Position)>,
    },
    /// Take all tasks from the worker; it gets none until it is released.
    Quarantine {
        /// The worker.
        worker: WorkerId,
    },
    /// The set of quarantined workers has changed: store it.
    Store,
}

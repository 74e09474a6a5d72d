//! Verification of what workers answer: calibration, cross-checks, claims of proof, quarantine.
//!
//! A [`Verification`] is a pure state machine beside the scheduler. Events go in (a worker
//! connects, an answer is complete, a second opinion arrives, time passes), [`Decision`]s come out.
//! The rules:
//!
//! - A worker answers questions with known answers before it gets tasks (calibration).
//! - Every answer is [cut](conform) to the question: moves, depth, plausible node counts, the
//!   engine of the worker's introduction, the coordinator's date.
//! - A claimed proof becomes a proof in the book only if the coordinator finds it again by itself.
//!   Otherwise it is an opinion. Two workers that agree are no proof.
//! - A share of the other answers is asked again at the same effort. Only the operator's workers
//!   and the coordinator's own engine confirm answers; volunteers never do.
//! - A win or a loss without evidence is settled by the coordinator's own engine, which tries the
//!   line, even if two workers agree. A worker is quarantined when that engine does not see most of
//!   its claims.
//! - Nothing that a worker says of itself widens what is believed.
//! - A worker with a wrong answer is quarantined, and its unconfirmed answers are asked again. The
//!   quarantine of a volunteer covers all volunteers of its token.
//!
//! This crate refuses clocks (time is an argument), dice (the seed is an option), threads,
//! streams, books, and searching.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod answers;
mod check;
mod compare;
mod conform;
mod decision;
mod disagreement;
mod machine;
mod quarantine;
mod roster;
mod worker;

pub use check::CheckId;
pub use compare::{AnswerRelation, Tolerance, compare};
pub use conform::{AnswerFault, AnswerLimits, conform, max_plausible_nodes};
pub use decision::{Decision, Replay, Ticket};
pub use machine::{Verification, VerificationOptions};
pub use quarantine::{Quarantine, QuarantinedWorker, Scope};
pub use worker::{Admission, Class, Profile, WorkerTrust};

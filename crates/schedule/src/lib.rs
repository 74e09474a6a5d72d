//! Divides the work: questions become tasks, workers lease tasks, and reports merge into answers.
//!
//! A [`Scheduler`] is a pure state machine. Events go in: a worker joins, sends a heartbeat,
//! reports or leaves; a question is submitted; time passes. [`Effect`]s come out.
//! [`Scheduler::deadline`] says when to call [`Scheduler::tick`] if no event comes before. Because
//! [`Answer`](kagetsu_game::Answer)s merge, the result is the same if a task is assigned twice,
//! reported twice or reported late.
//!
//! This crate has no clock (time is an argument), no randomness, no threads, no sockets, no disk
//! and no opinion about positions.
//!
//! ```
//! use core::time::Duration;
//! use kagetsu_game::{Answer, Effort, Position, Question, Variant};
//! use kagetsu_schedule::{Effect, Options, Report, Scheduler, Split, WorkerId};
//!
//! let mut scheduler = Scheduler::new(Options::default());
//! let position = Position::from_line(Variant::FREESTYLE_15, "h8")?;
//! let question = Question::new(position, Effort::depth(6));
//!
//! let now = Duration::ZERO; // since any fixed moment
//! scheduler.join(now, WorkerId(1), 1, &[]);
//! let id = scheduler.submit(now, question, Answer::new(), Split::Never, 0, "payload");
//! let Some(Effect::Assign { worker, task }) = scheduler.poll() else {
//!     panic!("one task and one free worker")
//! };
//!
//! let now = Duration::from_secs(2); // the worker has answered
//! scheduler.report(now, worker, task.id, task.attempt, Report::Done(Answer::new()));
//! assert!(matches!(scheduler.poll(), Some(Effect::Finished { question, .. }) if question == id));
//! assert_eq!(scheduler.take_payload(id), Some("payload"));
//!
//! scheduler.settle(id); // the answer is on disk
//! let (task, attempt) = (task.id, task.attempt);
//! assert_eq!(scheduler.poll(), Some(Effect::Acknowledge { worker, task, attempt }));
//! # Ok::<(), kagetsu_game::PositionError>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod effect;
mod id;
mod options;
mod questions;
mod scheduler;
mod status;
mod tasks;
mod workers;

pub use effect::{Effect, Report, Task, TaskRole};
pub use id::{QuestionId, TaskId, WorkerId};
pub use options::Options;
pub use questions::{Split, divide, ranges};
pub use scheduler::Scheduler;
pub use status::{Counts, Idle, Totals, WorkerStatus};
pub use workers::Capacity;

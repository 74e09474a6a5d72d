//! Small worlds for the tests: a cluster, a network that fails, workers that misbehave.

mod book_build;
mod book_contents;
mod cluster;
mod command;
mod late_worker;
mod lying_worker;
mod recording_worker;
mod refusal;
mod relay;
mod scripted_worker;

pub(crate) use book_build::BookBuild;
pub(crate) use book_contents::book_keys;
pub(crate) use cluster::{Cluster, assert_same_book, growing, until, until_or, worker};
pub(crate) use command::{assert_clean, assert_fields, kagetsu, kagetsu_line, serve, text};
pub(crate) use late_worker::LateWorker;
pub(crate) use lying_worker::LyingWorker;
pub(crate) use recording_worker::RecordingWorker;
pub(crate) use refusal::refused;
pub(crate) use relay::Relay;

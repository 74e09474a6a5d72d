//! The parts that every program of Kagetsu has alike: settings, log, exit codes, whole files.
//!
//! A program reads its settings, sets up its log, prints its error once, and maps it to an exit
//! code. The crate refuses any knowledge of games, books or clusters.
#![forbid(unsafe_code)]

mod download;
mod exit;
mod file;
mod log;
mod settings;
mod stdout;

pub use download::{download, signing_key};
pub use exit::{Exit, replace_process, run};
pub use file::{check_place, shown, take_file, write_whole};
pub use kagetsu_files::Readers;
pub use log::{LogArgs, LogFormat};
pub use settings::{COMMON_HEADING, exit_with_usage, parse, parse_from};
pub use stdout::Stdout;

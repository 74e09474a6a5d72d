//! What every program of Kagetsu does alike: it reads its settings, sets up its log, prints its error once, and maps it
//! to an exit code, and writes files whole.
//!
//! What this crate refuses: any knowledge of games, books or clusters.
#![forbid(unsafe_code)]

mod exit;
mod file;
mod log;
mod settings;

pub use exit::{Exit, run};
pub use file::{check_place, write_whole};
pub use log::{LogError, LogFormat, start_log};
pub use settings::{SettingsError, parse, parse_from};

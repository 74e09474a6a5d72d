//! The door of Kagetsu: the command `kagetsu`, by which people and scripts build, ask and care for opening books.
//!
//! What it refuses: rules of its own. It reads arguments, asks the crates below, and prints.
#![forbid(unsafe_code)]

mod analyze;
mod backup;
mod bench;
mod bottlenecks;
mod brain;
mod branches;
mod build;
mod certs;
mod check;
mod cli;
mod compact;
mod compile;
mod conflicts;
mod dashboard;
mod diff;
mod effort;
mod exchange;
mod explore;
mod jobs;
mod live;
mod merge;
mod moves;
mod paint;
mod perft;
mod pick;
mod place;
mod proofs;
mod prune;
mod query;
mod remote;
mod repair;
mod roots;
mod serve;
mod sharing;
mod source;
mod stats;
mod table;
mod terminal;
mod token;
mod tree;
mod verify;
mod workers;

pub use brain::{PlayArgs, gomocup};
pub use cli::Cli;
pub use exchange::understand;
use kagetsu_http::json;

use std::path::PathBuf;

use clap::Args;

/// How a coordinator runs.
#[derive(Args, Clone, Debug, Default)]
pub struct Config {
    /// The book's folder; it is made if it is not there. Without one only analyses are done
    #[arg(long, value_name = "DIR")]
    pub book: Option<PathBuf>,
    /// Memory for the book's store, in MiB; about as much again and some 60 MiB more are needed, however many positions it has
    #[arg(long, default_value_t = 128, value_name = "MIB", value_parser = clap::value_parser!(u64).range(8..=1 << 20))]
    pub cache_mib: u64,
}

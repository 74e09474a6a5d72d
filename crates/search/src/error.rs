use kagetsu_game::Variant;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The engine does not play this.
    #[error(
        "this engine does not play {0}; it plays freestyle-N, standard-N, renju-N, xiangqi and surakarta"
    )]
    Unsupported(Variant),
    /// A move that was asked about cannot be played.
    #[error("the question asks about '{0}', which is not legal in its position")]
    IllegalMove(String),
    /// No thread to search with.
    #[error("threads is 0; an engine needs at least 1")]
    NoThreads,
    /// The system gave no threads.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// How many were wanted.
        threads: usize,
        /// What the system said.
        reason: String,
    },
    /// The system has no memory for the transposition table.
    #[error("there is no memory for a transposition table of {} MiB: take a smaller one", .0 >> 20)]
    Table(usize),
}

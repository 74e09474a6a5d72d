use kagetsu_game::Variant;

/// Reasons why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The engine does not support the variant.
    #[error("this engine does not play {0}; it plays gomoku, xiangqi and surakarta")]
    Unsupported(Variant),
    /// The question contains an illegal move.
    #[error("the question asks about '{0}', which is not legal in its position")]
    IllegalMove(String),
    /// The options ask for zero threads.
    #[error("threads is 0; an engine needs at least 1")]
    NoThreads,
    /// The system refused the threads.
    #[error("cannot start {0} threads: {1}")]
    Threads(usize, String),
    /// The system lacks memory for a transposition table of so many bytes.
    #[error("there is no memory for a transposition table of {} MiB: take a smaller one", .0 >> 20)]
    Table(usize),
}

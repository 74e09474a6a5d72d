/// Most moves of a position, a question, an answer or a line.
pub const MOST_MOVES: usize = 2_048;

/// Most bytes of a name: a job's, a worker's, an engine's.
pub const MOST_NAME: usize = 200;

/// Most roots of one build.
pub const MOST_ROOTS: usize = 100_000;

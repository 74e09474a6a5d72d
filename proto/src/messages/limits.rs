/// Moves of a position, a question, an answer or a line.
pub const MAX_MOVES: usize = 2_048;

/// The first number of calibration tasks, which stay the same when a coordinator restarts. Other
/// tasks are numbered by microseconds and stay below.
pub const FIRST_CALIBRATION_TASK: u64 = 1 << 63;

/// Roots of one build. Look-ups wait while the book takes them in, so they are bounded.
pub const MAX_ROOTS: usize = 20_000;

/// Most moves of a position, a question, an answer or a line.
pub const MAX_MOVES: usize = 2_048;

/// Most bytes of a name: a job's, a worker's, an engine's.
pub const MAX_NAME_BYTES: usize = 200;

/// Tasks from this number on are questions of a worker's exam, in every life of a coordinator the same; the others count
/// microseconds and never come near.
pub const FIRST_CALIBRATION_TASK: u64 = 1 << 63;

/// Most roots of one build.
pub const MAX_ROOTS: usize = 100_000;

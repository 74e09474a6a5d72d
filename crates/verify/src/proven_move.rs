use kagetsu_game::Move;

/// A move of the winner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProvenMove {
    /// The move.
    pub at: Move,
    /// Plies within which the game ends, the move included.
    pub plies: u16,
}

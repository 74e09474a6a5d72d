use kagetsu_game::Move;

/// How a position is won: steps, the last of which is the first to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strategy {
    /// No step goes on to itself or to a later one.
    pub steps: Vec<Step>,
}

/// A move of the winner, and how to go on after each reply.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The move.
    pub at: Move,
    /// Replies with an answer of their own, ascending: the number of the step to make then.
    pub replies: Vec<(Move, u32)>,
    /// The step to make after any other reply; `None` where the move ends the game.
    pub otherwise: Option<u32>,
}

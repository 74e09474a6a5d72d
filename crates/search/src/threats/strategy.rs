use kagetsu_game::{Move, Symmetry, Variant};

/// A complete plan of a forced win: steps, the last of which is played first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strategy {
    /// Steps refer to earlier steps only.
    pub steps: Vec<StrategyStep>,
}

impl Strategy {
    /// Returns the strategy for the image of the position under `symmetry`.
    #[must_use]
    pub fn turned(mut self, variant: Variant, symmetry: Symmetry) -> Self {
        for step in &mut self.steps {
            step.at = variant.image(step.at, symmetry);
            for (reply, _) in &mut step.replies {
                *reply = variant.image(*reply, symmetry);
            }
            step.replies.sort_unstable();
        }
        self
    }
}

/// A move of the winner and its continuations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StrategyStep {
    /// The move.
    pub at: Move,
    /// Replies with a continuation of their own, ascending, and the index of the next step.
    pub replies: Vec<(Move, u32)>,
    /// The next step after any other reply; `None` where the move ends the game.
    pub otherwise: Option<u32>,
}

/// A strategy behind the claims of an answer, see [`Engine::take_strategies`].
///
/// [`Engine::take_strategies`]: crate::Engine::take_strategies
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimStrategy {
    /// The losing move that it answers. `None` for a strategy of the side to move, or for one that
    /// wins after a pass where every move may lose.
    pub reply: Option<Move>,
    /// The winner's moves.
    pub strategy: Strategy,
}

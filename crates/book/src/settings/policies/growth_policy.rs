use kagetsu_game::{Question, Side};

use super::selection::{ByPriority, Selection};
use crate::base::id::Id;

/// A rule by which a book grows. It has no state: what it must remember while a job runs is in its
/// [`Selection`].
pub(crate) trait GrowthPolicy: Sync {
    /// Its name on the command line and in JSON.
    fn name(&self) -> &'static str;

    /// A few words that stand in a list of policies.
    fn label(&self) -> &'static str;

    /// One sentence that says how it chooses.
    fn help(&self) -> &'static str;

    /// The settings that it chooses where nothing else is said.
    fn defaults(&self) -> &'static [(&'static str, u32)];

    /// The settings that it has no use for.
    fn ignores(&self) -> &'static [&'static str];

    /// Whether it can search known positions again.
    fn can_deepen(&self) -> bool {
        true
    }

    /// Plies by which a loss of 100 centi-units postpones a position, from the setting `alpha`.
    fn loss_weight(&self, alpha: f64) -> f64 {
        alpha
    }

    /// Whether the job follows a move. It must depend on its arguments alone: the same journal
    /// always grows the same book.
    fn follows(&self, scope: &PolicyScope, candidate: &Candidate) -> bool {
        let _ = scope;
        candidate.is_within_margin
    }

    /// Adapts the question about a position to what the policy needs to know.
    fn question(&self, scope: &PolicyScope, question: Question) -> Question {
        let _ = scope;
        question
    }

    /// Whether a search that completes a known position goes as deep as what bounds its moves.
    fn widens_to_depth_of_bounds(&self) -> bool {
        true
    }

    /// Whether the job may search known positions for further moves although they wait for nothing.
    fn widens(&self) -> bool {
        false
    }

    /// Starts choosing for a job that begins at these roots.
    fn selection(&self, job: u32, scope: PolicyScope, roots: Vec<Id>) -> Box<dyn Selection> {
        let _ = (job, scope, roots);
        Box::new(ByPriority)
    }
}

/// The settings of a job that policies read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PolicyScope {
    /// The side that the policy is about.
    pub(crate) side: Side,
}

/// A move that a job may follow.
pub(crate) struct Candidate {
    /// The side that makes it.
    pub(crate) by: Side,
    /// Whether it is the best move.
    pub(crate) is_best: bool,
    /// Whether it loses no more than the job's margin.
    pub(crate) is_within_margin: bool,
}

use kagetsu_game::{Answer, Question, Side};

use super::selection::{ByPriority, Selection};
use crate::base::id::Id;

/// The fixed properties of a growth policy.
#[derive(Debug)]
pub struct PolicyInfo {
    /// Its name on the command line and in JSON.
    pub name: &'static str,
    /// A few words that stand in a list of policies.
    pub label: &'static str,
    /// One sentence that says how it chooses.
    pub help: &'static str,
    /// The settings that it chooses where nothing else is said. Those of the effort (`depth`,
    /// `nodes`) count only where no effort is given at all.
    pub defaults: &'static [(&'static str, u32)],
    /// The settings that it has no use for.
    pub ignores: &'static [&'static str],
    /// Whether it can search known positions again.
    pub can_deepen: bool,
    /// Whether the job may search known positions for further moves although they wait for
    /// nothing. Such a search goes no deeper than others.
    pub widens: bool,
}

/// A rule by which a book grows. It has no state: what it must remember while a job runs is in its
/// [`Selection`].
pub(crate) trait GrowthPolicy: Sync {
    /// Its fixed properties.
    fn info(&self) -> &'static PolicyInfo;

    /// Whether a job that is about a side follows a move. It must depend on its arguments alone:
    /// the same journal always grows the same book.
    fn follows(&self, _: Side, candidate: &Candidate) -> bool {
        candidate.is_within_margin
    }

    /// Adapts the question about a position, of which the answer `known` may exist, to what the
    /// policy needs to know.
    fn question(&self, _: Side, question: Question, _known: Option<&Answer>) -> Question {
        question
    }

    /// Starts choosing for a job that begins at these roots.
    fn selection(&self, _job: u32, _side: Side, _roots: Vec<Id>) -> Box<dyn Selection> {
        Box::new(ByPriority)
    }
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

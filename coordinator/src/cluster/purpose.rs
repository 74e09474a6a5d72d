use kagetsu_book::Work;
use kagetsu_game::{Answer, Question};
use kagetsu_verification::CheckId;

use super::analysis_progress::AnalysisProgress;
use crate::verification::strategies::Strategies;

/// The purpose of a question. The scheduler keeps it until the answer is verified.
pub(crate) enum Purpose {
    /// A client's analysis.
    Analysis(Analysis),
    /// A position of a build, and the strategies that came with its reports.
    Build(Work, Vec<Strategies>),
    /// A second opinion.
    Check(CheckId),
}

/// An analysis that a client waits for.
pub(crate) struct Analysis {
    pub(crate) progress: AnalysisProgress,
    /// The question, if its answer goes into the book.
    pub(crate) kept: Option<Question>,
    /// The nodes of the answer that is being verified.
    pub(crate) nodes: u64,
    /// That answer as the operator's workers gave it, for the client; `None` if a volunteer had a
    /// part in it.
    pub(crate) given: Option<Answer>,
}

impl Analysis {
    pub(crate) fn new(progress: AnalysisProgress, kept: Option<Question>) -> Self {
        Self {
            progress,
            kept,
            nodes: 0,
            given: None,
        }
    }
}

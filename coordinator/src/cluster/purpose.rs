use kagetsu_book::Work;
use kagetsu_game::{Answer, Position, Question};
use kagetsu_verification::CheckId;

use super::analysis_progress::AnalysisProgress;
use crate::verification::strategies::Strategies;

/// The purpose of a question.
pub(crate) enum Purpose {
    /// A client's analysis, with the question if its answer goes into the book.
    Analysis(AnalysisProgress, Option<Question>),
    /// A position of a build.
    Build(Work),
    /// A second opinion.
    Check(CheckId),
}

/// The destination of an answer that is being verified.
pub(crate) enum Destination {
    /// A position of a build, and the strategies that came with its answer.
    Build(Work, Vec<Strategies>),
    /// An analysis whose answer goes into the book.
    Analysis {
        progress: AnalysisProgress,
        position: Position,
        nodes: u64,
        /// The answer as the operator's workers gave it, for the client; `None` if a volunteer had
        /// a part in it.
        given: Option<Answer>,
    },
}

//! The knowledge of a book about a position.

use kagetsu_api::{AnnotationJson, AnswerJson};
use kagetsu_game::{Answer, Position};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::ViewError;
use crate::results::GameResults;
use crate::source::Source;
use crate::view::View;

/// Looks up a position in a book
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct BookView {
    /// Shows the values as they were searched, without those from positions behind the moves
    #[arg(long)]
    pub searched: bool,
}

impl View for BookView {
    const NAME: &'static str = "book";
    const COMMAND: &'static str = "query";
    const IS_BRIEF: bool = true;
    type At = Position;
    type Result = AnswerJson;

    fn read(source: &Source, at: &Position, options: BookView) -> Result<AnswerJson, ViewError> {
        let known = BookAnswer::read(source, at, options.searched)?;
        let json = AnswerJson::new(at, &known.answer, 0).with_annotations(known.notes);
        Ok(known.results.add_to(json))
    }
}

/// The knowledge of a book about a position.
pub struct BookAnswer<'a> {
    /// The moves. The nodes of one without a value are the number of games in which it was made.
    pub answer: Answer,
    /// The words of people.
    pub notes: Vec<AnnotationJson>,
    /// The results of the imported games.
    pub results: GameResults<'a>,
}

impl<'a> BookAnswer<'a> {
    /// Looks up a position; `searched` as in [`BookView`].
    ///
    /// # Errors
    /// If the book does not hold the position, or cannot be read.
    pub fn read(source: &Source, at: &'a Position, searched: bool) -> Result<Self, ViewError> {
        let answer = match searched {
            true => source.lookup_searched(at)?,
            false => source.lookup(at)?,
        };
        let notes = source.annotations(at)?;
        let answer = answer.or_else(|| (!notes.is_empty()).then(Answer::default));
        let answer = answer.ok_or_else(|| source.not_held(at))?;
        let results = source.results(at, None)?;
        Ok(Self {
            // A server has counted its games.
            answer: match source {
                Source::Server(_) => answer,
                _ => results.counted(answer),
            },
            notes,
            results,
        })
    }
}

//! The knowledge of a book about a position.

use kagetsu_api::AnswerJson;
use kagetsu_game::{Answer, Position};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::ViewError;
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
        let answer = if options.searched {
            source.lookup_searched(at)?
        } else {
            source.lookup(at)?
        };
        let notes = source.annotations(at)?;
        let answer = answer.or_else(|| (!notes.is_empty()).then(Answer::default));
        let answer = answer.ok_or_else(|| source.not_held(at))?;
        let results = source.results(at, None)?;
        let of_move = |name: &str| Some(results.of_move(at.parse_move(name).ok()?));
        let json = AnswerJson::new(at, &answer, 0).with_games(results.all(), of_move);
        Ok(json.with_annotations(notes))
    }
}

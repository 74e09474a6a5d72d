//! The words of people about a position.

use kagetsu_api::AnnotationsJson;
use kagetsu_book::AnnotationJson;
use kagetsu_game::{Notation, Position, is_visible};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::ViewError;
use crate::print::{TextBlock, write_move};
use crate::source::Source;
use crate::view::View;

/// Shows the comments, texts and marks of a position, and the values set by hand
///
/// They came with imported files, or people wrote them on the page. No search made them.
///
/// Example: kagetsu annotations --book lib.book --moves h8
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct AnnotationsView {}

impl View for AnnotationsView {
    const NAME: &'static str = "annotations";
    const IS_BRIEF: bool = true;
    type At = Position;
    type Result = AnnotationsJson;

    fn read(
        source: &Source,
        at: &Position,
        _: AnnotationsView,
    ) -> Result<AnnotationsJson, ViewError> {
        let annotations = source.annotations(at)?;
        Ok(AnnotationsJson { annotations })
    }

    fn print(result: &AnnotationsJson, at: &Position, notation: Notation) -> Vec<TextBlock> {
        let row = |note: &AnnotationJson| {
            let score = note
                .score
                .map_or_else(String::new, |score| format!("{score} "));
            let from = [&note.author, &note.source, &note.date];
            let from: Vec<String> = from.map(|part| harmless(part)).into();
            let from = from.into_iter().filter(|part| !part.is_empty());
            [
                note.r#move
                    .as_ref()
                    .map_or_else(String::new, |m| write_move(at, m, notation)),
                note.kind.clone(),
                from.collect::<Vec<_>>().join(", "),
                // A text may be long: no column stands behind it.
                score + &harmless(&note.text),
            ]
        };
        if result.annotations.is_empty() {
            return vec![TextBlock::Line("no texts, marks or values by hand".into())];
        }
        let rows = result.annotations.iter().map(row);
        vec![TextBlock::table(["move", "kind", "from", "text"], [], rows)]
    }
}

/// Writes a text of a file on one line, without letters that change a terminal.
fn harmless(text: &str) -> String {
    let lines = text.replace('\n', " / ");
    lines.replace(|letter| !is_visible(letter), "")
}

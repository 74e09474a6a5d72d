use kagetsu_game::{Move, Position};
use serde::{Deserialize, Serialize};

use crate::content::annotation::{Annotation, AnnotationKind};
use crate::content::day::Day;

/// An annotation as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Annotation))]
#[serde(default, deny_unknown_fields)]
pub struct AnnotationJson {
    /// The move or the point; null for the whole position.
    pub r#move: Option<String>,
    /// `comment`, `text` (on a point of the board), `mark`, `link` (to a source); or a value set by
    /// hand: `prefer`, `avoid`, `win`, `draw`, `loss`, `score`.
    pub kind: String,
    /// Centi-units from the view of the side to move, for the kind `score`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<i16>,
    /// The text, or the reason for a value.
    pub text: String,
    /// Its author; empty where it is unknown.
    pub author: String,
    /// The file or the address that it comes from; empty for none.
    pub source: String,
    /// The day on which it came into a book, as in 2026-11-21; empty for an unknown one.
    pub date: String,
}

/// The reason why JSON is no annotation of a position.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct AnnotationError(String);

impl AnnotationJson {
    /// Returns the JSON of an annotation of a position.
    #[must_use]
    pub fn new(position: &Position, annotation: &Annotation) -> Self {
        let note = annotation.clone();
        Self {
            r#move: note.at.map(|m| position.write_move(m)),
            kind: note.kind.to_string(),
            score: note.kind.score(),
            text: note.text,
            author: note.author,
            source: note.source,
            date: match note.day {
                0 => String::new(),
                day => Day(day).to_string(),
            },
        }
    }

    /// Returns the annotation of a position.
    ///
    /// # Errors
    /// If it is none, or about no point of the board.
    pub fn read(&self, position: &Position) -> Result<Annotation, AnnotationError> {
        let fault = |error: String| AnnotationError(error);
        let kind = self.kind.parse::<AnnotationKind>();
        let kind = match (kind.map_err(|error| fault(error.to_string()))?, self.score) {
            (AnnotationKind::Score(_), Some(score)) => AnnotationKind::Score(score),
            (AnnotationKind::Score(_), None) | (_, Some(_)) => {
                let kind = &self.kind;
                return Err(fault(format!(
                    "score: the kind score alone has one; this is {kind}"
                )));
            }
            (kind, None) => kind,
        };
        let at = self.r#move.as_deref().map(|text| {
            let quoted = kagetsu_game::quote_message(text);
            let unknown = || fault(format!("'{quoted}' is no move or point of the position"));
            read_point(position, text).ok_or_else(unknown)
        });
        let day = match &*self.date {
            "" => Ok(0),
            date => date.parse::<Day>().map(|day| day.0),
        };
        Ok(Annotation {
            at: at.transpose()?,
            kind,
            text: self.text.clone(),
            author: self.author.clone(),
            source: self.source.clone(),
            day: day.map_err(|error| fault(error.to_string()))?,
        })
    }
}

/// Reads a move, or any point of a board for stones.
fn read_point(position: &Position, text: &str) -> Option<Move> {
    let board = position.variant().board();
    let points = u16::from(board.columns) * u16::from(board.rows);
    let is_it = |m: &Move| position.write_move(*m).eq_ignore_ascii_case(text.trim());
    let points = (0..points).map(Move::new);
    let point = || {
        points
            .filter(|_| position.variant().places_stones())
            .find(is_it)
    };
    position.parse_move(text).ok().or_else(point)
}

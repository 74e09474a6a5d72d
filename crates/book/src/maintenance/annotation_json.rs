use kagetsu_game::{Move, Position};
use serde::{Deserialize, Serialize};

use crate::settings::day::{Day, DayError};
use crate::{Annotation, AnnotationKind, AnnotationKindError};

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
#[non_exhaustive]
pub enum AnnotationError {
    /// The kind is unknown.
    #[error(transparent)]
    Kind(#[from] AnnotationKindError),
    /// The date is none.
    #[error(transparent)]
    Date(#[from] DayError),
    /// The move or point is not on the board.
    #[error("'{0}' is no move or point of the position")]
    Move(String),
    /// A score is missing, or is given for another kind.
    #[error("the kind score, and no other, has a score; this is {0}")]
    Score(AnnotationKind),
}

impl AnnotationJson {
    /// Returns the JSON of an annotation of a position.
    #[must_use]
    pub fn new(position: &Position, annotation: &Annotation) -> Self {
        let Annotation {
            at,
            kind,
            text,
            author,
            source,
            day,
        } = annotation;
        Self {
            r#move: at.map(|m| position.write_move(m)),
            kind: kind.to_string(),
            score: kind.score(),
            text: text.clone(),
            author: author.clone(),
            source: source.clone(),
            date: match day {
                0 => String::new(),
                day => Day(*day).to_string(),
            },
        }
    }

    /// Returns the annotation of a position.
    ///
    /// # Errors
    /// If it is none, or about no point of the board.
    pub fn read(&self, position: &Position) -> Result<Annotation, AnnotationError> {
        let kind = match (self.kind.parse()?, self.score) {
            (AnnotationKind::Score(_), Some(score)) => AnnotationKind::Score(score),
            (kind @ AnnotationKind::Score(_), None) | (kind, Some(_)) => {
                return Err(AnnotationError::Score(kind));
            }
            (kind, None) => kind,
        };
        let at = self.r#move.as_deref().map(|text| {
            let point = read_point(position, text);
            point
                .ok_or_else(|| AnnotationError::Move(kagetsu_game::quote_message(text).to_string()))
        });
        Ok(Annotation {
            at: at.transpose()?,
            kind,
            text: self.text.clone(),
            author: self.author.clone(),
            source: self.source.clone(),
            day: match &*self.date {
                "" => 0,
                date => date.parse::<Day>()?.0,
            },
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

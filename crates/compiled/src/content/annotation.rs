use std::fmt;
use std::str::FromStr;

use kagetsu_game::{Answer, Move, Symmetry, Variant};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A remark of a person about a position, or about a move or a point of it. It is no result of a
/// search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotation {
    /// The move, or in a game of stones any point; `None` for the whole position.
    #[serde(serialize_with = "write_move", deserialize_with = "read_move")]
    pub at: Option<Move>,
    /// The meaning of the text.
    pub kind: AnnotationKind,
    /// The text; a mark and a value need none.
    pub text: String,
    /// The name of its author; empty where it is unknown.
    pub author: String,
    /// The file or the address that it comes from; empty for none.
    pub source: String,
    /// The day on which it came into a book, since 1970-01-01.
    pub day: u32,
}

/// The meaning of an [`Annotation`]. New kinds come after the last, because their order is the
/// encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum AnnotationKind {
    /// A comment of one or more lines.
    Comment,
    /// A short text that stands on a point of the board.
    Text,
    /// A mark on a move or a point.
    Mark,
    /// The address of a source.
    Link,
    /// The move is to be preferred; the text is the reason, as for all values set by hand.
    Prefer,
    /// The move is to be avoided.
    Avoid,
    /// The side to move wins.
    Win,
    /// It is a draw.
    Draw,
    /// The side to move loses.
    Loss,
    /// A score in centi-units, from the view of the side to move.
    Score(i16),
}

/// A text names no kind of annotation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is no kind of annotation; write comment, text, mark, link, prefer, avoid, win, draw, \
     loss or score"
)]
pub struct AnnotationKindError(String);

/// All kinds but the scores, by their numbers, with their names.
const KINDS: [(AnnotationKind, &str); 9] = [
    (AnnotationKind::Comment, "comment"),
    (AnnotationKind::Text, "text"),
    (AnnotationKind::Mark, "mark"),
    (AnnotationKind::Link, "link"),
    (AnnotationKind::Prefer, "prefer"),
    (AnnotationKind::Avoid, "avoid"),
    (AnnotationKind::Win, "win"),
    (AnnotationKind::Draw, "draw"),
    (AnnotationKind::Loss, "loss"),
];

impl Annotation {
    /// Returns the annotation of the image of its position under `symmetry`.
    #[must_use]
    pub fn turned(self, variant: Variant, symmetry: Symmetry) -> Self {
        let at = self.at.map(|m| variant.image(m, symmetry));
        Self { at, ..self }
    }

    /// Whether it stands on a point of the board.
    #[must_use]
    pub fn is_on_board(&self) -> bool {
        matches!(self.kind, AnnotationKind::Text | AnnotationKind::Mark)
    }

    /// Returns everything but the day: two annotations that agree in it are the same one.
    #[must_use]
    pub fn identity(&self) -> (Option<Move>, AnnotationKind, &str, &str, &str) {
        (self.at, self.kind, &self.text, &self.author, &self.source)
    }
}

/// Returns the answer as people want it played: only the moves that they prefer, where it has any
/// of these, else without those that they avoid, where it has any other.
#[must_use]
pub fn by_hand(notes: &[Annotation], answer: Answer) -> Answer {
    let has = |m: Move, kind| {
        let mut of_move = notes.iter().filter(|note| note.at == Some(m));
        of_move.any(|note| note.kind == kind)
    };
    let kept = |keep: &dyn Fn(Move) -> bool| {
        let kept = answer.verdicts().iter().filter(|(m, _)| keep(*m));
        Some(kept.cloned().collect::<Answer>()).filter(|kept| !kept.is_empty())
    };
    let preferred = kept(&|m| has(m, AnnotationKind::Prefer));
    let kept = preferred.or_else(|| kept(&|m| !has(m, AnnotationKind::Avoid)));
    kept.unwrap_or(answer)
}

fn write_move<S: Serializer>(at: &Option<Move>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(Move::code).serialize(serializer)
}

fn read_move<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Move>, D::Error> {
    Ok(Option::deserialize(deserializer)?.map(Move::new))
}

impl AnnotationKind {
    /// Whether it is a value that a person has set, or a preference.
    #[must_use]
    pub fn is_value(self) -> bool {
        self >= Self::Prefer
    }

    /// Returns the score, if it is one.
    #[must_use]
    pub fn score(self) -> Option<i16> {
        match self {
            Self::Score(score) => Some(score),
            _ => None,
        }
    }
}

/// The name; `score` for every score.
impl fmt::Display for AnnotationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = KINDS.iter().find(|(kind, _)| kind == self);
        f.write_str(named.map_or("score", |(_, name)| name))
    }
}

impl FromStr for AnnotationKind {
    type Err = AnnotationKindError;

    /// Reads a name; `score` is the score 0.
    fn from_str(text: &str) -> Result<Self, AnnotationKindError> {
        let named = KINDS.iter().find(|(_, name)| *name == text);
        let score = || (text == "score").then_some(Self::Score(0));
        let kind = named.map(|(kind, _)| *kind).or_else(score);
        kind.ok_or_else(|| AnnotationKindError(kagetsu_game::quote_message(text).to_string()))
    }
}

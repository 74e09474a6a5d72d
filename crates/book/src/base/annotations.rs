use kagetsu_compiled::Annotation;
use kagetsu_game::{Move, MoveKind, Variant};
use serde::{Deserialize, Serialize};

/// Annotations in one entry of the journal.
pub(crate) const MAX_ENTRY_ANNOTATIONS: usize = 8;

/// An annotation as the journal and the store have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AnnotationBody {
    /// In canonical orientation.
    pub(crate) annotation: Annotation,
    /// Times that it was taken back and written again, together; odd while it is taken back.
    pub(crate) turn: u32,
}

impl AnnotationBody {
    pub(crate) fn is_shown(&self) -> bool {
        self.turn.is_multiple_of(2)
    }
}

/// The annotations of a position, in the order of their identities. They merge as a set: of two
/// with one identity the earlier day stays, and the greater turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Annotations {
    pub(crate) packed: Vec<u8>,
    pub(crate) bodies: Vec<AnnotationBody>,
}

impl Annotations {
    /// Returns the annotation with the identity of another, or its place.
    pub(crate) fn find(&self, other: &Annotation) -> Result<usize, usize> {
        let identity = other.identity();
        self.bodies
            .binary_search_by(|known| known.annotation.identity().cmp(&identity))
    }

    pub(crate) fn merge(&mut self, other: &AnnotationBody) {
        match self.find(&other.annotation) {
            Ok(at) => {
                let known = &mut self.bodies[at];
                known.turn = known.turn.max(other.turn);
                known.annotation.day = known.annotation.day.min(other.annotation.day);
            }
            Err(at) => self.bodies.insert(at, other.clone()),
        }
    }
}

/// Whether a move can be turned: it is on the board, legal or not.
pub(crate) fn is_on_board(variant: Variant, m: Move) -> bool {
    let board = variant.board();
    let points = usize::from(board.columns) * usize::from(board.rows);
    m.index()
        < match board.moves {
            MoveKind::Placement => points,
            MoveKind::Movement => points * points,
        }
}

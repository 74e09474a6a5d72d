use kagetsu_game::{Key, Position};

/// Bytes of the texts of an annotation; eight fit into an entry of the journal.
pub(crate) const MAX_TEXT_BYTES: usize = 15 << 17;

/// The reason why a book refuses an answer or an operation on a position.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// An answer has an illegal move.
    #[error("{text} is not legal in {position}; nothing was learned")]
    Illegal {
        /// The position.
        position: Position,
        /// The move.
        text: String,
    },
    /// An answer has no move.
    #[error("an answer about {0} has no moves; nothing was learned")]
    Empty(Position),
    /// An annotation is about a point beyond the board, or its texts are too long.
    #[error(
        "an annotation of {0} is beyond the board or longer than {MAX_TEXT_BYTES} bytes; nothing \
         was written"
    )]
    Annotation(Position),
    /// Two positions have the same key.
    #[error("two positions have the key {0}")]
    Collision(Key),
    /// The book has neither the root nor a position after it.
    #[error(
        "the book does not hold the root {0}, nor what it leads to; nothing was removed; `kagetsu query` shows what it holds"
    )]
    NoRoot(Position),
}

use alloc::string::String;
use alloc::vec::Vec;

use crate::{
    BoardError, FenError, Key, Move, Notation, Outcome, Packed, Side, Symmetry, UnpackError,
    Variant, quote,
};

/// The rules of a game: legal moves and outcomes, nothing else.
///
/// Laws, tested for every game: `undo` after `play` restores everything; `hash` is the low half of
/// `zobrist(IDENTITY)`; every symmetry commutes with `play`, `moves` and `outcome`; `unpack`
/// inverts `pack`.
pub trait Game: Clone + Send + Sync + Sized {
    /// Number of symmetries, numbered from 0, the identity. A symmetry may swap the sides, with the
    /// side to move, if the game is then the same for the other side.
    const SYMMETRIES: u8;

    /// Returns the position at the start of a game.
    ///
    /// # Panics
    /// If this type does not play the variant; [`with_game!`](crate::with_game) prevents that.
    fn start(variant: Variant) -> Self;

    /// Returns the variant.
    fn variant(&self) -> Variant;

    /// Returns the side to move.
    fn side(&self) -> Side;

    /// Returns the moves since the start or since [`Game::unpack`], oldest first.
    fn history(&self) -> &[Move];

    /// Returns the number of stones or pieces on the board.
    fn stones(&self) -> u16;

    /// Returns the outcome of a finished game.
    fn outcome(&self) -> Option<Outcome>;

    /// Returns the empty points that the rules forbid the side to move, each with the reason's
    /// name,
    /// in the order of [`Game::moves`]. Playing one loses. Only renju has such points.
    fn forbidden(&self) -> Vec<(Move, &'static str)> {
        Vec::new()
    }

    /// Appends all legal moves, always in the same order; none if the game is over.
    fn moves(&self, out: &mut Vec<Move>);

    /// Appends all moves that the board alone allows, for [`perft`](crate::perft()): as
    /// [`Game::moves`], but ignoring endings that come from the history (a repetition, a limit of
    /// plies). These moves may be played.
    fn moves_on_board(&self, out: &mut Vec<Move>) {
        self.moves(out);
    }

    /// Counts [`Game::moves_on_board`]; a game may do so without listing them.
    fn count_on_board(&self) -> u64 {
        let mut moves = Vec::new();
        self.moves_on_board(&mut moves);
        moves.len() as u64
    }

    /// Checks whether a move may be played. This includes the points that renju forbids, which
    /// lose.
    ///
    /// # Errors
    /// The reason against it.
    fn check(&self, m: Move) -> Result<(), MoveError>;

    /// Plays a legal move. An illegal one may panic or leave an invalid board.
    fn play(&mut self, m: Move);

    /// Takes the last move back.
    ///
    /// # Panics
    /// If there is none.
    fn undo(&mut self);

    /// Returns the incremental hash of cells, side to move and variant.
    fn hash(&self) -> u64 {
        self.zobrist(Symmetry::IDENTITY) as u64
    }

    /// Returns the Zobrist value of the image under `symmetry`; the least over all symmetries is
    /// the key.
    fn zobrist(&self, symmetry: Symmetry) -> u128;

    /// Returns the key, which is the same for all images.
    fn key(&self) -> Key {
        self.key_and_symmetry().0
    }

    /// Returns the key, and the symmetry that leads to the canonical image.
    fn key_and_symmetry(&self) -> (Key, Symmetry) {
        let images = (0..Self::SYMMETRIES)
            .map(Symmetry::new)
            .map(|symmetry| (Key(self.zobrist(symmetry)), symmetry));
        images.min().expect("the identity is one of them")
    }

    /// Packs the image under `symmetry`, without the plies since the last capture: they belong to
    /// the game, and a position must have the same bytes in every book.
    fn pack(&self, symmetry: Symmetry) -> Packed;

    /// Unpacks a position, with an empty history. Xiangqi and surakarta accept one more byte, the
    /// plies since the last capture (1 to 255), so that a game may begin in the middle of a count.
    ///
    /// # Errors
    /// If the bytes are not a position of the variant.
    fn unpack(variant: Variant, packed: &Packed) -> Result<Self, UnpackError>;

    /// Returns the image of a move under `symmetry`.
    fn image(variant: Variant, m: Move, symmetry: Symmetry) -> Move;

    /// Returns the symmetry that undoes `symmetry`.
    fn inverse(symmetry: Symmetry) -> Symmetry;

    /// Reads a move, as in `h8`, without checking that it is legal.
    ///
    /// # Errors
    /// [`MoveError::Text`] or [`MoveError::OffBoard`].
    fn parse_move(&self, text: &str) -> Result<Move, MoveError>;

    /// Writes a move of the variant.
    fn write_move(variant: Variant, m: Move) -> String;

    /// Writes a move of this position in a notation; games with one notation write that.
    fn write_move_in(&self, m: Move, notation: Notation) -> String {
        let _ = notation;
        Self::write_move(self.variant(), m)
    }

    /// Reads a FEN into bytes for [`Game::unpack`].
    ///
    /// # Errors
    /// The fault of the text; [`FenError::None`] if the game has no FEN.
    fn read_fen(variant: Variant, text: &str) -> Result<Packed, FenError> {
        let _ = text;
        Err(FenError::None(variant))
    }

    /// Returns the FEN, if the game has one.
    fn fen(&self) -> Option<String> {
        None
    }

    /// Reads a drawn board of stones into bytes for [`Game::unpack`]. Without `side` the numbers of
    /// stones must tell which side moves.
    ///
    /// # Errors
    /// [`BoardError::NotDrawn`] if the game has no board of stones, else the fault of the text.
    fn read_board(variant: Variant, text: &str, side: Option<Side>) -> Result<Packed, BoardError> {
        let _ = (text, side);
        Err(BoardError::NotDrawn(variant))
    }

    /// Returns the stones of each side in a packed position, by cell code; `None` if the game moves
    /// pieces, or for bytes that are no position.
    fn packed_stones(variant: Variant, packed: &Packed) -> Option<[Vec<Move>; 2]> {
        let _ = (variant, packed);
        None
    }

    /// Draws the board as text, with coordinates and the last move marked; empty if the game has no
    /// drawing.
    fn draw(&self) -> String {
        String::new()
    }

    /// Draws the board with a character on each of these empty points. Games that move pieces
    /// ignore
    /// the marks.
    fn draw_marked(&self, marks: &[(Move, char)]) -> String {
        let _ = marks;
        self.draw()
    }

    /// Splits a line into moves: at blanks and commas, and where one move ends and the next begins.
    fn split_line(line: &str) -> Vec<&str>;
}

/// The error of an impossible move.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// The text is no move in any position.
    #[error("'{}' is not a move of {}", quote(.0), .1)]
    Text(String, Variant),
    /// The board has no such point.
    #[error("'{}' is off the board of {}", quote(.0), .1)]
    OffBoard(String, Variant),
    /// The point has a stone.
    #[error("{0} is taken")]
    Taken(String),
    /// The rules do not allow it, for the reason given.
    #[error("{0} is not legal here: {1}")]
    Illegal(String, &'static str),
    /// The game is over.
    #[error("{0} comes after the end of the game")]
    AfterEnd(String),
}

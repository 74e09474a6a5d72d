use alloc::string::String;
use alloc::vec::Vec;

use crate::{
    BoardError, FenError, Key, Move, Outcome, Packed, Side, Symmetry, UnpackError, Variant,
};

/// The rules of one game: what is legal and how it ends, and nothing else.
///
/// Laws, proven for every game by one test suite: `undo` after `play` restores everything; `hash` is the low half of
/// `zobrist(IDENTITY)`; every symmetry commutes with `play`, `moves` and `outcome`; `unpack` inverts `pack`.
pub trait Game: Clone + Send + Sync + Sized {
    /// How many symmetries the game has; they are numbered from 0, the identity. Some may swap the sides, the one to move
    /// among them, where the game is then the same for the other side.
    const SYMMETRIES: u8;

    /// The position at the start of a game.
    ///
    /// # Panics
    /// If the variant is not one that this type plays; [`with_game!`](crate::with_game) never does that.
    fn start(variant: Variant) -> Self;

    /// What is being played.
    fn variant(&self) -> Variant;

    /// Who moves next.
    fn side(&self) -> Side;

    /// The moves played since the start or since [`Game::unpack`], oldest first.
    fn history(&self) -> &[Move];

    /// Stones or pieces on the board.
    fn stones(&self) -> u16;

    /// How the game ended, if it did.
    fn outcome(&self) -> Option<Outcome>;

    /// Returns the empty points that the rules forbid the side to move, each with the reason's name,
    /// in the order of [`Game::moves`]. Playing one loses. Only renju has such points.
    fn forbidden(&self) -> Vec<(Move, &'static str)> {
        Vec::new()
    }

    /// Appends all legal moves; none when the game is over. The order is the game's own and always the same.
    fn moves(&self, out: &mut Vec<Move>);

    /// Appends all moves that the board alone allows: as [`Game::moves`], but no ending that comes from the history (a
    /// repetition, a limit of plies) stops them. They may be played even then; [`perft`](crate::perft()) walks them.
    fn moves_on_board(&self, out: &mut Vec<Move>) {
        self.moves(out);
    }

    /// How many [`Game::moves_on_board`] there are; cheaper where the game can count without listing.
    fn count_on_board(&self) -> u64 {
        let mut moves = Vec::new();
        self.moves_on_board(&mut moves);
        moves.len() as u64
    }

    /// Whether the move may be played, and why not. More than [`Game::moves`] may be played in one case: a point that
    /// renju forbids, which loses.
    ///
    /// # Errors
    /// What stands against it.
    fn check(&self, m: Move) -> Result<(), MoveError>;

    /// Plays a legal move. Trusts the caller: an illegal one may panic or leave nonsense.
    fn play(&mut self, m: Move);

    /// Takes the last move back.
    ///
    /// # Panics
    /// If there is none.
    fn undo(&mut self);

    /// The incremental hash of what decides the future: cells, side and variant.
    fn hash(&self) -> u64 {
        self.zobrist(Symmetry::IDENTITY) as u64
    }

    /// The full Zobrist value of the image under `symmetry`; the least over all symmetries is the position's key.
    fn zobrist(&self, symmetry: Symmetry) -> u128;

    /// The position's name: the same for all its images.
    fn key(&self) -> Key {
        least_zobrist(self).0
    }

    /// The image under `symmetry` as bytes. Where plies without a capture are counted, the count is left out: it belongs
    /// to the game, not to the position, and the same position must have the same bytes in every book.
    fn pack(&self, symmetry: Symmetry) -> Packed;

    /// The position from bytes, with an empty history. Xiangqi and surakarta take one byte more than they pack: the plies
    /// since the last capture, 1 to 255, so that a game may begin in the middle of a count.
    ///
    /// # Errors
    /// If the bytes are no position of the variant.
    fn unpack(variant: Variant, packed: &Packed) -> Result<Self, UnpackError>;

    /// Where `symmetry` takes a move.
    fn image(variant: Variant, m: Move, symmetry: Symmetry) -> Move;

    /// The symmetry that undoes `symmetry`.
    fn inverse(symmetry: Symmetry) -> Symmetry;

    /// Reads one move, as in `h8`; does not ask whether it is legal.
    ///
    /// # Errors
    /// [`MoveError::Text`] or [`MoveError::OffBoard`].
    fn parse_move(&self, text: &str) -> Result<Move, MoveError>;

    /// Writes one move of the variant.
    fn write_move(variant: Variant, m: Move) -> String;

    /// Reads a position of the game in its FEN, into bytes for [`Game::unpack`].
    ///
    /// # Errors
    /// What is wrong with the text; [`FenError::None`] where the game has no FEN.
    fn read_fen(variant: Variant, text: &str) -> Result<Packed, FenError> {
        let _ = text;
        Err(FenError::None(variant))
    }

    /// The position in the game's FEN, if the game has one.
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

    /// The board as lines of text for a terminal, with coordinates and the last move marked; empty where the game has
    /// no drawing.
    fn draw(&self) -> String {
        String::new()
    }

    /// The same with a character on the point of each of these moves. A game whose moves lead from point to point has no
    /// such marks.
    fn draw_marked(&self, marks: &[(Move, char)]) -> String {
        let _ = marks;
        self.draw()
    }

    /// Cuts a line into moves: at blanks and commas, and where one move ends and the next begins.
    fn split_line(line: &str) -> Vec<&str>;
}

/// A move that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// Not a move in any position.
    #[error("'{0}' is not a move of {1}")]
    Text(String, Variant),
    /// A point that the board does not have.
    #[error("'{0}' is off the board of {1}")]
    OffBoard(String, Variant),
    /// A stone on a stone.
    #[error("{0} is taken")]
    Taken(String),
    /// Against the rules.
    #[error("{0} is not legal here")]
    Illegal(String),
    /// The game has ended before it.
    #[error("{0} comes after the end of the game")]
    AfterEnd(String),
}

/// Returns the key of the position, and the symmetry that leads to its canonical image.
pub(crate) fn least_zobrist<G: Game>(game: &G) -> (Key, Symmetry) {
    let images = (0..G::SYMMETRIES)
        .map(Symmetry::new)
        .map(|symmetry| (Key(game.zobrist(symmetry)), symmetry));
    images.min().expect("the identity is one of them")
}

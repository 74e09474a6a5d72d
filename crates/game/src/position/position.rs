use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::{
    BoardError, Canonical, FenError, Game, Key, Move, MoveError, Notation, Outcome, Packed, Side,
    Symmetry, UnpackError, Variant, with_game,
};

/// A position: variant, first position, and the moves from there. Checked when it is made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    variant: Variant,
    setup: Option<Packed>,
    moves: Vec<Move>,
}

/// The error of an invalid position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PositionError {
    /// A move of the line is wrong.
    #[error("move {number}: {error}")]
    Move {
        /// Number of the move, from 1.
        number: usize,
        /// The fault.
        error: MoveError,
    },
    /// The first position is wrong.
    #[error(transparent)]
    Setup(#[from] UnpackError),
    /// A drawn board cannot be read.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// A FEN cannot be read.
    #[error(transparent)]
    Fen(#[from] FenError),
    /// The variant is wrong.
    #[error(transparent)]
    Variant(#[from] crate::VariantError),
}

impl Position {
    /// Returns the start of a game.
    #[must_use]
    pub const fn start(variant: Variant) -> Self {
        Self {
            variant,
            setup: None,
            moves: Vec::new(),
        }
    }

    /// Returns the position after `moves` from `setup` (`None`: the start of a game).
    ///
    /// # Errors
    /// If the setup is invalid or a move is illegal.
    pub fn new(
        variant: Variant,
        setup: Option<Packed>,
        moves: &[Move],
    ) -> Result<Self, PositionError> {
        let mut position = Self {
            variant,
            setup,
            moves: Vec::with_capacity(moves.len()),
        };
        with_game!(variant, G => {
            let mut game = match &position.setup {
                Some(packed) => G::unpack(variant, packed)?,
                None => G::start(variant),
            };
            for (index, &m) in moves.iter().enumerate() {
                game.check(m).map_err(|error| PositionError::Move { number: index + 1, error })?;
                game.play(m);
                position.moves.push(m);
            }
        });
        Ok(position)
    }

    /// Returns the same position of a game by other rules.
    ///
    /// # Errors
    /// If a move of the line is illegal by those rules, or the game has another board.
    pub fn under(&self, variant: Variant) -> Result<Self, PositionError> {
        Self::new(variant, self.setup.clone(), &self.moves)
    }

    /// Returns a position without history from its packed form.
    ///
    /// # Errors
    /// If the bytes are not a position of the variant.
    pub fn unpack(variant: Variant, packed: Packed) -> Result<Self, PositionError> {
        Self::new(variant, Some(packed), &[])
    }

    /// Returns the position after a line from the start, as in `h8 i9 h9`, `h8,i9,h9`, `h8i9h9`,
    /// `[h8][i9]` or `1.h8 2.i9`. A gomoku line without letters is in Gomocup's notation, `7,7
    /// 8,6`: column and row from 0, row 0 at the top.
    ///
    /// # Errors
    /// The first unreadable or illegal move.
    pub fn from_line(variant: Variant, line: &str) -> Result<Self, PositionError> {
        Self::start(variant).play_line(line)
    }

    /// Returns the position of a drawn board of stones, as `--board` takes it. It has no history
    /// and any number of stones.
    ///
    /// The rows come from the top, one character a point: `X` or `x` for the first player, `O` or
    /// `o` for the second, `.`, `_`, `-` or `+` for an empty point. Blanks, brackets, empty lines,
    /// row numbers and a line of column letters are ignored, so the output of [`Position::draw`]
    /// can be read. Without `side` the numbers of stones must be equal, or the first player must
    /// have one more.
    ///
    /// # Errors
    /// A wrong point or row, an unknown side to move, or a five for both sides.
    pub fn from_board(
        variant: Variant,
        text: &str,
        side: Option<Side>,
    ) -> Result<Self, PositionError> {
        let packed = with_game!(variant, G => G::read_board(variant, text, side))?;
        Self::unpack(variant, packed)
    }

    /// Returns the position of a game of stones with these of the first and of the second player.
    /// It has no history and any number of stones.
    ///
    /// # Errors
    /// Another game, a stone off the board, or a five for both sides.
    pub fn from_stones(
        variant: Variant,
        stones: &[Vec<Move>; 2],
        side: Side,
    ) -> Result<Self, PositionError> {
        Self::unpack(variant, crate::gomoku::pack_stones(variant, stones, side)?)
    }

    /// Returns the position of a FEN, as `--fen` takes it, without history. Xiangqi: the usual FEN
    /// with the letters of either school (`H` or `N`, `E` or `B` ...); Red is `w` or `r`.
    /// Surakarta: `wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b`, rows from rank 6 down. After the side two
    /// dashes (xiangqi), the plies since the last capture and the move number may follow.
    ///
    /// # Errors
    /// Invalid text, a game without FEN, or an impossible position.
    pub fn from_fen(variant: Variant, fen: &str) -> Result<Self, PositionError> {
        with_game!(variant, G => {
            let packed = G::read_fen(variant, fen)?;
            let is_start = packed == G::start(variant).pack(Symmetry::IDENTITY);
            if is_start { Ok(Self::start(variant)) } else { Self::unpack(variant, packed) }
        })
    }

    /// Returns the FEN with the plies since the last capture and the move number, which counts from
    /// the setup.
    ///
    /// # Errors
    /// [`FenError::None`] if the game has no FEN.
    pub fn fen(&self) -> Result<String, FenError> {
        with_game!(self.variant, G => self.game::<G>().fen()).ok_or(FenError::None(self.variant))
    }

    /// Returns moves from the start of a game to this position. For a setup of stones these are its
    /// stones in turn, in an order without an earlier win. `None` if there is no such line.
    #[must_use]
    pub fn line(&self) -> Option<Vec<Move>> {
        let Some(packed) = &self.setup else {
            return Some(self.moves.clone());
        };
        let mut line = with_game!(self.variant, G => {
            in_turn::<G>(self.variant, G::packed_stones(self.variant, packed)?, packed)
        })?;
        line.extend(&self.moves);
        Some(line)
    }

    /// Writes the position as commands accept it: as a FEN or as moves, else as its drawing.
    #[must_use]
    pub fn notation(&self) -> String {
        match (self.fen(), self.line()) {
            (Ok(fen), _) => fen,
            (_, Some(moves)) => {
                let moves: Vec<_> = moves.iter().map(|&m| self.write_move(m)).collect();
                moves.join(" ")
            }
            _ => self.to_string(),
        }
    }

    /// Returns the stones of each side on the board, by cell code; `None` if the game moves pieces.
    #[must_use]
    pub fn stones(&self) -> Option<[Vec<Move>; 2]> {
        with_game!(self.variant, G => match &self.setup {
            Some(packed) if self.moves.is_empty() => G::packed_stones(self.variant, packed),
            _ => G::packed_stones(self.variant, &self.game::<G>().pack(Symmetry::IDENTITY)),
        })
    }

    /// Returns the position after a further line.
    ///
    /// # Errors
    /// The first unreadable or illegal move; its number counts within the line.
    pub fn play_line(&self, line: &str) -> Result<Self, PositionError> {
        with_game!(self.variant, G => {
            let mut game = self.game::<G>();
            let mut position = self.clone();
            for (index, text) in G::split_line(line).into_iter().enumerate() {
                let at = |error| PositionError::Move { number: index + 1, error };
                let m = game.parse_move(text).map_err(at)?;
                game.check(m).map_err(at)?;
                game.play(m);
                position.moves.push(m);
            }
            Ok(position)
        })
    }

    /// Returns the position after one more move.
    ///
    /// # Errors
    /// If the move is illegal.
    pub fn play(&self, m: Move) -> Result<Self, MoveError> {
        with_game!(self.variant, G => self.game::<G>().check(m))?;
        let mut position = self.clone();
        position.moves.push(m);
        Ok(position)
    }

    /// Checks that each of these lines can be played from here. Cheaper than one by one.
    ///
    /// # Errors
    /// The first illegal move; its number counts from the first position.
    pub fn check_lines<'a>(
        &self,
        lines: impl IntoIterator<Item = &'a [Move]>,
    ) -> Result<(), PositionError> {
        with_game!(self.variant, G => {
            let mut game = self.game::<G>();
            for line in lines {
                for (index, &m) in line.iter().enumerate() {
                    let number = self.moves.len() + index + 1;
                    game.check(m).map_err(|error| PositionError::Move { number, error })?;
                    if index + 1 < line.len() {
                        game.play(m);
                    }
                }
                line.iter().skip(1).for_each(|_| game.undo());
            }
            Ok(())
        })
    }

    /// Returns the position after the first `plies` of the moves; all moves if there are fewer.
    #[must_use]
    pub fn prefix(&self, plies: usize) -> Self {
        let moves = self.moves.iter().take(plies);
        Self {
            variant: self.variant,
            setup: self.setup.clone(),
            moves: moves.copied().collect(),
        }
    }

    /// Returns the earlier positions of the line, the longest first.
    pub fn prefixes(&self) -> impl DoubleEndedIterator<Item = Self> {
        (0..self.moves.len()).rev().map(|plies| self.prefix(plies))
    }

    /// Returns the variant.
    #[must_use]
    pub const fn variant(&self) -> Variant {
        self.variant
    }

    /// Returns the first position, unless it is the start of a game.
    #[must_use]
    pub const fn setup(&self) -> Option<&Packed> {
        self.setup.as_ref()
    }

    /// Returns the moves since the first position.
    #[must_use]
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Returns the board after all moves.
    ///
    /// # Panics
    /// If `G` does not play this variant; [`with_game!`] prevents that.
    #[must_use]
    pub fn game<G: Game>(&self) -> G {
        let mut game = match &self.setup {
            Some(packed) => {
                G::unpack(self.variant, packed).expect("checked when the position was made")
            }
            None => G::start(self.variant),
        };
        self.moves.iter().for_each(|&m| game.play(m));
        game
    }

    /// Returns the side to move.
    #[must_use]
    pub fn side(&self) -> Side {
        with_game!(self.variant, G => self.game::<G>().side())
    }

    /// Returns the outcome of a finished game.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        with_game!(self.variant, G => self.game::<G>().outcome())
    }

    /// Returns all legal moves, in the game's own order.
    #[must_use]
    pub fn legal_moves(&self) -> Vec<Move> {
        let mut moves = Vec::new();
        with_game!(self.variant, G => self.game::<G>().moves(&mut moves));
        moves
    }

    /// Returns the empty points that the rules forbid the side to move, with the reasons; see
    /// [`Game::forbidden`].
    #[must_use]
    pub fn forbidden_moves(&self) -> Vec<(Move, &'static str)> {
        with_game!(self.variant, G => self.game::<G>().forbidden())
    }

    /// Draws the board as text with the last move marked; empty if the game has no drawing.
    #[must_use]
    pub fn draw(&self) -> String {
        with_game!(self.variant, G => self.game::<G>().draw())
    }

    /// Draws the board with a character on each of these empty points; see [`Game::draw_marked`].
    #[must_use]
    pub fn draw_marked(&self, marks: &[(Move, char)]) -> String {
        with_game!(self.variant, G => self.game::<G>().draw_marked(marks))
    }

    /// Returns one legal move for each key that a move leads to, in the game's own order.
    #[must_use]
    pub fn distinct_moves(&self) -> Vec<Move> {
        with_game!(self.variant, G => {
            let mut game = self.game::<G>();
            let images = self_images(&game);
            let (mut moves, mut distinct) = (Vec::new(), Vec::new());
            game.moves(&mut moves);
            if images.is_empty() {
                return moves;
            }
            let mut seen = alloc::collections::BTreeSet::new();
            for m in moves {
                game.play(m);
                if seen.insert(game.key()) {
                    distinct.push(m);
                }
                game.undo();
            }
            distinct
        })
    }

    /// Returns the key.
    #[must_use]
    pub fn key(&self) -> Key {
        with_game!(self.variant, G => self.game::<G>().key())
    }

    /// Returns the key and the symmetry that leads to the canonical image.
    #[must_use]
    pub fn key_and_symmetry(&self) -> (Key, Symmetry) {
        with_game!(self.variant, G => self.game::<G>().key_and_symmetry())
    }

    /// Returns the form that books store.
    #[must_use]
    pub fn canonical(&self) -> Canonical {
        with_game!(self.variant, G => canonical(&self.game::<G>()))
    }

    /// Returns the canonical forms after each of `moves`, which must be legal. Cheaper than one by
    /// one.
    #[must_use]
    pub fn children(&self, moves: &[Move]) -> Vec<Canonical> {
        with_game!(self.variant, G => {
            let mut game = self.game::<G>();
            let child = |&m: &Move| {
                game.play(m);
                let child = canonical(&game);
                game.undo();
                child
            };
            moves.iter().map(child).collect()
        })
    }

    /// Writes a move of this position as text.
    #[must_use]
    pub fn write_move(&self, m: Move) -> String {
        with_game!(self.variant, G => G::write_move(self.variant, m))
    }

    /// Writes a move of this position in a notation. A move that is not legal here is written as in
    /// [`Position::write_move`].
    #[must_use]
    pub fn write_move_in(&self, m: Move, notation: Notation) -> String {
        if notation == Notation::Engine {
            return self.write_move(m);
        }
        with_game!(self.variant, G => self.game::<G>().write_move_in(m, notation))
    }

    /// Writes the moves of a line from this position in a notation. The line ends before a move
    /// that is not legal.
    #[must_use]
    pub fn write_line_in(&self, line: &[Move], notation: Notation) -> Vec<String> {
        if notation == Notation::Engine {
            return line.iter().map(|&m| self.write_move(m)).collect();
        }
        with_game!(self.variant, G => {
            let mut game = self.game::<G>();
            let mut names = Vec::new();
            for &m in line {
                if game.check(m).is_err() {
                    break;
                }
                names.push(game.write_move_in(m, notation));
                game.play(m);
            }
            names
        })
    }

    /// Reads a legal move of this position.
    ///
    /// # Errors
    /// If the text is unreadable or the move is illegal.
    pub fn parse_move(&self, text: &str) -> Result<Move, MoveError> {
        with_game!(self.variant, G => {
            let game = self.game::<G>();
            let m = game.parse_move(text)?;
            game.check(m).map(|()| m)
        })
    }
}

/// Writes variant and moves, as commands take them: `freestyle-15 h8 i9`; from a setup with its
/// FEN: `surakarta from "6/w5/6/6/b5/6 b 0 1" a2a3`. A setup of stones is written as a line, or as
/// its stones if no line leads to it.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.variant)?;
        if let Some(line) = self.line() {
            return line
                .iter()
                .try_for_each(|&m| write!(f, " {}", self.write_move(m)));
        }
        if let Some(packed) = &self.setup {
            let setup = self.prefix(0);
            let stones = with_game!(self.variant, G => G::packed_stones(self.variant, packed));
            match (setup.fen(), stones) {
                (Ok(fen), _) => write!(f, " from \"{fen}\"")?,
                (Err(_), stones) => {
                    let sides = stones.iter().flatten().zip(["X", "O"]);
                    for (stones, name) in sides.filter(|(stones, _)| !stones.is_empty()) {
                        write!(f, " {name}")?;
                        stones
                            .iter()
                            .try_for_each(|&m| write!(f, " {}", self.write_move(m)))?;
                    }
                    write!(f, ", {} to move", setup.side())?;
                }
            }
        }
        self.moves
            .iter()
            .try_for_each(|&m| write!(f, " {}", self.write_move(m)))
    }
}

/// Returns the stones in an order in which they can be played to this position.
fn in_turn<G: Game>(
    variant: Variant,
    mut stones: [Vec<Move>; 2],
    packed: &Packed,
) -> Option<Vec<Move>> {
    let mut game = G::start(variant);
    loop {
        let is_last = stones.iter().map(Vec::len).sum::<usize>() == 1;
        let own = &mut stones[game.side().index()];
        let next = own.iter().position(|&m| {
            game.check(m).is_ok() && {
                game.play(m);
                let goes_on = game.outcome().is_none();
                game.undo();
                goes_on || is_last
            }
        });
        let Some(next) = next else { break };
        game.play(own.remove(next));
    }
    (game.pack(Symmetry::IDENTITY) == *packed).then(|| game.history().to_vec())
}

fn canonical<G: Game>(game: &G) -> Canonical {
    let (key, symmetry) = game.key_and_symmetry();
    Canonical {
        key,
        packed: game.pack(symmetry),
        symmetry,
        stones: game.stones(),
    }
}

/// Returns the symmetries, except the identity, that leave the position unchanged.
fn self_images<G: Game>(game: &G) -> Vec<Symmetry> {
    let whole = game.hash();
    game.variant()
        .symmetries()
        .skip(1)
        .filter(|&symmetry| game.zobrist(symmetry) as u64 == whole)
        .collect()
}

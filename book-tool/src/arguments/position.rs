use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use kagetsu_files::read_text;
use kagetsu_game::{Notation, Position, Side, Variant};

/// The position that a command is about; by default the start of a game.
#[derive(Args, Clone, Debug)]
pub(crate) struct PositionArgs {
    /// The game and its rules: freestyle-15, standard-15, renju-15, xiangqi, surakarta
    #[arg(long, value_name = "VARIANT")]
    pub(crate) variant: Option<Variant>,
    /// Moves from the start: "h8 i9 h9", h8,i9,h9 or h8i9h9
    #[arg(long, value_name = "LINE")]
    moves: Option<String>,
    /// A FEN of xiangqi or surakarta to begin from instead of the start
    #[arg(long, value_name = "FEN", conflicts_with = "board")]
    fen: Option<String>,
    /// A file with a drawn gomoku board to begin from: rows of . X O from the top; - reads stdin
    #[arg(long, value_name = "FILE")]
    board: Option<PathBuf>,
    /// The side to move on the drawn board, where the stones do not tell: first or second
    #[arg(long, value_name = "SIDE", value_parser = parse_side)]
    side: Option<Side>,
    /// Notation of xiangqi moves in the output: engine (h2e2), wxf (C2=5) or chinese (炮二平五); every
    /// notation is read
    #[arg(long, default_value_t, value_name = "NOTATION")]
    pub(crate) notation: Notation,
}

/// Reads a side; names of colours mean different sides in different games.
fn parse_side(text: &str) -> Result<Side, String> {
    let advice = "write first or second; first is Black in gomoku, and Red in xiangqi";
    Side::named(text).ok_or_else(|| advice.into())
}

impl PositionArgs {
    /// Returns the position.
    ///
    /// # Errors
    /// If the FEN, the board or a move is invalid or illegal; the message names the flag.
    pub(crate) fn position(&self) -> Result<Position> {
        let variant = self.variant.context(
            "the game is missing: give --variant freestyle-15, standard-15, renju-15, xiangqi or \
             surakarta",
        )?;
        self.position_of(variant)
    }

    /// Whether no position is given, so that the start of a game is meant.
    pub(crate) fn is_bare(&self) -> bool {
        self.moves.is_none() && self.fen.is_none() && self.board.is_none()
    }

    /// Returns the position in a game.
    ///
    /// # Errors
    /// As in [`PositionArgs::position`].
    pub(crate) fn position_of(&self, variant: Variant) -> Result<Position> {
        ensure!(
            self.side.is_none() || self.board.is_some(),
            "--side says which side moves on a drawn board: give --board, too"
        );
        let start = match (&self.board, &self.fen) {
            (Some(path), _) => self.drawn(variant, path)?,
            (None, Some(fen)) => {
                Position::from_fen(variant, fen).with_context(|| format!("--fen \"{fen:.200}\""))?
            }
            (None, None) => Position::start(variant),
        };
        let line = self.moves.as_deref().unwrap_or_default();
        let position = start
            .play_line(line)
            .with_context(|| format!("--moves \"{line:.200}\""))?;
        if is_gomocup_line(line) {
            let read = position
                .write_line_in(position.moves(), Notation::Engine)
                .join(" ");
            writeln!(
                std::io::stderr(),
                "kagetsu: --moves \"{line}\" is read as Gomocup writes moves, column and row from 0 \
                 and rows from the top: {read}"
            )?;
        }
        Ok(position)
    }

    /// Takes the side of --side, if no drawn board needs it.
    pub(crate) fn take_side(&mut self) -> Option<Side> {
        self.side.take_if(|_| self.board.is_none())
    }

    fn drawn(&self, variant: Variant, path: &Path) -> Result<Position> {
        let text =
            read(path).with_context(|| format!("cannot read the board {}", path.display()))?;
        Position::from_board(variant, &text, self.side)
            .with_context(|| format!("--board {}", path.display()))
    }
}

/// Whether a line has moves in Gomocup's numbers, which a reader may take for rows from 1.
fn is_gomocup_line(line: &str) -> bool {
    line.contains(|letter: char| letter.is_ascii_digit()) && !line.contains(char::is_alphabetic)
}

fn read(path: &Path) -> std::io::Result<String> {
    if path == Path::new("-") {
        std::io::read_to_string(std::io::stdin().lock())
    } else {
        read_text(path)
    }
}

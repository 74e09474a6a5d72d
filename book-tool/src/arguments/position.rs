use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use kagetsu_game::{Position, Side, Variant};

/// Which position a command is about; without a line, the start of a game.
#[derive(Args, Clone, Debug)]
pub(crate) struct Place {
    /// What is played, as in freestyle-15, standard-15, renju-15, xiangqi, surakarta
    #[arg(long, value_name = "VARIANT")]
    variant: Variant,
    /// The moves from the start, as in "h8 i9 h9", h8,i9,h9 or h8i9h9
    #[arg(long, value_name = "LINE")]
    moves: Option<String>,
    /// A first position of xiangqi or surakarta instead of the start, as FEN
    #[arg(long, value_name = "FEN", conflicts_with = "board")]
    fen: Option<String>,
    /// A drawn gomoku board instead of the start: rows from the top of . X O; - reads it from stdin
    #[arg(long, value_name = "FILE")]
    board: Option<PathBuf>,
    /// Who moves on the drawn board, where its stones do not tell
    #[arg(long, value_enum, requires = "board", value_name = "SIDE")]
    side: Option<SideArg>,
}

/// A side, as a flag's value.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum SideArg {
    /// The side that makes the first move of a game
    First,
    /// The other one
    Second,
}

impl Place {
    /// The position.
    ///
    /// # Errors
    /// The first thing in it that cannot be.
    pub(crate) fn position(&self) -> Result<Position> {
        let start = match (&self.board, &self.fen) {
            (Some(path), _) => self.drawn(path)?,
            (None, Some(fen)) => {
                Position::from_fen(self.variant, fen).with_context(|| format!("--fen \"{fen}\""))?
            }
            (None, None) => Position::start(self.variant),
        };
        let line = self.moves.as_deref().unwrap_or_default();
        start
            .play_line(line)
            .with_context(|| format!("--moves \"{line}\""))
    }

    fn drawn(&self, path: &Path) -> Result<Position> {
        let text =
            read(path).with_context(|| format!("cannot read the board {}", path.display()))?;
        let side = self.side.map(|side| match side {
            SideArg::First => Side::First,
            SideArg::Second => Side::Second,
        });
        Position::from_board(self.variant, &text, side)
            .with_context(|| format!("--board {}", path.display()))
    }
}

/// A position as a command takes it: moves, or a FEN; a drawn one where it is neither.
pub(crate) fn named(position: &Position) -> String {
    if let Ok(fen) = position.fen() {
        return fen;
    }
    match position.line() {
        Some(moves) => moves
            .iter()
            .map(|&m| position.write_move(m))
            .collect::<Vec<_>>()
            .join(" "),
        None => position.to_string(),
    }
}

fn read(path: &Path) -> std::io::Result<String> {
    if path == Path::new("-") {
        std::io::read_to_string(std::io::stdin().lock())
    } else {
        std::fs::read_to_string(path)
    }
}

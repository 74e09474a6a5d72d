//! Positions with a known win, or with none by continuous fours, as rows of JSON.

use std::path::Path;

use anyhow::{Context, Result};
use kagetsu_game::gomoku::Point;
use kagetsu_game::{Position, Side, Variant};
use serde::Deserialize;

/// One position, and what its row says of it.
#[derive(Clone, Debug)]
pub(crate) struct Puzzle {
    pub(crate) name: String,
    pub(crate) position: Position,
    pub(crate) mark: Mark,
}

/// The mark of a puzzle for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It wins.
    Won,
    /// It does not win by fours alone within this many fours.
    NoFours(u8),
}

/// Limit of fours of a row that does not give it.
const FOURS: u8 = 14;

#[derive(Deserialize)]
struct PuzzleRow {
    id: String,
    rule: String,
    size: u8,
    side: String,
    black: Vec<String>,
    white: Vec<String>,
    vcf: Option<bool>,
    max_fours_searched: Option<u8>,
}

/// Reads the puzzles of a file with one row a line. A row without a mark for fours counts as won.
///
/// # Errors
/// A file that cannot be read, or a line that is no puzzle.
pub(crate) fn read(path: &Path) -> Result<Vec<Puzzle>> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let puzzle = |(at, line)| {
        parse(line).with_context(|| format!("{}, line {}: no puzzle", path.display(), at + 1))
    };
    text.lines().enumerate().map(puzzle).collect()
}

fn parse(line: &str) -> Result<Puzzle> {
    let row: PuzzleRow = serde_json::from_str(line)?;
    let variant: Variant = format!("{}-{}", row.rule, row.size).parse()?;
    let start = Position::start(variant);
    let size = usize::from(row.size);
    let mut board = vec![vec!['.'; size]; size];
    for (stones, letter) in [(&row.black, 'X'), (&row.white, 'O')] {
        for stone in stones {
            let Point { x, y } = Point::of(start.parse_move(stone)?, row.size);
            board[size - 1 - usize::from(y)][usize::from(x)] = letter;
        }
    }
    let rows: Vec<String> = board.into_iter().map(String::from_iter).collect();
    let side = if row.side == "white" {
        Side::Second
    } else {
        Side::First
    };
    let position = Position::from_board(variant, &rows.join("\n"), Some(side))?;
    let mark = if row.vcf == Some(false) {
        Mark::NoFours(row.max_fours_searched.unwrap_or(FOURS))
    } else {
        Mark::Won
    };
    Ok(Puzzle {
        name: row.id,
        position,
        mark,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_position_with_a_mark() {
        let row = |side: &str, more: &str| {
            let stones = r#""black": ["h8", "a1"], "white": ["i9"]"#;
            format!(
                r#"{{"id": "one", "rule": "renju", "size": 15, "side": "{side}", {stones}{more}}}"#
            )
        };
        for (side, more, mark) in [
            ("white", "", Mark::Won),
            ("black", r#", "vcf": true"#, Mark::Won),
            ("black", r#", "vcf": false"#, Mark::NoFours(14)),
            (
                "black",
                r#", "vcf": false, "max_fours_searched": 9"#,
                Mark::NoFours(9),
            ),
        ] {
            let puzzle = parse(&row(side, more)).expect("a puzzle");
            assert_eq!((puzzle.name.as_str(), puzzle.mark), ("one", mark));
            assert_eq!(puzzle.position.variant().to_string(), "renju-15");
            assert_eq!(puzzle.position.side() == Side::Second, side == "white");
            assert_eq!(puzzle.position.legal_moves().len(), 222);
        }
    }

    #[test]
    fn text_that_is_no_puzzle_is_refused() {
        let rows = [
            "",
            "{}",
            r#"{"id": "x", "rule": "go", "size": 15, "side": "black", "black": [], "white": []}"#,
            r#"{"id": "x", "rule": "renju", "size": 99, "side": "black", "black": [], "white": []}"#,
            r#"{"id": "x", "rule": "renju", "size": 15, "side": "black", "black": ["z99"], "white": []}"#,
        ];
        for row in rows {
            assert!(parse(row).is_err(), "{row}");
        }
    }
}

//! The positions of a xiangqi or surakarta book as they occur in games. A book keeps a position,
//! its images, and the position with the colours exchanged as one; other programs keep them apart.

use std::collections::{HashSet, VecDeque};

use anyhow::Result;
use kagetsu_book::Book;
use kagetsu_game::{Key, Position, Side, Variant};

use kagetsu_games::without_history;

/// Returns each position as the moves of the book lead to it from the start, possibly in both
/// colours. Positions that no move leads to are returned in both colours, because their colours are
/// unknown.
///
/// # Errors
/// If a record is damaged.
pub(crate) fn as_they_come_up(book: &Book, variant: Variant) -> Result<Vec<Position>> {
    let start = Position::start(variant);
    let mut seen: HashSet<(Key, Side)> = HashSet::from([(start.key(), start.side())]);
    let (mut left, mut found) = (VecDeque::from([start]), Vec::new());
    while let Some(position) = left.pop_front() {
        let Some(entry) = book.lookup(&position)? else {
            continue;
        };
        for (m, _) in entry.answer.verdicts() {
            let after = position
                .play(*m)
                .ok()
                .and_then(|after| without_history(&after));
            left.extend(after.filter(|after| seen.insert((after.key(), after.side()))));
        }
        found.push(position);
    }
    let reached: HashSet<Key> = found.iter().map(Position::key).collect();
    for entry in book.positions() {
        let position = entry?.position;
        if position.variant() == variant && !reached.contains(&position.key()) {
            found.extend(exchanged(&position));
            found.push(position);
        }
    }
    Ok(found)
}

/// Returns the number of positions of other games.
///
/// # Errors
/// If a record is damaged.
pub(crate) fn others(book: &Book, variant: Variant) -> Result<u64> {
    book.positions().try_fold(0, |count, entry| {
        Ok(count + u64::from(entry?.position.variant() != variant))
    })
}

/// Returns the position with the colours exchanged, which in xiangqi also turns the board; `None`
/// for other games.
fn exchanged(position: &Position) -> Option<Position> {
    let fen = position.fen().ok()?;
    let mut fields = fen.split(' ');
    let (board, side) = (fields.next()?, fields.next()?);
    let other = |c: char| if c == 'w' { 'b' } else { 'w' };
    let board: String = match position.variant() {
        Variant::Xiangqi { .. } => {
            let swapped = |c: char| {
                if c.is_ascii_lowercase() {
                    c.to_ascii_uppercase()
                } else {
                    c.to_ascii_lowercase()
                }
            };
            board.chars().rev().map(swapped).collect()
        }
        Variant::Surakarta { .. } => board
            .chars()
            .map(|c| if "bw".contains(c) { other(c) } else { c })
            .collect(),
        Variant::Gomoku { .. } => return None,
    };
    let side: String = side.chars().map(other).collect();
    Position::from_fen(position.variant(), &format!("{board} {side}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanged_colours_keep_the_key() {
        let lines = ["", "h2e2", "b2e2 h9g7 h0g2 i9h9"].map(|line| (Variant::XIANGQI, line));
        for (variant, line) in lines
            .into_iter()
            .chain([(Variant::SURAKARTA, ""), (Variant::SURAKARTA, "a2b3 a5b4")])
        {
            let position = Position::start(variant).play_line(line).expect("legal");
            let other = exchanged(&position).expect("it has a FEN");
            assert_eq!(
                (other.key(), other.side() == position.side()),
                (position.key(), false),
                "{line}"
            );
        }
    }
}

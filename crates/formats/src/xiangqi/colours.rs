//! The positions of a book of xiangqi or surakarta as they come up. A book holds a position, its images and those with the
//! sides exchanged as one; other programs tell them apart.

use std::collections::{HashSet, VecDeque};

use anyhow::Result;
use kagetsu_book::Book;
use kagetsu_game::{Key, Position, Side, Variant};

use crate::games::bare;

/// Each position as the moves of the book lead to it from the start: perhaps in both colours. What they do not lead to is told as
/// the book has it and with the sides exchanged, for nobody says which it is.
///
/// # Errors
/// A damaged record.
pub(crate) fn as_they_come_up(book: &Book, variant: Variant) -> Result<Vec<Position>> {
    let start = Position::start(variant);
    let mut seen: HashSet<(Key, Side)> = HashSet::from([(start.key(), start.side())]);
    let (mut left, mut found) = (VecDeque::from([start]), Vec::new());
    while let Some(position) = left.pop_front() {
        let Some(entry) = book.lookup(&position)? else {
            continue;
        };
        for (m, _) in entry.answer.verdicts() {
            let after = position.play(*m).ok().and_then(|after| bare(&after));
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

/// How many positions of a book are of other games.
///
/// # Errors
/// A damaged record.
pub(crate) fn others(book: &Book, variant: Variant) -> Result<u64> {
    book.positions().try_fold(0, |count, entry| {
        Ok(count + u64::from(entry?.position.variant() != variant))
    })
}

/// The position with the sides exchanged: each piece the other side's, and the other side to move; in xiangqi the board is turned
/// around too. `None` for other games.
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
        _ => return None,
    };
    let side: String = side.chars().map(other).collect();
    Position::from_fen(position.variant(), &format!("{board} {side}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanged_sides_are_the_same_position_to_a_book() {
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

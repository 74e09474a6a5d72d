//! Stones, points and positions as SGF writes them.

use kagetsu_game::{Move, Position, Side};

/// Returns the letter of a side.
pub(crate) fn colour(side: Side) -> char {
    if side == Side::First { 'B' } else { 'W' }
}

/// Writes what happens between two positions that no move joins: a pass, or a node with stones.
pub(crate) fn gap(from: &Position, to: &Position, size: u8) -> String {
    if from.stones() == to.stones() {
        format!(";{}[]", colour(from.side()))
    } else {
        format!(";{}", set_up(from, to, size))
    }
}

/// Writes the properties that make one position of another.
pub(crate) fn set_up(from: &Position, to: &Position, size: u8) -> String {
    let (Some([black, white]), Some(stones)) = (from.stones(), to.stones()) else {
        return String::new();
    };
    let removed = [&black, &white].into_iter().flatten();
    let removed = removed.filter(|m| !stones.iter().flatten().any(|other| other == *m));
    let added = |now: &[Move], was: &[Move]| -> Vec<Move> {
        now.iter().filter(|m| !was.contains(m)).copied().collect()
    };
    let mut text = String::new();
    for (name, points) in [
        ("AE", removed.copied().collect()),
        ("AB", added(&stones[0], &black)),
        ("AW", added(&stones[1], &white)),
    ] {
        let points: String = points
            .iter()
            .map(|m| format!("[{}]", sgf_point(*m, size)))
            .collect();
        if !points.is_empty() {
            text += &format!("{name}{points}");
        }
    }
    text + &format!("PL[{}]", colour(to.side()))
}

/// Writes a point in SGF.
pub(crate) fn sgf_point(m: Move, size: u8) -> String {
    let (column, row) = (m.code() % u16::from(size), m.code() / u16::from(size));
    let letter = |number: u16| char::from(b'a' + number as u8);
    String::from_iter([letter(column), letter(u16::from(size) - 1 - row)])
}

use alloc::format;
use alloc::string::{String, ToString};

use super::{POINTS, SIZE};
use crate::notation::fen::FenDialect;
use crate::{Move, MoveError, Side, Variant};

/// Returns both ends of a move, if the board has such points.
pub(super) fn ends(m: Move) -> Option<(u8, u8)> {
    let (from, to) = (m.index() / POINTS, m.index() % POINTS);
    (from < POINTS).then_some((from as u8, to as u8))
}

pub(super) fn join(from: u8, to: u8) -> Move {
    Move::new(u16::from(from) * POINTS as u16 + u16::from(to))
}

/// Reads `a2a3`, `c2xc5`, `a2-a3` and `C4xD6`; the board decides whether it is a capture.
pub(super) fn parse(variant: Variant, text: &str) -> Result<Move, MoveError> {
    let no_move = || MoveError::Text(text.to_string(), variant);
    let lower = text.to_ascii_lowercase();
    let (from, to) = lower.split_at_checked(2).ok_or_else(no_move)?;
    let to = to.strip_prefix(['x', '-', ':']).unwrap_or(to);
    let (from, to) = read_point(from).zip(read_point(to)).ok_or_else(no_move)?;
    match (from, to) {
        (Some(from), Some(to)) => Ok(join(from, to)),
        _ => Err(MoveError::OffBoard(text.to_string(), variant)),
    }
}

/// Reads a letter and a digit; `Some(None)` if the board has no such point.
fn read_point(text: &str) -> Option<Option<u8>> {
    let &[file @ b'a'..=b'z', rank @ b'0'..=b'9'] = text.as_bytes() else {
        return None;
    };
    let (file, rank) = (usize::from(file - b'a'), usize::from(rank - b'0'));
    Some((file < SIZE && (1..=SIZE).contains(&rank)).then(|| ((rank - 1) * SIZE + file) as u8))
}

pub(super) fn write(m: Move) -> String {
    let point = |point: usize| {
        format!(
            "{}{}",
            char::from(b'a' + (point % SIZE) as u8),
            point / SIZE + 1
        )
    };
    point(m.index() / POINTS) + &point(m.index() % POINTS)
}

pub(super) fn letter(side: Side) -> char {
    match side {
        Side::First => 'b',
        Side::Second => 'w',
    }
}

fn side(letter: char) -> Option<Side> {
    match letter {
        'b' | 'B' => Some(Side::First),
        'w' | 'W' => Some(Side::Second),
        _ => None,
    }
}

/// `wwwwww/wwwwww/6/6/bbbbbb/bbbbbb b`.
pub(super) fn fen(variant: Variant) -> FenDialect<Side> {
    let word = |word: &str| word.parse().ok().and_then(side);
    FenDialect {
        variant,
        columns: SIZE,
        rows: SIZE,
        piece: side,
        side: word,
        sides: "b or w",
    }
}

/// Draws the board with coordinates, `[b]` for the stone that moved last, `[.]` for its origin.
pub(super) fn draw(at: impl Fn(u8) -> Option<Side>, last: Option<Move>) -> String {
    let marked = last.and_then(ends);
    let mut text = String::new();
    for row in (0..SIZE).rev() {
        text += &format!("{} ", row + 1);
        for point in (row * SIZE..).take(SIZE).map(|point| point as u8) {
            let stone = at(point).map_or('.', letter);
            let is_marked = marked.is_some_and(|(from, to)| point == from || point == to);
            text.extend(if is_marked {
                ['[', stone, ']']
            } else {
                [' ', stone, ' ']
            });
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text + "   a  b  c  d  e  f\n"
}

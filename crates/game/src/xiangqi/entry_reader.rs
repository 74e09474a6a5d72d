//! Reads moves of score sheets: WXF and Chinese, in the spellings that authors use.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Board, FILES, notation, scoresheet};
use crate::{Move, Side};

/// Returns the move of `moves` with this name. `None` if no move or several have it.
///
/// The mark of the front or rear piece stands before or behind its letter (`+R-1`, `R+-1`).
/// Traditional characters, full-width digits, `N` for a horse, `B` for an elephant and `.` for `=`
/// are understood. Where only one of two pieces on a file can make the move, its mark may be
/// missing.
pub(super) fn read(board: &Board, side: Side, moves: &[Move], text: &str) -> Option<Move> {
    let wanted = plain(text);
    let is_named = |m: &Move| names(board, *m).iter().any(|name| plain(name) == wanted);
    if let Some(m) = moves.iter().copied().find(is_named) {
        return Some(m);
    }
    let by_file =
        |m: &Move| name_by_file(board, side, *m).is_some_and(|name| plain(&name) == wanted);
    let mut left = moves.iter().copied().filter(by_file);
    left.next().filter(|_| left.next().is_none())
}

/// Whether the text has the form of an entry: four characters with a direction among the last two.
pub(super) fn is_entry(text: &str) -> bool {
    let letters: Vec<char> = plain(text).chars().collect();
    matches!(letters[..], [_, _, '+' | '-' | '=' | '进' | '退' | '平', _])
}

fn names(board: &Board, m: Move) -> [String; 3] {
    let Some((from, to)) = notation::ends(m) else {
        return Default::default();
    };
    let wxf = scoresheet::wxf(board, from, to);
    let turned = match wxf.as_bytes() {
        &[mark @ (b'+' | b'-'), letter, sign, number] => [letter, mark, sign, number]
            .into_iter()
            .map(char::from)
            .collect(),
        _ => wxf.clone(),
    };
    [wxf, turned, scoresheet::chinese(board, from, to)]
}

/// Returns the WXF name of a move of one of several pieces on a file, with the file in place of the
/// mark of which one.
fn name_by_file(board: &Board, side: Side, m: Move) -> Option<String> {
    let (from, to) = notation::ends(m)?;
    let wxf = scoresheet::wxf(board, from, to);
    let &[b'+' | b'-' | b'a'..=b'e', letter, sign, number] = wxf.as_bytes() else {
        return None;
    };
    let file = match side {
        Side::First => FILES - from.file(),
        Side::Second => 1 + from.file(),
    };
    let digit = char::from(b'0' + u8::try_from(file).ok()?);
    Some(String::from_iter([
        char::from(letter),
        digit,
        char::from(sign),
        char::from(number),
    ]))
}

/// Normalises the spelling: synonymous piece letters, signs, digits and traditional characters.
fn plain(text: &str) -> String {
    // `bP+1` is the second of several soldiers, and no elephant.
    let is_soldier = text
        .chars()
        .nth(1)
        .is_some_and(|letter| letter.eq_ignore_ascii_case(&'P'));
    text.chars()
        .enumerate()
        .map(|(at, letter)| match letter.to_ascii_uppercase() {
            marker @ 'A'..='E' if is_soldier && at == 0 => marker,
            'N' => 'H',
            'B' => 'E',
            '.' => '=',
            '馬' | '傌' => '马',
            '車' | '俥' => '车',
            '砲' | '包' => '炮',
            '帥' => '帅',
            '將' => '将',
            '進' => '进',
            '後' => '后',
            digit @ '１'..='９' => char::from(b'1' + (u32::from(digit) - u32::from('１')) as u8),
            other => other,
        })
        .collect()
}

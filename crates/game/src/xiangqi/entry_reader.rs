//! Reads moves as score sheets write them: WXF (`C2=5`) and Chinese (炮二平五), in the spellings of
//! many programs.

use super::scoresheet::{self, MovedPiece};
use super::{Board, Kind, Square, notation};
use crate::{Move, Side};

/// The signs of a direction: along the rank, forward, back.
const SIGNS: [char; 3] = ['=', '+', '-'];

/// An entry of a score sheet.
struct WrittenEntry {
    kind: Kind,
    subject: WrittenSubject,
    sign: char,
    number: usize,
}

/// The piece that an entry names.
#[derive(Clone, Copy)]
enum WrittenSubject {
    /// The piece on a file.
    File(usize),
    /// One of several pieces, on a file if one is given: front, middle, rear or a number.
    Order(char, Option<usize>),
}

/// Returns the move of `moves` that an entry names. `None` if no move or several fit.
///
/// The mark of the front or rear piece stands before or behind its letter (`+R-1`, `R+-1`), or
/// before the file of a soldier (前七平六). Traditional characters, the characters of the other side,
/// full-width digits, `N` for a horse, `B` for an elephant and `.` for `=` are understood. Where
/// only one of two pieces on a file can make the move, its mark may be missing.
pub(super) fn read(board: &Board, side: Side, moves: &[Move], text: &str) -> Option<Move> {
    let entry = WrittenEntry::parse(text)?;
    // Numbers of soldiers count over all files, as the rules of notation have it, or in one file.
    let one = |is_strict: bool| {
        let mut fitting = moves.iter().filter(|m| {
            let ends = notation::ends(**m);
            ends.is_some_and(|(from, to)| entry.fits(board, side, (from, to), is_strict))
        });
        fitting.next().filter(|_| fitting.next().is_none())
    };
    one(true).or_else(|| one(false)).copied()
}

/// Whether the text has the form of an entry: four characters with a direction among the last two.
pub(super) fn is_entry(text: &str) -> bool {
    WrittenEntry::parse(text).is_some()
}

impl WrittenEntry {
    fn parse(text: &str) -> Option<Self> {
        let mut letters = text.chars().map(plain);
        let read = core::array::from_fn::<_, 4, _>(|_| letters.next().unwrap_or(' '));
        let [one, two, sign, number] = read;
        if letters.next().is_some() || !SIGNS.contains(&sign) {
            return None;
        }
        let is_order = |letter: char| "+-M12345".contains(letter);
        let (kind, subject) = match (kind(one), kind(two)) {
            // `bP+1` is the second of several soldiers, and no elephant.
            (_, Some(Kind::Soldier)) if ('A'..='E').contains(&one) => {
                let mark = char::from(b'1' + (one as u8 - b'A'));
                (Kind::Soldier, WrittenSubject::Order(mark, None))
            }
            (Some(kind), _) if digit(two).is_some() => (kind, WrittenSubject::File(digit(two)?)),
            (Some(kind), None) if is_order(two) => (kind, WrittenSubject::Order(two, None)),
            (None, Some(kind)) if is_order(one) => (kind, WrittenSubject::Order(one, None)),
            (None, None) if is_order(one) => {
                (Kind::Soldier, WrittenSubject::Order(one, Some(digit(two)?)))
            }
            _ => return None,
        };
        Some(Self {
            kind,
            subject,
            sign,
            number: digit(number)?,
        })
    }

    fn fits(&self, board: &Board, side: Side, ends: (Square, Square), is_strict: bool) -> bool {
        let (from, to) = ends;
        let wanted = (side, self.kind);
        let is_piece = board
            .at(from)
            .is_some_and(|piece| (piece.side, piece.kind) == wanted);
        is_piece
            && scoresheet::action(board, from, to) == Some((self.sign, self.number))
            && self.is_subject(board, side, from, is_strict)
    }

    fn is_subject(&self, board: &Board, side: Side, from: Square, is_strict: bool) -> bool {
        let file = scoresheet::file(side, from);
        let (mark, on) = match self.subject {
            WrittenSubject::File(wanted) => return wanted == file,
            WrittenSubject::Order(mark, on) => (mark, on),
        };
        if is_strict && on.is_none() {
            let place = board
                .at(from)
                .map(|piece| scoresheet::subject(board, from, piece));
            return match place {
                Some(MovedPiece::Front) => mark == '+',
                Some(MovedPiece::Rear) => mark == '-',
                Some(MovedPiece::Number(number)) => {
                    mark.to_digit(10) == u32::try_from(number + 1).ok()
                }
                _ => false,
            };
        }
        let mut column: alloc::vec::Vec<Square> = board
            .pieces(side, self.kind)
            .into_iter()
            .filter(|square| square.file() == from.file())
            .collect();
        column.sort_by_key(|&square| core::cmp::Reverse(scoresheet::height(side, square)));
        let place = column.iter().position(|&square| square == from);
        let wanted = match mark {
            '+' => Some(0),
            '-' => column.len().checked_sub(1),
            'M' => Some(column.len() / 2).filter(|_| column.len() > 2),
            number => digit(number).map(|number| number - 1),
        };
        column.len() > 1 && place == wanted && on.is_none_or(|on| on == file)
    }
}

fn kind(letter: char) -> Option<Kind> {
    let at = "KAEHRCP".find(letter)?;
    [
        Kind::General,
        Kind::Advisor,
        Kind::Elephant,
        Kind::Horse,
        Kind::Rook,
        Kind::Cannon,
        Kind::Soldier,
    ]
    .get(at)
    .copied()
}

fn digit(letter: char) -> Option<usize> {
    letter
        .to_digit(10)
        .filter(|digit| *digit > 0)
        .map(|digit| digit as usize)
}

/// Replaces synonymous letters, signs, digits and characters by one of them.
fn plain(letter: char) -> char {
    match letter.to_ascii_uppercase() {
        'N' | '马' | '馬' | '傌' | '码' => 'H',
        'B' | '相' | '象' => 'E',
        '帅' | '帥' | '将' | '將' => 'K',
        '仕' | '士' => 'A',
        '车' | '車' | '俥' => 'R',
        '炮' | '砲' | '包' => 'C',
        '兵' | '卒' => 'P',
        '.' | '平' | '＝' | '．' => '=',
        '进' | '進' | '上' | '前' | '＋' => '+',
        '退' | '下' | '后' | '後' | '－' => '-',
        '中' => 'M',
        full @ '１'..='９' => char::from(b'1' + (u32::from(full) - u32::from('１')) as u8),
        full @ 'Ａ'..='Ｚ' => plain(char::from(b'A' + (u32::from(full) - u32::from('Ａ')) as u8)),
        other => "一二三四五六七八九"
            .chars()
            .zip('1'..)
            .find_map(|(name, digit)| (name == other).then_some(digit))
            .unwrap_or(other),
    }
}

//! Xiangqi books of ElephantEye and XQWizard (`BOOK.DAT`): weighted moves by a 32-bit key.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use anyhow::{Result, bail};
use kagetsu_book::Book;
use kagetsu_game::{Bound, Move, Position, Side, Variant};

use crate::games::tally::Games;
use crate::omissions::{MoveDetail, Omissions};
use crate::xiangqi::check_variant;
use crate::xiangqi::colours::{as_they_come_up, others};
use crate::xiangqi::squares::{KINDS, SQUARES, of_text, placed, text};
use kagetsu_games::without_history;

/// Bytes of a record: key, move, weight.
const RECORD_BYTES: usize = 8;
/// The loss of value, in centi-units, at which a move gets no weight.
const MAX_WEIGHTED_LOSS: i32 = 100;

/// The numbers from which keys are made: one for Black to move, and one for each piece on each
/// square of a 16x16 board.
struct Locks {
    side: u32,
    pieces: Vec<u32>,
}

impl Locks {
    /// Derives the numbers from RC4 with a key of four zeros: every third number of its output.
    fn new() -> Self {
        let mut state: [u8; 256] = std::array::from_fn(|at| at as u8);
        let mut j = 0_u8;
        for at in 0..256 {
            j = j.wrapping_add(state[at]);
            state.swap(at, j.into());
        }
        let (mut x, mut y) = (0_u8, 0_u8);
        let mut byte = || {
            x = x.wrapping_add(1);
            y = y.wrapping_add(state[usize::from(x)]);
            state.swap(x.into(), y.into());
            state[usize::from(state[usize::from(x)].wrapping_add(state[usize::from(y)]))]
        };
        let mut lock = || {
            let mut number = || u32::from_le_bytes([byte(), byte(), byte(), byte()]);
            let [_, _, lock] = [number(), number(), number()];
            lock
        };
        Self {
            side: lock(),
            pieces: (0..KINDS * SQUARES).map(|_| lock()).collect(),
        }
    }

    /// Returns the key of a position, or of its mirror image.
    fn of(&self, position: &Position, is_mirrored: bool) -> Option<u32> {
        let side = if position.side() == Side::Second {
            self.side
        } else {
            0
        };
        let number = |(piece, at): (usize, usize)| self.pieces.get(piece * SQUARES + at).copied();
        placed(position, is_mirrored)?
            .into_iter()
            .try_fold(side, |lock, place| Some(lock ^ number(place)?))
    }

    /// Returns the positions after those moves of a position that lead to records whose moves are
    /// all legal there. Their keys follow from that of the position.
    fn known_replies(
        &self,
        position: &Position,
        records: &BTreeMap<u32, Vec<(u16, u16)>>,
    ) -> Vec<Position> {
        let mut found = Vec::new();
        for is_mirrored in [false, true] {
            let (Some(lock), Some(placed)) = (
                self.of(position, is_mirrored),
                placed(position, is_mirrored),
            ) else {
                continue;
            };
            let pieces: HashMap<usize, usize> =
                placed.into_iter().map(|(piece, at)| (at, piece)).collect();
            let number = |piece: Option<&usize>, at: usize| {
                piece.map_or(0, |piece| self.pieces[piece * SQUARES + at])
            };
            for m in position.legal_moves() {
                let Some((from, to)) = of_text(&position.write_move(m)) else {
                    continue;
                };
                let [from, to] = [from, to].map(|at| match usize::from(at) {
                    at if is_mirrored => at / 16 * 16 + 14 - at % 16,
                    at => at,
                });
                let (piece, captured) = (pieces.get(&from), pieces.get(&to));
                let changed = number(piece, from) ^ number(piece, to) ^ number(captured, to);
                let Some(moves) = records.get(&(lock ^ self.side ^ changed)) else {
                    continue;
                };
                let after = position
                    .play(m)
                    .ok()
                    .and_then(|after| without_history(&after));
                let is_legal = |after: &Position| {
                    moves
                        .iter()
                        .all(|(code, _)| made(after, *code, is_mirrored).is_some())
                };
                found.extend(after.filter(is_legal));
            }
        }
        found
    }
}

/// Reads the moves of the positions that the book's moves reach from the start. A book may hold the
/// moves of one side alone, so all answers of its opponent are tried where the book has none. Other
/// positions cannot be found by trying, because 32-bit keys would match by accident.
///
/// # Errors
/// If the file is no such book.
pub(crate) fn read(bytes: &[u8], variant: Variant) -> Result<(Games, u64, Omissions)> {
    check_variant(variant)?;
    let (chunks, rest) = bytes.as_chunks::<RECORD_BYTES>();
    let mut records: BTreeMap<u32, Vec<(u16, u16)>> = BTreeMap::new();
    let mut last = 0;
    for [a, b, c, d, e, f, g, h] in chunks {
        let lock = u32::from_le_bytes([*a, *b, *c, *d]);
        if lock < last {
            bail!("it is no book of ElephantEye: its keys do not ascend");
        }
        last = lock;
        records
            .entry(lock)
            .or_default()
            .push((u16::from_le_bytes([*e, *f]), u16::from_le_bytes([*g, *h])));
    }
    if !rest.is_empty() || chunks.is_empty() {
        bail!(
            "it is no book of ElephantEye: its length is no number of records of {RECORD_BYTES} bytes"
        );
    }
    let locks = Locks::new();
    let (mut games, mut omissions) = (Games::default(), Omissions::new());
    let mut used: HashSet<u32> = HashSet::new();
    let start = Position::start(variant);
    let (mut seen, mut left) = (HashSet::from([start.key()]), VecDeque::from([start]));
    while let Some(position) = left.pop_front() {
        let replies = locks.known_replies(&position, &records);
        left.extend(replies.into_iter().filter(|after| seen.insert(after.key())));
        let found = [false, true].into_iter().find_map(|is_mirrored| {
            let lock = locks.of(&position, is_mirrored)?;
            records.get(&lock).map(|moves| (lock, moves, is_mirrored))
        });
        let Some((lock, moves, is_mirrored)) = found else {
            continue;
        };
        used.insert(lock);
        for (code, weight) in moves {
            match made(&position, *code, is_mirrored) {
                Some((m, after)) => {
                    games.add(&position, m, (*weight).into());
                    left.extend(Some(after).filter(|after| seen.insert(after.key())));
                }
                None => omissions.omit("moves_that_cannot_be_made", 1),
            }
        }
    }
    let lost = records
        .iter()
        .filter(|(lock, _)| !used.contains(lock))
        .map(|(_, moves)| moves.len() as u64)
        .sum();
    omissions.omit("moves_of_positions_that_nothing_leads_to", lost);
    Ok((games, chunks.len() as u64, omissions))
}

/// Returns a move of a record and the position after it, without its history, since lines may
/// transpose.
fn made(position: &Position, code: u16, is_mirrored: bool) -> Option<(Move, Position)> {
    let text = text(code & 255, code >> 8, is_mirrored)?;
    let m = position.parse_move(&text).ok()?;
    Some((m, without_history(&position.play(m).ok()?)?))
}

/// Writes the moves worth playing, weighted by how close they are to the best, or by how often they
/// were played if they have no value.
///
/// # Errors
/// If a record is damaged.
pub(crate) fn write(book: &Book, variant: Variant) -> Result<(Vec<u8>, u64, Omissions)> {
    check_variant(variant)?;
    let (locks, mut omissions) = (Locks::new(), Omissions::new());
    let mut records: Vec<(u32, u16, u16)> = Vec::new();
    let mut keys: HashSet<u32> = HashSet::new();
    let mut positions = 0;
    for position in as_they_come_up(book, variant)? {
        let (Some(entry), Some(lock)) = (book.lookup(&position)?, locks.of(&position, false))
        else {
            continue;
        };
        if !keys.insert(lock) {
            omissions.omit("positions_with_the_key_of_another", 1);
            continue;
        }
        let known = |(m, v): &&(Move, kagetsu_game::Verdict)| {
            v.bound != Bound::Upper
                && (v.score.loss_plies().is_none() || entry.derived.best == Some(*m))
        };
        let best = entry
            .answer
            .verdicts()
            .iter()
            .find(known)
            .map_or(0, |(_, v)| i32::from(v.score.raw()));
        positions += 1;
        for (m, verdict) in entry.answer.verdicts() {
            let weight = if verdict.is_silent() {
                u16::try_from(verdict.nodes).unwrap_or(u16::MAX).max(1)
            } else {
                (MAX_WEIGHTED_LOSS
                    - (best - i32::from(verdict.score.raw())).clamp(0, MAX_WEIGHTED_LOSS))
                    as u16
            };
            match of_text(&position.write_move(*m))
                .filter(|_| weight > 0 && known(&&(*m, verdict.clone())))
            {
                Some((from, to)) => {
                    records.push((lock, from | to << 8, weight));
                    omissions.omit_details(verdict, &MoveDetail::ALL);
                }
                None => omissions.omit("moves_that_are_not_worth_making", 1),
            }
        }
    }
    omissions.omit("positions_of_other_games", others(book, variant)?);
    records.sort_unstable();
    let mut bytes = Vec::with_capacity(records.len() * RECORD_BYTES);
    for (lock, code, weight) in records {
        bytes.extend(lock.to_le_bytes());
        bytes.extend(code.to_le_bytes());
        bytes.extend(weight.to_le_bytes());
    }
    Ok((bytes, positions, omissions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_has_elephanteye_key() {
        let start = Position::start("xiangqi".parse().expect("a variant"));
        assert_eq!(Locks::new().of(&start, false), Some(0x0526_56D5));
        assert_eq!(Locks::new().of(&start, true), Some(0x0526_56D5));
    }

    #[test]
    fn book_of_one_side_is_read_behind_all_answers() {
        let locks = Locks::new();
        let start = Position::start(Variant::XIANGQI);
        let after = start.play_line("h2e2 h9g7").expect("legal");
        let mut records: Vec<(u32, u16)> = [(&start, "h2e2"), (&after, "h0g2")]
            .map(|(position, m)| {
                let (from, to) = of_text(m).expect("two squares");
                (locks.of(position, false).expect("pieces"), from | to << 8)
            })
            .into();
        records.sort_unstable();
        let record = |(lock, code): &(u32, u16)| {
            [&lock.to_le_bytes()[..], &code.to_le_bytes(), &[5, 0]].concat()
        };
        let bytes: Vec<u8> = records.iter().flat_map(record).collect();
        let (games, count, omissions) = read(&bytes, Variant::XIANGQI).expect("a book");
        assert_eq!((games.answers("x").len(), count), (2, 2));
        assert_eq!(omissions["moves_of_positions_that_nothing_leads_to"], 0);
    }
}

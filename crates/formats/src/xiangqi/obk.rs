//! Xiangqi books in SQLite (`.obk`, and `.pfBook` of the same layout): moves by a 64-bit key, each
//! with a weight and the results of its games.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use anyhow::{Context, Result, bail, ensure};
use kagetsu_book::Book;
use kagetsu_game::{Bound, Move, Position, Variant};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};

use crate::games::tally::{Games, GivenValue};
use crate::omissions::{MoveDetail, Omissions};
use crate::xiangqi::check_variant;
use crate::xiangqi::colours::{as_they_come_up, others};
use crate::xiangqi::squares;
use crate::xiangqi::zobrist::ZobristKeys;
use kagetsu_games::without_history;

/// The names that programs give the table.
const TABLES: [&str; 2] = ["bhobk", "pfBook"];
const MAKE: &str = "CREATE TABLE bhobk(id INTEGER PRIMARY KEY AUTOINCREMENT, vkey INTEGER, vmove INTEGER, vscore INTEGER, \
                    vwin INTEGER, vdraw INTEGER, vlost INTEGER, vvalid INTEGER, vmemo BLOB, vindex INTEGER)";
const INDEX: &str = "CREATE INDEX idxkey ON bhobk(vkey)";

/// A move of a position.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ObkRow {
    /// The key; `None` for a value that is no key.
    key: Option<u64>,
    /// The squares from and to, one byte each.
    squares: i64,
    score: i64,
    /// Games won, drawn and lost by the side that makes the move.
    games: [i64; 3],
    is_valid: bool,
    has_memo: bool,
}

/// Reads all rows of a file.
fn rows(bytes: &[u8]) -> Result<Vec<ObkRow>> {
    ensure!(
        bytes.starts_with(b"SQLite format 3\0"),
        "it does not begin as a file of SQLite does"
    );
    let mut base = Connection::open_in_memory()?;
    base.deserialize_read_exact("main", bytes, bytes.len(), true)?;
    // The file is untrusted, so SQLite must not run code from its schema.
    base.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")?;
    let is_table = |name: &&str| -> Result<bool> {
        let known = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?1 AND sql LIKE 'CREATE TABLE %'";
        Ok(base.query_row(known, [name], |row| row.get::<_, i64>(0))? > 0)
    };
    let mut found = Vec::new();
    for name in TABLES {
        if is_table(&name)? {
            found.push(name);
        }
    }
    let &[name] = &found[..] else {
        bail!("it has no table `bhobk` or `pfBook`, or both")
    };
    let columns = "vkey, vmove, vscore, vwin, vdraw, vlost, vvalid, vmemo";
    let mut statement = base.prepare(&format!("SELECT {columns} FROM {name} ORDER BY rowid"))?;
    let row = |row: &rusqlite::Row<'_>| {
        let number = |at: usize| {
            row.get_ref(at).map(|value| {
                if let ValueRef::Integer(number) = value {
                    number
                } else {
                    0
                }
            })
        };
        let key = match row.get_ref(0)? {
            ValueRef::Integer(key) => Some(key.cast_unsigned()),
            // Some programs store a key as the floating-point number with its bits.
            ValueRef::Real(key) => Some(key.to_bits()),
            _ => None,
        };
        Ok(ObkRow {
            key,
            squares: number(1)?,
            score: number(2)?,
            games: [number(3)?, number(4)?, number(5)?],
            is_valid: !matches!(row.get_ref(6)?, ValueRef::Integer(0)),
            has_memo: matches!(
                row.get_ref(7)?,
                ValueRef::Blob([_, ..]) | ValueRef::Text([_, ..])
            ),
        })
    };
    Ok(statement
        .query_map([], row)?
        .collect::<rusqlite::Result<_>>()?)
}

/// Reads the moves of the positions that the book's moves reach from the start and from `root`. A
/// move has its weight as value, and its number of games; if no move of a position has a weight,
/// the moves are kept as moves that were made.
///
/// # Errors
/// If the file is no such book.
pub(crate) fn read(
    bytes: &[u8],
    variant: Variant,
    keys: &ZobristKeys,
    root: Option<&Position>,
) -> Result<(Games, u64, Omissions)> {
    check_variant(variant)?;
    let rows = rows(bytes).context("it is no `.obk` book")?;
    let (mut games, mut omissions) = (Games::default(), Omissions::new());
    let mut of_key: HashMap<u64, Vec<&ObkRow>> = HashMap::new();
    for row in &rows {
        omissions.omit("memos", row.has_memo.into());
        match row.key {
            Some(_) if !row.is_valid => omissions.omit("moves_that_are_switched_off", 1),
            None => omissions.omit("moves_without_a_key", 1),
            Some(key) => {
                of_key.entry(key).or_default().push(row);
                // SQLite stores a floating-point key with an integral value as an integer.
                let whole = key.cast_signed() as f64;
                if key.cast_signed() < 0 && whole as i64 == key.cast_signed() {
                    of_key.entry(whole.to_bits()).or_default().push(row);
                }
            }
        }
    }
    let mut used: HashSet<*const ObkRow> = HashSet::new();
    let mut left: VecDeque<Position> = root
        .cloned()
        .into_iter()
        .chain([Position::start(variant)])
        .collect();
    let mut seen: HashSet<_> = left.iter().map(Position::key).collect();
    while let Some(position) = left.pop_front() {
        let mut moves: BTreeMap<Move, &ObkRow> = BTreeMap::new();
        let mut before = None;
        for is_mirrored in [false, true] {
            let Some(key) = keys
                .of(&position, is_mirrored)
                .filter(|key| before != Some(*key))
            else {
                continue;
            };
            before = Some(key);
            for row in of_key.get(&key).into_iter().flatten() {
                if !used.insert(std::ptr::from_ref(*row)) {
                    continue;
                }
                let squares = u16::try_from(row.squares).ok();
                let text =
                    squares.and_then(|both| squares::text(both >> 8, both & 255, is_mirrored));
                match text.and_then(|text| position.parse_move(&text).ok()) {
                    // A program that stores both mirror images stores the same move twice.
                    Some(m) => drop(moves.entry(m).or_insert(row)),
                    None => omissions.omit("moves_that_cannot_be_made", 1),
                }
            }
        }
        let has_value = moves.values().any(|row| row.score != 0);
        for (m, row) in moves {
            let Ok(after) = position.play(m) else {
                omissions.omit("moves_that_cannot_be_made", 1);
                continue;
            };
            say(&mut games, &position, m, row, has_value, &mut omissions);
            // Lines may transpose, so the history is dropped.
            left.extend(without_history(&after).filter(|after| seen.insert(after.key())));
        }
    }
    let lost = rows.iter().filter(|row| {
        row.key.is_some() && row.is_valid && !used.contains(&std::ptr::from_ref(*row))
    });
    omissions.omit(
        "moves_of_positions_that_nothing_leads_to",
        lost.count() as u64,
    );
    Ok((games, rows.len() as u64, omissions))
}

/// Counts the games of a row, and takes its weight.
fn say(
    games: &mut Games,
    position: &Position,
    m: Move,
    row: &ObkRow,
    has_value: bool,
    omissions: &mut Omissions,
) {
    let played = row.games.map(|games| u64::try_from(games).unwrap_or(0));
    let played: u64 = played.iter().sum();
    // The file names no games, so their results belong to nothing.
    omissions.omit("results_of_games", u64::from(played > 0));
    games.add(position, m, if has_value { played } else { played.max(1) });
    if has_value {
        let centi = row.score.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        games.set_value(position, m, GivenValue::opinion(centi));
    }
}

/// Writes the moves with a value, best first, with the value as their weight.
///
/// # Errors
/// If a record is damaged.
pub(crate) fn write(
    book: &Book,
    variant: Variant,
    keys: &ZobristKeys,
) -> Result<(Vec<u8>, u64, Omissions)> {
    check_variant(variant)?;
    let mut base = Connection::open_in_memory()?;
    base.execute_batch(&format!("{MAKE}; {INDEX}"))?;
    let (mut omissions, mut positions) = (Omissions::new(), 0);
    let mut known: HashSet<u64> = HashSet::new();
    let transaction = base.transaction()?;
    {
        let columns = "vkey, vmove, vscore, vwin, vdraw, vlost, vvalid, vmemo, vindex";
        let insert =
            format!("INSERT INTO bhobk({columns}) VALUES (?1, ?2, ?3, 0, 0, 0, 1, x'', ?4)");
        let mut insert = transaction.prepare(&insert)?;
        for position in as_they_come_up(book, variant)? {
            let (Some(entry), Some(key)) = (book.lookup(&position)?, keys.of(&position, false))
            else {
                continue;
            };
            if !known.insert(key) {
                omissions.omit("positions_with_the_key_of_another", 1);
                continue;
            }
            positions += 1;
            let mut index = 0;
            for (m, verdict) in entry.answer.verdicts() {
                let squares = squares::of_text(&position.write_move(*m));
                let Some((from, to)) =
                    squares.filter(|_| verdict.bound != Bound::Upper || verdict.proof.is_some())
                else {
                    omissions.omit("moves_without_a_value", 1);
                    continue;
                };
                omissions.omit("proofs", verdict.proof.is_some().into());
                omissions.omit_details(verdict, &MoveDetail::ALL[..5]);
                let score = if verdict.is_silent() {
                    0
                } else {
                    verdict.score.raw()
                };
                let squares = from << 8 | to;
                // Programs look up a key beyond the signed range as the floating-point number with
                // its bits.
                let real = f64::from_bits(key);
                if key.cast_signed() < 0 && !real.is_nan() {
                    insert.execute(params![real, squares, score, index])?;
                } else {
                    insert.execute(params![key.cast_signed(), squares, score, index])?;
                }
                index += 1;
            }
        }
    }
    transaction.commit()?;
    omissions.omit("positions_of_other_games", others(book, variant)?);
    let bytes = base.serialize("main")?.to_vec();
    Ok((bytes, positions, omissions))
}

#[cfg(test)]
mod tests;

//! Xiangqi books in SQLite (`.obk`, and `.pfBook` of the same layout): moves by a 64-bit key, each
//! with a weight and the results of its games.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use anyhow::{Context, Result, bail, ensure};
use kagetsu_book::Book;
use kagetsu_game::{Bound, Move, Position, Score, Side, Variant};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};

use crate::games::{GameResult, Games, GivenValue, bare};
use crate::omissions::{MoveDetail, Omissions, omit, omit_details};
use crate::xiangqi::colours::{as_they_come_up, others};
use crate::xiangqi::squares;
use crate::xiangqi::zobrist::ZobristKeys;

/// The names that programs give the table.
const TABLES: [&str; 2] = ["bhobk", "pfBook"];
const MAKE: &str = "CREATE TABLE bhobk(id INTEGER PRIMARY KEY AUTOINCREMENT, vkey INTEGER, vmove INTEGER, vscore INTEGER, \
                    vwin INTEGER, vdraw INTEGER, vlost INTEGER, vvalid INTEGER, vmemo BLOB, vindex INTEGER)";
const INDEX: &str = "CREATE INDEX idxkey ON bhobk(vkey)";

/// Details for which a row has no room.
const MISSING_DETAILS: [MoveDetail; 5] = [
    MoveDetail::Depth,
    MoveDetail::Nodes,
    MoveDetail::Line,
    MoveDetail::Engine,
    MoveDetail::Date,
];

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
/// move has the value of its games, else its weight; if no move of a position has either, the moves
/// are kept as moves that were made.
///
/// # Errors
/// If the file is no such book.
pub(crate) fn read(
    bytes: &[u8],
    variant: Variant,
    keys: &ZobristKeys,
    root: Option<&Position>,
) -> Result<(Games, u64, Omissions)> {
    is_xiangqi(variant)?;
    let rows = rows(bytes).context("it is no `.obk` book")?;
    let (mut games, mut omissions) = (Games::default(), Omissions::new());
    let mut of_key: HashMap<u64, Vec<&ObkRow>> = HashMap::new();
    for row in &rows {
        omit(&mut omissions, "memos", row.has_memo.into());
        match row.key {
            Some(_) if !row.is_valid => omit(&mut omissions, "moves_that_are_switched_off", 1),
            None => omit(&mut omissions, "moves_without_a_key", 1),
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
                    None => omit(&mut omissions, "moves_that_cannot_be_made", 1),
                }
            }
        }
        let has_value = moves
            .values()
            .any(|row| row.score != 0 || row.games.iter().any(|games| *games > 0));
        for (m, row) in moves {
            let Ok(after) = position.play(m) else {
                omit(&mut omissions, "moves_that_cannot_be_made", 1);
                continue;
            };
            say(&mut games, &position, m, row, has_value, &mut omissions);
            // Lines may transpose, so the history is dropped.
            left.extend(bare(&after).filter(|after| seen.insert(after.key())));
        }
    }
    let lost = rows.iter().filter(|row| {
        row.key.is_some() && row.is_valid && !used.contains(&std::ptr::from_ref(*row))
    });
    omit(
        &mut omissions,
        "moves_of_positions_that_nothing_leads_to",
        lost.count() as u64,
    );
    Ok((games, rows.len() as u64, omissions))
}

fn is_xiangqi(variant: Variant) -> Result<()> {
    ensure!(
        matches!(variant, Variant::Xiangqi { .. }),
        "these books are of xiangqi, not of {variant}"
    );
    Ok(())
}

/// Counts the games or the weight of a row.
fn say(
    games: &mut Games,
    position: &Position,
    m: Move,
    row: &ObkRow,
    has_value: bool,
    omissions: &mut Omissions,
) {
    let [won, drawn, lost] = row.games.map(|games| u64::try_from(games).unwrap_or(0));
    if won + drawn + lost > 0 {
        let (side, other) = match position.side() {
            Side::First => (Side::First, Side::Second),
            Side::Second => (Side::Second, Side::First),
        };
        for (ending, count) in [
            (GameResult::Won(side), won),
            (GameResult::Drawn, drawn),
            (GameResult::Won(other), lost),
        ] {
            games.add(position, m, ending, count);
        }
        omit(omissions, "weights_beside_games", u64::from(row.score != 0));
    } else if has_value {
        let centi = row.score.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        games.say(
            position,
            m,
            GivenValue {
                score: Score::opinion(centi),
                proof: None,
            },
        );
    } else {
        games.add(position, m, GameResult::Unknown, 1);
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
    is_xiangqi(variant)?;
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
                omit(&mut omissions, "positions_with_the_key_of_another", 1);
                continue;
            }
            positions += 1;
            let mut index = 0;
            for (m, verdict) in entry.answer.verdicts() {
                let squares = squares::of_text(&position.write_move(*m));
                let Some((from, to)) =
                    squares.filter(|_| verdict.bound != Bound::Upper || verdict.proof.is_some())
                else {
                    omit(&mut omissions, "moves_without_a_value", 1);
                    continue;
                };
                omit(&mut omissions, "proofs", verdict.proof.is_some().into());
                omit_details(&mut omissions, verdict, &MISSING_DETAILS);
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
    omit(
        &mut omissions,
        "positions_of_other_games",
        others(book, variant)?,
    );
    let bytes = base.serialize("main")?.to_vec();
    Ok((bytes, positions, omissions))
}

#[cfg(test)]
mod tests {
    use kagetsu_game::{Answer, Verdict};

    use crate::import::Contents;
    use crate::tests::{followed, learned, read_obk, sample};

    use super::*;
    use crate::xiangqi::zobrist::START;

    const VARIANT: Variant = Variant::XIANGQI;

    /// A row: key (an SQL expression), move, weight, games won, drawn and lost, validity, memo
    /// (hex).
    type RowSpec = (String, u16, i64, [i64; 3], i64, &'static str);

    /// Returns a file with these rows.
    fn file(rows: &[RowSpec]) -> Vec<u8> {
        let mut base = Connection::open_in_memory().expect("memory");
        base.execute_batch(&format!("{MAKE}; {INDEX}"))
            .expect("it is SQL");
        for (key, squares, score, [won, drawn, lost], valid, memo) in rows {
            let values =
                format!("{key}, {squares}, {score}, {won}, {drawn}, {lost}, {valid}, x'{memo}'");
            let insert = format!(
                "INSERT INTO bhobk(vkey, vmove, vscore, vwin, vdraw, vlost, vvalid, vmemo) VALUES ({values})"
            );
            base.execute(&insert, []).expect("it is SQL");
        }
        base.serialize("main").expect("memory").to_vec()
    }

    fn squares_of(text: &str) -> u16 {
        let (from, to) = squares::of_text(text).expect("two squares");
        from << 8 | to
    }

    fn verdict(contents: &Contents, position: &Position, m: &str) -> Option<Verdict> {
        let (_folder, book) = learned(contents);
        let m = position.parse_move(m).expect("legal");
        book.lookup(position)
            .expect("readable")
            .and_then(|entry| entry.facts.get(m).cloned())
    }

    #[test]
    fn obk_round_trips_values() {
        for seed in [1, 2, 3] {
            let keys = ZobristKeys::from_seed(seed);
            let (_folder, book) = followed("xiangqi", 12);
            let (bytes, positions, omissions) = write(&book, VARIANT, &keys).expect("memory");
            assert_eq!(
                (
                    positions,
                    omissions.contains_key("positions_with_the_key_of_another")
                ),
                (book.len(), false)
            );
            let contents = read_obk(&bytes, None, &keys, None).expect("just written");
            assert!(
                contents.omissions.values().all(|count| *count == 0),
                "{:?}",
                contents.omissions
            );
            let (_other, copy) = learned(&contents);
            assert_eq!(copy.len(), book.len());
            for entry in book.positions() {
                let entry = entry.expect("readable");
                let back = copy
                    .lookup(&entry.position)
                    .expect("readable")
                    .expect("it came back")
                    .facts;
                let known = |answer: &Answer| -> Vec<_> {
                    let known = answer
                        .verdicts()
                        .iter()
                        .filter(|(_, v)| v.bound != Bound::Upper);
                    let mut known: Vec<_> = known.map(|(m, v)| (*m, v.score)).collect();
                    known.sort_unstable();
                    known
                };
                assert_eq!(known(&back), known(&entry.answer), "{}", entry.position);
            }
            // Half of all keys have the highest bit set and are stored as floating-point numbers.
            let mut rows = rows(&bytes).expect("just written");
            rows.retain(|row| row.key.is_some_and(|key| key >> 63 == 1));
            assert!(!rows.is_empty());
        }
    }

    #[test]
    fn all_kinds_of_rows_are_read_or_counted() {
        let keys = ZobristKeys::from_seed(9);
        let start = Position::start(VARIANT);
        let after = start.play_line("b2e2").expect("legal");
        let later = after.play_line("b9c7").expect("legal");
        let key = |position: &Position, is_mirrored| {
            keys.of(position, is_mirrored).expect("it has a FEN")
        };
        let signed = |key: u64| key.cast_signed().to_string();
        let real = |key: u64| format!("{:e}", f64::from_bits(key));
        let row = |key: String, m: &str, score, games| (key, squares_of(m), score, games, 1, "");
        let mut rows = vec![
            row(signed(key(&start, false)), "b2e2", 250, [3, 1, 0]),
            row(signed(key(&start, false)), "c3c4", 0, [0; 3]),
            // One program stores all positions mirrored; the next row is not mirrored.
            row(signed(key(&after, true)), "h9g7", 17, [0; 3]),
            row(signed(key(&after, false)), "b9c7", 17, [0; 3]),
            row(signed(key(&after, false)), "b9c6", 0, [0; 3]),
            row(real(key(&later, false)), "a0a1", 0, [0; 3]),
            row("NULL".into(), "a0a1", 0, [0; 3]),
            row("12345".into(), "a0a1", 0, [0; 3]),
        ];
        rows.push((
            signed(key(&start, false)),
            squares_of("a0a1"),
            0,
            [0; 3],
            0,
            "00ff",
        ));
        let contents = read_obk(&file(&rows), None, &keys, None).expect("a book");
        let told: Omissions = contents
            .omissions
            .iter()
            .filter(|(_, count)| **count > 0)
            .map(|(what, count)| (*what, *count))
            .collect();
        let expected = [
            ("memos", 1),
            ("moves_of_positions_that_nothing_leads_to", 1),
            ("moves_that_are_switched_off", 1),
            ("moves_that_cannot_be_made", 1),
            ("moves_without_a_key", 1),
            ("weights_beside_games", 1),
        ];
        assert_eq!((told, contents.items), (expected.into(), 9));
        let said = |position: &Position, m| {
            verdict(&contents, position, m).map(|v| (v.score.raw(), v.nodes, v.bound))
        };
        assert_eq!(said(&start, "b2e2"), Some((75, 4, Bound::Exact)));
        assert_eq!(said(&start, "c3c4"), Some((0, 0, Bound::Exact)));
        assert_eq!(said(&after, "b9c7"), Some((17, 0, Bound::Exact)));
        assert_eq!(
            said(&later, "a0a1").map(|(_, games, bound)| (games, bound)),
            Some((1, Bound::Lower))
        );
        // Positions that no move leads to are read from a root of their own.
        rows.retain(|(key, ..)| *key != signed(key_of_start(&keys)));
        let book = file(&rows);
        assert_eq!(
            read_obk(&book, None, &keys, None)
                .expect("a book")
                .answers
                .len(),
            0
        );
        assert_eq!(
            read_obk(&book, None, &keys, Some(&after))
                .expect("a book")
                .answers
                .len(),
            2
        );
    }

    fn key_of_start(keys: &ZobristKeys) -> u64 {
        keys.of(&Position::start(VARIANT), false)
            .expect("it has a FEN")
    }

    #[test]
    fn file_that_is_no_obk_is_refused() {
        let base = |sql: &str| {
            let mut base = Connection::open_in_memory().expect("memory");
            base.execute_batch(sql).expect("it is SQL");
            base.serialize("main").expect("memory").to_vec()
        };
        let endless = "CREATE VIEW bhobk AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS vkey FROM n";
        for (bytes, says) in [
            (b"[Event \"?\"]".to_vec(), "does not begin"),
            (base("CREATE TABLE book(id, key, move)"), "no table `bhobk`"),
            (base(endless), "no table `bhobk`"),
            (base("CREATE TABLE bhobk(vkey, vmove)"), "vscore"),
        ] {
            let refused = read_obk(&bytes, None, &ZobristKeys::from_seed(1), None)
                .expect_err("it is no book");
            assert!(format!("{refused:#}").contains(says), "{refused:#}");
        }
        let refused = read_obk(
            &file(&[]),
            Some("renju-15".parse().expect("a variant")),
            &ZobristKeys::from_seed(1),
            None,
        );
        assert!(
            refused
                .expect_err("another game")
                .to_string()
                .contains("of xiangqi")
        );
    }

    #[test]
    fn damaged_books_are_refused_or_say_less() {
        let keys = ZobristKeys::from_seed(4);
        let (_folder, book) = followed("xiangqi", 4);
        let (whole, ..) = write(&book, VARIANT, &keys).expect("memory");
        for at in (0..whole.len()).step_by(61) {
            let mut changed = whole.clone();
            changed[at] ^= 1 << (at % 8);
            for bytes in [&whole[..at], &changed] {
                if let Ok(contents) = read_obk(bytes, None, &keys, None) {
                    assert!(contents.answers.len() <= 4);
                }
            }
        }
    }

    #[test]
    fn real_obk_has_known_row_count() {
        let Some(path) = sample("xiangqi/books/synthetic_sample.obk") else {
            return;
        };
        let bytes = std::fs::read(path).expect("readable");
        let rows = rows(&bytes).expect("a book");
        let start = rows
            .iter()
            .find(|row| row.key == Some(START))
            .expect("it begins there");
        assert_eq!(
            (rows.len(), start.squares, start.games),
            (4_711, 43_687, [124, 19, 61])
        );
        // With made-up numbers only the start is found.
        let contents = read_obk(&bytes, None, &ZobristKeys::from_seed(1), None).expect("a book");
        assert_eq!((contents.items, contents.answers.len()), (4_711, 1));
        let Some(table) = std::env::var_os("KAGETSU_ZOBRIST") else {
            println!(
                "skipped: what is behind the start can be read with the real numbers alone (KAGETSU_ZOBRIST names a file)"
            );
            return;
        };
        let keys = ZobristKeys::of_file(Some(table.as_ref())).expect("the real numbers");
        let contents = read_obk(&bytes, None, &keys, None).expect("a book");
        assert!(
            contents.answers.len() > 1_000,
            "{} positions",
            contents.answers.len()
        );
    }
}

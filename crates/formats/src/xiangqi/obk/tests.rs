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
                // A proof is counted as left out, and its value comes back as an opinion.
                let opinion = |v: &Verdict| kagetsu_game::Score::opinion(v.score.raw().into());
                let mut known: Vec<_> = known.map(|(m, v)| (*m, opinion(v))).collect();
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
    let key =
        |position: &Position, is_mirrored| keys.of(position, is_mirrored).expect("it has a FEN");
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
    let mut omissions = contents.omissions.clone();
    omissions.retain(|_, count| *count > 0);
    let expected = [
        ("memos", 1),
        ("moves_of_positions_that_nothing_leads_to", 1),
        ("moves_that_are_switched_off", 1),
        ("moves_that_cannot_be_made", 1),
        ("moves_without_a_key", 1),
        ("results_of_games", 1),
    ];
    assert_eq!((omissions, contents.items), (expected.into(), 9));
    let value = |position: &Position, m| {
        verdict(&contents, position, m).map(|v| (v.score.raw(), v.nodes, v.bound))
    };
    assert_eq!(value(&start, "b2e2"), Some((250, 4, Bound::Exact)));
    assert_eq!(value(&start, "c3c4"), Some((0, 0, Bound::Exact)));
    assert_eq!(value(&after, "b9c7"), Some((17, 0, Bound::Exact)));
    assert_eq!(
        value(&later, "a0a1").map(|(_, games, bound)| (games, bound)),
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
        let refused =
            read_obk(&bytes, None, &ZobristKeys::from_seed(1), None).expect_err("it is no book");
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

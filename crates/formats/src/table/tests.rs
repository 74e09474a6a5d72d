//! The table of a small book, in each format.

use std::path::Path;

use kagetsu_book::{BuildSpec, JobSpec};
use kagetsu_game::Position;
use rusqlite::Connection;

use super::*;
use crate::tests::{empty_book, grow};
use crate::{Format, export};

/// Returns a book along the best moves after a root, with a job that begins there.
fn book(root: &Position, count: usize) -> (tempfile::TempDir, Book) {
    let (folder, mut book) = empty_book();
    let spec = JobSpec {
        name: "test".into(),
        variant: root.variant(),
        roots: [root.clone()].into(),
        exclude: [].into(),
        build: BuildSpec::default(),
    };
    book.create_job(&spec).expect("room");
    grow(&mut book, root, std::iter::repeat_n(None, count));
    (folder, book)
}

/// Returns the cells of the CSV table by column name.
fn rows(bytes: &[u8]) -> Vec<std::collections::BTreeMap<String, String>> {
    let mut table = ::csv::Reader::from_reader(bytes);
    table.deserialize().map(|row| row.expect("a row")).collect()
}

/// Draws a position without its last move marked.
fn without_mark(position: &Position) -> String {
    let bare = match position.fen() {
        Ok(fen) => Position::from_fen(position.variant(), &fen),
        Err(_) => Position::from_board(position.variant(), &position.draw(), Some(position.side())),
    };
    bare.expect("valid").draw()
}

fn written(format: Format, book: &Book) -> Vec<u8> {
    let mut bytes = Vec::new();
    export(format, book, None, None, None, &mut bytes).expect("memory");
    bytes
}

#[test]
fn moves_lead_to_each_position() {
    let xiangqi = Position::start(Variant::XIANGQI);
    let red = xiangqi.play_line("h2e2 h9g7").expect("legal");
    let from_fen = Position::from_fen(Variant::XIANGQI, &red.fen().expect("a FEN")).expect("valid");
    for (root, begin) in [
        // Neither root is in its canonical orientation in all cases.
        (
            Position::from_line(Variant::FREESTYLE_15, "h8 g6").expect("legal"),
            None,
        ),
        (
            Position::from_line(Variant::FREESTYLE_15, "h8 j10").expect("legal"),
            None,
        ),
        (red, None),
        (from_fen.clone(), Some(from_fen)),
    ] {
        let (_folder, book) = book(&root, 6);
        let rows = rows(&written(Format::Csv, &book));
        let begin = begin.unwrap_or_else(|| Position::start(root.variant()));
        let mut best = 0;
        for row in &rows {
            let position = begin.play_line(&row["moves"]).expect("legal");
            assert_eq!(position.key().to_string(), row["key"], "{row:?}");
            let plies = position.moves().len() - root.moves().len();
            let entry = book.lookup(&position).expect("readable").expect("there");
            // All cells have the orientation of the moves.
            let shown = match row["position"].contains(' ') {
                true => Position::from_fen(root.variant(), &row["position"]),
                false => Position::from_board(
                    root.variant(),
                    &row["position"].replace('/', "\n"),
                    Some(position.side()),
                ),
            }
            .expect("valid");
            assert_eq!(shown.draw(), without_mark(&position), "{row:?}");
            assert_eq!(row["side"], position.side().to_string());
            let m = position.parse_move(&row["move"]).expect("legal");
            let child = position.play(m).expect("legal");
            let verdict = entry.facts.get(m).expect("a move of the book");
            assert_eq!(row["depth"], verdict.depth.to_string());
            let line = position.play_line(&row["line"]).expect("legal");
            assert_eq!(line.moves()[position.moves().len()..], verdict.line);
            let has = book.lookup(&child).expect("readable").is_some();
            assert_eq!(row["in_book"], if has { "1" } else { "0" });
            if row["is_best"] == "1" {
                best += 1;
                assert_eq!(entry.derived.best, Some(m), "{row:?}");
                let value = entry.derived.score;
                let cell = |name: &str| row[name].parse::<i64>().ok();
                assert_eq!(cell("value_win_in"), value.win_plies().map(Into::into));
                assert_eq!(
                    cell("value"),
                    (!value.is_mate()).then(|| value.raw().into())
                );
            }
            let priority = row["priority"].parse::<f64>().expect("the job comes there");
            assert!(
                (plies == 0) == (priority == 0.0) && priority >= plies as f64,
                "{row:?}"
            );
        }
        assert_eq!(best, 6, "one best move for each position");
    }
}

#[test]
fn games_lead_to_each_position() {
    let games = "[Red \"a\"]\n1. h2e2 h9g7 2. h0g2 1-0\n\n\
                 [FEN \"3k5/9/9/9/9/9/9/R8/9/4K4 b\"]\n1. d9d8 a2a8 *";
    let mut importer = crate::Importer::new(Some(Format::Pgn), None);
    importer.add(games.as_bytes()).expect("games");
    let (_folder, mut book) = empty_book();
    for (position, answer) in &importer.finish().answers {
        book.learn(position, answer).expect("room");
    }
    let mut played: Vec<String> = Vec::new();
    for row in rows(&written(Format::Csv, &book)) {
        let start = match row["stones"].as_str() {
            "32" => Position::start(Variant::XIANGQI),
            _ => Position::from_fen(Variant::XIANGQI, &row["position"]).expect("valid"),
        };
        let is_start = row["stones"] == "32" || row["moves"].is_empty();
        let position = if is_start {
            start.play_line(&row["moves"]).expect("legal")
        } else {
            start
        };
        position.play_line(&row["move"]).expect("legal");
        assert_eq!(
            (&*row["score"], &*row["value"], &*row["depth"]),
            ("", "", "0")
        );
        played.push(format!("{} {}", row["moves"], row["move"]).trim().into());
    }
    played.sort();
    assert_eq!(
        played,
        ["a2a8", "f0f1", "h2e2", "h2e2 h9g7", "h2e2 h9g7 h0g2"]
    );
    // The stored orientation stands where no way leads. Moves without a value come back.
    for format in [Format::Csv, Format::Json] {
        let mut importer = crate::Importer::new(Some(format), None);
        importer.add(&written(format, &book)).expect("our own");
        let again = importer.finish().answers;
        assert_eq!(again.len(), 5);
        let mut verdicts = again.iter().flat_map(|(_, answer)| answer.verdicts());
        assert!(
            verdicts.all(|(_, verdict)| verdict.is_silent()),
            "{format:?}"
        );
    }
}

#[test]
fn database_repeats_the_table() {
    let root = Position::from_line(Variant::FREESTYLE_15, "h8").expect("legal");
    let (folder, book) = book(&root, 5);
    let rows = rows(&written(Format::Csv, &book));
    let path = folder.path().join("table.db");
    std::fs::write(&path, written(Format::Sqlite, &book)).expect("room");
    let database = Connection::open(&path).expect("a database");
    for column in COLUMNS.iter() {
        // CSV writes an empty cell where the database has none.
        let query = format!("SELECT ifnull(\"{}\", '') FROM moves", column.name);
        let mut query = database.prepare(&query).expect("the column is there");
        let cells = query.query_map([], |row| {
            Ok(match row.get_ref(0)? {
                rusqlite::types::ValueRef::Integer(number) => number.to_string(),
                rusqlite::types::ValueRef::Real(number) => number.to_string(),
                other => other.as_str().expect("text").to_string(),
            })
        });
        let cells: Vec<String> = cells
            .expect("rows")
            .map(|cell| cell.expect("a cell"))
            .collect();
        let expected: Vec<_> = rows.iter().map(|row| row[column.name].clone()).collect();
        assert_eq!(cells, expected, "{}", column.name);
    }
    let plan = "EXPLAIN QUERY PLAN SELECT * FROM moves WHERE key = 'none'";
    let mut plan = database.prepare(plan).expect("a query");
    let steps = plan.query_map([], |row| row.get::<_, String>("detail"));
    let steps: Vec<String> = steps.expect("steps").map(|s| s.expect("text")).collect();
    let found = [
        "positions USING INDEX",
        "position_moves USING INTEGER PRIMARY KEY",
    ];
    for (step, found) in steps.iter().zip(found) {
        assert!(step.contains(found), "{steps:?}");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_repeats_the_table() {
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::Field;

    let root = Position::from_line(Variant::FREESTYLE_15, "h8").expect("legal");
    let (folder, book) = book(&root, 5);
    let rows = rows(&written(Format::Csv, &book));
    let path = folder.path().join("table.parquet");
    std::fs::write(&path, written(Format::Parquet, &book)).expect("room");
    let file = SerializedFileReader::new(File::open(&path).expect("written")).expect("a table");
    let read = file.get_row_iter(None).expect("rows");
    let read: Vec<_> = read.map(|row| row.expect("a row")).collect();
    assert_eq!(read.len(), rows.len());
    for (row, expected) in read.iter().zip(&rows) {
        for (name, field) in row.get_column_iter() {
            let cell = match field {
                Field::Null => String::new(),
                Field::Bool(is_so) => i32::from(*is_so).to_string(),
                Field::Long(number) => number.to_string(),
                Field::Double(number) => number.to_string(),
                Field::Str(text) => text.clone(),
                other => panic!("{name}: {other}"),
            };
            assert_eq!(&cell, &expected[name], "{name}");
        }
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn missing_parquet_names_the_way_out() {
    let root = Position::start(Variant::FREESTYLE_15);
    let (_folder, book) = book(&root, 1);
    let error = export(Format::Parquet, &book, None, None, None, &mut Vec::new());
    let error = format!("{:#}", error.expect_err("not built in"));
    assert!(error.contains("--features parquet"), "{error}");
}

#[test]
fn the_schema_page_lists_all_columns() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/table.md");
    let page = std::fs::read_to_string(page).expect("the page");
    for column in COLUMNS.iter() {
        let kind = match column.kind {
            ColumnKind::Text => "text",
            ColumnKind::Integer => "integer",
            ColumnKind::Number => "number",
            ColumnKind::Boolean => "boolean",
        };
        let empty = if column.is_optional { "yes" } else { "" };
        let row = format!(
            "| `{}` | {kind} | {empty} | {} |",
            column.name, column.about
        );
        let row = row.replace("|  |", "| |");
        assert!(
            page.lines().any(|line| line == row),
            "the page lacks\n{row}"
        );
    }
}

//! The table as CSV, which an import reads again.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Context, Result, bail};
use kagetsu_book::Book;
use kagetsu_game::{Answer, Position, Variant};

use super::columns::{COLUMNS, Cell, MoveNames, PositionRows};
use super::parts::each_part;
use crate::native::record::{MoveRecord, PositionRecord};
use crate::omissions::Omissions;

/// The columns that an import needs; all others are derived from them.
const HEAD: &str = "variant position side move score win_in loss_in bound depth nodes proof proof_kind engine date line";

/// An optional last column, which earlier tables lack.
const DRAW_IN: &str = "draw_in";

/// Positions whose lines are made together.
const POSITIONS_PER_PART: usize = 512;

/// Writes a book as a table. Returns the number of positions.
///
/// # Errors
/// If the book is damaged, or `out` fails.
pub(super) fn write(
    book: &Book,
    variant: Option<Variant>,
    out: &mut dyn Write,
) -> Result<(u64, Omissions)> {
    let names: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
    writeln!(out, "{}", names.join(","))?;
    each_part(book, variant, POSITIONS_PER_PART, lines, |text: Vec<u8>| {
        Ok(out.write_all(&text)?)
    })
}

/// Returns the lines of positions.
fn lines(positions: &[PositionRows]) -> Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let mut names = MoveNames::default();
    for rows in positions {
        rows.each(&mut names, |cells| {
            for cell in cells {
                match cell {
                    Cell::Empty => table.write_field(""),
                    Cell::Text(field) => table.write_field(field),
                    Cell::Integer(number) => table.write_field(itoa::Buffer::new().format(*number)),
                    Cell::Count(count) => table.write_field(itoa::Buffer::new().format(*count)),
                    Cell::Number(number) => table.write_field(number.to_string()),
                    Cell::Boolean(is_so) => table.write_field(if *is_so { "1" } else { "0" }),
                }?;
            }
            table.write_record(None::<&[u8]>)
        })?;
    }
    Ok(table.into_inner()?)
}

/// Reads a table. Returns its positions with their moves, and the number of lines.
///
/// # Errors
/// The first invalid line, by its number.
pub(crate) fn read(text: &str) -> Result<(Vec<(Position, Answer)>, u64)> {
    let mut table = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(text.as_bytes());
    let head = table.headers()?.clone();
    let place = |name: &str| {
        head.iter()
            .position(|field| field == name)
            .with_context(|| format!("line 1: there is no column '{name}'"))
    };
    let places: Vec<usize> = HEAD.split(' ').map(place).collect::<Result<_>>()?;
    let draw_in = head.iter().position(|field| field == DRAW_IN);
    let mut records: Vec<PositionRecord> = Vec::new();
    let mut known: BTreeMap<[String; 3], usize> = BTreeMap::new();
    let mut count = 0;
    for fields in table.records() {
        let fields = fields?;
        if fields.iter().all(str::is_empty) {
            continue; // as tables of other programs end
        }
        let row = fields.position().map_or(0, csv::Position::line);
        let about = || format!("line {row}");
        if fields.len() != head.len() {
            bail!(
                "line {row}: {} fields, the first line has {}",
                fields.len(),
                head.len()
            );
        }
        let field = |nth: usize| fields[places[nth]].to_string();
        let key = [field(0), field(1), field(2)];
        let plies = draw_in
            .map(|at| number(&fields[at], DRAW_IN))
            .transpose()
            .with_context(about)?;
        let line = MoveRecord {
            draw_in: plies.flatten(),
            ..line(&field).with_context(about)?
        };
        let at = *known.entry(key).or_insert(records.len());
        if at == records.len() {
            let is_board = !field(1).contains(' ');
            records.push(PositionRecord {
                variant: field(0),
                fen: (!is_board).then(|| field(1)),
                board: if is_board {
                    field(1).split('/').map(String::from).collect()
                } else {
                    Vec::new()
                },
                side: field(2),
                answers: Vec::new(),
                annotations: Vec::new(),
            });
        }
        // The line is decoded here, while its number is known.
        let one = PositionRecord {
            answers: vec![line],
            ..records[at].head()
        };
        one.decode().with_context(about)?;
        records[at].answers.extend(one.answers);
        count += 1;
    }
    Ok((
        records
            .iter()
            .map(PositionRecord::decode)
            .collect::<Result<_>>()?,
        count,
    ))
}

fn number<T: std::str::FromStr>(text: &str, what: &str) -> Result<Option<T>> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse()
        .map(Some)
        .map_err(|_| anyhow::anyhow!("the {what} '{text}' is no number that it could be"))
}

fn line(field: &impl Fn(usize) -> String) -> Result<MoveRecord> {
    let text = |nth: usize| Some(field(nth)).filter(|text| !text.is_empty());
    Ok(MoveRecord {
        r#move: field(3),
        score: number(&field(4), "score")?,
        win_in: number(&field(5), "win_in")?,
        loss_in: number(&field(6), "loss_in")?,
        draw_in: None,
        bound: field(7),
        depth: number(&field(8), "depth")?.unwrap_or(0),
        nodes: number(&field(9), "nodes")?.unwrap_or(0),
        proof: text(10).unwrap_or_else(|| "none".into()),
        proof_kind: text(11),
        engine: field(12),
        date: field(13),
        line: field(14).split_whitespace().map(String::from).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_of_another_program_is_read() {
        let head = HEAD.replace(' ', ",");
        let row = |score: &str| {
            format!(
                "freestyle-5,..../...,first,c3,{score},,,exact,3,7,none,,\"a \"\"b\"\", c\",2026-11-21,"
            )
        };
        let board = |text: String| text.replace("..../...", "...../...../...../...../.....");
        let table = board(format!("{head}\r\n{}\r\n{}\r\n", row("12"), ",".repeat(14)));
        let (positions, lines) = read(&table).expect("a table");
        assert_eq!((positions.len(), lines), (1, 1));
        assert_eq!(&*positions[0].1.verdicts()[0].1.by.engine, "a \"b\", c");
        for (table, why) in [
            (
                board(format!("{head}\n{}\n", row("12,3"))),
                "line 2: 16 fields, the first line has 15",
            ),
            (board(format!("{head}\n{}\n", row("x"))), "line 2"),
            (
                "variant,position\n".into(),
                "line 1: there is no column 'side'",
            ),
            (String::new(), "line 1"),
        ] {
            let error = read(&table).map(drop).map_err(|error| format!("{error:#}"));
            assert!(
                error.as_ref().is_err_and(|error| error.contains(why)),
                "{why}: {error:?}"
            );
        }
    }
}

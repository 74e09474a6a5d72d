//! A table with a line for each move.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use kagetsu_game::{Answer, Position};

use super::json::{Line, Record};

const HEAD: [&str; 15] = [
    "variant",
    "position",
    "side",
    "move",
    "score",
    "win_in",
    "loss_in",
    "bound",
    "depth",
    "nodes",
    "proof",
    "proof_kind",
    "engine",
    "date",
    "line",
];

/// A column that earlier tables have not.
const DRAW_IN: &str = "draw_in";

/// The first line of a table.
pub(super) fn head() -> String {
    format!("{},{DRAW_IN}\n", HEAD.join(","))
}

/// The lines of a position.
pub(super) fn lines(position: &Position, answer: &Answer) -> String {
    let record = Record::new(position, answer);
    let place = record.fen.clone().unwrap_or_else(|| record.board.join("/"));
    let number = |value: Option<String>| value.unwrap_or_default();
    let mut text = String::new();
    for line in &record.answers {
        let fields = [
            record.variant.clone(),
            place.clone(),
            record.side.clone(),
            line.r#move.clone(),
            number(line.score.map(|score| score.to_string())),
            number(line.win_in.map(|plies| plies.to_string())),
            number(line.loss_in.map(|plies| plies.to_string())),
            line.bound.clone(),
            line.depth.to_string(),
            line.nodes.to_string(),
            line.proof.clone(),
            line.proof_kind.clone().unwrap_or_default(),
            line.engine.clone(),
            line.date.clone(),
            line.line.join(" "),
            number(line.draw_in.map(|plies| plies.to_string())),
        ];
        text += &fields.map(quoted).join(",");
        text.push('\n');
    }
    text
}

/// In quotes where it must be (RFC 4180).
fn quoted(field: String) -> String {
    if field.contains([',', '"', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

/// The positions of a table, each with all that its lines say; and how many lines there are.
///
/// # Errors
/// The first line that cannot be, by its number.
pub(super) fn read(text: &str) -> Result<(Vec<(Position, Answer)>, u64)> {
    let mut rows = rows(text).into_iter();
    let head = rows.next().map(|(_, fields)| fields).unwrap_or_default();
    let place = |name: &str| {
        head.iter().position(|field| field == name).with_context(|| format!("line 1: there is no column '{name}'"))
    };
    let places: Vec<usize> = HEAD.iter().map(|name| place(name)).collect::<Result<_>>()?;
    let draw_in = head.iter().position(|field| field == DRAW_IN);
    let mut records: Vec<Record> = Vec::new();
    let mut known: BTreeMap<[String; 3], usize> = BTreeMap::new();
    let mut count = 0;
    for (row, fields) in rows {
        let about = || format!("line {row}");
        if fields.len() != head.len() {
            bail!("line {row}: {} fields, the first line has {}", fields.len(), head.len());
        }
        let field = |nth: usize| fields[places[nth]].clone();
        let key = [field(0), field(1), field(2)];
        let plies = draw_in.map(|at| number(&fields[at], DRAW_IN)).transpose().with_context(about)?;
        let line = Line { draw_in: plies.flatten(), ..line(&field).with_context(about)? };
        let at = *known.entry(key).or_insert(records.len());
        if at == records.len() {
            let is_board = !field(1).contains(' ');
            records.push(Record {
                variant: field(0),
                fen: (!is_board).then(|| field(1)),
                board: if is_board { field(1).split('/').map(String::from).collect() } else { Vec::new() },
                side: field(2),
                answers: Vec::new(),
            });
        }
        // A line that cannot be is named while its number is known.
        let one = Record { answers: vec![line], ..records[at].head() };
        one.meaning().with_context(about)?;
        records[at].answers.extend(one.answers);
        count += 1;
    }
    Ok((records.iter().map(Record::meaning).collect::<Result<_>>()?, count))
}

fn number<T: std::str::FromStr>(text: &str, what: &str) -> Result<Option<T>> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| anyhow::anyhow!("the {what} '{text}' is no number that it could be"))
}

fn line(field: &impl Fn(usize) -> String) -> Result<Line> {
    let text = |nth: usize| Some(field(nth)).filter(|text| !text.is_empty());
    Ok(Line {
        r#move: field(3),
        score: number(&field(4), HEAD[4])?,
        win_in: number(&field(5), HEAD[5])?,
        loss_in: number(&field(6), HEAD[6])?,
        draw_in: None,
        bound: field(7),
        depth: number(&field(8), HEAD[8])?.unwrap_or(0),
        nodes: number(&field(9), HEAD[9])?.unwrap_or(0),
        proof: text(10).unwrap_or_else(|| "none".into()),
        proof_kind: text(11),
        engine: field(12),
        date: field(13),
        line: field(14).split_whitespace().map(String::from).collect(),
    })
}

/// The fields of each line that has any, and the number of the line that it begins in.
fn rows(text: &str) -> Vec<(usize, Vec<String>)> {
    let (mut rows, mut fields, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut number, mut begin, mut is_quoted) = (1, 1, false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        number += usize::from(letter == '\n');
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' => is_quoted = !is_quoted,
            letter if is_quoted => field.push(letter),
            ',' => fields.push(std::mem::take(&mut field)),
            '\r' => {}
            '\n' => {
                fields.push(std::mem::take(&mut field));
                rows.push((begin, std::mem::take(&mut fields)));
                begin = number;
            }
            letter => field.push(letter),
        }
    }
    if !field.is_empty() || !fields.is_empty() {
        fields.push(field);
        rows.push((begin, fields));
    }
    rows.retain(|(_, fields)| fields.iter().any(|field| !field.is_empty()));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_may_be_quoted() {
        let read = rows("a,\"b,\"\"c\"\"\"\r\n\n\"x\ny\",z\nlast");
        let row = |number: usize, fields: &[&str]| (number, fields.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(read, [row(1, &["a", "b,\"c\""]), row(3, &["x\ny", "z"]), row(5, &["last"])]);
        assert_eq!(quoted("a \"b\", c".into()), "\"a \"\"b\"\", c\"");
    }
}

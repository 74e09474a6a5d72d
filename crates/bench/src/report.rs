//! The text of a measurement: its method, then the figures of its JSON, one row a line.

use std::io::Write;

use anyhow::Result;
use kagetsu_game::quote_line;
use kagetsu_terminal::json::write_json;
use serde::Serialize;
use serde_json::Value;

/// Columns of the printed method.
const WIDTH: usize = 100;

/// Writes the figures of a measurement as one line of JSON, or as text after its method.
///
/// # Errors
/// If `out` is closed.
pub(crate) fn write(
    out: &mut dyn Write,
    is_json: bool,
    method: &str,
    figures: &impl Serialize,
) -> Result<()> {
    if is_json {
        return write_json(out, figures);
    }
    let mut column = 0;
    for word in method.split_whitespace() {
        let gap = match column {
            0 => "",
            _ if column + word.len() >= WIDTH => "\n",
            _ => " ",
        };
        write!(out, "{gap}{word}")?;
        column = if gap == "\n" { 0 } else { column + gap.len() } + word.len();
    }
    if column > 0 {
        writeln!(out)?;
    }
    let figures = serde_json::to_value(figures)?;
    for (name, value) in figures.as_object().into_iter().flatten() {
        match value {
            Value::Array(rows) => {
                writeln!(out, "{name}")?;
                for row in rows {
                    writeln!(out, "  {}", shown(row))?;
                }
            }
            value => writeln!(out, "{name} {}", shown(value))?,
        }
    }
    Ok(())
}

/// Writes a value on one line.
fn shown(value: &Value) -> String {
    let words: Vec<String> = match value {
        Value::Object(fields) => {
            let fields = fields.iter();
            fields
                .map(|(name, value)| format!("{name} {}", shown(value)))
                .collect()
        }
        Value::Array(values) => values.iter().map(shown).collect(),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(number) if number.abs() < 10.0 => return format!("{number:.2}"),
            Some(number) => return format!("{number:.1}"),
            None => return number.to_string(),
        },
        Value::String(text) => return quote_line(text).to_string(),
        Value::Bool(is_so) => return is_so.to_string(),
        Value::Null => return "-".into(),
    };
    words.join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_the_fields_of_the_json() {
        #[derive(Serialize)]
        struct Figures {
            positions: u64,
            rows: Vec<Row>,
        }
        #[derive(Serialize)]
        struct Row {
            name: &'static str,
            mean_ms: Option<f64>,
            moves: [u8; 2],
        }
        let row = |name, mean_ms| Row {
            name,
            mean_ms,
            moves: [1, 2],
        };
        let figures = Figures {
            positions: 3,
            rows: vec![row("one", Some(1234.5)), row("two", None)],
        };
        let text = |is_json| {
            let mut out = Vec::new();
            write(&mut out, is_json, "A method.", &figures).expect("room");
            String::from_utf8(out).expect("text")
        };
        let rows = "  mean_ms 1234.5  moves 1  2  name one\n  mean_ms -  moves 1  2  name two\n";
        assert_eq!(text(false), format!("A method.\npositions 3\nrows\n{rows}"));
        assert!(text(true).starts_with(r#"{"positions":3,"rows":[{"name":"one","#));
    }
}

//! The text of a measurement: its method, then the figures of its JSON, one row a line.

use std::io::{self, Write};

use anyhow::Result;
use kagetsu_terminal::json::write_json;
use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter, Serializer};

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
    figures.serialize(&mut Serializer::with_formatter(
        &mut *out,
        ReportFormatter::default(),
    ))?;
    writeln!(out)?;
    Ok(())
}

/// Writes every field of the outer object on a line, every row of its lists on a line below it.
#[derive(Default)]
struct ReportFormatter {
    /// Objects and lists that have begun and not ended.
    depth: usize,
}

impl ReportFormatter {
    fn separate<W: Write + ?Sized>(&self, out: &mut W, is_first: bool) -> io::Result<()> {
        match (self.depth, is_first) {
            (1, true) | (3.., true) => Ok(()),
            (..=2, _) => write!(out, "\n{:1$}", "", 2 * (self.depth - 1)),
            (_, false) => out.write_all(b"  "),
        }
    }
}

impl Formatter for ReportFormatter {
    fn begin_object<W: Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        self.depth += 1;
        Ok(())
    }

    fn end_object<W: Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        self.depth -= 1;
        Ok(())
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.separate(out, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b" ")
    }

    fn begin_array<W: Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        self.depth += 1;
        Ok(())
    }

    fn end_array<W: Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        self.depth -= 1;
        Ok(())
    }

    fn begin_array_value<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.separate(out, first)
    }

    fn begin_string<W: Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        Ok(())
    }

    fn end_string<W: Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        Ok(())
    }

    fn write_char_escape<W: Write + ?Sized>(
        &mut self,
        out: &mut W,
        _: CharEscape,
    ) -> io::Result<()> {
        out.write_all(b"?")
    }

    fn write_null<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b"-")
    }

    fn write_f64<W: Write + ?Sized>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        let digits = if value.abs() < 10.0 { 2 } else { 1 };
        write!(out, "{value:.digits$}")
    }
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
        let rows = "  name one  mean_ms 1234.5  moves 1  2\n  name two  mean_ms -  moves 1  2\n";
        assert_eq!(
            text(false),
            format!("A method.\npositions 3\nrows \n{rows}")
        );
        assert!(text(true).starts_with(r#"{"positions":3,"rows":[{"name":"one","#));
    }
}

//! JSON on a command's output.

use std::io::{self, Write};

use anyhow::Result;
use kagetsu_game::is_visible;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// Writes one JSON object on a line of its own. Characters that change a terminal or the direction
/// of text are escaped, as in `\u202e`.
///
/// # Errors
/// If the reader closed its end.
pub fn write_json(out: &mut dyn Write, value: &impl Serialize) -> Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut *out, VisibleJson))?;
    writeln!(out)?;
    out.flush()?;
    Ok(())
}

/// Writes the text of one JSON object in the same way.
///
/// # Errors
/// If the reader closed its end.
pub fn write_json_text(out: &mut dyn Write, json: &str) -> Result<()> {
    // Outside of strings there are only visible characters.
    VisibleJson.write_string_fragment(&mut *out, json)?;
    writeln!(out)?;
    out.flush()?;
    Ok(())
}

/// Compact JSON whose strings have visible characters only.
struct VisibleJson;

impl Formatter for VisibleJson {
    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, hidden)) = rest.char_indices().find(|(_, letter)| !is_visible(*letter))
        {
            out.write_all(&rest.as_bytes()[..at])?;
            for unit in hidden.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = &rest[at + hidden.len_utf8()..];
        }
        out.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped() {
        let text = "象棋 \u{1b}[2J a\u{202e}b\u{200b}c\u{9b} \u{e0001}\"";
        let mut out = Vec::new();
        write_json(&mut out, &text).expect("room in memory");
        let written = String::from_utf8(out).expect("text");
        let expected = "\"象棋 \\u001b[2J a\\u202eb\\u200bc\\u009b \\udb40\\udc01\\\"\"\n";
        assert_eq!(written, expected);
        let read: String = serde_json::from_str(&written).expect("JSON");
        assert_eq!(read, text);
    }
}

//! Which format a file has.

use std::borrow::Cow;
use std::path::Path;

use kagetsu_game::{RuleName, Variant};

use crate::format::Format;
use crate::input::encoding::decode_entries;

/// The root element of CCBridge's XML.
pub(crate) const CBF_ROOT: &str = "<ChineseChessRecord";

/// Bytes of a text that are looked at.
const HEAD_BYTES: usize = 4096;

/// Returns the format of a file by its content, or by the ending of its name where the content says
/// nothing certain; `None` if neither is known.
#[must_use]
pub fn detect(name: &str, bytes: &[u8]) -> Option<Format> {
    let by_name = Format::of_file(Path::new(name));
    let by_content = by_magic(bytes).or_else(|| by_text(&head(bytes), by_name));
    by_content.or(by_name)
}

/// Decodes the beginning of a text.
fn head(bytes: &[u8]) -> Cow<'_, str> {
    decode_entries(&bytes[..bytes.len().min(HEAD_BYTES)])
}

/// Returns the format whose files begin so.
pub(crate) fn by_magic(bytes: &[u8]) -> Option<Format> {
    const MAGIC: [(&[u8], Format); 6] = [
        (b"\xffRenLib\xff", Format::Lib),
        (b"XQ\x0a", Format::Xqf),
        (b"XQ\x12", Format::Xqf),
        (b"SQLite format 3\0", Format::Obk),
        (b"CCBridge", Format::Cbr),
        (b"\x04\x22\x4d\x18", Format::Yxdb),
    ];
    let mut magic = MAGIC.iter();
    let found = magic.find(|(magic, _)| bytes.starts_with(magic));
    found.map(|(_, format)| *format)
}

/// Returns the format that the beginning of a text shows.
fn by_text(text: &str, by_name: Option<Format>) -> Option<Format> {
    let text = text.trim_start_matches(crate::BYTE_ORDER_MARK).trim_start();
    let line = text.lines().next().unwrap_or_default();
    if text.contains("[DhtmlXQ") {
        return Some(Format::Ubb);
    }
    if text.starts_with("(;") || text.starts_with("( ;") {
        return Some(Format::Sgf);
    }
    if text.starts_with('<') && text.contains(CBF_ROOT) {
        return Some(Format::Pgn);
    }
    if text.starts_with('<') && (text.contains("<game") || text.contains("<database")) {
        return Some(Format::Rif);
    }
    if line.starts_with("Piskvorky ") {
        return Some(Format::Psq);
    }
    if line.starts_with('{') && line.contains("\"variant\"") {
        return Some(Format::Json);
    }
    if is_fen(line) && !line.contains('|') {
        let mut others = text.lines().skip(1).map(str::trim);
        let next = others.find(|line| !line.is_empty() && !line.starts_with('#'));
        // Moves behind a FEN are a game.
        let is_list = next.is_none_or(is_fen);
        return Some(if is_list { Format::Fen } else { Format::Pgn });
    }
    let is_tag = |line: &str| {
        let begins = line.trim().strip_prefix('[');
        begins.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
            && line.contains(' ')
    };
    let is_wxf = line.starts_with("FORMAT") && line.contains("WXF");
    // A text with an ending of another format is what its ending says.
    let is_open = by_name.is_none_or(|format| format == Format::Pgn);
    let is_moves = || {
        let words = text.split_whitespace().take(3);
        let is_number = |word: &str| word.trim_end_matches('.').parse::<u16>().is_ok();
        line.starts_with("1.") || words.filter(|word| is_number(word)).count() == 1
    };
    if is_open && (is_wxf || text.lines().take(3).any(is_tag) || is_moves()) {
        return Some(Format::Pgn);
    }
    let mut parts = line.split([',', ' ', '\t']).filter(|part| !part.is_empty());
    let is_offset = |part: &str| part.parse::<i8>().is_ok();
    if line.contains(',') && parts.clone().count() > 3 && parts.all(is_offset) {
        return Some(Format::Openings);
    }
    // A line of moves in coordinates: `h8i9h10`, `h2e2 h9g7`.
    let is_first = |c: char| c.is_ascii_lowercase();
    let points = line.split(is_first).skip(1).map(str::trim);
    let is_row = |row: &str| row.parse::<u8>().is_ok();
    let is_line = line.starts_with(is_first) && points.clone().count() > 2;
    (by_name.is_none() && is_line && points.take(6).all(is_row)).then_some(Format::Lines)
}

/// Returns the game that a file of stones probably holds, where the file does not say it: renju for
/// programs of renju, else freestyle gomoku on a board of its size.
#[must_use]
pub fn likely_variant(name: &str, bytes: &[u8]) -> Option<Variant> {
    let head = head(bytes).to_ascii_lowercase();
    let number = |after: &str| -> Option<u8> {
        let rest = head.split_once(after)?.1;
        rest.split(|c: char| !c.is_ascii_digit())
            .next()?
            .parse()
            .ok()
    };
    let size = match detect(name, bytes)? {
        Format::Lib | Format::Pos => return Some(Variant::RENJU_15),
        Format::Sgf => number("sz[").unwrap_or(15),
        Format::Psq => number("piskvorky ")?,
        _ => return None,
    };
    let stated = head.split_once("ru[").map_or("", |(_, rest)| rest);
    // A longer name stands behind the one that it begins with.
    let mut rules = RuleName::ALL.map(RuleName::name).into_iter().rev();
    let rule = rules.find(|rule| stated.starts_with(rule));
    format!("{}-{size}", rule.unwrap_or("freestyle"))
        .parse()
        .ok()
}

/// Whether a line begins with the rows of a board.
pub(crate) fn is_fen(line: &str) -> bool {
    let rows = line.split_whitespace().next().unwrap_or_default();
    rows.matches('/').count() > 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_and_ending_tell_the_format() {
        let start = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w";
        for (name, text, expected) in [
            ("a.lib", "\u{78}\0", Some(Format::Lib)),
            ("a.txt", "XQ\x0a", Some(Format::Xqf)),
            ("a.sgf", "(;SZ[15];B[hh])", Some(Format::Sgf)),
            ("a.txt", "\u{feff} (;SZ[15];B[hh])", Some(Format::Sgf)),
            (
                "a.txt",
                "[Game \"Chinese Chess\"]\n1. h2e2",
                Some(Format::Pgn),
            ),
            (
                "a.pgn",
                "[DhtmlXQ]\n[DhtmlXQ_movelist]7747[/DhtmlXQ_movelist]",
                Some(Format::Ubb),
            ),
            ("a.txt", "FORMAT\tWXF\nGAME\tx\n", Some(Format::Pgn)),
            ("a.txt", "1. 炮二平五 马8进7", Some(Format::Pgn)),
            ("a.epd", start, Some(Format::Fen)),
            ("a.txt", start, Some(Format::Fen)),
            ("a.psq", "Piskvorky 15x15, 0:0, 0\n", Some(Format::Psq)),
            (
                "a.rif",
                "<?xml version='1.0'?><database>",
                Some(Format::Rif),
            ),
            ("a.rif", "<?xml?>\n<ChineseChessRecord>", Some(Format::Pgn)),
            ("a.json", "{\"variant\":\"xiangqi\"}", Some(Format::Json)),
            ("BOOK.DAT", "", Some(Format::Eleeye)),
            ("a.CBL", "CCBridgeLibrary", Some(Format::Cbr)),
            ("a.pos", "\u{1}p", Some(Format::Pos)),
            ("a.lines", "h2e2 h9g7 1-0", Some(Format::Lines)),
            (
                "a.txt",
                "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w\n兵七进一\n",
                Some(Format::Pgn),
            ),
            ("a.txt", "# two\n", None),
            ("a.txt", "0,0, 1,-1, 0,3\n", Some(Format::Openings)),
            ("a.txt", "-8,-8,-8,-7, -7,-8", Some(Format::Openings)),
            ("a.txt", "k10j10i9j9m7\n", Some(Format::Lines)),
            ("a.txt", "h2e2 h9g7 h0g2\n", Some(Format::Lines)),
            ("notes.txt", "see the file", None),
            ("a", "", None),
        ] {
            assert_eq!(detect(name, text.as_bytes()), expected, "{name}: {text}");
        }
        for (name, text, expected) in [
            ("a.lib", "\u{78}\0", Some("renju-15")),
            ("a.pos", "\u{1}p", Some("renju-15")),
            ("a.sgf", "(;SZ[20];B[hh])", Some("freestyle-20")),
            ("a.sgf", "(;RU[Renju]SZ[15];B[hh])", Some("renju-15")),
            (
                "a.sgf",
                "(;RU[Caro-Overline]SZ[17];B[hh])",
                Some("caro-overline-17"),
            ),
            ("a.sgf", "(;B[hh])", Some("freestyle-15")),
            ("a.psq", "Piskvorky 15x15, 0:0, 0\n", Some("freestyle-15")),
            ("a.pgn", "1. h2e2", None),
        ] {
            let likely = likely_variant(name, text.as_bytes());
            assert_eq!(
                likely.map(|likely| likely.to_string()).as_deref(),
                expected,
                "{text}"
            );
        }
        assert_eq!(detect("a.bin", b"\xffRenLib\xff"), Some(Format::Lib));
    }
}

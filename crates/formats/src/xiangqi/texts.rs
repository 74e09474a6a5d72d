//! Texts of xiangqi that are read as PGN: the format of the World Xiangqi Federation (`FORMAT WXF`,
//! names and values, and the moves between `START{` and `}END`), the XML of CCBridge (`.cbf`), and
//! a FEN with moves below it.

use quick_xml::escape::unescape;

use crate::input::detect::{CBF_ROOT, is_fen};

/// Names of the WXF that are tags of PGN, there in capitals.
const WXF_TAGS: &str = "Game Event Date Round Site Red Black Result FEN";

/// Elements of CCBridge's XML and tags of PGN.
const CBF_TAGS: [(&str, &str); 8] = [
    ("Contest", "Event"),
    ("Name", "Event"),
    ("Date", "Date"),
    ("Round", "Round"),
    ("Site", "Site"),
    ("Red", "Red"),
    ("Black", "Black"),
    ("FEN", "FEN"),
];

/// Writes a text of one of these formats as PGN, line for line; `None` for any other text.
pub(crate) fn as_pgn(text: &str) -> Option<String> {
    of_wxf(text)
        .or_else(|| of_cbf(text))
        .or_else(|| behind_fen(text))
}

/// Returns the text behind a mark, up to another.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(begin)?;
    rest.split_once(end).map(|(inside, _)| inside)
}

/// Reads the XML of CCBridge. A move is two squares, each its column and its row, both from 0, rows
/// from the top; `00-00` carries the comment on the start.
fn of_cbf(text: &str) -> Option<String> {
    let (_, inside) = text.split_once(CBF_ROOT)?;
    let (head, moves) = inside.split_once("<MoveList>").unwrap_or((inside, ""));
    let result = match between(head, "<RecordResult>", "<") {
        Some("1") => "1-0",
        Some("2") => "0-1",
        Some("3" | "4") => "1/2-1/2",
        _ => "*",
    };
    let mut pgn = format!("[Result \"{result}\"]");
    for (name, tag) in CBF_TAGS {
        let value = between(head, &format!("<{name}>"), "<").unwrap_or_default();
        if !value.is_empty() {
            let value = unescape(value).unwrap_or(value.into()).replace('"', "'");
            pgn += &format!("[{tag} \"{value}\"]");
        }
    }
    let line_ends = |text: &str| "\n".repeat(text.matches('\n').count());
    pgn += &line_ends(&text[..text.len() - moves.len()]);
    for part in moves.split("<Move ") {
        let written = between(part, "value=\"", "\"").unwrap_or_default();
        pgn += &match written.as_bytes() {
            b"00-00" => String::new(),
            [
                from @ b'0'..=b'8',
                row @ b'0'..=b'9',
                b'-',
                to @ b'0'..=b'8',
                end @ b'0'..=b'9',
            ] => [(from, row), (to, end)]
                .into_iter()
                .flat_map(|(file, row)| [file - b'0' + b'a', b'9' - row + b'0'])
                .map(char::from)
                .collect(),
            _ => written.into(),
        };
        if let Some(comment) = between(part, "<![CDATA[", "]]>") {
            let comment = comment.replace(['{', '}', '\n'], " ");
            pgn += &format!(" {{{}}}", comment.trim());
        }
        pgn += &format!(" {}", line_ends(part));
    }
    Some(pgn)
}

/// Reads a FEN with moves behind it.
fn behind_fen(text: &str) -> Option<String> {
    let (fen, moves) = text.trim_start().split_once('\n')?;
    is_fen(fen).then(|| format!("[FEN \"{}\"]\n{moves}", fen.trim()))
}

/// Reads a text of the World Xiangqi Federation.
fn of_wxf(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    let is_one = words.next()?.eq_ignore_ascii_case("FORMAT") && words.next() == Some("WXF");
    is_one.then(|| text.lines().map(line).collect::<Vec<_>>().join("\n"))
}

fn line(line: &str) -> String {
    let trimmed = line.trim();
    let (name, value) = trimmed.split_once([' ', '\t']).unwrap_or((trimmed, ""));
    let name = match name.eq_ignore_ascii_case("PLACE") {
        true => "Site",
        false => name,
    };
    let mut tags = WXF_TAGS.split(' ');
    if let Some(tag) = tags.find(|tag| tag.eq_ignore_ascii_case(name)) {
        // The team of a player stands behind his name.
        let value = value.split(';').next().unwrap_or_default();
        return format!("[{tag} \"{}\"]", value.trim());
    }
    let upper = trimmed.to_ascii_uppercase();
    if upper.starts_with("FORMAT") {
        return String::new();
    }
    if upper.starts_with("START{") {
        return trimmed[6..].into();
    }
    let comment = ["COMMENT{", "REMARK{"]
        .into_iter()
        .find(|name| upper.starts_with(name));
    if let Some(name) = comment {
        return format!("{{{}", &trimmed[name.len()..]);
    }
    match upper.find("}END") {
        // The brackets of a comment have the same end.
        Some(0) => String::new(),
        Some(at) => trimmed[..at].into(),
        None => line.into(),
    }
}

//! Texts of xiangqi that are read as PGN: the format of the World Xiangqi Federation (`FORMAT WXF`,
//! names and values, and the moves between `START{` and `}END`), and a FEN with moves below it.

use crate::input::detect::is_fen;

/// Names of the WXF that are tags of PGN, there in capitals.
const WXF_TAGS: &str = "Game Event Date Round Site Red Black Result FEN";

/// Writes a text of one of these formats as PGN, line for line; `None` for any other text.
pub(crate) fn as_pgn(text: &str) -> Option<String> {
    of_wxf(text).or_else(|| behind_fen(text))
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

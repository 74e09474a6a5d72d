//! The text format of the World Xiangqi Federation: `FORMAT WXF`, names and values, and the moves
//! between `START{` and `}END`.

/// Names of the format and the tags of PGN that they are.
const TAGS: [(&str, &str); 10] = [
    ("GAME", "Game"),
    ("EVENT", "Event"),
    ("DATE", "Date"),
    ("ROUND", "Round"),
    ("SITE", "Site"),
    ("PLACE", "Site"),
    ("RED", "Red"),
    ("BLACK", "Black"),
    ("RESULT", "Result"),
    ("FEN", "FEN"),
];

/// Writes a text of the format as PGN, line for line; `None` for any other text.
pub(crate) fn as_pgn(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    let is_one = words.next()?.eq_ignore_ascii_case("FORMAT") && words.next() == Some("WXF");
    is_one.then(|| text.lines().map(line).collect::<Vec<_>>().join("\n"))
}

fn line(line: &str) -> String {
    let trimmed = line.trim();
    let (name, value) = trimmed.split_once([' ', '\t']).unwrap_or((trimmed, ""));
    let named = TAGS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name));
    if let Some((_, tag)) = named {
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

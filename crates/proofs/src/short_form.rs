//! The short form of a win tree's text, which xz packs into seven tenths of the bytes; see
//! `FORMAT.md`.

/// The first line of the short form, and of the text.
pub(crate) const SHORT: &str = "kagetsu-proof 2\n";
const TEXT: &str = "kagetsu-proof 1\n";
/// Nodes between a node and one that the short form names by its distance. Near nodes often have
/// the same distance, far ones the same number, and words that stand often pack well.
#[cfg(feature = "books")]
const MAX_DISTANCE: usize = 100;

/// Returns the text of a tree in its short form.
#[cfg(feature = "books")]
pub(crate) fn shortened(text: &str) -> String {
    translated(text, [TEXT, SHORT], |at, line, short| {
        let (_, node) = line.split_once(' ').unwrap_or_default();
        refer(node, ">", short, |number| match at - number {
            back if back < MAX_DISTANCE => format!(">-{back}"),
            _ => format!(">{number}"),
        });
    })
}

/// Returns the text of a tree in its short form. A reference to nothing stays one.
pub(crate) fn lengthened(short: &str) -> String {
    translated(short, [SHORT, TEXT], |at, node, text| {
        text.push_str(&at.to_string());
        text.push(' ');
        refer(node, ">-", text, |back| {
            format!(">{}", at.saturating_sub(back))
        });
    })
}

/// Translates each line of a node, which has its number, and keeps the others.
fn translated(
    text: &str,
    [before, after]: [&str; 2],
    mut node: impl FnMut(usize, &str, &mut String),
) -> String {
    let mut all = String::with_capacity(text.len() * 3 / 2);
    all.push_str(after);
    let mut at = 0;
    for line in text.trim_start_matches(before).split_inclusive('\n') {
        match at > 0 && !line.starts_with("end") {
            true => node(at, line, &mut all),
            false => all.push_str(line),
        }
        at += usize::from(at > 0 || line.starts_with("claim "));
    }
    all
}

/// Appends a node with the number behind each mark in another form.
fn refer(node: &str, mark: &str, out: &mut String, form: impl Fn(usize) -> String) {
    let mut parts = node.split(mark);
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = part.split_at(digits);
        match number.parse() {
            Ok(number) => out.push_str(&form(number)),
            Err(_) => out.push_str(mark),
        }
        out.push_str(rest);
    }
}

#[cfg(all(test, feature = "books"))]
mod tests {
    use super::{lengthened, shortened};

    #[test]
    fn short_form_is_the_same_text() {
        let text = include_str!("../../certificate/tests/trees/data/standard-large.proof");
        let short = shortened(text);
        assert!(short.len() < text.len() && short.starts_with("kagetsu-proof 2"));
        assert_eq!(lengthened(&short), text);
        for wrong in ["-", "-x", "-0", "-99999999999999999999", "--1"] {
            assert_ne!(lengthened(&short.replacen("-1", wrong, 1)), text);
        }
    }
}

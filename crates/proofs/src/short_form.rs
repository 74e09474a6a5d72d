//! The short form of a win tree's text, which xz packs into seven tenths of the bytes; see
//! `FORMAT.md`.

use std::io::{self, BufRead, Cursor, Read};

/// Bytes of a line at most; a longer one is none of a tree's.
const MAX_LINE_BYTES: u64 = 1 << 20;
/// The first line of the short form, and of the text.
pub(crate) const SHORT: &str = "kagetsu-proof 2\n";
const TEXT: &str = "kagetsu-proof 1\n";
/// Nodes between a node and one that the short form names by its distance. Near nodes often have
/// the same distance, far ones the same number, and words that stand often pack well.
#[cfg(feature = "books")]
const MAX_DISTANCE: usize = 100;

/// Returns the short form of a tree's text.
#[cfg(feature = "books")]
pub(crate) fn shortened(text: &str) -> String {
    let (mut translation, mut short) = (Translation::new([TEXT, SHORT]), String::new());
    for line in text.split_inclusive('\n') {
        translation.translate(line, &mut short, |at, line, short| {
            let (_, node) = line.split_once(' ').unwrap_or_default();
            refer(node, ">", short, |number| match at - number {
                back if back < MAX_DISTANCE => format!(">-{back}"),
                _ => format!(">{number}"),
            });
        });
    }
    short
}

/// Reads the text of a tree from its short form, a line at a time. A reference to nothing stays
/// one.
pub(crate) struct Lengthener<R> {
    short: R,
    translation: Translation,
    /// The text of the last line, and how much of it was read.
    text: Cursor<String>,
}

impl<R: BufRead> Lengthener<R> {
    pub(crate) fn new(short: R) -> Self {
        let (translation, text) = (Translation::new([SHORT, TEXT]), Cursor::default());
        Self {
            short,
            translation,
            text,
        }
    }
}

impl<R: BufRead> Read for Lengthener<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.text.position() == self.text.get_ref().len() as u64 {
            let (mut line, mut text) = (String::new(), String::new());
            Read::take(&mut self.short, MAX_LINE_BYTES).read_line(&mut line)?;
            self.translation
                .translate(&line, &mut text, |at, node, text| {
                    text.push_str(&at.to_string());
                    text.push(' ');
                    refer(node, ">-", text, |back| {
                        format!(">{}", at.saturating_sub(back))
                    });
                });
            self.text = Cursor::new(text);
        }
        self.text.read(into)
    }
}

/// Translates the first line and each line of a node, which has its number, and keeps the others.
struct Translation {
    /// The first line, and its translation.
    begin: [&'static str; 2],
    /// The number of the next node, from 1; 0 before the claim.
    at: usize,
}

impl Translation {
    const fn new(begin: [&'static str; 2]) -> Self {
        Self { begin, at: 0 }
    }

    fn translate(&mut self, line: &str, out: &mut String, node: impl Fn(usize, &str, &mut String)) {
        let [before, after] = self.begin;
        match self.at {
            0 if line == before => out.push_str(after),
            1.. if !line.is_empty() && !line.starts_with("end") => node(self.at, line, out),
            _ => out.push_str(line),
        }
        self.at += usize::from(self.at > 0 || line.starts_with("claim "));
    }
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
    use std::io::Read;

    use super::{Lengthener, SHORT, shortened};

    fn lengthened(short: &str) -> String {
        let mut text = String::new();
        let mut lengthener = Lengthener::new(short.as_bytes());
        lengthener.read_to_string(&mut text).expect("in memory");
        text
    }

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

    /// A packed file of a few bytes may say anything, for ever.
    #[test]
    fn endless_line_is_read_in_pieces() {
        let endless = std::io::repeat(b'>');
        let source = SHORT
            .as_bytes()
            .chain("claim win in 7\n".as_bytes())
            .chain(endless);
        let mut lengthener = Lengthener::new(std::io::BufReader::new(source));
        let mut begin = vec![0; 5 << 20];
        lengthener.read_exact(&mut begin).expect("it never ends");
        assert!(lengthener.text.get_ref().len() < 3 << 20);
    }
}

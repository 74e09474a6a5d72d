use core::fmt::{self, Display, Formatter, Write};

/// Bytes of the name of a job, a worker or an engine.
pub const MAX_NAME_BYTES: usize = 200;
/// Characters of a quoted text; the rest is counted.
const MAX_QUOTED_CHARS: usize = 200;
/// Characters of a whole message; the rest is counted.
const MAX_MESSAGE_CHARS: usize = 4_000;

/// Returns foreign text in a form that is safe in messages and logs: control characters, invisible
/// characters and characters that change the direction of text are escaped as in `\u{1b}`, and at
/// most 200 characters are shown. It adds no quotation marks.
///
/// ```
/// use kagetsu_game::quote;
///
/// assert_eq!(quote("象棋 h8").to_string(), "象棋 h8");
/// assert_eq!(quote("\u{1b}[2J\n").to_string(), r"\u{1b}[2J\n");
/// assert_eq!(quote(&"x".repeat(1_000)).to_string().len(), "...(800 more)".len() + 200);
/// ```
#[must_use]
pub const fn quote(text: &str) -> Quote<'_> {
    Quote {
        text,
        max_chars: MAX_QUOTED_CHARS,
        keeps_lines: false,
    }
}

/// Returns a whole message, parts of which may be foreign text, in a form that is safe on a
/// terminal. It is escaped as by [`quote`], but line feeds stay and at most 4,000 characters are
/// shown.
///
/// ```
/// use kagetsu_game::quote_message;
///
/// let message = quote_message("cannot read \u{1b}[2J.sgf:\nno such file");
/// assert_eq!(message.to_string(), "cannot read \\u{1b}[2J.sgf:\nno such file");
/// ```
#[must_use]
pub const fn quote_message(text: &str) -> Quote<'_> {
    Quote {
        text,
        max_chars: MAX_MESSAGE_CHARS,
        keeps_lines: true,
    }
}

/// Returns one line of a message, such as the name of a file. It is escaped as by [`quote`], and at
/// most 4,000 characters are shown.
#[must_use]
pub const fn quote_line(text: &str) -> Quote<'_> {
    Quote {
        text,
        max_chars: MAX_MESSAGE_CHARS,
        keeps_lines: false,
    }
}

/// Foreign text that is made safe when it is displayed. See [`quote`] and [`quote_message`].
#[derive(Clone, Copy, Debug)]
pub struct Quote<'a> {
    text: &'a str,
    max_chars: usize,
    keeps_lines: bool,
}

impl Display for Quote<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut rest = self.text.chars();
        for letter in rest.by_ref().take(self.max_chars) {
            if letter == '\n' && self.keeps_lines {
                f.write_char(letter)?;
            } else if letter.is_control() {
                write!(f, "{}", letter.escape_debug())?;
            } else if !is_visible(letter) {
                write!(f, "{}", letter.escape_unicode())?;
            } else {
                f.write_char(letter)?;
            }
        }
        match rest.count() {
            0 => Ok(()),
            more => write!(f, "...({more} more)"),
        }
    }
}

/// Whether a character can be seen and leaves the order of its neighbours as it is. False for
/// control characters, format characters, direction marks, fillers and tags.
#[must_use]
pub const fn is_visible(letter: char) -> bool {
    !matches!(
        letter,
        '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether a text can stand in logs, tables and metrics: at most [`MAX_NAME_BYTES`] bytes, each
/// character [visible](is_visible).
#[must_use]
pub fn is_printable_name(text: &str) -> bool {
    text.len() <= MAX_NAME_BYTES && text.chars().all(is_visible)
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn hidden_characters_are_escaped() {
        for (text, expected) in [
            ("h8 i9", "h8 i9"),
            ("日本語 ü", "日本語 ü"),
            ("a\tb\r\0", r"a\tb\r\0"),
            ("\u{9b}2J", r"\u{9b}2J"),
            ("job\u{202e}gpj", r"job\u{202e}gpj"),
            ("a\u{200b}b\u{feff}", r"a\u{200b}b\u{feff}"),
        ] {
            assert_eq!(quote(text).to_string(), expected);
        }
    }

    #[test]
    fn long_text_is_cut() {
        let text = "象".repeat(1_000_000);
        let quoted = quote(&text).to_string();
        assert!(quoted.ends_with("象...(999800 more)"));
        assert!(quoted.len() < 1_000);
        let message = quote_message(&text).to_string();
        assert!(message.ends_with("象...(996000 more)"));
    }
}

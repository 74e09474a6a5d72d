use alloc::vec::Vec;

/// Splits a line at blanks and commas, without move numbers: `1. h2e2 h9g7 2.h0g2` has three moves.
pub(crate) fn split_at_blanks(line: &str) -> Vec<&str> {
    let words = line.split(|c: char| c.is_whitespace() || c == ',');
    words
        .map(without_count)
        .filter(|word| !word.is_empty())
        .collect()
}

fn without_count(word: &str) -> &str {
    match word.split_once('.') {
        Some((count, rest)) if count.bytes().all(|byte| byte.is_ascii_digit()) => {
            rest.trim_start_matches('.')
        }
        _ => word,
    }
}

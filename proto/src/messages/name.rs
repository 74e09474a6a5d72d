use kagetsu_game::{MAX_NAME_BYTES, is_printable_name, quote};

/// Checks the name of a job, a worker or an engine, which appears in logs, tables and metrics.
/// `whose` names the owner, as in `the job's name`.
///
/// # Errors
/// For a name of more than [`MAX_NAME_BYTES`] bytes, and for control characters, invisible
/// characters and characters that change the direction of text.
pub fn check_name(whose: &'static str, name: &str) -> Result<(), String> {
    if name.len() > MAX_NAME_BYTES {
        return Err(format!(
            "a name has at most {MAX_NAME_BYTES} bytes; {whose} has more"
        ));
    }
    if !is_printable_name(name) {
        return Err(format!(
            "{whose} '{}' has a character that cannot be printed; choose another",
            quote(name)
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_visible_text() {
        for name in ["", "rack \"7\"", r"a\n", "象棋", "h8 (2)"] {
            assert_eq!(check_name("the job's name", name), Ok(()), "{name}");
        }
        for name in [
            "a\nb",
            "a\rb",
            "\u{1b}[2J",
            "a\0",
            "a\u{85}b",
            "a\u{202e}b",
            "a\u{200b}",
        ] {
            let error = check_name("the job's name", name).expect_err("no name");
            assert!(
                error.starts_with("the job's name 'a") || error.contains("'\\u{1b}[2J'"),
                "{error}"
            );
            assert!(!error.contains(char::is_control), "{error:?}");
        }
        let long = check_name("the job's name", &"象".repeat(67)).expect_err("201 bytes");
        assert!(long.contains("at most 200"), "{long}");
    }
}

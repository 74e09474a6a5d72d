use kagetsu_game::{MAX_NAME_BYTES, is_printable_name, quote};

/// The reason why a name cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// The name is longer than messages allow.
    #[error("a name has at most {MAX_NAME_BYTES} bytes; {0} has more")]
    Long(&'static str),
    /// The name has a character that cannot be seen, or that changes the direction of text.
    #[error("{} '{}' has a character that cannot be printed; choose another", .0, quote(.1))]
    Unprintable(&'static str, String),
}

/// Checks the name of a job, a worker or an engine, which appears in logs, tables and metrics.
/// `whose` names the owner, as in `the job's name`.
///
/// # Errors
/// For a name of more than [`MAX_NAME_BYTES`] bytes, and for control characters, invisible
/// characters and characters that change the direction of text.
pub fn check_name(whose: &'static str, name: &str) -> Result<(), NameError> {
    if name.len() > MAX_NAME_BYTES {
        return Err(NameError::Long(whose));
    }
    if !is_printable_name(name) {
        return Err(NameError::Unprintable(whose, name.into()));
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
            let error = check_name("the job's name", name)
                .expect_err("no name")
                .to_string();
            assert!(
                error.starts_with("the job's name 'a") || error.contains("'\\u{1b}[2J'"),
                "{error}"
            );
            assert!(!error.contains(char::is_control), "{error:?}");
        }
        let long = check_name("the job's name", &"象".repeat(67))
            .expect_err("201 bytes")
            .to_string();
        assert!(long.contains("at most 200"), "{long}");
    }
}

use super::limits::MAX_NAME_BYTES;

/// A name that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// No message holds it.
    #[error("a name has at most {MAX_NAME_BYTES} letters; {0} has more")]
    Long(&'static str),
    /// It would not stand on one line, or would draw on a terminal.
    #[error("{whose} '{}' has a character that cannot be printed; choose another", .name.escape_debug())]
    Unprintable {
        /// Whose it is.
        whose: &'static str,
        /// The name.
        name: String,
    },
}

/// Checks the name of a job, a worker or an engine, which stands on one line in logs, tables and metrics. `whose` says which,
/// as in `the job's name`.
///
/// # Errors
/// For one of more than [`MAX_NAME_BYTES`] bytes, and for line ends, escapes and other control characters.
pub fn check_name(whose: &'static str, name: &str) -> Result<(), NameError> {
    if name.len() > MAX_NAME_BYTES {
        return Err(NameError::Long(whose));
    }
    if name.chars().any(char::is_control) {
        return Err(NameError::Unprintable {
            whose,
            name: name.into(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_on_one_line() {
        for name in ["", "rack \"7\"", r"a\n", "象棋", "h8 (2)"] {
            assert_eq!(check_name("the job's name", name), Ok(()), "{name}");
        }
        for name in ["a\nb", "a\rb", "\u{1b}[2J", "a\0", "a\u{85}b"] {
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

use kagetsu_tests::Finished;

/// Asserts that the command ends with code 2, prints nothing to stdout, and names each of `words`
/// on stderr.
#[track_caller]
pub(crate) fn refused(finished: &Finished, words: &[&str]) {
    assert_eq!(
        (finished.code, finished.stdout.as_str()),
        (Some(2), ""),
        "{finished:#?}"
    );
    assert!(!finished.stderr.contains("panicked"), "{finished:#?}");
    for word in words {
        assert!(
            finished.stderr.contains(word),
            "'{word}' is missing in {finished:#?}"
        );
    }
}

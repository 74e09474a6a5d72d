pub(crate) type Labels = [(&'static str, String); 1];

/// Returns one label. OpenMetrics requires escapes, which the library leaves to its caller: a
/// foreign name must not end its line.
pub(crate) fn labels(label: &'static str, value: &str) -> Labels {
    [(
        label,
        value
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n"),
    )]
}

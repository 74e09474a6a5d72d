//! The beginning of an address that names a book in a database.

/// Returns whether a path or URL names a book in a database.
pub(crate) fn names_database(text: &str) -> bool {
    ["postgres://", "postgresql://"]
        .iter()
        .any(|scheme| text.starts_with(scheme))
}

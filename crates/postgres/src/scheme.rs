use crate::BookUrl;

impl BookUrl {
    /// Returns whether a path or URL names a book in a database.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        ["postgres://", "postgresql://"]
            .iter()
            .any(|scheme| text.starts_with(scheme))
    }
}

use serde::Serialize;

/// The state of a server, and the rights of the caller there.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Status))]
pub struct StatusJson {
    /// The program's version.
    pub version: &'static str,
    /// Whether the server has a book.
    pub has_book: bool,
    /// Positions in the book.
    pub positions: u64,
    /// A number that changes whenever the book changes; null without a book.
    pub epoch: Option<u64>,
    /// Whether the server can analyse positions and grow the book.
    pub is_cluster: bool,
    /// Whether the caller may start, pause, resume and cancel builds.
    pub may_change: bool,
    /// Whether the caller may have positions analysed.
    pub may_analyse: bool,
    /// Whether a token can change what the caller may do.
    pub takes_tokens: bool,
    /// Whether the page may have an engine that runs in the visitor's browser.
    pub offers_engine: bool,
}

use serde::{Deserialize, Serialize};

/// Why a request failed: `{"error": {"code": "...", "message": "..."}}`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Error))]
pub struct ErrorJson {
    /// The error itself.
    pub error: ErrorBody,
}

/// The content of an [`ErrorJson`].
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ErrorBody {
    /// The kind of error, for programs.
    pub code: String,
    /// The cause and the way out, for people.
    pub message: String,
    /// With the code `not_in_book`: the number of moves of the asked line that the book holds,
    /// from the first position on; absent where it holds none of its positions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_moves: Option<usize>,
}

impl ErrorJson {
    /// An error of the kind `code`.
    #[must_use]
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            error: ErrorBody {
                code: code.into(),
                message: message.into(),
                held_moves: None,
            },
        }
    }
}

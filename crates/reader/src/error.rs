use kagetsu_api::ErrorBody;
use tonic::{Code, Status};

/// Why a view has no result.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// The book does not hold the position.
    #[error("{message}")]
    NotHeld {
        /// The part of the book near it.
        message: String,
        /// The number of moves of the line that the book holds.
        held_moves: Option<usize>,
    },
    /// The book has nothing to show.
    #[error("{0}")]
    Nothing(String),
    /// The query names something that is not possible.
    #[error("{0}")]
    Invalid(String),
    /// A book of this kind has no such view.
    #[error("{0}")]
    Unsupported(String),
    /// The book is damaged, or its server cannot be reached.
    #[error("{0:#}")]
    Failed(#[from] anyhow::Error),
}

impl ViewError {
    /// The kind of error, for programs; the same over gRPC, over HTTP and in Python.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotHeld { .. } => "not_in_book",
            Self::Nothing(_) => "not_found",
            Self::Invalid(_) => "bad_request",
            Self::Unsupported(_) => "conflict",
            Self::Failed(_) => "damaged_book",
        }
    }

    /// Whether the question was answered: the book has nothing to show.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        matches!(self, Self::NotHeld { .. } | Self::Nothing(_))
    }

    /// Reads the error of a server. `explain` says in words why a call failed.
    pub(crate) fn of_status(status: &Status, explain: impl FnOnce() -> String) -> Self {
        let message = || status.message().to_string();
        let body: Option<ErrorBody> = serde_json::from_slice(status.details()).ok();
        match (status.code(), body) {
            (Code::NotFound, Some(body)) if body.code == "not_in_book" => Self::NotHeld {
                message: message(),
                held_moves: body.held_moves,
            },
            (Code::NotFound, _) => Self::Nothing(message()),
            (Code::InvalidArgument, _) => Self::Invalid(message()),
            (Code::FailedPrecondition, _) => Self::Unsupported(message()),
            _ => Self::Failed(anyhow::Error::msg(explain())),
        }
    }
}

/// The status of the rpc. Its details are an [`ErrorBody`] without a message.
impl From<&ViewError> for Status {
    fn from(error: &ViewError) -> Self {
        let code = match error {
            ViewError::NotHeld { .. } | ViewError::Nothing(_) => Code::NotFound,
            ViewError::Invalid(_) => Code::InvalidArgument,
            ViewError::Unsupported(_) => Code::FailedPrecondition,
            ViewError::Failed(_) => Code::Internal,
        };
        let held_moves = match error {
            ViewError::NotHeld { held_moves, .. } => *held_moves,
            _ => None,
        };
        let body = ErrorBody {
            code: error.code().into(),
            message: String::new(),
            held_moves,
        };
        let details = serde_json::to_vec(&body).unwrap_or_default();
        Self::with_details(code, error.to_string(), details.into())
    }
}

impl From<kagetsu_book::BookError> for ViewError {
    fn from(error: kagetsu_book::BookError) -> Self {
        Self::Failed(error.into())
    }
}

use kagetsu_book::BookError;
use tonic::Status;

/// Returns the gRPC status of a book's error.
pub(crate) fn status(error: &BookError) -> Status {
    match error {
        BookError::NoJob(_) => Status::not_found(error.to_string()),
        BookError::JobDiffers { .. } | BookError::JobExists(_) | BookError::JobCancelled(_) => {
            Status::failed_precondition(error.to_string())
        }
        BookError::JobSpec(_) | BookError::Position(_) => {
            Status::invalid_argument(error.to_string())
        }
        BookError::Record(_)
        | BookError::Store(_)
        | BookError::Collision(_)
        | BookError::Journal { .. } => Status::data_loss(error.to_string()),
        _ => Status::internal(error.to_string()),
    }
}

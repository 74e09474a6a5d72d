use kagetsu_book::{BookError, JobError, JournalError, LearnError};
use kagetsu_compiled::CompiledError;
use tonic::Status;

/// Returns the gRPC status of a book's error.
pub(crate) fn status(error: &BookError) -> Status {
    match error {
        BookError::Job(JobError::Unknown(_)) => Status::not_found(error.to_string()),
        BookError::Job(JobError::Differs { .. })
        | BookError::Job(JobError::Exists(_))
        | BookError::Job(JobError::Cancelled(_)) => Status::failed_precondition(error.to_string()),
        BookError::Job(JobError::Settings(_)) | BookError::Position(_) => {
            Status::invalid_argument(error.to_string())
        }
        BookError::Record(_)
        | BookError::Entry(_)
        | BookError::Learn(LearnError::Collision(_))
        | BookError::Journal(JournalError::Damaged { .. }) => Status::data_loss(error.to_string()),
        BookError::Compiled(CompiledError::Changed(_)) => Status::data_loss(error.to_string()),
        _ => Status::internal(error.to_string()),
    }
}

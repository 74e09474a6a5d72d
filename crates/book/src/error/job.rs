use kagetsu_game::quote;

use super::spec_fault::SpecFaults;

/// The reason why a job could not be made or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// The book has no job of this name or number.
    #[error("the book has no job '{}'; `kagetsu jobs list` shows those it has", quote(.0))]
    Unknown(String),
    /// The name is taken by a job with other settings.
    #[error(
        "the book has a job '{name}' that differs in {}; give another --name, or the same \
         settings, which `kagetsu jobs show {name}` prints{}", .differences.join(", "),
        advice(.differences)
    )]
    Differs {
        /// The job's name.
        name: String,
        /// The settings in which the two differ.
        differences: Vec<String>,
    },
    /// The name of a new job is taken.
    #[error("the book has a job '{0}' already; give another --name")]
    Exists(String),
    /// The book has as many jobs as it can number.
    #[error("the book has no number left for another job")]
    TooMany,
    /// A cancelled job cannot be resumed.
    #[error("the job '{0}' is cancelled, and that is for good; start another with another --name")]
    Cancelled(String),
    /// The settings of a job are invalid.
    #[error("the build has wrong settings: {0}")]
    Settings(#[from] SpecFaults),
}

/// Returns the way to search deeper, where jobs differ in the limits of a search.
fn advice(differences: &[String]) -> &'static str {
    let is_limit = |text: &String| text.contains("--depth") || text.contains("--nodes");
    if differences.iter().any(is_limit) {
        "; --deepen searches positions of the book again with other limits"
    } else {
        ""
    }
}

use kagetsu_book::{Derived, Entry};
use kagetsu_game::Answer;

/// The knowledge of a book about a position.
#[derive(Clone, Debug)]
pub struct Found {
    /// The moves with the values from the positions behind them.
    pub answer: Answer,
    /// The moves as they were searched; only a folder and its server have them.
    pub facts: Option<Answer>,
    /// The value of the position; a certificate and a server do not give it.
    pub derived: Option<Derived>,
}

impl From<Entry> for Found {
    fn from(entry: Entry) -> Self {
        Self {
            answer: entry.answer,
            facts: Some(entry.facts),
            derived: Some(entry.derived),
        }
    }
}

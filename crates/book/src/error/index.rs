use kagetsu_game::Key;

/// Damage of the index that is made from the journal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// A record in the store is damaged.
    #[error(
        "the record of position {0} is damaged; open the book again, and it is rebuilt from the journal"
    )]
    Record(Key),
    /// Another part of the store is damaged.
    #[error("the store is damaged ({0}); open the book again, and it is rebuilt from the journal")]
    Entry(&'static str),
}

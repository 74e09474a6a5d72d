use std::sync::Arc;

use kagetsu_book::Journal;

use crate::book_lease::BookLease;

/// A book in a database, for a process that may lead it.
pub struct SharedBook {
    /// It begins as a follower's: [`BookLease::acquire`] makes this process the leader, which alone
    /// may append.
    pub journal: Box<dyn Journal>,
    /// The lease by which this process may lead.
    pub lease: Arc<dyn BookLease>,
    /// The acknowledged work that the database may lose when it fails, one sentence each.
    pub warnings: Vec<String>,
}

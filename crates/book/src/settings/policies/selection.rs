use std::fmt::Debug;
use std::sync::Arc;

use crate::BookError;
use crate::Derived;
use crate::base::id::Id;
use crate::base::links::Reach;
use crate::base::node::Node;

/// The choice of the positions that one running job searches, with what it remembers.
pub(crate) trait Selection: Debug + Send + Sync {
    /// Chooses up to `n` positions that wait and are not being searched. It counts them as taken.
    fn next(&mut self, frontier: &mut dyn Frontier, n: usize) -> Result<Vec<Id>, BookError>;

    /// A position is being searched that was not chosen here.
    fn taken(&mut self, id: Id) {
        let _ = id;
    }

    /// A position is no longer being searched.
    fn released(&mut self, id: Id) {
        let _ = id;
    }

    /// The book has learned something about a position.
    fn learned(&mut self, frontier: &mut dyn Frontier, id: Id) -> Result<(), BookError> {
        let _ = (frontier, id);
        Ok(())
    }

    /// A job was changed: nothing that was concluded before is certain to hold.
    fn forget(&mut self) {}
}

/// The part of the book that a selection sees.
pub(crate) trait Frontier {
    /// A position's record, if it has one.
    fn node(&mut self, id: Id) -> Result<Option<Arc<Node>>, BookError>;

    /// How a position is reached.
    fn reach(&mut self, id: Id) -> Result<Arc<Reach>, BookError>;

    /// A position's value, if it has a record.
    fn value(&mut self, id: Id) -> Result<Option<Derived>, BookError>;

    /// Number of stones beyond which the job follows nothing.
    fn max_stones(&mut self) -> Result<u16, BookError>;

    /// The `n` positions of greatest priority that wait and are not being searched.
    fn most_urgent(&mut self, n: usize) -> Result<Vec<Id>, BookError>;
}

/// Chooses by priority alone.
#[derive(Debug)]
pub(crate) struct ByPriority;

impl Selection for ByPriority {
    fn next(&mut self, frontier: &mut dyn Frontier, n: usize) -> Result<Vec<Id>, BookError> {
        frontier.most_urgent(n)
    }
}

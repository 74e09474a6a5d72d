use std::sync::Arc;

use crate::error::JournalError;
use crate::journal::log::{Journal, JournalDigest, JournalSync, Sequence};

/// The journal of a snapshot: its end alone, since a snapshot reads the store and learns nothing.
#[derive(Clone)]
pub(crate) struct FrozenJournal {
    pub(crate) place: String,
    pub(crate) entries: Sequence,
    pub(crate) digest: JournalDigest,
}

impl JournalSync for FrozenJournal {
    fn sync(&self) -> Result<Sequence, JournalError> {
        Ok(self.entries)
    }
}

impl Journal for FrozenJournal {
    fn place(&self) -> String {
        self.place.clone()
    }

    fn entries(&self) -> u64 {
        self.entries.0
    }

    fn append(&mut self, _: &[u8]) -> Result<Sequence, JournalError> {
        Err(JournalError::Snapshot(self.place.clone()))
    }

    fn syncer(&self) -> Arc<dyn JournalSync> {
        Arc::new(self.clone())
    }

    fn read(&self, _: Sequence, _: usize) -> Result<Vec<Box<[u8]>>, JournalError> {
        Err(JournalError::Snapshot(self.place.clone()))
    }

    fn digest(&self, after: Sequence) -> Result<Option<JournalDigest>, JournalError> {
        Ok((after == self.entries).then_some(self.digest))
    }

    fn check(&self, _: Sequence) -> Result<JournalDigest, JournalError> {
        Ok(self.digest)
    }
}

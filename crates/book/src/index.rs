//! The store's keys, and changes to it that are made together.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::BookError;
use crate::bytes::{digest, seal, unseal};
use crate::entry::SpecBody;
use crate::id::Id;
use crate::job::{JobChange, JobState};
use crate::record::Record;
use crate::store::{Batch, Pair, Store};
use crate::value::{Derived, DerivedBody};

/// Which entries of the journal the store has, and what it holds because of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Marker {
    pub(crate) applied: u64,
    pub(crate) positions: u64,
    pub(crate) entries: u64,
    pub(crate) digest: u64,
}

pub(crate) const MARKER: &[u8] = b"m";
pub(crate) const RECORD: u8 = b'p';
pub(crate) const VALUE: u8 = b'v';
pub(crate) const LINK: u8 = b'l';
pub(crate) const FRONTIER: u8 = b'f';
pub(crate) const PRIORITY: u8 = b'q';
pub(crate) const SPEC: u8 = b's';
pub(crate) const JOB: u8 = b'j';
pub(crate) const ENGINE: u8 = b'e';

pub(crate) fn key(prefix: u8, parts: &[&[u8]]) -> Vec<u8> {
    let mut key = vec![prefix];
    parts.iter().for_each(|part| key.extend_from_slice(part));
    key
}

/// How far a job is; apart from its spec, which may be long and never changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct JobBody {
    pub(crate) state: JobState,
    pub(crate) target: u64,
    pub(crate) positions: u64,
    pub(crate) set_aside: u64,
    pub(crate) frontier: u64,
}

impl JobBody {
    pub(crate) fn change(&mut self, change: &JobChange) {
        match change {
            JobChange::Pause if self.state == JobState::Running => self.state = JobState::Paused,
            JobChange::Resume if matches!(self.state, JobState::Paused | JobState::Failed(_)) => {
                self.state = JobState::Running;
            }
            JobChange::Cancel => self.state = JobState::Cancelled,
            JobChange::Fail(reason) => self.state = JobState::Failed(reason.clone()),
            JobChange::Target(target) => {
                self.target = *target;
                if self.state == JobState::Done {
                    self.state = JobState::Running;
                }
            }
            JobChange::Pause | JobChange::Resume => {}
        }
        self.settle();
    }

    /// A running job that has all its positions, or can have no more, is done.
    pub(crate) fn settle(&mut self) {
        if self.state == JobState::Running && (self.positions >= self.target || self.frontier == 0) {
            self.state = JobState::Done;
        }
    }
}

/// The store with changes that are not made yet.
pub(crate) struct Index<'a> {
    store: &'a dyn Store,
    changes: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    pub(crate) marker: Marker,
}

impl<'a> Index<'a> {
    pub(crate) fn new(store: &'a dyn Store, marker: Marker) -> Self {
        Self { store, changes: BTreeMap::new(), marker }
    }

    /// The changes, the marker among them.
    pub(crate) fn into_batch(self) -> (Batch, Marker) {
        let mut batch: Vec<_> = self.changes.into_iter().collect();
        batch.push((MARKER.to_vec(), Some(seal(MARKER, &self.marker))));
        (Batch(batch), self.marker)
    }

    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BookError> {
        match self.changes.get(key) {
            Some(value) => Ok(value.clone()),
            None => self.store.get(key),
        }
    }

    pub(crate) fn put(&mut self, key: Vec<u8>, value: Vec<u8>) -> Result<(), BookError> {
        self.forget(&key)?;
        self.marker.entries += 1;
        self.marker.digest ^= digest(&key, &value);
        self.changes.insert(key, Some(value));
        Ok(())
    }

    pub(crate) fn remove(&mut self, key: &[u8]) -> Result<bool, BookError> {
        let was = self.forget(key)?;
        if was {
            self.changes.insert(key.to_vec(), None);
        }
        Ok(was)
    }

    fn forget(&mut self, key: &[u8]) -> Result<bool, BookError> {
        let old = self.get(key)?;
        if let Some(old) = &old {
            self.marker.entries -= 1;
            self.marker.digest ^= digest(key, old);
        }
        Ok(old.is_some())
    }

    /// All entries whose keys begin with `prefix`, with the changes; for short ranges.
    pub(crate) fn all(&self, prefix: &[u8]) -> Result<Vec<Pair>, BookError> {
        let mut found: BTreeMap<_, _> = self.store.range(prefix, prefix).collect::<Result<_, _>>()?;
        let changed = self.changes.range(prefix.to_vec()..).take_while(|(key, _)| key.starts_with(prefix));
        for (key, value) in changed {
            match value {
                Some(value) => found.insert(key.clone(), value.clone()),
                None => found.remove(key),
            };
        }
        Ok(found.into_iter().collect())
    }

    fn body<T: DeserializeOwned>(&self, key: &[u8], what: &'static str) -> Result<Option<T>, BookError> {
        let bytes = self.get(key)?;
        bytes.map(|bytes| unseal(key, &bytes).ok_or(BookError::Store(what))).transpose()
    }

    pub(crate) fn record(&self, id: Id) -> Result<Option<Record>, BookError> {
        let key = key(RECORD, &[&id.0]);
        let bytes = self.get(&key)?;
        bytes.map(|bytes| unseal(&key, &bytes).ok_or(BookError::Record(id.key()))).transpose()
    }

    pub(crate) fn put_record(&mut self, id: Id, record: &Record) -> Result<(), BookError> {
        let key = key(RECORD, &[&id.0]);
        let value = seal(&key, record);
        self.put(key, value)
    }

    pub(crate) fn value(&self, id: Id) -> Result<Option<Derived>, BookError> {
        let key = key(VALUE, &[&id.0]);
        let body: Option<DerivedBody> = self.body(&key, "a value")?;
        body.map(|body| body.derived().ok_or(BookError::Store("a value"))).transpose()
    }

    pub(crate) fn put_value(&mut self, id: Id, value: Derived) -> Result<(), BookError> {
        let key = key(VALUE, &[&id.0]);
        let bytes = seal(&key, &DerivedBody::from(value));
        self.put(key, bytes)
    }

    pub(crate) fn link(&mut self, child: Id, parent: Id) -> Result<(), BookError> {
        self.put(key(LINK, &[&child.0, &parent.0]), Vec::new())
    }

    /// The positions that lead to this one by a move that is followed.
    pub(crate) fn parents(&self, child: Id) -> Result<Vec<Id>, BookError> {
        let links = self.all(&key(LINK, &[&child.0]))?;
        links.iter().map(|(key, _)| Id::at_end(key).ok_or(BookError::Store("a link"))).collect()
    }

    pub(crate) fn job(&self, id: u32) -> Result<Option<JobBody>, BookError> {
        self.body(&key(JOB, &[&id.to_be_bytes()]), "a job")
    }

    pub(crate) fn put_job(&mut self, id: u32, job: &JobBody) -> Result<(), BookError> {
        let key = key(JOB, &[&id.to_be_bytes()]);
        let value = seal(&key, job);
        self.put(key, value)
    }

    pub(crate) fn spec(&self, id: u32) -> Result<Option<SpecBody>, BookError> {
        self.body(&key(SPEC, &[&id.to_be_bytes()]), "a job")
    }

    pub(crate) fn put_spec(&mut self, id: u32, spec: &SpecBody) -> Result<(), BookError> {
        let key = key(SPEC, &[&id.to_be_bytes()]);
        let value = seal(&key, spec);
        self.put(key, value)
    }

    pub(crate) fn jobs(&self) -> Result<Vec<(u32, JobBody)>, BookError> {
        let body = |(key, value): &Pair| {
            let id = key.last_chunk().map(|bytes| u32::from_be_bytes(*bytes));
            id.zip(unseal(key, value)).ok_or(BookError::Store("a job"))
        };
        self.all(&[JOB])?.iter().map(body).collect()
    }

    pub(crate) fn engine(&self, number: u32) -> Result<Option<Arc<str>>, BookError> {
        let name: Option<String> = self.body(&key(ENGINE, &[&number.to_be_bytes()]), "an engine")?;
        Ok(name.map(Into::into))
    }

    /// The number of an engine; a new one where it has none.
    pub(crate) fn engine_number(&mut self, name: &str) -> Result<u32, BookError> {
        let mut number = 0_u32;
        while let Some(known) = self.engine(number)? {
            if *known == *name {
                return Ok(number);
            }
            number += 1;
        }
        let key = key(ENGINE, &[&number.to_be_bytes()]);
        let value = seal(&key, &name);
        self.put(key, value)?;
        Ok(number)
    }

    /// The priority by which a position of a job was reached.
    pub(crate) fn priority(&self, job: u32, id: Id) -> Result<Option<u64>, BookError> {
        let bytes = self.get(&key(PRIORITY, &[&job.to_be_bytes(), &id.0]))?;
        let number = |bytes: Vec<u8>| bytes.try_into().map(u64::from_be_bytes);
        bytes.map(|bytes| number(bytes).map_err(|_| BookError::Store("a priority"))).transpose()
    }

    pub(crate) fn put_priority(&mut self, job: u32, id: Id, priority: u64) -> Result<(), BookError> {
        self.put(key(PRIORITY, &[&job.to_be_bytes(), &id.0]), priority.to_be_bytes().to_vec())
    }

    /// Whether a position waits to be searched.
    pub(crate) fn waits(&self, job: u32, id: Id, priority: u64) -> Result<bool, BookError> {
        Ok(self.get(&frontier_key(job, priority, id))?.is_some())
    }

    pub(crate) fn wait(&mut self, job: u32, id: Id, priority: u64) -> Result<bool, BookError> {
        let is_new = !self.waits(job, id, priority)?;
        self.put(frontier_key(job, priority, id), Vec::new())?;
        Ok(is_new)
    }

    pub(crate) fn unwait(&mut self, job: u32, id: Id, priority: u64) -> Result<bool, BookError> {
        self.remove(&frontier_key(job, priority, id))
    }
}

fn frontier_key(job: u32, priority: u64, id: Id) -> Vec<u8> {
    key(FRONTIER, &[&job.to_be_bytes(), &priority.to_be_bytes(), &id.0])
}

//! The store's keys, and changes to it that are made together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kagetsu_game::{Answer, Move, Position};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Derived;
use crate::base::annotations::{AnnotationBody, Annotations, is_on_board};
use crate::base::id::{Id, unpack};
use crate::base::links::{Reach, Stage};
use crate::base::node::Node;
use crate::base::record::{self, Record};
use crate::error::{BookError, JobError, LearnError};
use crate::graph::cache::ReadCache;
use crate::graph::frontier_change::FrontierChange;
use crate::graph::job_state::{Account, Held, JobBody};
use crate::graph::keys::{
    ACCOUNT, ANNOTATED, ASIDE, ENGINE, HELD, JOB, JUDGED, MARKER, Marker, POSITION, SPEC, WALK,
    key, queue_key, queued,
};
use crate::graph::row::Row;
use crate::journal::entry::JobEntry;
use crate::settings::job::JobSpec;
use crate::settings::move_filter::MoveFilter;
use kagetsu_store::{Batch, Pair, Store};
use kagetsu_store::{decode, digest, encode};

/// A position that a job goes on without.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AsideBody {
    pub(crate) packed: Vec<u8>,
    pub(crate) reason: String,
}

/// The store with changes that are not made yet.
pub(crate) struct Index<'a> {
    store: &'a dyn Store,
    changes: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    /// As they are in the store or among the changes, and as they are now.
    jobs: BTreeMap<u32, (Option<JobBody>, JobBody)>,
    /// The same of the rows of positions.
    rows: BTreeMap<Id, (Row, Row)>,
    frontier: Vec<FrontierChange>,
    new_proofs: Vec<Id>,
    cache: ReadCache,
    /// The last row that the cache did not take.
    latest: Row,
    pub(crate) marker: Marker,
}

/// The changes that an [`Index`] applies.
pub(crate) struct Changes {
    /// Rows of the store, the marker among them.
    pub(crate) batch: Batch,
    /// The marker once they are written.
    pub(crate) marker: Marker,
    /// Positions that wait, or wait no more.
    pub(crate) frontier: Vec<FrontierChange>,
    /// Positions that have a proof now and had none before.
    pub(crate) new_proofs: Vec<Id>,
}

impl<'a> Index<'a> {
    pub(crate) fn new(store: &'a dyn Store, marker: Marker, cache: ReadCache) -> Self {
        Self {
            store,
            changes: BTreeMap::new(),
            jobs: BTreeMap::new(),
            rows: BTreeMap::new(),
            frontier: Vec::new(),
            new_proofs: Vec::new(),
            cache,
            latest: Row::default(),
            marker,
        }
    }

    /// Jobs that have changed, maybe others.
    pub(crate) fn changed_jobs(&self) -> impl Iterator<Item = u32> {
        self.jobs.keys().copied()
    }

    /// The changes, and what was read on the way.
    pub(crate) fn into_parts(mut self) -> (Changes, ReadCache) {
        for (id, (before, now)) in std::mem::take(&mut self.jobs) {
            self.put(key(JOB, &[&id.to_be_bytes()]), before.as_ref(), Some(&now));
        }
        let mut batch: Vec<_> = self.changes.into_iter().collect();
        batch.push((MARKER.to_vec(), Some(encode(MARKER, &self.marker))));
        let changes = Changes {
            batch: Batch(batch),
            marker: self.marker,
            frontier: self.frontier,
            new_proofs: self.new_proofs,
        };
        (changes, self.cache)
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BookError> {
        match self.changes.get(key) {
            Some(value) => Ok(value.clone()),
            None => Ok(self.store.get(key)?),
        }
    }

    /// Changes what is under a key from `before` to `now`.
    fn put<T: Serialize + PartialEq>(&mut self, key: Vec<u8>, before: Option<&T>, now: Option<&T>) {
        if before != now {
            let bytes = |body: &T| encode(&key, body);
            let (before, now) = (before.map(bytes), now.map(bytes));
            self.put_bytes(key, before, now);
        }
    }

    fn put_bytes(&mut self, key: Vec<u8>, before: Option<Vec<u8>>, now: Option<Vec<u8>>) {
        let before = before.map(|before| digest(&key, &before));
        let after = now.as_ref().map(|now| digest(&key, now));
        self.replace(key, before, now, after);
    }

    /// Changes what is under a key; `before` and `after` are the digests of the bytes there.
    fn replace(
        &mut self,
        key: Vec<u8>,
        before: Option<u64>,
        now: Option<Vec<u8>>,
        after: Option<u64>,
    ) {
        self.marker.entries -= u64::from(before.is_some());
        self.marker.entries += u64::from(after.is_some());
        self.marker.digest ^= before.unwrap_or(0) ^ after.unwrap_or(0);
        self.changes.insert(key, now);
    }

    /// The first `most` entries whose keys begin with `prefix`, with the changes.
    fn first(&self, prefix: &[u8], most: usize) -> Result<Vec<Pair>, BookError> {
        let changed = self
            .changes
            .range(prefix.to_vec()..)
            .take_while(|(key, _)| key.starts_with(prefix));
        let changed: Vec<_> = changed.collect();
        let removed = changed.iter().filter(|(_, value)| value.is_none()).count();
        let stored = self
            .store
            .range(prefix, prefix)
            .take(most.saturating_add(removed));
        let mut found: BTreeMap<_, _> = stored.collect::<Result<_, _>>()?;
        for (key, value) in changed {
            match value {
                Some(value) => found.insert(key.clone(), value.clone()),
                None => found.remove(key),
            };
        }
        Ok(found.into_iter().take(most).collect())
    }

    fn body<T: DeserializeOwned>(
        &self,
        key: &[u8],
        what: &'static str,
    ) -> Result<Option<T>, BookError> {
        let bytes = self.get(key)?;
        bytes
            .map(|bytes| decode(key, &bytes).ok_or(BookError::Entry(what)))
            .transpose()
    }

    /// The row of a position, an empty one where the store has none.
    fn row(&mut self, id: Id) -> Result<&Row, BookError> {
        if self.rows.contains_key(&id) {
            return Ok(&self.rows[&id].1);
        }
        let (changes, store) = (&self.changes, self.store);
        let read = || {
            let key = key(POSITION, &[&id.0]);
            let bytes = match changes.get(&key) {
                Some(bytes) => bytes.clone(),
                None => store.get(&key)?,
            };
            match bytes {
                Some(bytes) => Row::read(&key, &bytes).ok_or(BookError::Record(id.key())),
                None => Ok(Row::default()),
            }
        };
        if let Some(row) = self.cache.rows.get_or_insert_with(&id, read)? {
            return Ok(row);
        }
        // A full cache has dropped the row at once.
        self.latest = read()?;
        Ok(&self.latest)
    }

    /// Changes the row of a position. [`Self::settle`] writes it.
    fn change_row(&mut self, id: Id, change: impl FnOnce(&mut Row)) -> Result<(), BookError> {
        if let Some((_, now)) = self.rows.get_mut(&id) {
            change(now);
            return Ok(());
        }
        let before = self.row(id)?.clone();
        let mut now = before.clone();
        change(&mut now);
        if !now.is_same(&before) {
            self.rows.insert(id, (before, now));
        }
        Ok(())
    }

    /// Writes the row of a position if it has changed, and updates the frontiers.
    fn write_row(&mut self, id: Id) -> Result<(), BookError> {
        let Some((before, mut now)) = self.rows.remove(&id) else {
            return Ok(());
        };
        if before.links != now.links {
            let mut jobs = before.links.jobs();
            jobs.extend(now.links.jobs());
            jobs.sort_unstable();
            jobs.dedup();
            for job in jobs {
                let waited = self.waiting(job, id, &before.links)?;
                let waits = self.waiting(job, id, &now.links)?;
                self.wait(job, id, waited, waits)?;
            }
        }
        self.marker.positions += u64::from(now.record.is_some());
        self.marker.positions -= u64::from(before.record.is_some());
        let key = key(POSITION, &[&id.0]);
        let bytes = now.write(&key);
        now.digest = bytes.as_ref().map(|bytes| digest(&key, bytes));
        self.replace(key, before.digest, bytes, now.digest);
        self.cache.rows.insert(id, now);
        Ok(())
    }

    /// A position of the book.
    pub(crate) fn node(&mut self, id: Id) -> Result<Option<Arc<Node>>, BookError> {
        if let Some(node) = self.cache.nodes.get(&id) {
            return Ok(Some(Arc::clone(node)));
        }
        let Some(record) = self.row(id)?.record.clone() else {
            return Ok(None);
        };
        let node = Arc::new(read_node(id, &record, self.engines()?)?);
        self.cache.nodes.insert(id, Arc::clone(&node));
        Ok(Some(node))
    }

    /// Writes the record of a node; its position is a canonical one.
    pub(crate) fn put_node(&mut self, id: Id, node: Arc<Node>) -> Result<(), BookError> {
        let groups = record::write(&node.facts, |engine| self.engine_number(engine))?;
        let packed = node
            .position
            .setup()
            .map(|packed| packed.0.clone())
            .expect("a node's position was unpacked");
        let record = postcard::to_allocvec(&Record { packed, groups });
        let record = record.expect("plain data, and memory grows");
        self.cache.nodes.insert(id, node);
        self.change_row(id, |row| row.record = Some(record.into()))
    }

    /// The value of a position of the book.
    pub(crate) fn value(&mut self, id: Id) -> Result<Option<Derived>, BookError> {
        Ok(self.row(id)?.value)
    }

    /// Writes the value of a position of the book.
    pub(crate) fn put_value(&mut self, id: Id, value: Derived) -> Result<(), BookError> {
        let before = self.row(id)?.value.and_then(|value| value.proof);
        if before.is_none() && value.proof.is_some() {
            self.new_proofs.push(id);
        }
        self.change_row(id, |row| row.value = Some(value))
    }

    /// Returns the links of a position; a new position is unknown and has none.
    pub(crate) fn reach(&mut self, id: Id) -> Result<Arc<Reach>, BookError> {
        Ok(Arc::clone(&self.row(id)?.links))
    }

    /// Changes the links of a position.
    pub(crate) fn put_reach(
        &mut self,
        id: Id,
        change: impl FnOnce(&mut Reach),
    ) -> Result<(), BookError> {
        self.change_row(id, |row| change(Arc::make_mut(&mut row.links)))
    }

    /// Returns the priority with which a position with these links waits for a job, if it waits. A
    /// job that searches anew waits for positions that were judged to fall short, and for open ones
    /// among them.
    pub(crate) fn waiting(
        &mut self,
        job: u32,
        id: Id,
        reach: &Reach,
    ) -> Result<Option<u64>, BookError> {
        if self.move_filter(job)?.deepen.is_none() {
            return Ok(reach.waiting(job));
        }
        let Some(is_short) = self.judged(job, id)? else {
            return Ok(None);
        };
        let is_due = is_short || matches!(reach.stage, Stage::Open | Stage::Distrusted);
        Ok(reach
            .priority(job)
            .filter(|_| is_due && !reach.is_aside(job)))
    }

    /// Whether a position falls short of what a job that searches anew asks for, if it was judged.
    pub(crate) fn judged(&self, job: u32, id: Id) -> Result<Option<bool>, BookError> {
        self.body(&key(JUDGED, &[&job.to_be_bytes(), &id.0]), "a judgement")
    }

    /// Writes whether a position falls short.
    pub(crate) fn judge(&mut self, job: u32, id: Id, is_short: bool) -> Result<(), BookError> {
        // It waits as it was judged before until that is written.
        self.write_row(id)?;
        let reach = self.reach(id)?;
        let (known, before) = (self.judged(job, id)?, self.waiting(job, id, &reach)?);
        self.put(
            key(JUDGED, &[&job.to_be_bytes(), &id.0]),
            known.as_ref(),
            Some(&is_short),
        );
        let now = self.waiting(job, id, &reach)?;
        self.wait(job, id, before, now)
    }

    /// Changes of a job after its creation.
    pub(crate) fn account(&self, job: u32) -> Result<Account, BookError> {
        Ok(self
            .body(&key(ACCOUNT, &[&job.to_be_bytes()]), "a job's limits")?
            .unwrap_or_default())
    }

    /// Changes it.
    pub(crate) fn put_account(
        &mut self,
        job: u32,
        change: impl FnOnce(&mut Account),
    ) -> Result<(), BookError> {
        let key = key(ACCOUNT, &[&job.to_be_bytes()]);
        let before: Option<Account> = self.body(&key, "a job's limits")?;
        let mut now = before.clone().unwrap_or_default();
        change(&mut now);
        if before.is_some() || now != Account::default() {
            self.put(key, before.as_ref(), Some(&now));
        }
        // It may be over now.
        self.job(job).map(drop)
    }

    /// A root has this value now: whether its choice is another than when it last was.
    pub(crate) fn has_turned(
        &mut self,
        job: u32,
        root: Id,
        value: Derived,
    ) -> Result<bool, BookError> {
        let key = key(HELD, &[&job.to_be_bytes(), &root.0]);
        let before: Option<Held> = self.body(&key, "a choice")?;
        let now = Held {
            best: value.best.map(Move::code),
            score: value.score.raw(),
        };
        if before.is_some_and(|before| before.is_still(now)) {
            return Ok(false);
        }
        self.put(key, before.as_ref(), Some(&now));
        Ok(true)
    }

    /// Moves a position in a job's frontier.
    fn wait(
        &mut self,
        job: u32,
        id: Id,
        before: Option<u64>,
        now: Option<u64>,
    ) -> Result<(), BookError> {
        if before == now {
            return Ok(());
        }
        self.frontier.push(FrontierChange {
            job,
            id,
            before,
            now,
        });
        let state = self.job(job)?;
        state.frontier -= u64::from(before.is_some());
        state.frontier += u64::from(now.is_some());
        Ok(())
    }

    /// A job's state, to be changed.
    pub(crate) fn job(&mut self, id: u32) -> Result<&mut JobBody, BookError> {
        if !self.jobs.contains_key(&id) {
            let body: Option<JobBody> = self.body(&key(JOB, &[&id.to_be_bytes()]), "a job")?;
            let body = body.ok_or(BookError::Entry("a job"))?;
            self.jobs.insert(id, (Some(body.clone()), body));
        }
        self.jobs
            .get_mut(&id)
            .map(|(_, now)| now)
            .ok_or(BookError::Entry("a job"))
    }

    /// Writes everything that follows from an entry of the journal, and ends changed jobs that have
    /// reached their goal.
    pub(crate) fn settle(&mut self) -> Result<(), BookError> {
        while let Some((&id, _)) = self.rows.first_key_value() {
            self.write_row(id)?;
        }
        let jobs: Vec<u32> = self.jobs.keys().copied().collect();
        for id in jobs {
            let account = self.account(id)?;
            let widens = self.move_filter(id)?.widens();
            let is_proven = self.job(id)?.is_starved() && self.is_proven(id)?;
            self.job(id)?.settle(&account, widens, is_proven);
        }
        Ok(())
    }

    /// Whether each root of a job has a proven value.
    pub(crate) fn is_proven(&mut self, job: u32) -> Result<bool, BookError> {
        for root in self.spec(job)?.roots.iter() {
            let value = self.value(Id::of(root.variant().code(), &root.canonical()))?;
            if value.is_none_or(|value| value.proof.is_none()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds a job, and returns its number.
    pub(crate) fn add_job(&mut self, entry: &JobEntry, spec: &JobSpec) -> Result<u32, BookError> {
        let number = match self.cache.jobs {
            Some(known) => known,
            None => u32::try_from(self.first(&[SPEC], usize::MAX)?.len())
                .map_err(|_| JobError::TooMany)?,
        };
        self.cache.jobs = Some(number.checked_add(1).ok_or(JobError::TooMany)?);
        self.put(key(SPEC, &[&number.to_be_bytes()]), None, Some(entry));
        let target = spec.build.positions.unwrap_or(u64::MAX);
        self.jobs.insert(number, (None, JobBody::new(target)));
        Ok(number)
    }

    /// Returns what a job was made with.
    pub(crate) fn spec(&self, job: u32) -> Result<JobSpec, BookError> {
        let entry: Option<JobEntry> = self.body(&key(SPEC, &[&job.to_be_bytes()]), "a job")?;
        let spec = entry.and_then(|entry| entry.spec());
        spec.ok_or(BookError::Entry("a job"))
    }

    /// Returns which moves a job follows.
    pub(crate) fn move_filter(&mut self, job: u32) -> Result<Arc<MoveFilter>, BookError> {
        if let Some(filter) = self.cache.move_filters.get(&job) {
            return Ok(Arc::clone(filter));
        }
        let filter = Arc::new(MoveFilter::new(&self.spec(job)?));
        self.cache.move_filters.insert(job, Arc::clone(&filter));
        Ok(filter)
    }

    /// All jobs as they are in the store.
    pub(crate) fn jobs(&self) -> Result<Vec<(u32, JobBody)>, BookError> {
        let body = |(key, value): &Pair| {
            let id = key.last_chunk().map(|bytes| u32::from_be_bytes(*bytes));
            id.zip(decode(key, value)).ok_or(BookError::Entry("a job"))
        };
        self.first(&[JOB], usize::MAX)?.iter().map(body).collect()
    }

    /// The names of all engines, by number.
    pub(crate) fn engines(&mut self) -> Result<&[Arc<str>], BookError> {
        if self.cache.engines.is_empty() {
            let name =
                |(key, value): &Pair| decode(key, value).ok_or(BookError::Entry("an engine"));
            let names: Vec<String> = self
                .first(&[ENGINE], usize::MAX)?
                .iter()
                .map(name)
                .collect::<Result<_, _>>()?;
            self.cache.engines = names.into_iter().map(Into::into).collect();
        }
        Ok(&self.cache.engines)
    }

    /// The number of an engine; a new one where it has none.
    fn engine_number(&mut self, name: &Arc<str>) -> Result<u32, BookError> {
        let engines = self.engines()?;
        let known = engines.iter().position(|known| known == name);
        let number = u32::try_from(known.unwrap_or(engines.len()))
            .map_err(|_| BookError::Entry("the engines"))?;
        if known.is_none() {
            self.put(
                key(ENGINE, &[&number.to_be_bytes()]),
                None,
                Some(&name.to_string()),
            );
            self.cache.engines.push(Arc::clone(name));
        }
        Ok(number)
    }

    /// The positions that jobs have yet to walk on from.
    fn walks(&mut self) -> Result<&mut BTreeSet<(u32, u64, Id)>, BookError> {
        let walks = match self.cache.walks.take() {
            Some(walks) => walks,
            None => {
                let rows = self.first(&[WALK], usize::MAX)?;
                let place = |(key, _): &Pair| queued(key).ok_or(BookError::Entry("a walk"));
                rows.iter().map(place).collect::<Result<_, _>>()?
            }
        };
        Ok(self.cache.walks.insert(walks))
    }

    /// A job has yet to walk on from a known position.
    pub(crate) fn walk_later(&mut self, job: u32, priority: u64, id: Id) -> Result<(), BookError> {
        if self.walks()?.insert((job, priority, id)) {
            self.put_bytes(queue_key(WALK, job, priority, id), None, Some(Vec::new()));
            self.marker.walking += 1;
            self.job(job)?.walking += 1;
        }
        Ok(())
    }

    /// The first `most` positions that a job goes on without.
    pub(crate) fn asides(&self, job: u32, most: usize) -> Result<Vec<(Id, AsideBody)>, BookError> {
        let body = |(key, value): Pair| {
            Id::at_end(&key)
                .zip(decode(&key, &value))
                .ok_or(BookError::Entry("a reason"))
        };
        self.first(&key(ASIDE, &[&job.to_be_bytes()]), most)?
            .into_iter()
            .map(body)
            .collect()
    }

    /// Writes why a job goes on without a position; `None`: it does not any more.
    pub(crate) fn put_aside(
        &mut self,
        job: u32,
        id: Id,
        now: Option<&AsideBody>,
    ) -> Result<(), BookError> {
        let key = key(ASIDE, &[&job.to_be_bytes(), &id.0]);
        let before: Option<AsideBody> = self.body(&key, "a reason")?;
        self.put(key, before.as_ref(), now);
        Ok(())
    }

    /// The annotations of a position.
    pub(crate) fn annotations(&self, id: Id) -> Result<Option<Annotations>, BookError> {
        self.body(&key(ANNOTATED, &[&id.0]), "annotations")
    }

    /// Adds annotations to a position, which is in canonical orientation.
    pub(crate) fn annotate(
        &mut self,
        position: &Position,
        packed: &[u8],
        bodies: &[AnnotationBody],
    ) -> Result<(), BookError> {
        let canonical = position.canonical();
        let id = Id::of(position.variant().code(), &canonical);
        let before = self.annotations(id)?;
        let mut now = before.clone().unwrap_or_default();
        if before.is_some() && now.packed != packed {
            return Err(LearnError::Collision(canonical.key).into());
        }
        now.packed = packed.to_vec();
        for body in bodies {
            let at = body.annotation.at;
            if at.is_some_and(|m| !is_on_board(position.variant(), m)) {
                return Err(BookError::Entry("an annotation in the journal"));
            }
            now.merge(body);
        }
        self.put(key(ANNOTATED, &[&id.0]), before.as_ref(), Some(&now));
        Ok(())
    }

    /// Takes the most urgent position that a job has yet to walk on from.
    pub(crate) fn next_walk(&mut self, job: u32) -> Result<Option<Id>, BookError> {
        let walks = self.walks()?;
        let first = walks.range((job, 0, Id([0; Id::LEN]))..).next().copied();
        let Some((_, priority, id)) = first.filter(|(owner, ..)| *owner == job) else {
            return Ok(None);
        };
        walks.remove(&(job, priority, id));
        self.put_bytes(queue_key(WALK, job, priority, id), Some(Vec::new()), None);
        self.marker.walking -= 1;
        self.job(job)?.walking -= 1;
        Ok(Some(id))
    }
}

/// The node of an encoded record.
pub(crate) fn read_node(id: Id, record: &[u8], engines: &[Arc<str>]) -> Result<Node, BookError> {
    let (position, facts) = read_facts(id, record, engines)?;
    Node::new(position, facts).map_err(|_| BookError::Record(id.key()))
}

/// Returns the position of a record and its moves, which may be illegal ones.
pub(crate) fn read_facts(
    id: Id,
    record: &[u8],
    engines: &[Arc<str>],
) -> Result<(Position, Answer), BookError> {
    let damaged = || BookError::Record(id.key());
    let (record, rest) = postcard::take_from_bytes::<Record>(record).map_err(|_| damaged())?;
    let position = unpack(id.variant(), &record.packed)?;
    let facts = record::read(&record.groups, |number| {
        engines.get(number as usize).cloned()
    });
    let facts = facts.filter(|_| rest.is_empty()).ok_or_else(damaged)?;
    Ok((position, facts))
}

/// Copies the names of engines for one thread, so that threads do not contend for the reference
/// counts.
pub(crate) fn copied_names(names: &[Arc<str>]) -> Vec<Arc<str>> {
    names.iter().map(|name| Arc::from(&**name)).collect()
}

#[cfg(test)]
mod tests {
    use quick_cache::unsync::Cache;

    use super::*;
    use crate::{Book, BookOptions};

    #[test]
    fn rows_are_read_when_the_cache_keeps_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = BookOptions::creating();
        let (book, _) = Book::open(&folder.path().join("book"), &options).expect("a book");
        let cache = ReadCache {
            rows: Cache::new(0),
            ..ReadCache::default()
        };
        let mut index = Index::new(&*book.store, book.marker, cache);
        for number in 0..100 {
            let mut id = Id([0; Id::LEN]);
            id.0[Id::LEN - 1] = number;
            assert!(index.row(id).is_ok(), "{number}");
        }
    }
}

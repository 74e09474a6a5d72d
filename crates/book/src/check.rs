//! Proves a book whole.

use std::collections::BTreeMap;

use kagetsu_game::{Packed, Position};

use crate::book::Book;
use crate::bytes::digest;
use crate::growth::{derive, followed, read_facts};
use crate::id::Id;
use crate::index::{FRONTIER, LINK, MARKER, Marker, RECORD, VALUE, key};
use crate::{BookError, Notice};

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Positions examined.
    pub positions: u64,
    /// Links examined.
    pub links: u64,
    /// Waiting positions examined.
    pub frontier: u64,
    /// What is wrong, one line each; the first hundred.
    pub faults: Vec<String>,
    /// How many faults there are.
    pub count: u64,
    /// What the opening of the book had to say.
    pub notices: Vec<Notice>,
}

impl CheckReport {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.count == 0
    }

    fn fault(&mut self, fault: String) {
        const TOLD: usize = 100;
        self.count += 1;
        if self.faults.len() < TOLD {
            self.faults.push(fault);
        }
    }

    fn hold(&mut self, is_so: bool, fault: impl FnOnce() -> String) {
        if !is_so {
            self.fault(fault());
        }
    }
}

impl Book {
    /// Examines everything: checksums, keys, canonical forms, links, derived values (computed again from the leaves up),
    /// the frontier of every job, and the counts. `progress` hears how many positions are done.
    ///
    /// # Errors
    /// If the store cannot be read at all; what is wrong in it is in the report.
    pub fn check(&self, progress: &mut dyn FnMut(u64)) -> Result<CheckReport, BookError> {
        let mut report = CheckReport::default();
        self.check_counts(&mut report)?;
        for id in self.ids() {
            let id = id?;
            if let Err(error) = self.check_position(id, &mut report) {
                report.fault(format!("position {}: {error}", id.key()));
            }
            report.positions += 1;
            progress(report.positions);
        }
        self.check_links(&mut report)?;
        self.check_frontier(&mut report)?;
        Ok(report)
    }

    fn check_counts(&self, report: &mut CheckReport) -> Result<(), BookError> {
        let mut found = Marker { applied: self.marker.applied, ..Marker::default() };
        let mut values = 0;
        for pair in self.store.range(&[], &[]) {
            let (key, value) = pair?;
            if key != MARKER {
                found.entries += 1;
                found.digest ^= digest(&key, &value);
                found.positions += u64::from(key.first() == Some(&RECORD));
                values += u64::from(key.first() == Some(&VALUE));
            }
        }
        report.hold(found == self.marker, || format!("the store holds {found:?}, its marker says {:?}", self.marker));
        report.hold(values == found.positions, || format!("{values} values for {} positions", found.positions));
        Ok(())
    }

    /// Every parent of a position has fewer stones or (later, in games with cycles) is checked against stored values; so
    /// the values behind each position are held against the leaves in turn.
    fn check_position(&self, id: Id, report: &mut CheckReport) -> Result<(), BookError> {
        let index = self.index();
        let record = index.record(id)?.ok_or(BookError::Record(id.key()))?;
        let variant =
            kagetsu_game::Variant::from_code(id.variant()).map_err(|error| BookError::Position(error.into()))?;
        let position = Position::unpack(variant, Packed(record.packed.clone()))?;
        let canonical = position.canonical();
        let name = id.key();
        report.hold(Id::of(id.variant(), &canonical) == id, || format!("position {name}: its key is another"));
        report.hold(canonical.packed.0 == record.packed, || format!("position {name}: it is not canonical"));
        let facts = read_facts(&index, &record.groups)?;
        let legal = position.legal_moves();
        let is_legal = facts.verdicts().iter().all(|(m, _)| legal.contains(m));
        report.hold(is_legal, || format!("position {name}: a verdict on an illegal move"));
        let value = derive(&index, &position, &facts)?;
        report.hold(index.value(id)? == Some(value), || format!("position {name}: its value is not what follows"));
        for (_, child) in followed(&position, &facts) {
            let is_linked = index.get(&key(LINK, &[&child.0, &id.0]))?.is_some();
            report.hold(is_linked, || format!("position {name}: a link from {} is missing", child.key()));
        }
        Ok(())
    }

    fn check_links(&self, report: &mut CheckReport) -> Result<(), BookError> {
        let index = self.index();
        for pair in self.store.range(&[LINK], &[LINK]) {
            let (key, _) = pair?;
            report.links += 1;
            let parent = Id::at_end(&key).ok_or(BookError::Store("a link"))?;
            let child = key.get(1..).and_then(|rest| rest.first_chunk()).map(|bytes| Id(*bytes));
            let child = child.ok_or(BookError::Store("a link"))?;
            report.hold(index.record(parent)?.is_some(), || format!("a link to {}, which is not there", parent.key()));
            report.hold(child.stones() > parent.stones(), || format!("a link from {} to its own kind", child.key()));
        }
        Ok(())
    }

    fn check_frontier(&self, report: &mut CheckReport) -> Result<(), BookError> {
        let mut waiting: BTreeMap<u32, u64> = BTreeMap::new();
        let index = self.index();
        for pair in self.store.range(&[FRONTIER], &[FRONTIER]) {
            let (key, _) = pair?;
            report.frontier += 1;
            let parts = key.get(1..5).and_then(|b| b.try_into().ok()).map(u32::from_be_bytes).zip(Id::at_end(&key));
            let (job, id) = parts.ok_or(BookError::Store("the frontier"))?;
            let priority = key.get(5..13).and_then(|bytes| bytes.try_into().ok()).map(u64::from_be_bytes);
            *waiting.entry(job).or_default() += 1;
            let reached = index.priority(job, id)?;
            report.hold(reached.is_some() && reached == priority, || {
                format!("{} waits in job {job} with a priority that it was not reached by", id.key())
            });
            let is_due = index.value(id)?.is_none_or(|value| value.is_open);
            report.hold(is_due, || format!("{} waits in job {job}, but nothing is left to search there", id.key()));
        }
        for job in self.jobs()? {
            let found = waiting.get(&job.id.0).copied().unwrap_or(0);
            let (name, frontier) = (&job.spec.name, job.frontier);
            report.hold(found == frontier, || format!("job {name}: {found} positions wait, it says {frontier}"));
        }
        Ok(())
    }
}

//! Proves a book whole.

use std::collections::{BTreeMap, BTreeSet};

use crate::book::Book;
use crate::derive::derive;
use crate::id::Id;
use crate::index::{FRONTIER, Index, Marker, REACH, VALUE, key, queue_key};
use crate::reach::Stage;
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

    pub(crate) fn fault(&mut self, fault: String) {
        const TOLD: usize = 100;
        self.count += 1;
        if self.faults.len() < TOLD {
            self.faults.push(fault);
        }
    }

    pub(crate) fn hold(&mut self, is_so: bool, fault: impl FnOnce() -> String) {
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
        let (mut index, mut links) = (self.index(), 0);
        for id in self.ids() {
            let id = id?;
            match self.check_position(&mut index, id, &mut report) {
                Ok(found) => links += found,
                Err(error) => report.fault(format!("position {}: {error}", id.key())),
            }
            report.positions += 1;
            progress(report.positions);
        }
        self.check_ways(&mut index, links, &mut report)?;
        Ok(report)
    }

    fn check_counts(&self, report: &mut CheckReport) -> Result<(), BookError> {
        let mut found = Marker { applied: self.marker.applied, ..Marker::default() };
        let mut values = 0;
        for pair in self.store.range(&[], &[]) {
            let (key, value) = pair?;
            found.count(&key, &value);
            values += u64::from(key.first() == Some(&VALUE));
        }
        report.hold(found == self.marker, || format!("the store holds {found:?}, its marker says {:?}", self.marker));
        report.hold(values == found.positions, || format!("{values} values for {} positions", found.positions));
        Ok(())
    }

    /// Every value is derived again from the values behind it. Links never lead back to where they come from, and so in the end
    /// to facts alone: where each is right, all are. Returns how many positions this one leads to.
    fn check_position(&self, index: &mut Index, id: Id, report: &mut CheckReport) -> Result<u64, BookError> {
        let node = index.node(id)?.ok_or(BookError::Record(id.key()))?;
        let canonical = node.position.canonical();
        let name = id.key();
        report.hold(Id::of(id.variant(), &canonical) == id, || format!("position {name}: its key is another"));
        let is_canonical = node.position.setup() == Some(&canonical.packed);
        report.hold(is_canonical, || format!("position {name}: it is not canonical"));
        let value = derive(index, id, &node)?;
        report.hold(index.value(id)? == Some(value), || format!("position {name}: its value is not what follows"));
        let stage = if value.is_open { Stage::Open } else { Stage::Closed };
        let reach = index.reach(id)?;
        report.hold(reach.stage == stage || reach.is_distrusted(), || format!("position {name}: its stage is another"));
        let children: BTreeSet<Id> = node.followed.iter().map(|(_, child)| *child).collect();
        let mut links = 0;
        for child in &children {
            let reach = index.reach(*child)?;
            let may_lead_back = reach.is_known() && child.stones() == id.stones();
            links += u64::from(reach.is_from(id));
            let is_right = reach.is_from(id) || may_lead_back;
            report.hold(is_right, || format!("position {name}: a link to {} is missing", child.key()));
        }
        Ok(links)
    }

    /// Each position that a job comes to waits in its place, if anything is left to search there; and no other waits. As
    /// all links of the records were found, there are no others if there are no more.
    fn check_ways(&self, index: &mut Index, links: u64, report: &mut CheckReport) -> Result<(), BookError> {
        let (mut due, mut known): (BTreeMap<u32, u64>, u64) = Default::default();
        let mut above: BTreeMap<Id, Vec<Id>> = BTreeMap::new();
        for pair in self.store.range(&[REACH], &[REACH]) {
            let id = Id::at_end(&pair?.0).ok_or(BookError::Store("a link"))?;
            let reach = index.reach(id)?;
            known += u64::from(reach.is_known());
            report.links += reach.parents().count() as u64;
            let same: Vec<Id> = reach.parents().filter(|parent| parent.stones() == id.stones()).collect();
            if !same.is_empty() {
                above.insert(id, same);
            }
            for (job, priority) in reach.jobs().into_iter().filter_map(|job| Some((job, reach.waiting(job)?))) {
                *due.entry(job).or_default() += 1;
                let waits = self.store.get(&queue_key(FRONTIER, job, priority, id))?.is_some();
                report.hold(waits, || format!("{} does not wait in job {job}", id.key()));
            }
        }
        let (found, positions) = (report.links, report.positions);
        let circle = circle(above);
        report.hold(circle.is_none(), || format!("links lead from {circle:?} back to it"));
        report.hold(found == links, || format!("{found} links, but the records have {links}"));
        report.hold(known == positions, || format!("{known} positions are said to be known, {positions} are"));
        for (job, state) in index.jobs()? {
            let aside = index.asides(job, usize::MAX)?.len() as u64;
            report.hold(aside == state.set_aside, || {
                format!("job {job}: {aside} positions are set aside, it says {}", state.set_aside)
            });
            let prefix = key(FRONTIER, &[&job.to_be_bytes()]);
            let waiting = self.store.range(&prefix, &prefix).count() as u64;
            let due = due.get(&job).copied().unwrap_or(0);
            report.frontier += waiting;
            let is_right = waiting == due && state.frontier == waiting;
            report.hold(is_right, || {
                format!("job {job}: {waiting} positions wait, {due} should, it says {}", state.frontier)
            });
        }
        Ok(())
    }
}

/// A position that its own links lead back to, of those whose parents with as many stones are given.
fn circle(mut above: BTreeMap<Id, Vec<Id>>) -> Option<kagetsu_game::Key> {
    let mut children: BTreeMap<Id, usize> = BTreeMap::new();
    above.values().flatten().for_each(|parent| *children.entry(*parent).or_default() += 1);
    let mut ends: Vec<Id> = above.keys().copied().filter(|id| !children.contains_key(id)).collect();
    // What leads nowhere is no part of a circle.
    while let Some(id) = ends.pop() {
        for parent in above.remove(&id).unwrap_or_default() {
            let left = children.entry(parent).or_default();
            *left -= 1;
            if *left == 0 {
                ends.push(parent);
            }
        }
    }
    children.into_iter().find(|(_, left)| *left > 0).map(|(id, _)| id.key())
}

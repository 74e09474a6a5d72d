//! The check of a whole book.
//!
//! The store is read twice, in partitions and on all cores: first everything, for the totals, the
//! values and the links; then the records, from which all values and links must follow. Things that
//! lie far apart in the store, such as a link and the record that it comes from, are compared as
//! two sums of hashes. Only where the sums differ is each looked up, to name the fault.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::CheckReport;
use crate::base::id::Id;
use crate::base::links::Stage;
use crate::base::node::Node;
use crate::book::Book;
use crate::error::{BookError, JournalError};
use crate::graph::derive::derive;
use crate::graph::frontier::Queue;
use crate::graph::index::{copied_names, read_node};
use crate::graph::keys::{Marker, POSITION};
use crate::graph::row::record_in;
use crate::maintenance::full_scan::{ByJob, Known, Many, StoreContent, scan};
use kagetsu_store::{Partition, map_partitions};

/// The links and faults that follow from the records of a partition.
#[derive(Default)]
struct Followed {
    links: Many,
    level: u64,
    report: CheckReport,
}

impl Book {
    /// Checks everything: all entries of the journal, checksums, keys, canonical forms, links,
    /// values (derived again from the leaves up), the frontier of every job, and the counts.
    /// `progress` gets the number of checked
    /// positions. Takes about 100 bytes of memory for each position.
    ///
    /// # Errors
    /// If the store or the journal cannot be read at all. Faults in them are in the report.
    pub fn check(&self, progress: &mut dyn FnMut(u64)) -> Result<CheckReport, BookError> {
        let (content, known) = scan(&*self.store)?;
        let mut report = content.report.clone();
        report.hold(
            content.found
                == Marker {
                    applied: 0,
                    journal: 0,
                    ..self.marker
                },
            || {
                format!(
                    "the store holds {:?}, its marker says {:?}",
                    content.found, self.marker
                )
            },
        );
        let applied = self.sequence();
        match self.journal.check(applied) {
            Ok(digest) => report.hold(digest == self.digest(), || {
                format!(
                    "the store was made from other entries than the first {} of the journal",
                    applied.0
                )
            }),
            Err(error @ (JournalError::Altered { .. } | JournalError::Damaged { .. })) => {
                report.fault(error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
        let engines = self.index().engines()?.to_vec();
        let mut done = 0;
        let mut each = |followed: &Followed| {
            done += followed.report.positions;
            progress(done);
        };
        let records = Partition::split(&*self.store, Some(POSITION));
        let followed = map_partitions(
            &records,
            |piece| self.followed(piece, &known, &engines),
            &mut each,
        )?;
        let (mut links, mut level) = (Many::default(), 0);
        for part in followed {
            links.add(part.links);
            level += part.level;
            report.positions += part.report.positions;
            report.add(part.report);
        }
        let values = known
            .positions()
            .filter(|known| known.value.is_some())
            .count() as u64;
        report.hold(values == report.positions, || {
            format!("{values} values for {} positions", content.found.positions)
        });
        let known_count = known
            .positions()
            .filter(|known| known.stage != Stage::Unknown)
            .count() as u64;
        let positions = report.positions;
        report.hold(known_count == positions, || {
            format!("{known_count} positions are recorded as known, {positions} are")
        });
        let found_level = known
            .level
            .values()
            .map(|above| above.len() as u64)
            .sum::<u64>();
        report.links = content.links.count + found_level;
        if (links, level) != (content.links, found_level) {
            self.name_links(&mut report)?;
        }
        let circle = circle(known.level);
        report.hold(circle.is_none(), || {
            format!("links lead from {circle:?} back to it")
        });
        self.check_jobs(&content, &mut report)?;
        Ok(report)
    }

    /// Derives every value of a partition again from the values behind it. Links have no cycle and
    /// end at facts, so where each step is right, all values are.
    fn followed(
        &self,
        piece: &Partition,
        known: &Known,
        engines: &[Arc<str>],
    ) -> Result<Followed, BookError> {
        let engines = copied_names(engines);
        let mut followed = Followed::default();
        for pair in piece.entries(&*self.store) {
            let (key, bytes) = pair?;
            let id = Id::at_end(&key).ok_or(BookError::Entry("a key"))?;
            let node = match record_in(&key, &bytes) {
                Some([]) => continue,
                Some(record) => read_node(id, record, &engines),
                None => Err(BookError::Record(id.key())),
            };
            match node {
                Ok(node) => followed.position(id, &node, known)?,
                Err(error) => followed
                    .report
                    .fault(format!("position {}: {error}", id.key())),
            }
            followed.report.positions += 1;
        }
        Ok(followed)
    }

    /// Reports the links that are missing, and those that follow from no record.
    fn name_links(&self, report: &mut CheckReport) -> Result<(), BookError> {
        let before = report.count;
        let mut index = self.index();
        for id in self.ids() {
            let id = id?;
            let Ok(Some(node)) = index.node(id) else {
                continue;
            };
            for child in node
                .followed
                .iter()
                .map(|(_, child)| *child)
                .collect::<BTreeSet<_>>()
            {
                let Ok(reach) = index.reach(child) else {
                    continue;
                };
                let may_lead_back = reach.is_known() && child.stones() == id.stones();
                let is_right = reach.is_from(id) || may_lead_back;
                report.hold(is_right, || {
                    format!(
                        "position {}: a link to {} is missing",
                        id.key(),
                        child.key()
                    )
                });
            }
        }
        for pair in self.store.scan(&[POSITION], Some(&[POSITION + 1])) {
            let id = Id::at_end(&pair?.0).ok_or(BookError::Entry("a link"))?;
            let Ok(reach) = index.reach(id) else {
                continue;
            };
            for parent in reach.parents() {
                let is_followed = index
                    .node(parent)
                    .is_ok_and(|node| node.is_some_and(|node| node.leads_to(id)));
                report.hold(is_followed, || {
                    format!(
                        "position {}: no record leads there from {}",
                        id.key(),
                        parent.key()
                    )
                });
            }
        }
        report.hold(report.count > before, || {
            "the links are not those of the records".into()
        });
        Ok(())
    }

    /// Checks the counts of every job, and that its frontier in memory holds the positions that
    /// wait by their links.
    fn check_jobs(
        &self,
        content: &StoreContent,
        report: &mut CheckReport,
    ) -> Result<(), BookError> {
        let of = |many: &ByJob, job: u32| many.get(&job).copied().unwrap_or_default();
        for (job, state) in self.index().jobs()? {
            let read = |end| Queue::new(usize::MAX, end).read(&*self.store, self.marker, job);
            let mut due = of(&content.due, job);
            // Which positions of such a job wait depends on stored judgements.
            if self.index().move_filter(job)?.deepen.is_some()
                && let Ok(all) = read(None)
            {
                due = all.first.len() as u64;
            }
            let [aside, walking] = [&content.aside, &content.walking].map(|many| of(many, job));
            report.frontier += due;
            let counts = [
                (aside, state.set_aside, "positions are set aside"),
                (walking, state.walking, "positions are to be walked on from"),
                (due, state.frontier, "positions wait"),
            ];
            for (found, recorded, what) in counts {
                report.hold(found == recorded, || {
                    format!("job {job}: {found} {what}, it says {recorded}")
                });
            }
            // The report has the damaged rows already.
            if let Some(queue) = self.frontiers.get(job)
                && let Ok(right) = read(queue.end)
            {
                for (_, id) in right.first.difference(&queue.first) {
                    report.fault(format!("position {} does not wait in job {job}", id.key()));
                }
                for (_, id) in queue.first.difference(&right.first) {
                    report.fault(format!(
                        "position {} should not wait in job {job}",
                        id.key()
                    ));
                }
            }
        }
        Ok(())
    }
}

impl Followed {
    fn position(&mut self, id: Id, node: &Node, known: &Known) -> Result<(), BookError> {
        let (report, name) = (&mut self.report, id.key());
        let canonical = node.position.canonical();
        report.hold(Id::of(id.variant(), &canonical) == id, || {
            format!("position {name}: its key is another")
        });
        let is_canonical = node.position.setup() == Some(&canonical.packed);
        report.hold(is_canonical, || {
            format!("position {name}: it is not canonical")
        });
        let value = derive(node, |m| {
            Ok(node.child(m).and_then(|child| known.value_after(id, child)))
        })?;
        let about = known.position(id);
        report.hold(about.value == Some(value), || {
            format!("position {name}: its value is not what follows")
        });
        let should = if value.is_open {
            Stage::Open
        } else {
            Stage::Closed
        };
        report.hold(
            about.stage == should || about.stage == Stage::Distrusted,
            || format!("position {name}: its stage is another"),
        );
        let mut children: Vec<Id> = node.followed.iter().map(|(_, child)| *child).collect();
        children.sort_unstable();
        children.dedup();
        for child in children {
            if child.stones() != id.stones() {
                self.links.put((child, id));
                continue;
            }
            let is_linked = known.leads(id, child);
            self.level += u64::from(is_linked);
            // A link that would close a cycle is left out, which is possible only between known
            // positions.
            let is_right = is_linked || known.stage(child) != Stage::Unknown;
            self.report.hold(is_right, || {
                format!("position {name}: a link to {} is missing", child.key())
            });
        }
        Ok(())
    }
}

/// Returns a position on a cycle of links between positions with as many stones, if there is one.
fn circle(mut above: HashMap<Id, Vec<Id>>) -> Option<kagetsu_game::Key> {
    let mut children: BTreeMap<Id, usize> = BTreeMap::new();
    above
        .values()
        .flatten()
        .for_each(|parent| *children.entry(*parent).or_default() += 1);
    let mut ends: Vec<Id> = above
        .keys()
        .copied()
        .filter(|id| !children.contains_key(id))
        .collect();
    // Remove positions without children until none is left but those of cycles.
    while let Some(id) = ends.pop() {
        for parent in above.remove(&id).unwrap_or_default() {
            let left = children.entry(parent).or_default();
            *left -= 1;
            if *left == 0 {
                ends.push(parent);
            }
        }
    }
    children
        .into_iter()
        .find(|(_, left)| *left > 0)
        .map(|(id, _)| id.key())
}

#[cfg(test)]
mod tests;

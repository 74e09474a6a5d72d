//! A scan of a whole store, except its records, in partitions and on all cores.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use foldhash::fast::RandomState;
use kagetsu_store::{Partition, Store, decode, map_partitions};

use crate::base::annotations::Annotations;
use crate::base::id::Id;
use crate::base::links::{Reach, Stage};
use crate::graph::keys::{ANNOTATED, ASIDE, Marker, POSITION, WALK, queued};
use crate::graph::row::value_and_links;
use crate::{BookError, CheckReport, Derived};

/// The number of things in a set, and a hash over them that does not depend on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Many {
    pub(crate) count: u64,
    sum: u64,
}

impl Many {
    pub(crate) fn put(&mut self, thing: impl Hash) {
        let mut hasher = DefaultHasher::new();
        thing.hash(&mut hasher);
        self.add(Self {
            count: 1,
            sum: hasher.finish(),
        });
    }

    pub(crate) fn add(&mut self, other: Self) {
        *self = Self {
            count: self.count + other.count,
            sum: self.sum.wrapping_add(other.sum),
        };
    }
}

/// A count for each job.
pub(crate) type ByJob = BTreeMap<u32, u64>;

/// The content of one partition or of the whole store, except the records.
#[derive(Default)]
pub(crate) struct StoreContent {
    pub(crate) found: Marker,
    values: Vec<(Id, Derived)>,
    stages: Vec<(Id, Stage)>,
    /// Links from positions with more or fewer stones.
    pub(crate) links: Many,
    /// For each position, the positions with as many stones that lead there.
    level: Vec<(Id, Vec<Id>)>,
    /// The positions that should wait, those that are yet to be expanded, and those that are
    /// skipped.
    pub(crate) due: ByJob,
    pub(crate) walking: ByJob,
    pub(crate) aside: ByJob,
    pub(crate) report: CheckReport,
}

/// The stage and value of a position.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KnownPosition {
    pub(crate) stage: Stage,
    pub(crate) value: Option<Derived>,
    /// Numbers the positions of a scan from 0 on.
    number: u32,
}

impl KnownPosition {
    /// Returns whether the book has a record of the position that is not invalid.
    fn is_held(&self) -> bool {
        !matches!(self.stage, Stage::Unknown | Stage::Distrusted)
    }
}

/// The stages, values and links that a second scan needs.
#[derive(Default)]
pub(crate) struct Known {
    positions: HashMap<Id, KnownPosition, RandomState>,
    pub(crate) level: HashMap<Id, Vec<Id>>,
}

impl Known {
    /// Returns what is known of a position; the default of an unknown one.
    pub(crate) fn position(&self, id: Id) -> KnownPosition {
        self.positions.get(&id).copied().unwrap_or_default()
    }

    pub(crate) fn stage(&self, id: Id) -> Stage {
        self.positions
            .get(&id)
            .map_or(Stage::Unknown, |known| known.stage)
    }

    pub(crate) fn positions(&self) -> impl Iterator<Item = &KnownPosition> {
        self.positions.values()
    }

    /// Returns the number of positions, which is above the number of each.
    pub(crate) fn len(&self) -> usize {
        self.positions.len()
    }

    /// Returns the number of a held position.
    pub(crate) fn number(&self, id: Id) -> Option<u32> {
        let known = self.positions.get(&id)?;
        known.is_held().then_some(known.number)
    }

    /// Returns the entry of a position, a new one where it has none.
    fn entry(&mut self, id: Id) -> &mut KnownPosition {
        let number = u32::try_from(self.positions.len()).expect("memory holds fewer positions");
        self.positions.entry(id).or_insert(KnownPosition {
            number,
            ..KnownPosition::default()
        })
    }

    pub(crate) fn leads(&self, from: Id, to: Id) -> bool {
        from.stones() != to.stones()
            || self
                .level
                .get(&to)
                .is_some_and(|above| above.contains(&from))
    }

    pub(crate) fn value_after(&self, id: Id, child: Id) -> Option<Derived> {
        let known = self.positions.get(&child)?;
        known.value.filter(|value| {
            value.has_value() && known.stage != Stage::Distrusted && self.leads(id, child)
        })
    }
}

/// Scans all entries except the records, and reports damaged ones.
///
/// # Errors
/// If the store cannot be read.
pub(crate) fn scan(store: &dyn Store) -> Result<(StoreContent, Known), BookError> {
    let contents = map_partitions(
        &Partition::split(store, None),
        |partition| scan_partition(store, partition),
        &mut |_| {},
    )?;
    Ok(combine(contents))
}

/// Returns the stages, values and links of all positions.
///
/// # Errors
/// If the store cannot be read or an entry is damaged.
pub(crate) fn known(store: &dyn Store) -> Result<Known, BookError> {
    let (content, known) = scan(store)?;
    if content.report.is_clean() {
        Ok(known)
    } else {
        Err(BookError::Entry("an entry"))
    }
}

/// Scans the entries of a partition.
fn scan_partition(store: &dyn Store, partition: &Partition) -> Result<StoreContent, BookError> {
    let mut content = StoreContent::default();
    for pair in partition.entries(store) {
        let (key, value) = pair?;
        content.found.count(&key, &value);
        if !content.entry(&key, &value) {
            let name =
                Id::at_end(&key).map_or_else(|| format!("{key:02x?}"), |id| id.key().to_string());
            let kind = key.first().map_or('?', |kind| char::from(*kind));
            content
                .report
                .fault(format!("the entry '{kind}' of {name} is damaged"));
        }
    }
    Ok(content)
}

impl StoreContent {
    /// Adds an entry; `false` for a damaged one.
    fn entry(&mut self, key: &[u8], value: &[u8]) -> bool {
        match key.first() {
            Some(&POSITION) => {
                let row = value_and_links(key, value);
                Id::at_end(key)
                    .zip(row)
                    .map(|(id, (value, links))| self.row(id, value, &links))
                    .is_some()
            }
            Some(&WALK) => queued(key)
                .map(|(job, ..)| *self.walking.entry(job).or_default() += 1)
                .is_some(),
            Some(&ASIDE) => {
                let job = key
                    .get(1..)
                    .and_then(|rest| rest.first_chunk())
                    .map(|job| u32::from_be_bytes(*job));
                job.map(|job| *self.aside.entry(job).or_default() += 1)
                    .is_some()
            }
            Some(&ANNOTATED) => decode::<Annotations>(key, value).is_some(),
            _ => true,
        }
    }

    fn row(&mut self, id: Id, value: Option<Derived>, reach: &Reach) {
        self.values.extend(value.map(|value| (id, value)));
        if reach.is_known() {
            self.stages.push((id, reach.stage));
        }
        let mut level = Vec::new();
        for parent in reach.parents() {
            if parent.stones() == id.stones() {
                level.push(parent);
            } else {
                self.links.put((id, parent));
            }
        }
        if !level.is_empty() {
            self.level.push((id, level));
        }
        let is_due = |job: &u32| reach.waiting(*job).is_some();
        for job in reach.jobs().into_iter().filter(is_due) {
            *self.due.entry(job).or_default() += 1;
        }
    }
}

/// Combines the contents of all partitions.
fn combine(contents: Vec<StoreContent>) -> (StoreContent, Known) {
    let (mut all, mut known) = (StoreContent::default(), Known::default());
    known
        .positions
        .reserve(contents.iter().map(|content| content.values.len()).sum());
    for content in contents {
        all.found.add(&content.found);
        all.links.add(content.links);
        let of_jobs = [
            (&mut all.due, content.due),
            (&mut all.walking, content.walking),
            (&mut all.aside, content.aside),
        ];
        for (sums, jobs) in of_jobs {
            jobs.into_iter()
                .for_each(|(job, count)| *sums.entry(job).or_default() += count);
        }
        content
            .values
            .into_iter()
            .for_each(|(id, value)| known.entry(id).value = Some(value));
        content
            .stages
            .into_iter()
            .for_each(|(id, stage)| known.entry(id).stage = stage);
        known.level.extend(content.level);
        all.report.add(content.report);
    }
    (all, known)
}

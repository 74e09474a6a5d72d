use kagetsu_game::Packed;
use serde::{Deserialize, Serialize};

use crate::base::id::Id;

/// The state of a position in the book.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// No record.
    #[default]
    Unknown,
    /// A record; moves without a value may be better than the best.
    Open,
    /// A record.
    Closed,
    /// An invalid record: it waits to be replaced, and nothing follows from it.
    Distrusted,
}

/// The links of a position: its state, the positions that lead to it, and the jobs that reach it
/// with their priorities. They alone determine whether it waits in a frontier.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reach {
    pub(crate) stage: Stage,
    /// Jobs that begin here, ascending.
    roots: Vec<u32>,
    /// The packed position if a job begins here, because no other position may lead here.
    packed: Vec<u8>,
    /// Jobs that skip it because it could not be searched, ascending.
    aside: Vec<u32>,
    /// Ascending.
    parents: Vec<Parent>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Parent {
    id: Id,
    /// The priority that each job that comes from there gives it; ascending by job.
    seen: Vec<(u32, u64)>,
}

fn insert(jobs: &mut Vec<u32>, job: u32) {
    if let Err(at) = jobs.binary_search(&job) {
        jobs.insert(at, job);
    }
}

impl Reach {
    /// A job begins here.
    pub(crate) fn begin(&mut self, job: u32, packed: &Packed) {
        insert(&mut self.roots, job);
        self.packed.clone_from(&packed.0);
    }

    /// The position, where a job begins.
    pub(crate) fn root(&self) -> Option<&[u8]> {
        Some(&*self.packed).filter(|packed| !packed.is_empty())
    }

    pub(crate) fn set_aside(&mut self, job: u32) {
        insert(&mut self.aside, job);
    }

    pub(crate) fn take_up(&mut self, job: u32) {
        self.aside.retain(|aside| *aside != job);
    }

    pub(crate) fn is_distrusted(&self) -> bool {
        self.stage == Stage::Distrusted
    }

    pub(crate) fn is_aside(&self, job: u32) -> bool {
        self.aside.binary_search(&job).is_ok()
    }

    pub(crate) fn is_known(&self) -> bool {
        self.stage != Stage::Unknown
    }

    /// Jobs that begin here, ascending.
    pub(crate) fn roots(&self) -> &[u32] {
        &self.roots
    }

    /// With which priority it waits to be searched for a job, if it does.
    pub(crate) fn waiting(&self, job: u32) -> Option<u64> {
        let is_due = self.stage != Stage::Closed && !self.is_aside(job);
        self.priority(job).filter(|_| is_due)
    }

    /// A position leads here.
    pub(crate) fn link(&mut self, parent: Id) {
        if let Err(at) = self.find(parent) {
            self.parents.insert(
                at,
                Parent {
                    id: parent,
                    seen: Vec::new(),
                },
            );
        }
    }

    /// A position leads here no more.
    pub(crate) fn unlink(&mut self, parent: Id) {
        if let Ok(at) = self.find(parent) {
            self.parents.remove(at);
        }
    }

    /// A job comes here from a linked position with this priority, or (`None`) not at all.
    pub(crate) fn see(&mut self, parent: Id, job: u32, priority: Option<u64>) {
        let Ok(at) = self.find(parent) else { return };
        let seen = &mut self.parents[at].seen;
        match (seen.binary_search_by_key(&job, |(job, _)| *job), priority) {
            (Ok(at), Some(priority)) => seen[at].1 = priority,
            (Ok(at), None) => drop(seen.remove(at)),
            (Err(at), Some(priority)) => seen.insert(at, (job, priority)),
            (Err(_), None) => {}
        }
    }

    /// Whether that is known, or is of a position that does not lead here.
    pub(crate) fn is_seen(&self, parent: Id, job: u32, priority: Option<u64>) -> bool {
        let Ok(at) = self.find(parent) else {
            return true;
        };
        let known = self.parents[at].seen.iter().find(|(from, _)| *from == job);
        known.map(|(_, known)| *known) == priority
    }

    /// The least priority by which a job comes here; the least is next.
    pub(crate) fn priority(&self, job: u32) -> Option<u64> {
        if self.roots.binary_search(&job).is_ok() {
            return Some(0);
        }
        let seen = self.parents.iter().flat_map(|parent| &parent.seen);
        seen.filter(|(at, _)| *at == job)
            .map(|(_, priority)| *priority)
            .min()
    }

    /// The jobs that come here, ascending.
    pub(crate) fn jobs(&self) -> Vec<u32> {
        let seen = self
            .parents
            .iter()
            .flat_map(|parent| &parent.seen)
            .map(|(job, _)| *job);
        let mut jobs: Vec<u32> = self.roots.iter().copied().chain(seen).collect();
        jobs.sort_unstable();
        jobs.dedup();
        jobs
    }

    /// The positions that lead here, ascending.
    pub(crate) fn parents(&self) -> impl Iterator<Item = Id> {
        self.parents.iter().map(|parent| parent.id)
    }

    pub(crate) fn is_from(&self, parent: Id) -> bool {
        self.find(parent).is_ok()
    }

    fn find(&self, parent: Id) -> Result<usize, usize> {
        self.parents
            .binary_search_by_key(&parent, |parent| parent.id)
    }
}

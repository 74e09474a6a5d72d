use std::collections::{BTreeSet, HashSet, VecDeque};

use kagetsu_game::{Answer, Bound, Move, Position, Variant};
use serde::Serialize;

use crate::base::id::Id;
use crate::book::believed;
use crate::error::{BookError, LearnError};
use crate::graph::derive::value_after;
use crate::graph::index::Index;
use crate::journal::entry::LogEntry;
use crate::journal::reader;
use crate::journal::rewrite::Rewrite;
use crate::settings::job::{JobChange, JobId, JobState};
use crate::{Book, BookOptions, Notice};

/// The part of a book to keep: the positions that its roots lead to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pruning {
    /// The variant to prune; positions of others are kept. Without it, the variants of the roots,
    /// or all where there are no roots.
    pub variant: Option<Variant>,
    /// The roots. Without any, the roots of the jobs and the positions that no other leads to.
    pub roots: Vec<Position>,
    /// The greatest distance from the nearest root in plies.
    pub max_ply: Option<u16>,
    /// Centi-units by which a move may be worse than the best of its position to be followed.
    pub max_loss: Option<u16>,
}

/// The result of pruning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PruneReport {
    /// Positions that are left.
    pub kept: u64,
    /// Positions that were removed.
    pub removed: u64,
    /// Jobs that were done and are paused now, because some of their positions were removed.
    pub paused: Vec<String>,
    /// The notices of the opening of the book.
    #[serde(skip)]
    pub notices: Vec<Notice>,
}

impl Pruning {
    /// Returns whether a position may be removed.
    fn is_about(&self, id: Id) -> bool {
        match self.variant {
            Some(variant) => id.variant() == variant.code(),
            None => {
                self.roots.is_empty()
                    || self
                        .roots
                        .iter()
                        .any(|root| id.variant() == root.variant().code())
            }
        }
    }
}

impl Book {
    /// Removes positions for good and opens the book again. Jobs stay, with the positions that are
    /// left to them.
    ///
    /// # Errors
    /// If a root leads to no position of the book; then nothing is removed. If a record is damaged
    /// or the disk refuses; then the book is the old one or the new one, whole.
    pub fn prune(
        self,
        pruning: &Pruning,
        options: &BookOptions,
    ) -> Result<(Self, PruneReport), BookError> {
        self.require_folder()?;
        let kept = self.kept(pruning)?;
        let before = self.len();
        if kept.len() as u64 == before {
            let report = PruneReport {
                kept: before,
                removed: 0,
                paused: Vec::new(),
                notices: Vec::new(),
            };
            return Ok((self, report));
        }
        let done: BTreeSet<JobId> = self
            .jobs()?
            .into_iter()
            .filter(|job| job.state == JobState::Done)
            .map(|job| job.id)
            .collect();
        self.syncer().sync()?;
        let mut new = Rewrite::begin(&self.path)?;
        reader::scan(
            &self.path.join("journal"),
            None,
            &mut |sequence, bytes, _| {
                let entry = LogEntry::decode(sequence, bytes)?;
                let is_kept = match entry.about()? {
                    Some(id) if matches!(entry, LogEntry::Annotate { .. }) => {
                        let mut index = self.index();
                        let (node, reach) = (index.node(id)?, index.reach(id)?);
                        // People's words go with the positions that lead to them alone.
                        let is_alone = node.is_none() && reach.parents().next().is_none();
                        is_alone
                            || kept.contains(&id)
                            || node.is_none() && reach.parents().any(|id| kept.contains(&id))
                    }
                    Some(id) => kept.contains(&id),
                    None => true,
                };
                if is_kept {
                    Ok(new.add_bytes(bytes)?)
                } else {
                    Ok(())
                }
            },
        )?;
        let path = self.path.clone();
        self.replace_journal(new)?;
        let (mut book, notices) = Self::open(&path, options)?;
        let mut paused = Vec::new();
        for job in book
            .jobs()?
            .into_iter()
            .filter(|job| job.state == JobState::Running && done.contains(&job.id))
        {
            book.change_job(job.id, JobChange::Pause)?;
            paused.push(job.spec.name);
        }
        book.syncer().sync()?;
        let kept = book.len();
        Ok((
            book,
            PruneReport {
                kept,
                removed: before - kept,
                paused,
                notices,
            },
        ))
    }

    /// Returns the positions that the roots lead to, by the shortest ways, and those of variants
    /// that are not pruned.
    fn kept(&self, pruning: &Pruning) -> Result<HashSet<Id>, BookError> {
        let mut index = self.index();
        let mut left: VecDeque<(Id, u16, Option<Position>)> = VecDeque::new();
        for root in &pruning.roots {
            let canonical = root.canonical();
            let position = Position::unpack(root.variant(), canonical.packed.clone())?;
            let id = Id::of(root.variant().code(), &canonical);
            if index.node(id)?.is_none()
                && (pruning.max_ply == Some(0)
                    || followed(&mut index, &position, None, None)?.is_empty())
            {
                return Err(LearnError::NoRoot(root.clone()).into());
            }
            left.push_back((id, 0, Some(position)));
        }
        let mut kept = HashSet::new();
        for id in self.ids() {
            let id = id?;
            if !pruning.is_about(id) {
                kept.insert(id);
            } else if pruning.roots.is_empty() {
                let reach = index.reach(id)?;
                if reach.root().is_some() || reach.parents().next().is_none() {
                    left.push_back((id, 0, None));
                }
            }
        }
        let mut seen = left.iter().map(|(id, ..)| *id).collect::<HashSet<_>>();
        while let Some((id, ply, root)) = left.pop_front() {
            let node = index.node(id)?;
            let (position, answer) = match (&node, root) {
                (Some(node), _) => (
                    node.position.clone(),
                    Some(believed(node, |m| value_after(&mut index, id, node, m))?),
                ),
                // The book may begin beyond a root.
                (None, Some(root)) => (root, None),
                (None, None) => continue,
            };
            if node.is_some() {
                kept.insert(id);
            }
            if pruning.max_ply.is_some_and(|most| ply >= most) {
                continue;
            }
            for child in followed(&mut index, &position, answer.as_ref(), pruning.max_loss)? {
                if seen.insert(child) {
                    left.push_back((child, ply + 1, None));
                }
            }
        }
        Ok(kept)
    }
}

/// Returns the positions of the book that a position leads to.
fn followed(
    index: &mut Index,
    position: &Position,
    answer: Option<&Answer>,
    max_loss: Option<u16>,
) -> Result<Vec<Id>, BookError> {
    let best = answer.and_then(|answer| {
        answer
            .verdicts()
            .iter()
            .find(|(_, v)| v.bound == Bound::Exact)
    });
    let moves: Vec<Move> = match (answer, best, max_loss) {
        (Some(answer), Some((_, best)), Some(most)) => {
            let least = best.score.raw().saturating_sub_unsigned(most);
            answer
                .verdicts()
                .iter()
                .filter(|(_, v)| v.score.raw() >= least)
                .map(|(m, _)| *m)
                .collect()
        }
        _ => position.distinct_moves(),
    };
    let code = position.variant().code();
    let mut found = Vec::new();
    for child in position.children(&moves) {
        let id = Id::of(code, &child);
        if index.node(id)?.is_some() {
            found.push(id);
        }
    }
    Ok(found)
}

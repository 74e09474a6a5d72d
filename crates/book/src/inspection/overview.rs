use std::collections::{BTreeMap, BTreeSet};

use kagetsu_compiled::{Overview, RootOverview, VariantOverview};
use kagetsu_game::{Move, Variant};

use crate::base::id::Id;
use crate::base::node::Node;
use crate::graph::keys::{POSITION, key};
use crate::inspection::roots::Roots;
use crate::{Book, BookError};

/// Roots of one variant that an overview lists.
const MAX_ROOTS: usize = 100;
/// Positions that an overview visits to count those behind the roots: a page waits for them.
const MAX_VISITS: usize = 4_000;

impl Book {
    /// Returns the variants of the book with their roots. Counts the positions behind the roots as
    /// far as about 4,000 visits go.
    ///
    /// # Errors
    /// If a record is damaged.
    pub fn overview(&self) -> Result<Overview, BookError> {
        let mut index = self.index();
        self.overview_with(MAX_VISITS, |id, visits| {
            count_behind(id, visits, |id| match index.node(id)? {
                Some(node) => Ok(Some(children(&node))),
                None => Ok(None),
            })
        })
    }

    /// The same with other visits; `count` returns the number of positions from a root on, as many
    /// as the visits that it gets, and whether there may be more.
    pub(crate) fn overview_with(
        &self,
        visits: usize,
        mut count: impl FnMut(Id, usize) -> Result<(u64, bool), BookError>,
    ) -> Result<Overview, BookError> {
        let counts = self.counts()?;
        let mut variants = Vec::new();
        for (code, positions) in counts {
            let Ok(variant) = Variant::from_code(code) else {
                continue;
            };
            let Roots { listed, all } = self.roots(variant, MAX_ROOTS)?;
            variants.push((variant, positions, listed, all));
        }
        let mut left = visits;
        let mut roots_left: usize = variants.iter().map(|(_, _, listed, _)| listed.len()).sum();
        let mut overview = Overview::default();
        for (variant, positions, listed, all_roots) in variants {
            let mut roots = Vec::new();
            for position in listed {
                let id = Id::of(variant.code(), &position.canonical());
                let share = left / roots_left.max(1);
                let (positions, is_more) = count(id, share)?;
                left -= usize::try_from(positions).unwrap_or(left).min(left);
                roots_left -= 1;
                roots.push(RootOverview {
                    position,
                    positions,
                    is_more,
                });
            }
            overview.variants.push(VariantOverview {
                variant,
                positions,
                roots,
                all_roots,
            });
        }
        Ok(overview)
    }

    /// Returns the number of positions by the variant's code, for all variants of positions and
    /// jobs.
    fn counts(&self) -> Result<BTreeMap<u32, u64>, BookError> {
        let mut counts: BTreeMap<u32, u64> = self
            .jobs
            .specs
            .values()
            .map(|spec| (spec.variant.code(), 0))
            .collect();
        let mut from = key(POSITION, &[]);
        let mut held = Vec::new();
        while let Some(first) = self.ids_from(&from).next().transpose()? {
            held.push(first.variant());
            let Some(next) = first.variant().checked_add(1) else {
                break;
            };
            from = key(POSITION, &[&next.to_be_bytes()]);
        }
        if let [only] = held[..] {
            counts.insert(only, self.len());
            return Ok(counts);
        }
        for id in self.ids() {
            *counts.entry(id?.variant()).or_default() += 1;
        }
        Ok(counts)
    }
}

/// Returns the positions that the moves with a value, and the moves that were only made, lead to.
pub(crate) fn children(node: &Node) -> Vec<Id> {
    let mut ids: Vec<Id> = node.followed.iter().map(|(_, child)| *child).collect();
    let others = node.facts.verdicts().iter();
    let others = others.filter(|(_, v)| v.is_silent() || (v.is_exact() && v.proof.is_some()));
    let others: Vec<Move> = others.map(|(m, _)| *m).collect();
    if others.is_empty() {
        // To set up the position takes time.
        return ids;
    }
    let code = node.position.variant().code();
    let after = node.position.children(&others);
    ids.extend(after.iter().map(|child| Id::of(code, child)));
    ids
}

/// Counts the positions from `root` on, as many as `visits`; says whether there may be more.
fn count_behind(
    root: Id,
    visits: usize,
    mut behind: impl FnMut(Id) -> Result<Option<Vec<Id>>, BookError>,
) -> Result<(u64, bool), BookError> {
    let mut seen = BTreeSet::from([root]);
    let mut waiting = vec![root];
    let mut count = 0;
    while let Some(id) = waiting.pop() {
        if count as usize >= visits.max(1) {
            return Ok((count, true));
        }
        let Some(children) = behind(id)? else {
            continue;
        };
        count += 1;
        waiting.extend(children.into_iter().filter(|child| seen.insert(*child)));
    }
    Ok((count, false))
}

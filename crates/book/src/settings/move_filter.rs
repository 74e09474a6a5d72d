use std::collections::BTreeSet;

use kagetsu_game::{Position, Side};

use super::build_spec::Deepen;
use super::job::JobSpec;
use super::policies::growth_policy::{Candidate, GrowthPolicy};
use crate::base::id::Id;

/// Which moves a job follows, and in what order: the settings of a job as the growth of the book
/// needs them. It gives the same results every time, so that the same journal grows the same book.
pub(crate) struct MoveFilter {
    policy: &'static dyn GrowthPolicy,
    side: Side,
    margin: Option<u16>,
    excluded: BTreeSet<Id>,
    /// Thousandths of a ply by which a loss of 100 centi-units postpones a position.
    loss_weight: u64,
    /// Greatest random delay, in thousandths of a ply.
    noise: u64,
    seed: u64,
    /// Number of stones beyond which no line is followed.
    pub(crate) max_stones: u16,
    /// Which known positions are searched again; with it the job enters known positions only.
    pub(crate) deepen: Option<Deepen>,
}

impl MoveFilter {
    pub(crate) fn new(spec: &JobSpec) -> Self {
        let JobSpec {
            variant,
            roots,
            exclude,
            build,
            ..
        } = spec;
        let policy = build.policy.rules();
        let loss_weight = if build.policy.uses("alpha") {
            build.alpha
        } else {
            0.0
        };
        let excluded = |position: &Position| Id::of(variant.code(), &position.canonical());
        let deepest_root = roots.iter().map(|root| root.canonical().stones).max();
        Self {
            policy,
            side: build.side,
            margin: build.margin,
            excluded: exclude.iter().map(excluded).collect(),
            loss_weight: thousandths(loss_weight),
            noise: thousandths(build.noise),
            seed: build.seed,
            max_stones: build.max_ply.map_or(u16::MAX, |plies| {
                deepest_root.unwrap_or(0).saturating_add(plies)
            }),
            deepen: build.deepen.clone(),
        }
    }

    /// Whether the job may search known positions for further moves although nothing waits.
    pub(crate) fn widens(&self) -> bool {
        self.policy.info().widens
    }

    /// Whether it matters how much a move loses.
    pub(crate) fn has_margin(&self) -> bool {
        self.margin.is_some()
    }

    /// Whether the job follows a move by `by` that is worth `loss` centi-units less than the best
    /// one and leads to `child`.
    pub(crate) fn follows(&self, by: Side, is_best: bool, loss: u64, child: Id) -> bool {
        let candidate = Candidate {
            by,
            is_best,
            is_within_margin: self.margin.is_none_or(|margin| loss <= margin.into()),
        };
        self.policy.follows(self.side, &candidate) && !self.excluded.contains(&child)
    }

    /// Millionths of a ply by which a position is postponed against the one before it.
    pub(crate) fn delay(&self, loss: u64, child: Id) -> u64 {
        PLY + loss * self.loss_weight * (PLY / 100_000) + self.random_delay(child) * (PLY / 1_000)
    }

    /// A random number of thousandths of a ply: the position's key mixed with the seed as in
    /// Steele, Lea and Flood: "Fast splittable pseudorandom number generators", 2014.
    fn random_delay(&self, child: Id) -> u64 {
        if self.noise == 0 {
            return 0;
        }
        let mut mixed = child.key().0 as u64 ^ self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % self.noise
    }
}

impl std::fmt::Debug for MoveFilter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MoveFilter").finish_non_exhaustive()
    }
}

/// One ply, in the unit of priorities.
pub(crate) const PLY: u64 = 1_000_000;

fn thousandths(number: f64) -> u64 {
    (number * 1e3).round() as u64
}

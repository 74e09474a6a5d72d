use std::collections::BTreeSet;

use kagetsu_game::Side;

use crate::BookError;
use crate::graph::id::Id;
use crate::graph::id::unpack;
use crate::jobs::job::Deepen;
use crate::journal::entry::Setting;

/// Which moves a job follows, and what it adds to the priority of what they lead to; the same every time.
#[derive(Debug, Default)]
pub(crate) struct Way {
    /// The side of which only the best move is followed.
    own: Option<Side>,
    margin: Option<u16>,
    /// In thousandths of a ply.
    noise: u32,
    seed: u64,
    excluded: BTreeSet<Id>,
    /// What is known is searched anew where it falls short of this, and nothing else is entered.
    pub(crate) deepen: Option<Deepen>,
}

/// A move, as far as it matters to whether it is followed.
pub(crate) struct Candidate {
    /// Who makes it.
    pub(crate) by: Side,
    /// Whether it is the best.
    pub(crate) is_best: bool,
    /// Centi-units that it is worth less than the best.
    pub(crate) lost: u64,
    /// Where it leads.
    pub(crate) child: Id,
}

impl Way {
    /// Of a job of this variant.
    pub(crate) fn new(variant: u32, settings: &[Setting]) -> Result<Self, BookError> {
        let mut way = Self::default();
        for setting in settings {
            match setting {
                Setting::Prove(_) => {}
                Setting::OneSide(0) => way.own = Some(Side::First),
                Setting::OneSide(_) => way.own = Some(Side::Second),
                Setting::Margin(margin) => way.margin = Some(*margin),
                Setting::Noise(millis, seed) => (way.noise, way.seed) = (*millis, *seed),
                Setting::Deepen(deepen) => way.deepen = Some(deepen.clone()),
                Setting::Exclude(packed) => {
                    way.excluded
                        .insert(Id::of(variant, &unpack(variant, packed)?.canonical()));
                }
            }
        }
        Ok(way)
    }

    /// Whether it matters how much a move loses.
    pub(crate) fn has_margin(&self) -> bool {
        self.margin.is_some()
    }

    /// Whether the job goes on to where the move leads.
    pub(crate) fn follows(&self, candidate: &Candidate) -> bool {
        let is_near = match self.own {
            Some(own) if own == candidate.by => candidate.is_best,
            _ => self
                .margin
                .is_none_or(|margin| candidate.lost <= margin.into()),
        };
        is_near && !self.excluded.contains(&candidate.child)
    }

    /// Thousandths of a ply by chance. The position's key is as good as a throw of dice, and is mixed with the seed as in
    /// Steele, Lea and Flood: "Fast splittable pseudorandom number generators", 2014.
    pub(crate) fn chance(&self, child: Id) -> u64 {
        if self.noise == 0 {
            return 0;
        }
        let mut mixed = child.key().0 as u64 ^ self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % u64::from(self.noise)
    }
}

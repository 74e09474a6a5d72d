use std::collections::{BTreeMap, BTreeSet};

use kagetsu_game::{Move, Packed, Position, Variant};
use serde::{Deserialize, Serialize};

use crate::graph::id::Id;
use crate::graph::keys::{POSITION, key};
use crate::graph::node::Node;
use crate::inspection::roots::Roots;
use crate::{Book, BookError};

/// Roots of one variant that an overview lists.
const MAX_ROOTS: usize = 100;
/// Positions that an overview visits to count those behind the roots.
const MAX_VISITS: usize = 20_000;

/// The content of a book in short.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    /// The variants of its positions and of its jobs, in the order of their codes.
    pub variants: Vec<VariantOverview>,
}

/// The positions of one variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantOverview {
    /// The variant.
    pub variant: Variant,
    /// The number of its positions.
    pub positions: u64,
    /// The first 100 positions where the book begins: the start of the game if the book holds it,
    /// then the roots of its jobs. A book without either begins at positions to which no other
    /// leads.
    pub roots: Vec<RootOverview>,
    /// The number of all roots.
    pub all_roots: u64,
}

/// A position where a book begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootOverview {
    /// The position, with the moves to it where they are known.
    pub position: Position,
    /// Positions of the book that its moves lead to, this one included; 0 if the book does not
    /// hold it yet.
    pub positions: u64,
    /// Whether there may be more positions: the count ended at a limit.
    pub is_more: bool,
}

impl Overview {
    /// Returns the overview of a book whose positions lie behind one root.
    #[must_use]
    pub fn of_root(position: Position, positions: u64) -> Self {
        let root = RootOverview {
            position,
            positions,
            is_more: false,
        };
        let held = VariantOverview {
            variant: root.position.variant(),
            positions,
            roots: vec![root],
            all_roots: 1,
        };
        Self {
            variants: vec![held],
        }
    }

    /// Returns the part of a variant.
    #[must_use]
    pub fn variant(&self, variant: Variant) -> Option<&VariantOverview> {
        self.variants.iter().find(|held| held.variant == variant)
    }
}

impl Book {
    /// Returns the variants of the book with their roots. Counts the positions behind the roots as
    /// far as about 20,000 visits go.
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

/// An overview as a compiled book stores it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OverviewBody(Vec<VariantBody>);

#[derive(Debug, Serialize, Deserialize)]
struct VariantBody {
    code: u32,
    positions: u64,
    roots: Vec<RootBody>,
    all_roots: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct RootBody {
    setup: Option<Vec<u8>>,
    moves: Vec<u16>,
    positions: u64,
    is_more: bool,
}

impl From<&Overview> for OverviewBody {
    fn from(overview: &Overview) -> Self {
        let root = |root: &RootOverview| RootBody {
            setup: root.position.setup().map(|packed| packed.0.clone()),
            moves: root.position.moves().iter().map(|m| m.code()).collect(),
            positions: root.positions,
            is_more: root.is_more,
        };
        let variant = |held: &VariantOverview| VariantBody {
            code: held.variant.code(),
            positions: held.positions,
            roots: held.roots.iter().map(root).collect(),
            all_roots: held.all_roots,
        };
        Self(overview.variants.iter().map(variant).collect())
    }
}

impl OverviewBody {
    /// The overview; `None` for a body that names an impossible position.
    pub(crate) fn overview(self) -> Option<Overview> {
        let variant = |body: VariantBody| {
            let variant = Variant::from_code(body.code).ok()?;
            let root = |body: RootBody| {
                let moves: Vec<Move> = body.moves.into_iter().map(Move::new).collect();
                let position = Position::new(variant, body.setup.map(Packed), &moves).ok()?;
                Some(RootOverview {
                    position,
                    positions: body.positions,
                    is_more: body.is_more,
                })
            };
            Some(VariantOverview {
                variant,
                positions: body.positions,
                roots: body.roots.into_iter().map(root).collect::<Option<_>>()?,
                all_roots: body.all_roots,
            })
        };
        let variants = self.0.into_iter().map(variant).collect::<Option<_>>()?;
        Some(Overview { variants })
    }
}

//! Smaller win trees. Each position of a tree is proven again with what is there already: answers
//! to other replies, and nodes that won where the winner had the same stones.

use std::cell::Cell;

use anyhow::{Error, Result, anyhow, ensure};
use kagetsu_book::{Entry, Place};
use kagetsu_certificate::Tree;
use kagetsu_game::Position;

use crate::ProofSource;
use crate::open_positions::OpenPosition;
use crate::proof_cache::ProofCache;
use crate::tree_builder::ProofTreeBuilder;

/// Joins trees into one of `position`, and makes it smaller where it can. The trees prove the
/// position, or the loser is to move there and they prove what each reply leads to, up to symmetry.
/// The result is never larger than the trees together. `progress` is called now and then with the
/// number of positions that were looked at.
///
/// Trees of caro, and those in which White wins renju, are joined only: they have no zones.
///
/// # Errors
/// If the trees belong to another variant or do not prove the position.
pub fn shrink(position: &Position, trees: &[Tree], progress: &dyn Fn(u64)) -> Result<Tree> {
    let variant = position.variant();
    ensure!(
        variant.gomoku().is_some(),
        "only trees of gomoku can be joined, not of {variant}"
    );
    for other in trees.iter().map(|tree| tree.position.variant()) {
        ensure!(
            other == variant,
            "a tree of {other} is no part of one of {variant}"
        );
    }
    let source = NoBook {
        progress,
        seen: Cell::default(),
    };
    let grow = |trusts_guides: bool| {
        let mut cache = ProofCache::new(variant, 0);
        cache.trusts_guides = trusts_guides;
        trees.iter().try_for_each(|tree| cache.load(tree))?;
        let grown = ProofTreeBuilder::new(&source, &mut cache).tree(position);
        let has_zones = cache
            .winner
            .is_some_and(|winner| cache.pool.has_zones(winner));
        anyhow::Ok((grown.map_err(|error| why_open(position, error))?, has_zones))
    };
    let (whole, has_zones) = grow(false)?;
    if !has_zones {
        return Ok(whole);
    }
    let (small, _) = grow(true)?;
    let is_smaller = small.nodes().len() < whole.nodes().len();
    Ok(if is_smaller { small } else { whole })
}

/// Says why trees do not prove a position.
fn why_open(position: &Position, error: Error) -> Error {
    match error.downcast::<OpenPosition>() {
        Ok(open) => match open.position.moves().strip_prefix(position.moves()) {
            Some([reply]) => anyhow!("no tree answers {}", position.write_move(*reply)),
            _ => anyhow!(
                "a tree does not win in {}; `kagetsu verify` names its fault",
                open.position
            ),
        },
        Err(other) => other,
    }
}

/// A book without positions.
struct NoBook<'a> {
    progress: &'a dyn Fn(u64),
    seen: Cell<u64>,
}

impl ProofSource for NoBook<'_> {
    fn lookup(&self, positions: Vec<Position>) -> Result<Vec<Option<Entry>>> {
        self.seen.set(self.seen.get() + 1);
        (self.progress)(self.seen.get());
        Ok(vec![None; positions.len()])
    }

    fn page(&self, _: Option<Place>) -> Result<Vec<Entry>> {
        Ok(Vec::new())
    }
}

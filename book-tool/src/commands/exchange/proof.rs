//! Win trees of a book's proofs, and the positions that keep a tree from being whole.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use anyhow::{Context, Result};
use kagetsu_book::Book;
use kagetsu_certificate::{CheckedReplies, check_parallel};
use kagetsu_formats::openings;
use kagetsu_game::Position;
use kagetsu_program::{Readers, write_whole};
use kagetsu_proofs::{GrownTree, ProofCache, ProofTreeBuilder};

use crate::commands::verify::read_tree::read_tree;

/// How a win tree is grown.
pub(super) struct ProofExport<'a> {
    /// The most positions that a search may visit.
    pub(super) nodes: u64,
    /// Win trees of parts, or of another rule.
    pub(super) with: &'a [PathBuf],
    /// The file for the open positions.
    pub(super) open: Option<&'a Path>,
}

impl ProofExport<'_> {
    /// Returns the win tree of a position. Open positions are written to their file, where there is
    /// one, and returned.
    pub(super) fn grow(&self, book: &Book, root: &Position) -> Result<GrownTree> {
        let mut cache = ProofCache::new(root.variant(), self.nodes);
        for path in self.with {
            let loaded = read_tree(path).and_then(|tree| {
                // A tree of another rule proves nothing here.
                if tree.position.variant() == root.variant() {
                    let threads = available_parallelism().unwrap_or(NonZeroUsize::MIN);
                    check_parallel(&tree, CheckedReplies::ByZones, threads, &|_| {})
                        .context("it does not hold")?;
                }
                cache.load(&tree)
            });
            loaded.with_context(|| path.display().to_string())?;
        }
        let mut builder = ProofTreeBuilder::new(book, &mut cache);
        let Some(path) = self.open else {
            return Ok(GrownTree::Whole(builder.tree(root)?));
        };
        let tried = if path.exists() {
            openings::read(path, root.variant())?
        } else {
            Vec::new()
        };
        let grown = builder.tree_or_open(root, &tried)?;
        if let GrownTree::Open(positions) = &grown {
            write_roots(path, positions).with_context(|| path.display().to_string())?;
        }
        Ok(grown)
    }
}

/// Writes positions as a file of roots.
fn write_roots(path: &Path, positions: &[Position]) -> Result<()> {
    let lines = positions.iter().map(|position| position.notation() + "\n");
    let text: String = lines.collect();
    write_whole(path, &text, Readers::Usual)?;
    Ok(())
}

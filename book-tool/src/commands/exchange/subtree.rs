//! A part of a book: the positions that moves lead to from one of them.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use kagetsu_book::{Book, BookOptions};
use kagetsu_game::Position;
use tempfile::TempDir;

/// A copy of a part of a book; it is removed with this value.
pub(super) struct Subtree {
    pub(super) book: Book,
    _folder: TempDir,
}

impl Subtree {
    /// Copies the position and every position of the book that its moves lead to.
    ///
    /// # Errors
    /// If the book does not hold the position, or the disk refuses.
    pub(super) fn below(root: &Position, book: &Book) -> Result<Self> {
        if book.lookup(root)?.is_none() {
            bail!("the book does not hold {root}, so there is nothing below it to export");
        }
        let folder = tempfile::tempdir().context("cannot make a folder for a part of the book")?;
        let options = BookOptions::creating();
        let (mut part, _) = Book::open(&folder.path().join("book"), &options)?;
        let (mut seen, mut open) = (BTreeSet::from([root.key()]), vec![root.clone()]);
        while let Some(position) = open.pop() {
            part.annotate(&position, &book.annotations(&position)?)?;
            let Some(entry) = book.lookup(&position)? else {
                continue;
            };
            for &(m, _) in entry.facts.verdicts() {
                let Ok(next) = position.play(m) else { continue };
                if seen.insert(next.key()) {
                    open.push(next);
                }
            }
            part.learn(&position, &entry.facts)?;
        }
        Ok(Self {
            book: part,
            _folder: folder,
        })
    }
}

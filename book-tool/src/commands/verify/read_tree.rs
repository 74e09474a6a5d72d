use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result};
use kagetsu_certificate::Tree;
use kagetsu_files::open_regular;
use kagetsu_proofs::unpacked;

/// Reads a win tree, packed by xz or not, which is not checked.
pub(crate) fn read_tree(path: &Path) -> Result<Tree> {
    let file = open_regular(path).context("cannot read it")?;
    Ok(Tree::read(&mut *unpacked(BufReader::new(file))?)?)
}

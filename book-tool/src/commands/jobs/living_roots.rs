//! A file of roots that is read again while a build runs.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use anyhow::Result;
use kagetsu_formats::openings;
use kagetsu_game::{Key, Position, Variant};

/// The pause between two looks at the file.
const LOOK_PAUSE: Duration = Duration::from_millis(500);

/// The file, and the roots that the build has from it and from elsewhere.
pub(super) struct LivingRoots {
    path: PathBuf,
    variant: Variant,
    known: BTreeSet<Key>,
    /// The time of the last change that was read.
    changed: Option<SystemTime>,
}

impl LivingRoots {
    /// Begins to watch a file that has just been read; `roots` are those of the build.
    pub(super) fn new(path: PathBuf, variant: Variant, roots: &[Position]) -> Self {
        let changed = modified(&path);
        Self {
            path,
            variant,
            known: roots.iter().map(Position::key).collect(),
            changed,
        }
    }

    /// Waits until the file has changed. Returns the new roots of its finished lines, of which
    /// there may be none, and a last line that has no line end yet.
    ///
    /// # Errors
    /// If the file is no list of roots any more. The next call waits for the next change.
    pub(super) async fn next(&mut self) -> Result<(Vec<Position>, Option<String>)> {
        loop {
            tokio::time::sleep(LOOK_PAUSE).await;
            let changed = modified(&self.path);
            // An editor may remove the file before it writes the new one.
            if changed.is_none() || changed == self.changed {
                continue;
            }
            self.changed = changed;
            return self.read();
        }
    }

    /// Reads the file and returns the roots that are not known yet, and an unfinished last line.
    fn read(&mut self) -> Result<(Vec<Position>, Option<String>)> {
        let (mut roots, unfinished) = openings::read_finished(&self.path, self.variant)?;
        roots.retain(|root| root.outcome().is_none() && self.known.insert(root.key()));
        Ok((roots, unfinished))
    }
}

fn modified(path: &PathBuf) -> Option<SystemTime> {
    std::fs::metadata(path)
        .and_then(|file| file.modified())
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_roots_are_returned() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("roots.txt");
        let write = |text: &str| std::fs::write(&path, text).expect("room");
        write("h8\n");
        let variant = Variant::FREESTYLE_15;
        let first = openings::read(&path, variant).expect("a root");
        let mut living = LivingRoots::new(path.clone(), variant, &first);
        assert_eq!(living.read().expect("readable"), (vec![], None));
        // The line h8 i10 is being written.
        write("h8\nh8 i1");
        let half = (vec![], Some("h8 i1".to_string()));
        assert_eq!(living.read().expect("readable"), half);
        write("h8\nh8 i9 # new\ng7\n");
        let new: Vec<String> = living
            .read()
            .expect("readable")
            .0
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(new, ["freestyle-15 h8 i9", "freestyle-15 g7"]);
        write("h8 h8\n");
        assert!(living.read().is_err());
        write("h8\nh8 i9\nh8 j10\n");
        assert_eq!(living.read().expect("readable").0.len(), 1);
    }
}

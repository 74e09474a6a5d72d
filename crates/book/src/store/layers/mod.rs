//! The store of a book: what is new in memory, what is not much in sled, all else in one sealed file.
//!
//! sled takes ten microseconds for each entry, and keeps half a KiB of memory for every position, whatever its cache. So what
//! changes is gathered in memory first. When that is much, a thread writes all parts into a new sealed file, and what changes
//! meanwhile is gathered anew; when all is to be durable while it is little, it goes into the tree of sled. What a crash takes
//! out of memory the journal has.

mod fresh;
mod merged;
#[cfg(test)]
mod model_tests;
mod parts;
mod tree;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use self::fresh::Fresh;
use self::merged::{Merged, Told, here, left};
use self::parts::{Parts, sealed_path, sync_folder, tree_path};
use self::tree::Tree;
use crate::BookError;
use crate::store::filter::hash;
use crate::store::sealed::Sealed;
use crate::store::sled_store::guarded;
use crate::store::{Batch, Pair, Store};

/// Bytes of memory for each entry that is not sealed.
const BYTES_OF_AN_ENTRY: u64 = 256;
/// Entries of a tree at most: sled takes some 4 KiB of memory for each that it is given at a time, and opens slowly with many.
const MOST_IN_TREE: usize = 16_384;
/// Of what is much in memory, the part that is sealed when there is time, so that a crash leaves less to be done again: when
/// so many times as long went by as the last sealing took.
const PART: usize = 8;
const TIMES: u32 = 20;

/// The store. Of its parts each counts before those after it.
#[derive(Debug)]
pub(crate) struct Layers {
    folder: PathBuf,
    cache_bytes: u64,
    parts: Parts,
    fresh: Fresh,
    /// Of the entries in memory those that are being sealed.
    frozen: Option<Arc<Fresh>>,
    top: Arc<Tree>,
    below: Option<Arc<Tree>>,
    sealed: Option<Arc<Sealed>>,
    sealing: Option<Sealing>,
    /// When there is time to seal again; at once, for `None`.
    next_sealing: Option<Instant>,
}

/// A sealed file in the making.
#[derive(Debug)]
struct Sealing {
    number: u64,
    begun: Instant,
    thread: JoinHandle<Result<Sealed, BookError>>,
}

impl Layers {
    /// Makes an empty store in a new folder.
    pub(crate) fn create(folder: &Path, cache_bytes: u64) -> Result<Self, BookError> {
        fs::create_dir_all(folder).map_err(BookError::io("cannot make", folder))?;
        let parts = Parts {
            top: 1,
            ..Parts::default()
        };
        let top = Tree::create(&tree_path(folder, 1), cache_bytes / 3)?;
        parts.write(folder)?;
        Ok(Self::of(folder, cache_bytes, parts, top, None, None))
    }

    /// Opens the store in a folder; every part has just what was written to it.
    ///
    /// # Errors
    /// Damage ([`BookError::Store`]), a newer format, or what the disk says.
    pub(crate) fn open(folder: &Path, cache_bytes: u64) -> Result<Self, BookError> {
        let begun = Instant::now();
        let parts = Parts::read(folder)?;
        let cache = cache_bytes / 3;
        let tree = |number| Tree::open(&tree_path(folder, number), cache);
        let top = tree(parts.top)?;
        let below = parts.below.map(|(number, sum)| match tree(number)? {
            tree if tree.sum == sum => Ok(Arc::new(tree)),
            _ => Err(BookError::Store("a part of it was as it was earlier")),
        });
        let below = below.transpose()?;
        let sealed =
            parts.sealed.map(
                |number| match Sealed::open(&sealed_path(folder, number), cache) {
                    Err(BookError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
                        Err(BookError::Store("its sealed part is missing"))
                    }
                    opened => opened,
                },
            );
        let sealed = sealed.transpose()?.map(Arc::new);
        parts.remove_others(folder)?;
        let mut store = Self::of(folder, cache_bytes, parts, top, below, sealed);
        // Of how long a sealing takes it only knows yet how long reading took.
        store.next_sealing = Instant::now().checked_add(TIMES * begun.elapsed());
        Ok(store)
    }

    fn of(
        folder: &Path,
        cache_bytes: u64,
        parts: Parts,
        top: Tree,
        below: Option<Arc<Tree>>,
        sealed: Option<Arc<Sealed>>,
    ) -> Self {
        Self {
            folder: folder.to_path_buf(),
            cache_bytes,
            parts,
            fresh: Fresh::default(),
            frozen: None,
            top: Arc::new(top),
            below,
            sealed,
            sealing: None,
            next_sealing: None,
        }
    }

    /// Entries in memory, and in the tree, that are much.
    fn full(&self) -> usize {
        usize::try_from(self.cache_bytes / BYTES_OF_AN_ENTRY)
            .unwrap_or(usize::MAX)
            .max(4)
    }

    /// Whether what is in memory is to be sealed.
    fn is_due(&self) -> bool {
        let (there, part) = (self.fresh.len(), (self.full() / PART).max(MOST_IN_TREE));
        there >= self.full()
            || there >= part && self.next_sealing.is_none_or(|next| Instant::now() >= next)
    }

    /// Whether what is not sealed has room in the tree.
    fn is_little(&self) -> bool {
        self.fresh.len() + self.top.len() < self.full().min(MOST_IN_TREE)
    }

    fn next_number(&self) -> u64 {
        let Parts { top, below, sealed } = self.parts;
        let making = self.sealing.as_ref().map(|sealing| sealing.number);
        [Some(top), below.map(|(number, _)| number), sealed, making]
            .into_iter()
            .flatten()
            .max()
            .unwrap_or(0)
            + 1
    }

    /// Begins a sealed file of all that there is. Nothing else is being sealed.
    fn begin_sealing(&mut self) {
        let number = self.next_number();
        let (path, cache_bytes) = (sealed_path(&self.folder, number), self.cache_bytes / 3);
        let frozen = Arc::new(std::mem::take(&mut self.fresh));
        self.frozen = Some(Arc::clone(&frozen));
        let (top, below, sealed) = (
            Arc::clone(&self.top),
            self.below.clone(),
            self.sealed.clone(),
        );
        let most = frozen.len() + top.len() + sealed.as_ref().map_or(0, |sealed| sealed.entries());
        let most = most + below.as_ref().map_or(0, |tree| tree.len());
        let thread = std::thread::spawn(move || {
            guarded(|| {
                let mut sources = vec![frozen.range(&[]), top.range(&[])];
                sources.extend(below.iter().map(|tree| tree.range(&[])));
                sources.extend(sealed.iter().map(|sealed| here(sealed.range(&[], true))));
                Sealed::create(&path, cache_bytes, most, &mut left(Merged::of(sources)))
            })
        });
        self.sealing = Some(Sealing {
            number,
            begun: Instant::now(),
            thread,
        });
    }

    /// Waits for the file that is in the making, if there is one; it takes the place of the parts that it was made of.
    fn take_over(&mut self) -> Result<(), BookError> {
        let Some(Sealing {
            number,
            begun,
            thread,
            ..
        }) = self.sealing.take()
        else {
            return Ok(());
        };
        let sealed = thread
            .join()
            .unwrap_or(Err(BookError::Store("it could not be sealed")))?;
        self.next_sealing = Instant::now().checked_add(TIMES * begun.elapsed());
        sync_folder(&self.folder)?;
        let mut parts = Parts {
            top: self.parts.top,
            below: None,
            sealed: Some(number),
        };
        let top = if self.top.len() == 0 {
            Arc::clone(&self.top)
        } else {
            parts.top = number + 1;
            Arc::new(Tree::create(
                &tree_path(&self.folder, parts.top),
                self.cache_bytes / 3,
            )?)
        };
        parts.write(&self.folder)?;
        (self.parts, self.top, self.below, self.sealed) =
            (parts, top, None, Some(Arc::new(sealed)));
        self.frozen = None;
        parts.remove_others(&self.folder)
    }

    /// The parts from the top down, each from a key on.
    fn merged<'a>(&'a self, from: &[u8], is_whole: bool) -> Merged<'a> {
        let mut sources = vec![self.fresh.range(from)];
        sources.extend(self.frozen.iter().map(|frozen| frozen.range(from)));
        sources.extend(
            [&self.top]
                .into_iter()
                .chain(&self.below)
                .map(|tree| tree.range(from)),
        );
        sources.extend(
            self.sealed
                .iter()
                .map(|sealed| here(sealed.range(from, is_whole))),
        );
        Merged::of(sources)
    }
}

impl Drop for Layers {
    fn drop(&mut self) {
        // What it has written would be begun anew another time. Where it fails, the journal has all of it.
        let _ = self.take_over();
    }
}

impl Store for Layers {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BookError> {
        let hash = hash(key);
        for fresh in std::iter::once(&self.fresh).chain(self.frozen.as_deref()) {
            if let Some(found) = fresh.get(hash, key) {
                return Ok(found.clone());
            }
        }
        for tree in [&self.top].into_iter().chain(&self.below) {
            if let Some(found) = tree.get(hash, key)? {
                return Ok(found);
            }
        }
        self.sealed
            .as_ref()
            .map_or(Ok(None), |sealed| sealed.get(hash, key))
    }

    fn range<'a>(
        &'a self,
        prefix: &[u8],
        from: &[u8],
    ) -> Box<dyn Iterator<Item = Result<Pair, BookError>> + 'a> {
        let from = from.max(prefix);
        let merged = left(self.merged(from, from.is_empty()));
        let prefix = prefix.to_vec();
        let is_in = move |pair: &Result<Pair, BookError>| match pair {
            Ok((key, _)) => key.starts_with(&prefix),
            Err(_) => true,
        };
        Box::new(merged.take_while(is_in))
    }

    fn scan<'a>(
        &'a self,
        from: &[u8],
        to: Option<&[u8]>,
    ) -> Box<dyn Iterator<Item = Result<Pair, BookError>> + 'a> {
        let to = to.map(<[u8]>::to_vec);
        let is_before = move |told: &Result<Told, BookError>| match (told, &to) {
            (Ok((key, _)), Some(to)) => key < to,
            _ => true,
        };
        Box::new(left(self.merged(from, true).take_while(is_before)))
    }

    fn cuts(&self, most: usize) -> Vec<Vec<u8>> {
        self.sealed
            .as_ref()
            .map_or_else(Vec::new, |sealed| sealed.cuts(most))
    }

    fn apply(&mut self, batch: Batch) -> Result<(), BookError> {
        self.fresh.apply(batch);
        Ok(())
    }

    fn is_full(&self) -> bool {
        let is_sealed = self
            .sealing
            .as_ref()
            .is_some_and(|sealing| sealing.thread.is_finished());
        let is_much = if self.sealing.is_some() {
            self.fresh.len() >= 2 * self.full()
        } else {
            self.is_due()
        };
        is_sealed || is_much
    }

    /// Whoever makes changes faster than they are sealed waits.
    fn settle(&mut self) -> Result<(), BookError> {
        let is_behind = self.fresh.len() >= 2 * self.full();
        if self
            .sealing
            .as_ref()
            .is_some_and(|sealing| is_behind || sealing.thread.is_finished())
        {
            self.take_over()?;
        }
        if self.sealing.is_none() && self.is_due() {
            self.begin_sealing();
        }
        Ok(())
    }

    fn seal(&mut self) -> Result<(), BookError> {
        self.take_over()?;
        if self.fresh.is_empty() && self.top.len() == 0 && self.below.is_none() {
            return Ok(());
        }
        self.begin_sealing();
        self.take_over()
    }

    fn keep(&mut self) -> Result<(), BookError> {
        self.take_over()?;
        if self.is_little() {
            return self.flush();
        }
        self.begin_sealing();
        Ok(())
    }

    fn flush(&mut self) -> Result<(), BookError> {
        self.take_over()?;
        if !self.is_little() {
            return self.seal();
        }
        let top = Arc::get_mut(&mut self.top).expect("nobody seals it");
        if !self.fresh.is_empty() {
            top.apply(&self.fresh)?;
        }
        top.flush()?;
        self.fresh.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::store::MemoryStore;

    fn number(n: u16) -> Vec<u8> {
        [&b"n"[..], &n.to_be_bytes()].concat()
    }

    /// A store of all parts, closed, and what it held after each change; an earlier program left a tree below the topmost.
    fn closed(folder: &Path) -> Vec<Vec<Pair>> {
        let (mut store, mut model) = (
            Layers::create(folder, 0).expect("room"),
            MemoryStore::default(),
        );
        let (mut round, mut held): (u16, _) = (0, Vec::new());
        while round < 30 || store.top.len() == 0 || store.sealed.is_none() {
            let change = |n: u16| (number(n), Some(round.to_be_bytes().to_vec()));
            let mut changes = vec![change(round), change(round % 7 + 1_000)];
            changes.extend((round > 3).then(|| (number(round - 3), None)));
            model.apply(Batch(changes.clone())).expect("memory");
            store.apply(Batch(changes)).expect("room");
            store.flush().expect("room");
            held.push(all(&model));
            round += 1;
        }
        let below = Some((store.parts.top, store.top.sum));
        let parts = Parts {
            top: store.next_number(),
            below,
            ..store.parts
        };
        Tree::create(&tree_path(folder, parts.top), 0).expect("room");
        parts.write(folder).expect("room");
        held
    }

    #[test]
    fn a_tree_that_an_earlier_program_left_below_is_sealed_with_the_rest() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = scratch.path().join("store");
        let held = closed(&folder);
        let mut store = Layers::open(&folder, 0).expect("whole");
        assert!(store.below.is_some());
        assert_eq!(Some(&all(&store)), held.last());
        let news: Vec<_> = (0..4).map(|n| (number(2_000 + n), Some(vec![1]))).collect();
        store.apply(Batch(news)).expect("room");
        store.settle().expect("room");
        store.flush().expect("room");
        assert!(store.below.is_none() && store.parts.below.is_none());
        drop(store);
        assert_eq!(
            all(&Layers::open(&folder, 0).expect("whole")).len(),
            held.last().map_or(0, Vec::len) + 4
        );
    }

    fn all(store: &dyn Store) -> Vec<Pair> {
        store
            .range(&[], &[])
            .collect::<Result<_, _>>()
            .expect("readable")
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        let paths = fs::read_dir(folder)
            .expect("it is there")
            .map(|entry| entry.expect("it is there").path());
        let mut files: Vec<PathBuf> = paths
            .flat_map(|path| {
                if path.is_dir() {
                    files(&path)
                } else {
                    vec![path]
                }
            })
            .collect();
        files.sort();
        files
    }

    #[test]
    fn a_flipped_byte_in_any_part_is_damage_or_changes_nothing() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = scratch.path().join("store");
        let held = closed(&folder);
        let whole: Vec<(PathBuf, Vec<u8>)> = files(&folder)
            .into_iter()
            .map(|path| (path.clone(), fs::read(path).expect("readable")))
            .collect();
        assert!(whole.iter().any(|(path, _)| {
            path.extension()
                .is_some_and(|extension| extension == "sealed")
        }));
        let chance = &mut StdRng::seed_from_u64(5);
        let restore = || {
            fs::remove_dir_all(&folder).expect("it is there");
            for (path, bytes) in &whole {
                fs::create_dir_all(path.parent().expect("in a folder")).expect("room");
                fs::write(path, bytes).expect("room");
            }
        };
        let mut refused = 0;
        for (path, bytes) in &whole {
            let used: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] != 0).collect();
            let is_ours = path.parent() == Some(&*folder);
            let some = (0..12)
                .filter_map(|_| used.get(chance.random_range(0..used.len().max(1))).copied())
                .collect();
            for at in if is_ours { used } else { some } {
                restore();
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << (at % 8);
                fs::write(path, flipped).expect("room");
                match guarded(|| Layers::open(&folder, 0)) {
                    // What the last tree lost the journal has.
                    Ok(store) => {
                        assert!(held.contains(&all(&store)), "{} byte {at}", path.display())
                    }
                    Err(BookError::Store(_)) => refused += 1,
                    Err(error) => panic!("{} byte {at}: {error}", path.display()),
                }
            }
        }
        assert!(refused > 50, "{refused}");
    }

    #[test]
    fn what_a_killed_program_leaves_is_tidied_up() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = scratch.path().join("store");
        let held = closed(&folder);
        fs::write(folder.join("000999.new"), "half").expect("room");
        fs::write(folder.join("000999.sealed"), "a part of none").expect("room");
        fs::create_dir(folder.join("000998.sled")).expect("room");
        fs::write(folder.join("current.new"), "").expect("room");
        assert_eq!(
            Some(&all(&Layers::open(&folder, 0).expect("whole"))),
            held.last()
        );
        assert!(
            files(&folder)
                .iter()
                .all(|path| !path.to_string_lossy().contains("99"))
        );
    }

    #[test]
    fn a_store_with_a_part_missing_is_damaged() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = scratch.path().join("store");
        for nth in 0..4 {
            let _ = fs::remove_dir_all(&folder);
            closed(&folder);
            drop(Layers::open(&folder, 0).expect("whole"));
            let mut parts: Vec<PathBuf> = fs::read_dir(&folder)
                .expect("there")
                .map(|e| e.expect("there").path())
                .collect();
            parts.sort();
            assert_eq!(
                parts.len(),
                4,
                "two trees, a file, and what names them: {parts:?}"
            );
            let part = &parts[nth];
            if part.is_dir() {
                fs::remove_dir_all(part)
            } else {
                fs::remove_file(part)
            }
            .expect("it is there");
            let opened = guarded(|| Layers::open(&folder, 0));
            assert!(
                matches!(opened, Err(BookError::Store(_))),
                "{}",
                part.display()
            );
        }
    }
}

//! The store of a book: what changes in sled, what does not change any more in one sealed file below it.
//!
//! sled keeps half a KiB of memory for every position, whatever its cache. So it holds what is new alone: when that is much, a new
//! tree takes over, and a thread writes the old one and the sealed file below it into a new sealed file.

mod merged;
mod parts;
mod tree;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use self::merged::{Merged, here};
use self::parts::{Parts, sealed_path, sync_folder, tree_path};
use self::tree::Tree;
use crate::BookError;
use crate::sealed::Sealed;
use crate::sled_store::guarded;
use crate::store::{Batch, Pair, Store};

/// Bytes of memory for each entry that a tree may have before a new one takes over.
const BYTES_OF_AN_ENTRY: u64 = 256;
/// From so many entries on that are gone, a look from the beginning remembers where the first is that is not.
const MANY_GONE: u32 = if cfg!(test) { 2 } else { 32 };

/// The store.
#[derive(Debug)]
pub(crate) struct Layers {
    folder: PathBuf,
    cache_bytes: u64,
    parts: Parts,
    top: Tree,
    below: Option<Arc<Tree>>,
    sealed: Option<Arc<Sealed>>,
    sealing: Option<Sealing>,
    /// By prefix: before which key nothing is left that begins with it.
    floors: RefCell<BTreeMap<Vec<u8>, Vec<u8>>>,
}

/// A sealed file in the making.
#[derive(Debug)]
struct Sealing {
    number: u64,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Sealed, BookError>>,
}

impl Layers {
    /// Makes an empty store in a new folder.
    pub(crate) fn create(folder: &Path, cache_bytes: u64) -> Result<Self, BookError> {
        fs::create_dir_all(folder).map_err(BookError::io("cannot make", folder))?;
        let parts = Parts { top: 1, ..Parts::default() };
        let top = Tree::create(&tree_path(folder, 1), cache_bytes / 3)?;
        parts.write(folder)?;
        Ok(Self::of(folder, cache_bytes, parts, top, None, None))
    }

    /// Opens the store in a folder; every part has just what was written to it.
    ///
    /// # Errors
    /// Damage ([`BookError::Store`]), a newer format, or what the disk says.
    pub(crate) fn open(folder: &Path, cache_bytes: u64) -> Result<Self, BookError> {
        let parts = Parts::read(folder)?;
        let cache = cache_bytes / 3;
        let tree = |number| Tree::open(&tree_path(folder, number), cache);
        let top = tree(parts.top)?;
        let below = parts.below.map(|(number, sum)| match tree(number)? {
            tree if tree.sum == sum => Ok(Arc::new(tree)),
            _ => Err(BookError::Store("a part of it was as it was earlier")),
        });
        let below = below.transpose()?;
        let sealed = parts.sealed.map(|number| match Sealed::open(&sealed_path(folder, number), cache) {
            Err(BookError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
                Err(BookError::Store("its sealed part is missing"))
            }
            opened => opened,
        });
        let sealed = sealed.transpose()?.map(Arc::new);
        parts.remove_others(folder)?;
        Ok(Self::of(folder, cache_bytes, parts, top, below, sealed))
    }

    fn of(
        folder: &Path,
        cache_bytes: u64,
        parts: Parts,
        top: Tree,
        below: Option<Arc<Tree>>,
        sealed: Option<Arc<Sealed>>,
    ) -> Self {
        let floors = RefCell::default();
        Self { folder: folder.to_path_buf(), cache_bytes, parts, top, below, sealed, sealing: None, floors }
    }

    /// Entries of a tree that is full.
    fn full(&self) -> usize {
        usize::try_from(self.cache_bytes / BYTES_OF_AN_ENTRY).unwrap_or(usize::MAX).max(4)
    }

    /// Takes over what was sealed, and seals what is next. Whoever fills trees faster than they are sealed waits.
    fn settle(&mut self) -> Result<(), BookError> {
        let is_behind = self.top.len() >= 2 * self.full();
        if self.sealing.as_ref().is_some_and(|sealing| is_behind || sealing.thread.is_finished()) {
            self.take_over()?;
        }
        if self.below.is_none() && self.top.len() >= self.full() {
            let number = self.next_number();
            let top = Tree::create(&tree_path(&self.folder, number), self.cache_bytes / 3)?;
            let parts = Parts { top: number, below: Some((self.parts.top, self.top.sum)), ..self.parts };
            parts.write(&self.folder)?;
            self.parts = parts;
            self.below = Some(Arc::new(std::mem::replace(&mut self.top, top)));
        }
        if self.sealing.is_none() && self.below.is_some() {
            self.begin_sealing();
        }
        Ok(())
    }

    fn next_number(&self) -> u64 {
        let Parts { top, below, sealed } = self.parts;
        let making = self.sealing.as_ref().map(|sealing| sealing.number);
        [Some(top), below.map(|(number, _)| number), sealed, making].into_iter().flatten().max().unwrap_or(0) + 1
    }

    fn begin_sealing(&mut self) {
        let Some(below) = &self.below else { return };
        let number = self.next_number();
        let (path, cache_bytes) = (sealed_path(&self.folder, number), self.cache_bytes / 3);
        let (below, sealed) = (Arc::clone(below), self.sealed.clone());
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            guarded(|| {
                let mut sources = vec![below.range(&[])];
                sources.extend(sealed.iter().map(|sealed| here(sealed.range(&[], true))));
                let merged = Merged { sources: sources.into_iter().map(Iterator::peekable).collect(), gone: 0 };
                let mut left = merged.filter_map(|entry| entry.map(|(key, value)| Some((key, value?))).transpose());
                let is_going = |entry: &Result<Pair, BookError>| entry.is_err() || !stopped.load(Ordering::Relaxed);
                Sealed::create(&path, cache_bytes, &mut left.by_ref().take_while(is_going))
            })
        });
        self.sealing = Some(Sealing { number, stop, thread });
    }

    /// The file that was in the making takes the place of the parts that it was made of.
    fn take_over(&mut self) -> Result<(), BookError> {
        let Some(Sealing { number, thread, .. }) = self.sealing.take() else { return Ok(()) };
        let sealed = thread.join().unwrap_or(Err(BookError::Store("it could not be sealed")))?;
        sync_folder(&self.folder)?;
        let parts = Parts { top: self.parts.top, below: None, sealed: Some(number) };
        parts.write(&self.folder)?;
        (self.parts, self.below, self.sealed) = (parts, None, Some(Arc::new(sealed)));
        parts.remove_others(&self.folder)
    }

    /// The parts from the top down, each from a key on.
    fn merged<'a>(&'a self, from: &[u8]) -> Merged<'a> {
        let mut sources = vec![self.top.range(from)];
        sources.extend(self.below.iter().map(|tree| tree.range(from)));
        sources.extend(self.sealed.iter().map(|sealed| here(sealed.range(from, from.is_empty()))));
        Merged { sources: sources.into_iter().map(Iterator::peekable).collect(), gone: 0 }
    }
}

impl Drop for Layers {
    fn drop(&mut self) {
        if let Some(Sealing { stop, thread, .. }) = self.sealing.take() {
            stop.store(true, Ordering::Relaxed);
            // What it has written is begun anew another time.
            let _ = thread.join();
        }
    }
}

impl Store for Layers {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BookError> {
        for tree in std::iter::once(&self.top).chain(self.below.as_deref()) {
            if let Some(found) = tree.get(key)? {
                return Ok(found);
            }
        }
        self.sealed.as_ref().map_or(Ok(None), |sealed| sealed.get(key))
    }

    fn range<'a>(&'a self, prefix: &[u8], from: &[u8]) -> Box<dyn Iterator<Item = Result<Pair, BookError>> + 'a> {
        let from = from.max(prefix);
        let is_all = from == prefix;
        let floor = self.floors.borrow().get(prefix).cloned().filter(|_| is_all);
        let mut merged = self.merged(floor.as_deref().unwrap_or(from));
        let prefix = prefix.to_vec();
        let mut is_first = true;
        Box::new(std::iter::from_fn(move || {
            loop {
                let (key, value) = match merged.next()? {
                    Ok(entry) => entry,
                    Err(error) => return Some(Err(error)),
                };
                let is_in = key.starts_with(&prefix);
                if is_first && is_all && (!is_in || value.is_some()) && merged.gone >= MANY_GONE {
                    self.floors.borrow_mut().insert(prefix.clone(), key.clone());
                }
                is_first &= is_in && value.is_none();
                match value {
                    _ if !is_in => return None,
                    Some(value) => return Some(Ok((key, value))),
                    None => {}
                }
            }
        }))
    }

    fn apply(&mut self, batch: Batch) -> Result<(), BookError> {
        let floors = self.floors.get_mut();
        for (key, _) in batch.0.iter().filter(|(_, value)| value.is_some()) {
            for (_, floor) in floors.iter_mut().filter(|(prefix, floor)| key.starts_with(prefix) && *key < **floor) {
                floor.clone_from(key);
            }
        }
        self.top.apply(batch)
    }

    fn flush(&mut self) -> Result<(), BookError> {
        self.top.store.flush()?;
        self.settle()
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

    /// A store of all three parts, closed, and what it held after each change.
    fn closed(folder: &Path) -> Vec<Vec<Pair>> {
        let (mut store, mut model) = (Layers::create(folder, 0).expect("room"), MemoryStore::default());
        let (mut round, mut held): (u16, _) = (0, Vec::new());
        while round < 30 || store.below.is_none() || store.sealed.is_none() {
            let change = |n: u16| (number(n), Some(round.to_be_bytes().to_vec()));
            let mut changes = vec![change(round), change(round % 7 + 1_000)];
            changes.extend((round > 3).then(|| (number(round - 3), None)));
            model.apply(Batch(changes.clone())).expect("memory");
            store.apply(Batch(changes)).expect("room");
            store.flush().expect("room");
            held.push(all(&model));
            round += 1;
        }
        held
    }

    fn all(store: &dyn Store) -> Vec<Pair> {
        store.range(&[], &[]).collect::<Result<_, _>>().expect("readable")
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        let paths = fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("it is there").path());
        let mut files: Vec<PathBuf> =
            paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect();
        files.sort();
        files
    }

    #[test]
    fn a_flipped_byte_in_any_part_is_damage_or_changes_nothing() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = scratch.path().join("store");
        let held = closed(&folder);
        let whole: Vec<(PathBuf, Vec<u8>)> =
            files(&folder).into_iter().map(|path| (path.clone(), fs::read(path).expect("readable"))).collect();
        assert!(whole.iter().any(|(path, _)| path.extension().is_some_and(|extension| extension == "sealed")));
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
            let some = (0..12).filter_map(|_| used.get(chance.random_range(0..used.len().max(1))).copied()).collect();
            for at in if is_ours { used } else { some } {
                restore();
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << (at % 8);
                fs::write(path, flipped).expect("room");
                match guarded(|| Layers::open(&folder, 0)) {
                    // What the last tree lost the journal has.
                    Ok(store) => assert!(held.contains(&all(&store)), "{} byte {at}", path.display()),
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
        assert_eq!(Some(&all(&Layers::open(&folder, 0).expect("whole"))), held.last());
        assert!(files(&folder).iter().all(|path| !path.to_string_lossy().contains("99")));
    }

    #[test]
    fn a_store_with_a_part_missing_is_damaged() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = scratch.path().join("store");
        for nth in 0..4 {
            let _ = fs::remove_dir_all(&folder);
            closed(&folder);
            drop(Layers::open(&folder, 0).expect("whole"));
            let mut parts: Vec<PathBuf> =
                fs::read_dir(&folder).expect("there").map(|e| e.expect("there").path()).collect();
            parts.sort();
            assert_eq!(parts.len(), 4, "two trees, a file, and what names them: {parts:?}");
            let part = &parts[nth];
            if part.is_dir() { fs::remove_dir_all(part) } else { fs::remove_file(part) }.expect("it is there");
            let opened = guarded(|| Layers::open(&folder, 0));
            assert!(matches!(opened, Err(BookError::Store(_))), "{}", part.display());
        }
    }
}

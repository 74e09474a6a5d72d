//! The store of a book: what changes in sled, what does not change any more in one sealed file below it.
//!
//! sled keeps half a KiB of memory for every position, whatever its cache. So it holds what is new alone: when that is much, a new
//! tree takes over, and a thread writes the old one and the sealed file below it into a new sealed file.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use serde::{Deserialize, Serialize};

use crate::BookError;
use crate::bytes::{VERSION, digest, seal, unseal, version_of};
use crate::sealed::Sealed;
use crate::sled_store::{SledStore, guarded};
use crate::store::{Batch, Pair, Store};

/// Says which parts make up the store.
const CURRENT: &str = "current";
/// In a tree: how many entries it has, and a hash over them.
const SUM: &[u8] = &[0];
/// In a tree: before a value, and in place of one that a part below has and that is gone.
const HERE: u8 = 1;
const GONE: u8 = 0;
/// Bytes of memory for each entry that a tree may have before a new one takes over.
const BYTES_OF_AN_ENTRY: u64 = 256;
/// From so many entries on that are gone, a look from the beginning remembers where the first is that is not.
const MANY_GONE: u32 = if cfg!(test) { 2 } else { 32 };

/// The parts of a store, by number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Parts {
    /// The tree that takes the changes.
    top: u64,
    /// The tree that took them before, until it is in a sealed file; and all that it has. A damaged tree of sled may open as it
    /// was earlier: then the journal has what the top lacks, but not what the parts below it do.
    below: Option<(u64, Sum)>,
    /// The sealed file.
    sealed: Option<u64>,
}

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

fn tree_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:06}.sled"))
}

fn sealed_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:06}.sealed"))
}

impl Layers {
    /// Makes an empty store in a new folder.
    pub(crate) fn create(folder: &Path, cache_bytes: u64) -> Result<Self, BookError> {
        fs::create_dir_all(folder).map_err(BookError::io("cannot make", folder))?;
        let parts = Parts { top: 1, ..Parts::default() };
        let top = Tree::create(&tree_path(folder, 1), cache_bytes / 3)?;
        write_parts(folder, parts)?;
        Ok(Self::of(folder, cache_bytes, parts, top, None, None))
    }

    /// Opens the store in a folder; every part has just what was written to it.
    ///
    /// # Errors
    /// Damage ([`BookError::Store`]), a newer format, or what the disk says.
    pub(crate) fn open(folder: &Path, cache_bytes: u64) -> Result<Self, BookError> {
        let path = folder.join(CURRENT);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(BookError::Store(if folder.join("db").exists() {
                    "it was of an earlier format"
                } else {
                    "it was not whole"
                }));
            }
            Err(error) => return Err(BookError::io("cannot read", &path)(error)),
        };
        if let Some(found) = version_of(CURRENT.as_bytes(), &bytes).filter(|version| *version > VERSION) {
            return Err(BookError::Newer { path, found: found.into(), known: VERSION.into() });
        }
        let parts: Parts = unseal(CURRENT.as_bytes(), &bytes).ok_or(BookError::Store("its list of parts"))?;
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
        remove_others(folder, parts)?;
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
            write_parts(&self.folder, parts)?;
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
        write_parts(&self.folder, parts)?;
        (self.parts, self.below, self.sealed) = (parts, None, Some(Arc::new(sealed)));
        remove_others(&self.folder, parts)
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

/// An entry of a part: the value, or that it is gone.
type Told = (Vec<u8>, Option<Vec<u8>>);

type Source<'a> = Box<dyn Iterator<Item = Result<Told, BookError>> + 'a>;

fn here<'a>(pairs: impl Iterator<Item = Result<Pair, BookError>> + 'a) -> Source<'a> {
    Box::new(pairs.map(|pair| pair.map(|(key, value)| (key, Some(value)))))
}

/// Parts as one: of entries with one key the first source's counts. Those that are gone are told too.
struct Merged<'a> {
    sources: Vec<Peekable<Source<'a>>>,
    /// How many are gone so far.
    gone: u32,
}

impl Iterator for Merged<'_> {
    type Item = Result<Told, BookError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut least: Option<(usize, &[u8])> = None;
        for (at, source) in self.sources.iter_mut().enumerate() {
            match source.peek() {
                Some(Ok((key, _))) if least.is_none_or(|(_, least)| **key < *least) => least = Some((at, key)),
                Some(Err(_)) => return source.next(),
                _ => {}
            }
        }
        let (first, _) = least?;
        let told = self.sources[first].next()?;
        if let Ok((key, value)) = &told {
            self.gone += u32::from(value.is_none());
            for source in &mut self.sources[first + 1..] {
                source.next_if(|other| other.as_ref().is_ok_and(|(other, _)| other == key));
            }
        }
        Some(told)
    }
}

/// A tree of sled.
#[derive(Debug)]
struct Tree {
    store: SledStore,
    /// By the hash of its key, each entry's digest: what the tree has is known without a look into it.
    digests: HashMap<u64, u64>,
    sum: Sum,
}

/// What a tree must hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Sum {
    entries: u64,
    digest: u64,
}

fn hash(key: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

impl Tree {
    /// An empty tree, on disk.
    fn create(path: &Path, cache_bytes: u64) -> Result<Self, BookError> {
        // What a crash left of an earlier attempt.
        let _ = fs::remove_dir_all(path);
        let store = SledStore::open(path, cache_bytes)?;
        let mut tree = Self { store, digests: HashMap::new(), sum: Sum::default() };
        tree.apply(Batch::default())?;
        tree.store.flush()?;
        Ok(tree)
    }

    /// A tree that has all that was written to it.
    fn open(path: &Path, cache_bytes: u64) -> Result<Self, BookError> {
        if !path.exists() {
            return Err(BookError::Store("a part of it is missing"));
        }
        let store = SledStore::open(path, cache_bytes)?;
        let said = store.get(SUM)?.and_then(|bytes| unseal::<Sum>(SUM, &bytes));
        let (mut digests, mut sum) = (HashMap::new(), Sum::default());
        for pair in store.range(&[], &[]) {
            let (key, value) = pair?;
            if key != SUM {
                let digest = digest(&key, &value);
                digests.insert(hash(&key), digest);
                sum = Sum { entries: sum.entries + 1, digest: sum.digest ^ digest };
            }
        }
        if said == Some(sum) {
            Ok(Self { store, digests, sum })
        } else {
            Err(BookError::Store("it did not hold what it should"))
        }
    }

    fn len(&self) -> usize {
        self.digests.len()
    }

    /// What the tree says of a key, if it says anything.
    fn get(&self, key: &[u8]) -> Result<Option<Option<Vec<u8>>>, BookError> {
        if !self.digests.contains_key(&hash(key)) {
            return Ok(None);
        }
        self.store.get(key)?.map(said).transpose()
    }

    fn range<'a>(&'a self, from: &[u8]) -> Source<'a> {
        let pairs = self.store.range(&[], from).filter(|pair| pair.as_ref().map_or(true, |(key, _)| key != SUM));
        Box::new(pairs.map(|pair| pair.and_then(|(key, value)| Ok((key, said(value)?)))))
    }

    fn apply(&mut self, batch: Batch) -> Result<(), BookError> {
        let mut raw = Vec::with_capacity(batch.0.len() + 1);
        for (key, value) in batch.0 {
            let value = value.map_or_else(|| vec![GONE], |value| [&[HERE], &value[..]].concat());
            let digest = digest(&key, &value);
            let before = self.digests.insert(hash(&key), digest);
            self.sum.entries += u64::from(before.is_none());
            self.sum.digest ^= digest ^ before.unwrap_or(0);
            raw.push((key, Some(value)));
        }
        raw.push((SUM.to_vec(), Some(seal(SUM, &self.sum))));
        self.store.apply(Batch(raw))
    }
}

/// A value of a tree: one, or that there is none any more.
fn said(mut value: Vec<u8>) -> Result<Option<Vec<u8>>, BookError> {
    match value.first() {
        Some(&HERE) => {
            value.remove(0);
            Ok(Some(value))
        }
        Some(&GONE) => Ok(None),
        _ => Err(BookError::Store("a part of it")),
    }
}

/// Whole or not at all.
fn write_parts(folder: &Path, parts: Parts) -> Result<(), BookError> {
    let (path, half) = (folder.join(CURRENT), folder.join("current.new"));
    let fail = |error| BookError::io("cannot write to", &half)(error);
    let mut file = File::create(&half).map_err(fail)?;
    file.write_all(&seal(CURRENT.as_bytes(), &parts)).and_then(|()| file.sync_all()).map_err(fail)?;
    fs::rename(&half, &path).map_err(fail)?;
    sync_folder(folder)
}

fn sync_folder(folder: &Path) -> Result<(), BookError> {
    File::open(folder).and_then(|file| file.sync_all()).map_err(BookError::io("cannot write to", folder))
}

/// Removes what is no part: of the past, or half made.
fn remove_others(folder: &Path, parts: Parts) -> Result<(), BookError> {
    let Parts { top, below, sealed } = parts;
    let mut kept = vec![folder.join(CURRENT), tree_path(folder, top)];
    kept.extend(below.map(|(number, _)| tree_path(folder, number)));
    kept.extend(sealed.map(|number| sealed_path(folder, number)));
    let fail = |error| BookError::io("cannot clean", folder)(error);
    for entry in fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if !kept.contains(&path) {
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(fail)?;
        }
    }
    Ok(())
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

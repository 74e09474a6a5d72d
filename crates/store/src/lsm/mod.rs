//! The store of a book, a log-structured merge tree of up to four levels.

mod reading_copy;
mod snapshot;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use crate::StoreError;
use crate::lsm::snapshot::{LsmSnapshot, found, merged};
use kagetsu_files::{FileError, sync_folder};

use crate::manifest::{Manifest, sled_path, sorted_path};
use crate::memtable::Memtable;
use crate::merge::{MergeIterator, before, drop_tombstones, with_prefix};
use crate::sled_level::SledLevel;
use crate::sstable::SortedFile;
use crate::store::{Batch, Pairs, Store};

/// Memory of the store for each change in a memtable, which takes some 330 bytes. A second memtable
/// is being compacted meanwhile.
const STORE_BYTES_PER_CHANGE: u64 = 660;
/// The most entries of the level in sled, which opens slowly with many.
const MAX_SLED_ENTRIES: usize = 16_384;
/// Memory that sled takes for each new entry.
const SLED_BYTES_PER_ENTRY: u64 = 4 << 10;
/// A memtable that is full to this part is compacted when there is time, so that little is lost in
/// a crash.
const EARLY_COMPACTION_PART: usize = 8;
/// There is time when this many times as long went by as the last compaction took.
const COMPACTION_PAUSE: u32 = 20;

/// A store of up to four levels, the newest first: a memtable, the memtable that is being
/// compacted, a small tree of sled, and a sorted file.
///
/// Changes in the memtables are lost in a crash; the journal of the book has them.
#[derive(Debug)]
pub struct LsmStore {
    folder: PathBuf,
    cache_bytes: u64,
    manifest: Manifest,
    memtable: Memtable,
    /// Older changes that a snapshot may read, so nothing changes them any more; the newest last.
    frozen: Vec<Arc<Memtable>>,
    /// The memtables that are being compacted, the newest first.
    immutable: Vec<Arc<Memtable>>,
    sled: SledLevel,
    sorted: Option<Arc<SortedFile>>,
    compaction: Option<Compaction>,
    /// When there is time for an early compaction; `None` for at once.
    next_compaction: Option<Instant>,
}

/// A compaction in the background.
#[derive(Debug)]
struct Compaction {
    /// The number of the new sorted file.
    number: u64,
    begun: Instant,
    thread: JoinHandle<Result<SortedFile, StoreError>>,
}

impl LsmStore {
    /// Makes an empty store in a new folder.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn create(folder: &Path, cache_bytes: u64) -> Result<Self, StoreError> {
        fs::create_dir_all(folder).map_err(StoreError::io("cannot make", folder))?;
        let manifest = Manifest {
            sled: 1,
            sorted: None,
        };
        let sled = SledLevel::create(&sled_path(folder, 1), cache_bytes / 3)?;
        manifest.write(folder)?;
        Ok(Self::new(folder, cache_bytes, manifest, sled, None))
    }

    /// Opens the store in a folder and verifies every level.
    ///
    /// # Errors
    /// If the store is damaged or has a newer format, or the disk refuses.
    pub fn open(folder: &Path, cache_bytes: u64) -> Result<Self, StoreError> {
        let begun = Instant::now();
        let manifest = Manifest::read(folder)?;
        let sled = SledLevel::open(&sled_path(folder, manifest.sled), cache_bytes / 3)?;
        let sorted = match manifest.sorted {
            Some(number) => Some(open_sorted(&sorted_path(folder, number), cache_bytes / 3)?),
            None => None,
        };
        manifest.remove_other_files(folder)?;
        let mut store = Self::new(folder, cache_bytes, manifest, sled, sorted);
        // No compaction has run yet: estimate its time from the time it took to open the store.
        store.next_compaction = Instant::now().checked_add(COMPACTION_PAUSE * begun.elapsed());
        Ok(store)
    }

    fn new(
        folder: &Path,
        cache_bytes: u64,
        manifest: Manifest,
        sled: SledLevel,
        sorted: Option<SortedFile>,
    ) -> Self {
        Self {
            folder: folder.to_path_buf(),
            cache_bytes,
            manifest,
            memtable: Memtable::default(),
            frozen: Vec::new(),
            immutable: Vec::new(),
            sled,
            sorted: sorted.map(Arc::new),
            compaction: None,
            next_compaction: None,
        }
    }

    /// Returns the number of changes with which a memtable is full.
    fn max_changes(&self) -> usize {
        usize::try_from(self.cache_bytes / STORE_BYTES_PER_CHANGE)
            .unwrap_or(usize::MAX)
            .max(4)
    }

    /// Returns the number of changes in memory that are not being compacted.
    fn changes(&self) -> usize {
        let frozen = self.frozen.iter().map(|memtable| memtable.len());
        self.memtable.len() + frozen.sum::<usize>()
    }

    /// Returns the memtables that are not being compacted, the newest first, and leaves none.
    fn take_memtables(&mut self) -> Vec<Arc<Memtable>> {
        let newest = Arc::new(std::mem::take(&mut self.memtable));
        let older = self.frozen.drain(..).rev();
        std::iter::once(newest).chain(older).collect()
    }

    /// Returns the levels in memory that do not change any more, the newest first.
    fn older(&self) -> impl Iterator<Item = &Arc<Memtable>> {
        let memtables = self.frozen.iter().rev().chain(&self.immutable);
        memtables.chain([self.sled.changes()])
    }

    /// Returns the levels in memory, the newest first.
    fn memtables(&self) -> impl Iterator<Item = &Memtable> {
        std::iter::once(&self.memtable).chain(self.older().map(|memtable| &**memtable))
    }

    /// Returns whether the memtable is to be compacted.
    fn is_compaction_due(&self) -> bool {
        let early = (self.max_changes() / EARLY_COMPACTION_PART).max(MAX_SLED_ENTRIES);
        let is_time = self
            .next_compaction
            .is_none_or(|next| Instant::now() >= next);
        self.changes() >= self.max_changes() || (self.changes() >= early && is_time)
    }

    /// Returns whether changes come faster than they are compacted.
    fn is_behind(&self) -> bool {
        self.changes() >= self.max_changes()
    }

    /// Returns whether the memtable has room in the level in sled.
    fn fits_in_sled(&self) -> bool {
        let most = usize::try_from(self.cache_bytes / SLED_BYTES_PER_ENTRY).unwrap_or(usize::MAX);
        self.changes() + self.sled.len() < most.clamp(4, MAX_SLED_ENTRIES)
    }

    /// Returns a file number above all that are in use.
    fn next_file_number(&self) -> u64 {
        let compacting = self.compaction.as_ref().map(|compaction| compaction.number);
        let used = [Some(self.manifest.sled), self.manifest.sorted, compacting];
        used.into_iter().flatten().max().unwrap_or(0) + 1
    }

    /// Begins to merge all levels into a new sorted file. No other compaction is running.
    fn begin_compaction(&mut self) {
        let number = self.next_file_number();
        let path = sorted_path(&self.folder, number);
        let cache_bytes = self.cache_bytes / 3;
        self.immutable = self.take_memtables();
        let older: Vec<_> = self.older().cloned().collect();
        let sorted = self.sorted.clone();
        let below = sorted.as_ref().map_or(0, |sorted| sorted.entries());
        let max_entries = older.iter().map(|level| level.len()).sum::<usize>() + below;
        let thread = std::thread::spawn(move || {
            let older = older.iter().map(|level| &**level);
            let mut entries = drop_tombstones(merged(older, sorted.as_deref(), &[], true));
            SortedFile::create(&path, cache_bytes, max_entries, &mut entries)
        });
        self.compaction = Some(Compaction {
            number,
            begun: Instant::now(),
            thread,
        });
    }

    /// Waits for the running compaction, if there is one, and replaces the levels that it merged.
    fn end_compaction(&mut self) -> Result<(), StoreError> {
        let Some(compaction) = self.compaction.take() else {
            return Ok(());
        };
        let sorted = compaction
            .thread
            .join()
            .unwrap_or(Err(StoreError::Damaged("it could not be compacted")))?;
        let pause = COMPACTION_PAUSE * compaction.begun.elapsed();
        self.next_compaction = Instant::now().checked_add(pause);
        sync_folder(&self.folder).map_err(StoreError::io("cannot write to", &self.folder))?;
        let mut manifest = Manifest {
            sled: self.manifest.sled,
            sorted: Some(compaction.number),
        };
        let mut emptied = None;
        if self.sled.len() > 0 {
            manifest.sled = compaction.number + 1;
            let path = sled_path(&self.folder, manifest.sled);
            emptied = Some(SledLevel::create(&path, self.cache_bytes / 3)?);
        }
        manifest.write(&self.folder)?;
        self.manifest = manifest;
        if let Some(sled) = emptied {
            self.sled = sled;
        }
        self.sorted = Some(Arc::new(sorted));
        self.immutable.clear();
        manifest.remove_other_files(&self.folder)
    }

    /// Merges all levels from a key on.
    fn merged<'a>(&'a self, from: &[u8], is_scan: bool) -> MergeIterator<'a> {
        merged(self.memtables(), self.sorted.as_deref(), from, is_scan)
    }
}

fn open_sorted(path: &Path, cache_bytes: u64) -> Result<SortedFile, StoreError> {
    match SortedFile::open(path, cache_bytes) {
        Err(StoreError::File(FileError::Io { error, .. }))
            if error.kind() == io::ErrorKind::NotFound =>
        {
            Err(StoreError::Damaged("its sorted file is missing"))
        }
        opened => opened,
    }
}

impl Drop for LsmStore {
    fn drop(&mut self) {
        // A compaction that is dropped would be repeated. Where it fails, the journal has all of
        // it.
        let _ = self.end_compaction();
    }
}

impl Store for LsmStore {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        found(self.memtables(), self.sorted.as_deref(), key)
    }

    fn range<'a>(&'a self, prefix: &[u8], from: &[u8]) -> Pairs<'a> {
        let from = from.max(prefix);
        with_prefix(self.merged(from, from.is_empty()), prefix)
    }

    fn scan<'a>(&'a self, from: &[u8], to: Option<&[u8]>) -> Pairs<'a> {
        before(self.merged(from, true), to)
    }

    fn split_points(&self, max: usize) -> Vec<Vec<u8>> {
        match &self.sorted {
            Some(sorted) => sorted.split_points(max),
            None => Vec::new(),
        }
    }

    fn snapshot(&mut self) -> Result<Box<dyn Store>, StoreError> {
        let mut newest = std::mem::take(&mut self.memtable);
        // Few memtables remain, each much smaller than the next older one.
        while let Some(older) = self.frozen.pop_if(|older| older.len() < 2 * newest.len()) {
            newest = Memtable::joined(older, newest);
        }
        if !newest.is_empty() {
            self.frozen.push(Arc::new(newest));
        }
        Ok(Box::new(LsmSnapshot {
            memtables: self.older().cloned().collect(),
            sorted: self.sorted.clone(),
        }))
    }

    fn apply(&mut self, batch: Batch) -> Result<(), StoreError> {
        self.memtable.apply(batch);
        Ok(())
    }

    fn needs_maintenance(&self) -> bool {
        match &self.compaction {
            Some(compaction) => compaction.thread.is_finished() || self.is_behind(),
            None => self.is_compaction_due(),
        }
    }

    /// Waits for the running compaction where changes come faster than they are compacted.
    fn maintain(&mut self) -> Result<(), StoreError> {
        let is_behind = self.is_behind();
        let is_over = |compaction: &Compaction| is_behind || compaction.thread.is_finished();
        if self.compaction.as_ref().is_some_and(is_over) {
            self.end_compaction()?;
        }
        if self.compaction.is_none() && self.is_compaction_due() {
            self.begin_compaction();
        }
        Ok(())
    }

    fn compact(&mut self) -> Result<(), StoreError> {
        self.end_compaction()?;
        if self.changes() == 0 && self.sled.len() == 0 {
            return Ok(());
        }
        self.begin_compaction();
        self.end_compaction()
    }

    fn begin_flush(&mut self) -> Result<(), StoreError> {
        self.end_compaction()?;
        if self.fits_in_sled() {
            return self.flush();
        }
        self.begin_compaction();
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.end_compaction()?;
        if !self.fits_in_sled() {
            return self.compact();
        }
        for older in self.frozen.drain(..).rev() {
            self.memtable = Memtable::joined(older, std::mem::take(&mut self.memtable));
        }
        if !self.memtable.is_empty() {
            self.sled.apply(&self.memtable)?;
        }
        self.sled.flush()?;
        self.memtable.clear();
        Ok(())
    }
}

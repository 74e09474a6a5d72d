//! A sorted file (an SSTable): entries in key order, written once. `FORMAT.md` describes its bytes.

mod block;
mod layout;
mod writer;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use quick_cache::unsync::Cache;

use self::block::{Block, Cursor, ENTRY_HEAD, checksum};
use self::layout::{BLOCK_BYTES, Directory, FOOTER_BYTES, Footer, HEADER_BYTES, MAGIC, VERSION};
use self::writer::SstableWriter;
use crate::StoreError;
use crate::bloom::{KeyFilter, hash};
use crate::store::Pair;
use kagetsu_files::{FileError, PositionedFile};

/// A sorted file, open for reading by any number of threads.
#[derive(Debug)]
pub(crate) struct SortedFile {
    path: PathBuf,
    file: File,
    directory: Directory,
    content: Content,
    cache: Mutex<Cache<u32, Block>>,
}

/// A summary of the entries that needs no read.
#[derive(Debug)]
struct Content {
    entries: usize,
    filter: KeyFilter,
}

impl Content {
    fn new(keys: usize) -> Self {
        Self {
            entries: 0,
            filter: KeyFilter::new(keys),
        }
    }

    fn add(&mut self, key: &[u8]) {
        self.entries += 1;
        self.filter.insert(hash(key));
    }
}

impl SortedFile {
    /// Writes at most `max_entries` entries with ascending keys into a file, which is durable then.
    /// Caches `cache_bytes` of it.
    pub(crate) fn create(
        path: &Path,
        cache_bytes: u64,
        max_entries: usize,
        entries: &mut dyn Iterator<Item = Result<Pair, StoreError>>,
    ) -> Result<Self, StoreError> {
        let temporary = path.with_extension("new");
        let error = |error| StoreError::io("cannot write to", &temporary)(error);
        let mut writer =
            SstableWriter::new(File::create(&temporary).map_err(error)?).map_err(error)?;
        let mut content = Content::new(max_entries);
        for pair in entries {
            let (key, value) = pair?;
            writer.add(&key, &value).map_err(error)?;
            content.add(&key);
        }
        let (directory, file) = writer.finish().map_err(error)?;
        file.sync_all().map_err(error)?;
        // Windows renames no file that is open.
        drop(file);
        std::fs::rename(&temporary, path).map_err(error)?;
        let file = File::open(path).map_err(error)?;
        Ok(Self::new(path, file, directory, content, cache_bytes))
    }

    /// Opens a file and verifies every byte of it.
    ///
    /// # Errors
    /// If the file is damaged or has a newer format.
    pub(crate) fn open(path: &Path, cache_bytes: u64) -> Result<Self, StoreError> {
        let error = |error| StoreError::io("cannot read", path)(error);
        let file = File::open(path).map_err(error)?;
        let size = file.metadata().map_err(error)?.len();
        let body = size
            .checked_sub(HEADER_BYTES + FOOTER_BYTES as u64)
            .ok_or_else(damaged)?;
        let mut header = [0; HEADER_BYTES as usize];
        file.read_all_at(&mut header, 0).map_err(error)?;
        let mut footer = [0; FOOTER_BYTES];
        file.read_all_at(&mut footer, HEADER_BYTES + body)
            .map_err(error)?;
        let footer = Footer::read(&header, &footer).ok_or_else(damaged)?;
        let (magic, version) = header.split_at(MAGIC.len());
        match (magic == MAGIC, version.try_into().map(u32::from_le_bytes)) {
            (true, Ok(VERSION)) => {}
            (true, Ok(found)) if found > VERSION => {
                return Err(FileError::Newer {
                    path: path.into(),
                    found,
                    known: VERSION,
                }
                .into());
            }
            _ => return Err(damaged()),
        }
        let length = (HEADER_BYTES + body)
            .checked_sub(footer.directory)
            .ok_or_else(damaged)?;
        let mut bytes = vec![0; usize::try_from(length).map_err(|_| damaged())?];
        file.read_all_at(&mut bytes, footer.directory)
            .map_err(error)?;
        let directory = Directory::read(&bytes, footer.directory, footer.blocks)
            .filter(|_| crc32fast::hash(&bytes) == footer.checksum)
            .ok_or_else(damaged)?;
        // No entry is shorter than its head.
        let entries = usize::try_from(footer.entries)
            .ok()
            .filter(|entries| *entries as u64 <= body / ENTRY_HEAD as u64)
            .ok_or_else(damaged)?;
        let content = Content::new(entries);
        let mut sorted = Self::new(path, file, directory, content, cache_bytes);
        for number in 0..sorted.directory.len() {
            let mut cursor = Cursor::new(sorted.read_block(number)?);
            while cursor.step()? {
                sorted.content.add(cursor.key());
            }
        }
        if sorted.content.entries == entries {
            Ok(sorted)
        } else {
            Err(damaged())
        }
    }

    fn new(
        path: &Path,
        file: File,
        directory: Directory,
        content: Content,
        cache_bytes: u64,
    ) -> Self {
        let blocks = usize::try_from(cache_bytes / BLOCK_BYTES as u64).unwrap_or(usize::MAX);
        Self {
            path: path.to_path_buf(),
            file,
            directory,
            content,
            cache: Mutex::new(Cache::new(blocks.max(2))),
        }
    }

    /// Reads a block from the file.
    fn read_block(&self, number: u32) -> Result<Block, StoreError> {
        let (begin, end) = self.directory.place(number);
        let mut bytes = vec![0; (end - begin) as usize];
        self.file
            .read_all_at(&mut bytes, begin)
            .map_err(StoreError::io("cannot read", &self.path))?;
        let whole = bytes
            .split_last_chunk()
            .filter(|(body, sum)| checksum(number, body) == u32::from_le_bytes(**sum));
        let (body, _) = whole.ok_or_else(damaged)?;
        Ok(body.into())
    }

    /// Returns a block from the cache, or else from the file.
    fn cached_block(&self, number: u32) -> Result<Block, StoreError> {
        if let Some(block) = self.cache.lock().get(&number) {
            return Ok(Arc::clone(block));
        }
        let block = self.read_block(number)?;
        self.cache.lock().insert(number, Arc::clone(&block));
        Ok(block)
    }

    pub(crate) fn entries(&self) -> usize {
        self.content.entries
    }

    /// Returns the value of the key with this hash.
    pub(crate) fn get(&self, hash: u64, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        if !self.content.filter.may_contain(hash) {
            return Ok(None);
        }
        let Some(number) = self.directory.block_of(key) else {
            return Ok(None);
        };
        let mut cursor = Cursor::new(self.cached_block(number)?);
        while cursor.step()? {
            match cursor.key().cmp(key) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => return Ok(Some(cursor.value().to_vec())),
                std::cmp::Ordering::Greater => break,
            }
        }
        Ok(None)
    }

    /// Returns fewer than `max` ascending keys between which about as many blocks lie.
    pub(crate) fn split_points(&self, max: usize) -> Vec<Vec<u8>> {
        let step = self.directory.len() as usize / max + 1;
        (0..self.directory.len())
            .step_by(step)
            .skip(1)
            .map(|number| self.directory.first_key(number).to_vec())
            .collect()
    }

    /// Returns all entries from a key on, in key order. A scan leaves the cache as it is.
    pub(crate) fn range(&self, from: &[u8], is_scan: bool) -> Range<'_> {
        Range {
            sorted: self,
            next_block: self.directory.block_of(from).unwrap_or(0),
            cursor: None,
            from: from.to_vec(),
            is_scan,
        }
    }
}

/// See [`SortedFile::range`].
pub(crate) struct Range<'a> {
    sorted: &'a SortedFile,
    next_block: u32,
    cursor: Option<Cursor>,
    from: Vec<u8>,
    is_scan: bool,
}

impl Range<'_> {
    fn step(&mut self) -> Result<Option<Pair>, StoreError> {
        loop {
            if let Some(cursor) = &mut self.cursor {
                while cursor.step()? {
                    if cursor.key() >= &*self.from {
                        return Ok(Some((cursor.key().to_vec(), cursor.value().to_vec())));
                    }
                }
            }
            if self.next_block >= self.sorted.directory.len() {
                return Ok(None);
            }
            let block = if self.is_scan {
                self.sorted.read_block(self.next_block)?
            } else {
                self.sorted.cached_block(self.next_block)?
            };
            self.cursor = Some(Cursor::new(block));
            self.next_block += 1;
        }
    }
}

impl Iterator for Range<'_> {
    type Item = Result<Pair, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step().transpose()
    }
}

fn damaged() -> StoreError {
    StoreError::Damaged("its sorted file")
}

#[cfg(test)]
mod tests;

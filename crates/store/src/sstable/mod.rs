//! A sorted file (an SSTable): entries in key order, written once. `FORMAT.md` describes its bytes.

mod block;
mod writer;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use quick_cache::unsync::Cache;

use self::block::{Block, Cursor, ENTRY_HEAD, checksum};
use self::writer::Writer;
use crate::StoreError;
use crate::bloom::{KeyFilter, hash};
use crate::store::Pair;

const MAGIC: [u8; 8] = *b"kagetsus";
const VERSION: u32 = 1;
const HEADER_BYTES: u64 = 12;
/// The position of the directory, its blocks, its checksum, the entries of the file, and a checksum
/// over header and footer.
const FOOTER_BYTES: usize = 8 + 4 + 4 + 8 + 4;
/// A block ends with the entry that reaches this length.
const BLOCK_BYTES: usize = 8 << 10;

/// A sorted file, open for reading by any number of threads.
#[derive(Debug)]
pub(crate) struct SortedFile {
    path: PathBuf,
    file: File,
    directory: Directory,
    content: Content,
    cache: Mutex<Cache<u32, Block>>,
}

/// What is known of the entries without a read.
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
        let mut writer = Writer::new(File::create(&temporary).map_err(error)?).map_err(error)?;
        let mut content = Content::new(max_entries);
        for pair in entries {
            let (key, value) = pair?;
            writer.add(&key, &value).map_err(error)?;
            content.add(&key);
        }
        let (directory, file) = writer.finish().map_err(error)?;
        file.sync_all().map_err(error)?;
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
        file.read_exact_at(&mut header, 0).map_err(error)?;
        let mut footer = [0; FOOTER_BYTES];
        file.read_exact_at(&mut footer, HEADER_BYTES + body)
            .map_err(error)?;
        let footer = Footer::read(&header, &footer).ok_or_else(damaged)?;
        let (magic, version) = header.split_at(MAGIC.len());
        match (magic == MAGIC, version.try_into().map(u32::from_le_bytes)) {
            (true, Ok(VERSION)) => {}
            (true, Ok(found)) if found > VERSION => {
                return Err(StoreError::Newer {
                    path: path.into(),
                    found,
                    known: VERSION,
                });
            }
            _ => return Err(damaged()),
        }
        let length = (HEADER_BYTES + body)
            .checked_sub(footer.directory)
            .ok_or_else(damaged)?;
        let mut bytes = vec![0; usize::try_from(length).map_err(|_| damaged())?];
        file.read_exact_at(&mut bytes, footer.directory)
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
            .read_exact_at(&mut bytes, begin)
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

/// The positions of the blocks in the file, and their first keys.
#[derive(Debug, Default)]
struct Directory {
    /// For each block its position in the file and that of its first key in `keys`; then the end of
    /// the last block.
    blocks: Vec<(u64, u32)>,
    keys: Vec<u8>,
}

impl Directory {
    /// Reads a directory: for each block where it ends (8 bytes), the length of its first key (1),
    /// and the key.
    fn read(bytes: &[u8], end: u64, count: u32) -> Option<Self> {
        let mut directory = Self::default();
        let mut rest = bytes;
        let mut begin = HEADER_BYTES;
        for _ in 0..count {
            let (next, after) = rest.split_first_chunk()?;
            let (&length, after) = after.split_first()?;
            let (key, after) = after.split_at_checked(length.into())?;
            directory.begin_block(begin, key)?;
            let next = u64::from_le_bytes(*next);
            if next < begin + 4 || next > end {
                return None;
            }
            begin = next;
            rest = after;
        }
        directory.begin_block(begin, &[])?;
        (rest.is_empty() && begin == end).then_some(directory)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for pair in self.blocks.windows(2) {
            let key = &self.keys[pair[0].1 as usize..pair[1].1 as usize];
            bytes.extend(pair[1].0.to_le_bytes());
            bytes.push(key.len() as u8);
            bytes.extend_from_slice(key);
        }
        bytes
    }

    /// Adds the beginning of a block, or the end of the last with an empty key. `None` where the
    /// keys are too long.
    fn begin_block(&mut self, at: u64, first_key: &[u8]) -> Option<()> {
        self.blocks.push((at, u32::try_from(self.keys.len()).ok()?));
        self.keys.extend_from_slice(first_key);
        Some(())
    }

    /// Returns the number of blocks.
    fn len(&self) -> u32 {
        self.blocks.len() as u32 - 1
    }

    /// Returns where a block begins and ends in the file.
    fn place(&self, number: u32) -> (u64, u64) {
        let at = number as usize;
        (self.blocks[at].0, self.blocks[at + 1].0)
    }

    fn first_key(&self, number: u32) -> &[u8] {
        let at = number as usize;
        &self.keys[self.blocks[at].1 as usize..self.blocks[at + 1].1 as usize]
    }

    /// Returns the only block that may have the key; `None` for a key before all.
    fn block_of(&self, key: &[u8]) -> Option<u32> {
        let mut low = 0;
        let mut high = self.len();
        while low < high {
            let middle = low + (high - low) / 2;
            if self.first_key(middle) <= key {
                low = middle + 1
            } else {
                high = middle
            }
        }
        low.checked_sub(1)
    }
}

/// The last bytes of a file, without their checksum.
struct Footer {
    /// The position of the directory.
    directory: u64,
    blocks: u32,
    /// The checksum of the directory.
    checksum: u32,
    entries: u64,
}

impl Footer {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(FOOTER_BYTES);
        bytes.extend(self.directory.to_le_bytes());
        bytes.extend(self.blocks.to_le_bytes());
        bytes.extend(self.checksum.to_le_bytes());
        bytes.extend(self.entries.to_le_bytes());
        let sum = crc32fast::hash(&[&header()[..], &bytes].concat());
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    /// Reads a footer; `None` where header or footer are damaged.
    fn read(header: &[u8], bytes: &[u8; FOOTER_BYTES]) -> Option<Self> {
        let (body, sum) = bytes.split_last_chunk()?;
        let (directory, rest) = body.split_first_chunk()?;
        let (blocks, rest) = rest.split_first_chunk()?;
        let (checksum, entries) = rest.split_first_chunk()?;
        let is_whole = crc32fast::hash(&[header, body].concat()) == u32::from_le_bytes(*sum);
        is_whole.then_some(Self {
            directory: u64::from_le_bytes(*directory),
            blocks: u32::from_le_bytes(*blocks),
            checksum: u32::from_le_bytes(*checksum),
            entries: u64::from_le_bytes(entries.try_into().ok()?),
        })
    }
}

fn header() -> Vec<u8> {
    [&MAGIC[..], &VERSION.to_le_bytes()].concat()
}

fn damaged() -> StoreError {
    StoreError::Damaged("its sorted file")
}

#[cfg(test)]
mod tests;

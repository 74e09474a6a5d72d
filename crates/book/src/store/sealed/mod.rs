//! A file of entries in key order that is written once: what the store does not change any more.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::BookError;
use crate::store::Pair;
use crate::store::filter::{Filter, hash};

const MAGIC: [u8; 8] = *b"kagetsus";
const VERSION: u32 = 1;
const HEADER: u64 = 12;
/// Where the directory begins, how many blocks it has, its checksum, the entries of the file, and a checksum over the header
/// and this.
const FOOTER: usize = 8 + 4 + 4 + 8 + 4;
/// Of an entry: how many bytes its key has in common with the one before, how many of its own, how long the value is.
const ENTRY_HEAD: usize = 6;
/// A block ends with the entry that makes it so long.
const BLOCK: usize = 8 << 10;

/// The file, open for reading by any number of threads.
#[derive(Debug)]
pub(crate) struct Sealed {
    path: PathBuf,
    file: File,
    /// Where each block begins in the file and its first key in `keys`; then where the last ends.
    blocks: Vec<(u64, u32)>,
    keys: Vec<u8>,
    known: Known,
    recent: Mutex<Recent>,
}

/// What is known of the file without a look into it.
#[derive(Debug)]
struct Known {
    entries: usize,
    filter: Filter,
}

impl Known {
    fn put(&mut self, key: &[u8]) {
        self.entries += 1;
        self.filter.put(hash(key));
    }
}

/// What stands in a block, without its checksum.
type Block = Arc<[u8]>;

/// Blocks that were read a short while ago: two halves, of which the older is forgotten when the newer is full.
#[derive(Debug)]
struct Recent {
    newer: HashMap<u32, Block>,
    older: HashMap<u32, Block>,
    /// Blocks in a half.
    most: usize,
}

impl Recent {
    fn get(&mut self, number: u32) -> Option<Block> {
        if let Some(block) = self.newer.get(&number) {
            return Some(Arc::clone(block));
        }
        let block = self.older.remove(&number)?;
        self.put(number, Arc::clone(&block));
        Some(block)
    }

    fn put(&mut self, number: u32, block: Block) {
        if self.newer.len() >= self.most {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(number, block);
    }
}

impl Sealed {
    /// Writes the entries, `most` at most and with ascending keys, into a file that is then whole and on disk; keeps `cache_bytes` of
    /// it in memory.
    pub(crate) fn create(
        path: &Path,
        cache_bytes: u64,
        most: usize,
        entries: &mut dyn Iterator<Item = Result<Pair, BookError>>,
    ) -> Result<Self, BookError> {
        let half = path.with_extension("new");
        let fail = |error| BookError::io("cannot write to", &half)(error);
        let mut writer = Writer::new(File::create(&half).map_err(fail)?);
        writer.write(&header()).map_err(fail)?;
        let mut known = Known {
            entries: 0,
            filter: Filter::new(most),
        };
        for pair in entries {
            let (key, value) = pair?;
            writer.add(&key, &value).map_err(fail)?;
            known.put(&key);
        }
        let (directory, file) = writer.finish().map_err(fail)?;
        file.sync_all().map_err(fail)?;
        std::fs::rename(&half, path).map_err(fail)?;
        let file = File::open(path).map_err(fail)?;
        Ok(Self::of(path, file, directory, known, cache_bytes))
    }

    /// Opens a file and reads it whole: every byte of it is as it was written.
    ///
    /// # Errors
    /// Damage, a newer format, or what the disk says.
    pub(crate) fn open(path: &Path, cache_bytes: u64) -> Result<Self, BookError> {
        let fail = |error| BookError::io("cannot read", path)(error);
        let damaged = || BookError::Store("its sealed part");
        let file = File::open(path).map_err(fail)?;
        let size = file.metadata().map_err(fail)?.len();
        let body = size
            .checked_sub(HEADER + FOOTER as u64)
            .ok_or_else(damaged)?;
        let mut header = [0; HEADER as usize];
        file.read_exact_at(&mut header, 0).map_err(fail)?;
        let mut footer = [0; FOOTER];
        file.read_exact_at(&mut footer, HEADER + body)
            .map_err(fail)?;
        let [at, count, sum, entries] = fields(&header, &footer).ok_or_else(damaged)?;
        let (magic, version) = header.split_at(MAGIC.len());
        match (magic == MAGIC, version.try_into().map(u32::from_le_bytes)) {
            (true, Ok(VERSION)) => {}
            (true, Ok(found)) if found > VERSION => {
                return Err(BookError::Newer {
                    path: path.into(),
                    found,
                    known: VERSION,
                });
            }
            _ => return Err(damaged()),
        }
        let length = (HEADER + body).checked_sub(at).ok_or_else(damaged)?;
        let mut bytes = vec![0; usize::try_from(length).map_err(|_| damaged())?];
        file.read_exact_at(&mut bytes, at).map_err(fail)?;
        let directory = Directory::read(&bytes, at, count)
            .filter(|_| u64::from(crc32fast::hash(&bytes)) == sum);
        // No entry has less bytes than its head.
        let entries = usize::try_from(entries)
            .ok()
            .filter(|entries| *entries as u64 <= body / ENTRY_HEAD as u64);
        let entries = entries.ok_or_else(damaged)?;
        let known = Known {
            entries: 0,
            filter: Filter::new(entries),
        };
        let mut sealed = Self::of(
            path,
            file,
            directory.ok_or_else(damaged)?,
            known,
            cache_bytes,
        );
        for number in 0..sealed.len() {
            let mut cursor = Cursor::new(sealed.read(number)?);
            while cursor.step()? {
                sealed.known.put(&cursor.key);
            }
        }
        if sealed.known.entries == entries {
            Ok(sealed)
        } else {
            Err(damaged())
        }
    }

    fn of(
        path: &Path,
        file: File,
        Directory { blocks, keys }: Directory,
        known: Known,
        cache_bytes: u64,
    ) -> Self {
        let most = usize::try_from(cache_bytes / 2 / BLOCK as u64)
            .unwrap_or(usize::MAX)
            .max(1);
        let recent = Mutex::new(Recent {
            newer: HashMap::new(),
            older: HashMap::new(),
            most,
        });
        Self {
            path: path.to_path_buf(),
            file,
            blocks,
            keys,
            known,
            recent,
        }
    }

    /// Blocks.
    fn len(&self) -> u32 {
        self.blocks.len() as u32 - 1
    }

    fn first_key(&self, number: u32) -> &[u8] {
        let at = |number: u32| self.blocks[number as usize].1 as usize;
        &self.keys[at(number)..at(number + 1)]
    }

    /// The block that has the key if any has; `None` where the key stands before all.
    fn block_of(&self, key: &[u8]) -> Option<u32> {
        let (mut low, mut high) = (0, self.len());
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

    /// A block from the file.
    fn read(&self, number: u32) -> Result<Block, BookError> {
        let [(begin, _), (end, _)] = [0, 1].map(|next| self.blocks[number as usize + next]);
        let mut bytes = vec![0; (end - begin) as usize];
        self.file
            .read_exact_at(&mut bytes, begin)
            .map_err(BookError::io("cannot read", &self.path))?;
        let whole = bytes
            .split_last_chunk()
            .filter(|(body, sum)| checksum(number, body) == u32::from_le_bytes(**sum));
        let (body, _) = whole.ok_or(BookError::Store("its sealed part"))?;
        Ok(body.into())
    }

    /// A block from memory, or from the file.
    fn block(&self, number: u32) -> Result<Block, BookError> {
        let recent = || self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(block) = recent().get(number) {
            return Ok(block);
        }
        let block = self.read(number)?;
        recent().put(number, Arc::clone(&block));
        Ok(block)
    }

    pub(crate) fn entries(&self) -> usize {
        self.known.entries
    }

    /// The value of a key with this hash.
    pub(crate) fn get(&self, hash: u64, key: &[u8]) -> Result<Option<Vec<u8>>, BookError> {
        if !self.known.filter.may_have(hash) {
            return Ok(None);
        }
        let Some(number) = self.block_of(key) else {
            return Ok(None);
        };
        let mut cursor = Cursor::new(self.block(number)?);
        while cursor.step()? {
            match (*cursor.key).cmp(key) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => return Ok(Some(cursor.value().to_vec())),
                std::cmp::Ordering::Greater => break,
            }
        }
        Ok(None)
    }

    /// Less than `most` keys, ascending, between which about as many blocks lie.
    pub(crate) fn cuts(&self, most: usize) -> Vec<Vec<u8>> {
        let step = self.len() as usize / most + 1;
        (0..self.len())
            .step_by(step)
            .skip(1)
            .map(|number| self.first_key(number).to_vec())
            .collect()
    }

    /// All entries from a key on, in key order; whoever goes through the whole file leaves the blocks in memory as they are.
    pub(crate) fn range(&self, from: &[u8], is_whole: bool) -> Range<'_> {
        Range {
            sealed: self,
            number: self.block_of(from).unwrap_or(0),
            cursor: None,
            from: from.to_vec(),
            is_whole,
        }
    }
}

/// See [`Sealed::range`].
pub(crate) struct Range<'a> {
    sealed: &'a Sealed,
    /// The next block.
    number: u32,
    cursor: Option<Cursor>,
    from: Vec<u8>,
    is_whole: bool,
}

impl Range<'_> {
    fn step(&mut self) -> Result<Option<Pair>, BookError> {
        loop {
            if let Some(cursor) = &mut self.cursor {
                while cursor.step()? {
                    if cursor.key >= self.from {
                        return Ok(Some((cursor.key.clone(), cursor.value().to_vec())));
                    }
                }
            }
            if self.number >= self.sealed.len() {
                return Ok(None);
            }
            let read = if self.is_whole {
                Sealed::read
            } else {
                Sealed::block
            };
            self.cursor = Some(Cursor::new(read(self.sealed, self.number)?));
            self.number += 1;
        }
    }
}

impl Iterator for Range<'_> {
    type Item = Result<Pair, BookError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step().transpose()
    }
}

/// Goes through a block.
struct Cursor {
    block: Block,
    at: usize,
    key: Vec<u8>,
    value: (usize, usize),
}

impl Cursor {
    fn new(block: Block) -> Self {
        Self {
            block,
            at: 0,
            key: Vec::new(),
            value: (0, 0),
        }
    }

    /// To the next entry; `false` after the last.
    fn step(&mut self) -> Result<bool, BookError> {
        if self.at == self.block.len() {
            return Ok(false);
        }
        self.entry().ok_or(BookError::Store("its sealed part"))?;
        Ok(true)
    }

    fn entry(&mut self) -> Option<()> {
        let rest = &self.block[self.at..];
        let [shared, own, length @ ..] = rest.first_chunk::<ENTRY_HEAD>()?;
        let (shared, own, length) = (
            *shared as usize,
            *own as usize,
            u32::from_le_bytes(*length) as usize,
        );
        let key = rest
            .get(ENTRY_HEAD..ENTRY_HEAD + own)
            .filter(|_| shared <= self.key.len())?;
        self.key.truncate(shared);
        self.key.extend_from_slice(key);
        let begin = self.at + ENTRY_HEAD + own;
        let end = begin
            .checked_add(length)
            .filter(|end| *end <= self.block.len())?;
        (self.value, self.at) = ((begin, end), end);
        Some(())
    }

    fn value(&self) -> &[u8] {
        &self.block[self.value.0..self.value.1]
    }
}

/// Where the blocks are.
struct Directory {
    blocks: Vec<(u64, u32)>,
    keys: Vec<u8>,
}

impl Directory {
    /// For each block: where it ends (8 bytes), how long its first key is (1), the key.
    fn read(bytes: &[u8], end: u64, count: u64) -> Option<Self> {
        let (mut blocks, mut keys, mut rest, mut begin) = (Vec::new(), Vec::new(), bytes, HEADER);
        for _ in 0..count {
            let (next, after) = rest.split_first_chunk()?;
            let (&length, after) = after.split_first()?;
            let (key, after) = after.split_at_checked(length.into())?;
            blocks.push((begin, u32::try_from(keys.len()).ok()?));
            keys.extend_from_slice(key);
            let next = u64::from_le_bytes(*next);
            if next < begin + 4 || next > end {
                return None;
            }
            (begin, rest) = (next, after);
        }
        blocks.push((begin, u32::try_from(keys.len()).ok()?));
        (rest.is_empty() && begin == end).then_some(Self { blocks, keys })
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
}

struct Writer {
    file: BufWriter<File>,
    at: u64,
    block: Vec<u8>,
    last: Vec<u8>,
    entries: u64,
    directory: Directory,
}

impl Writer {
    fn new(file: File) -> Self {
        let directory = Directory {
            blocks: Vec::new(),
            keys: Vec::new(),
        };
        let file = BufWriter::with_capacity(1 << 20, file);
        Self {
            file,
            at: 0,
            block: Vec::new(),
            last: Vec::new(),
            entries: 0,
            directory,
        }
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.at += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    /// An entry: how many bytes its key has in common with the one before (1), how many of its own (1), how long the value is
    /// (4), the key's own bytes, the value.
    fn add(&mut self, key: &[u8], value: &[u8]) -> std::io::Result<()> {
        let too_long = |_| std::io::Error::other("an entry is too long");
        if self.block.is_empty() {
            let at = u32::try_from(self.directory.keys.len()).map_err(too_long)?;
            self.directory.blocks.push((self.at, at));
            self.directory.keys.extend_from_slice(key);
            self.last.clear();
        }
        let shared = self
            .last
            .iter()
            .zip(key)
            .take_while(|(last, own)| last == own)
            .count()
            .min(255);
        let own = &key[shared..];
        self.block.push(shared as u8);
        self.block.push(u8::try_from(own.len()).map_err(too_long)?);
        self.block
            .extend(u32::try_from(value.len()).map_err(too_long)?.to_le_bytes());
        self.block.extend_from_slice(own);
        self.block.extend_from_slice(value);
        self.last.clear();
        self.last.extend_from_slice(key);
        self.entries += 1;
        if self.block.len() >= BLOCK {
            self.end_block()
        } else {
            Ok(())
        }
    }

    fn end_block(&mut self) -> std::io::Result<()> {
        let mut block = std::mem::take(&mut self.block);
        let sum = checksum(self.directory.blocks.len() as u32 - 1, &block);
        block.extend(sum.to_le_bytes());
        self.write(&block)?;
        block.clear();
        self.block = block;
        Ok(())
    }

    fn finish(mut self) -> std::io::Result<(Directory, File)> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        let (at, count) = (self.at, self.directory.blocks.len() as u32);
        self.directory
            .blocks
            .push((at, self.directory.keys.len() as u32));
        let bytes = self.directory.bytes();
        let mut footer = Vec::with_capacity(FOOTER);
        footer.extend(at.to_le_bytes());
        footer.extend(count.to_le_bytes());
        footer.extend(crc32fast::hash(&bytes).to_le_bytes());
        footer.extend(self.entries.to_le_bytes());
        footer.extend(crc32fast::hash(&[&header()[..], &footer].concat()).to_le_bytes());
        self.write(&bytes)?;
        self.write(&footer)?;
        let file = self.file.into_inner().map_err(|error| error.into_error())?;
        Ok((self.directory, file))
    }
}

fn header() -> Vec<u8> {
    [&MAGIC[..], &VERSION.to_le_bytes()].concat()
}

/// The numbers of a footer; `None` for bytes that nobody wrote there, or before the blocks.
fn fields(header: &[u8], footer: &[u8; FOOTER]) -> Option<[u64; 4]> {
    let (body, sum) = footer.split_last_chunk()?;
    let (at, rest) = body.split_first_chunk()?;
    let (count, rest) = rest.split_first_chunk()?;
    let (of_directory, entries) = rest.split_first_chunk()?;
    let fields = [
        u64::from_le_bytes(*at),
        u32::from_le_bytes(*count).into(),
        u32::from_le_bytes(*of_directory).into(),
        u64::from_le_bytes(entries.try_into().ok()?),
    ];
    (crc32fast::hash(&[header, body].concat()) == u32::from_le_bytes(*sum)).then_some(fields)
}

/// Over a block's number too, so that it cannot stand in another's place.
fn checksum(number: u32, body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&number.to_le_bytes());
    hasher.update(body);
    hasher.finalize()
}

#[cfg(test)]
mod tests;

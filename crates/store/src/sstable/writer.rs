//! The writing of a sorted file.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use super::block::checksum;
use super::layout::{BLOCK_BYTES, Directory, Footer, header};

/// Bytes that are written at a time.
const BUFFER_BYTES: usize = 1 << 20;

/// A sorted file in the making.
pub(super) struct SstableWriter {
    file: BufWriter<File>,
    /// Bytes written so far.
    written: u64,
    block: Vec<u8>,
    /// The key of the last entry of the block.
    last_key: Vec<u8>,
    entries: u64,
    directory: Directory,
}

fn too_long<T>(_: T) -> io::Error {
    io::Error::other("an entry is too long")
}

impl SstableWriter {
    /// Begins a file with its header.
    pub(super) fn new(file: File) -> io::Result<Self> {
        let mut writer = Self {
            file: BufWriter::with_capacity(BUFFER_BYTES, file),
            written: 0,
            block: Vec::new(),
            last_key: Vec::new(),
            entries: 0,
            directory: Directory::default(),
        };
        writer.write(&header())?;
        Ok(writer)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    /// Adds an entry whose key is greater than those before.
    pub(super) fn add(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        if self.block.is_empty() {
            self.directory
                .begin_block(self.written, key)
                .ok_or_else(|| too_long(()))?;
            self.last_key.clear();
        }
        let shared = self
            .last_key
            .iter()
            .zip(key)
            .take_while(|(last, own)| last == own)
            .count()
            .min(usize::from(u8::MAX));
        let own = &key[shared..];
        let length = u32::try_from(value.len()).map_err(too_long)?;
        self.block.push(shared as u8);
        self.block.push(u8::try_from(own.len()).map_err(too_long)?);
        self.block.extend(length.to_le_bytes());
        self.block.extend_from_slice(own);
        self.block.extend_from_slice(value);
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
        self.entries += 1;
        if self.block.len() >= BLOCK_BYTES {
            self.end_block()
        } else {
            Ok(())
        }
    }

    fn end_block(&mut self) -> io::Result<()> {
        let mut block = std::mem::take(&mut self.block);
        let sum = checksum(self.directory.blocks.len() as u32 - 1, &block);
        block.extend(sum.to_le_bytes());
        self.write(&block)?;
        block.clear();
        self.block = block;
        Ok(())
    }

    /// Writes the directory and the footer.
    pub(super) fn finish(mut self) -> io::Result<(Directory, File)> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        let blocks = self.directory.blocks.len() as u32;
        let at = self.written;
        self.directory
            .begin_block(at, &[])
            .ok_or_else(|| too_long(()))?;
        let bytes = self.directory.bytes();
        let footer = Footer {
            directory: at,
            blocks,
            checksum: crc32fast::hash(&bytes),
            entries: self.entries,
        };
        self.write(&bytes)?;
        self.write(&footer.bytes())?;
        let file = self.file.into_inner().map_err(|error| error.into_error())?;
        Ok((self.directory, file))
    }
}

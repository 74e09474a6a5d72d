//! The parts of a sorted file around its blocks: header, directory and footer.

pub(super) const MAGIC: [u8; 8] = *b"kagetsus";
pub(super) const VERSION: u32 = 1;
pub(super) const HEADER_BYTES: u64 = 12;
/// The position of the directory, its blocks, its checksum, the entries of the file, and a checksum
/// over header and footer.
pub(super) const FOOTER_BYTES: usize = 8 + 4 + 4 + 8 + 4;
/// A block ends with the entry that reaches this length.
pub(super) const BLOCK_BYTES: usize = 8 << 10;

/// The positions of the blocks in the file, and their first keys.
#[derive(Debug, Default)]
pub(super) struct Directory {
    /// For each block its position in the file and that of its first key in `keys`; then the end of
    /// the last block.
    pub(super) blocks: Vec<(u64, u32)>,
    keys: Vec<u8>,
}

impl Directory {
    /// Reads a directory: for each block where it ends (8 bytes), the length of its first key (1),
    /// and the key.
    pub(super) fn read(bytes: &[u8], end: u64, count: u32) -> Option<Self> {
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

    pub(super) fn bytes(&self) -> Vec<u8> {
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
    pub(super) fn begin_block(&mut self, at: u64, first_key: &[u8]) -> Option<()> {
        self.blocks.push((at, u32::try_from(self.keys.len()).ok()?));
        self.keys.extend_from_slice(first_key);
        Some(())
    }

    /// Returns the number of blocks.
    pub(super) fn len(&self) -> u32 {
        self.blocks.len() as u32 - 1
    }

    /// Returns where a block begins and ends in the file.
    pub(super) fn place(&self, number: u32) -> (u64, u64) {
        let at = number as usize;
        (self.blocks[at].0, self.blocks[at + 1].0)
    }

    pub(super) fn first_key(&self, number: u32) -> &[u8] {
        let at = number as usize;
        &self.keys[self.blocks[at].1 as usize..self.blocks[at + 1].1 as usize]
    }

    /// Returns the only block that may have the key; `None` for a key before all.
    pub(super) fn block_of(&self, key: &[u8]) -> Option<u32> {
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
pub(super) struct Footer {
    /// The position of the directory.
    pub(super) directory: u64,
    pub(super) blocks: u32,
    /// The checksum of the directory.
    pub(super) checksum: u32,
    pub(super) entries: u64,
}

impl Footer {
    pub(super) fn bytes(&self) -> Vec<u8> {
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
    pub(super) fn read(header: &[u8], bytes: &[u8; FOOTER_BYTES]) -> Option<Self> {
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

pub(super) fn header() -> Vec<u8> {
    [&MAGIC[..], &VERSION.to_le_bytes()].concat()
}

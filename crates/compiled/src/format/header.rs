pub(crate) const MAGIC: [u8; 8] = *b"kagetsub";
pub(crate) const VERSION: u32 = 3;
/// The version whose summary has no overview.
pub(crate) const STATS_ONLY_VERSION: u32 = 2;

/// The first bytes of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The day of the latest search, since 1970-01-01.
    pub(crate) day: u32,
    pub(crate) positions: u64,
    pub(crate) buckets: u32,
    /// The checksum of the directory.
    pub(crate) directory: u32,
    pub(crate) data_bytes: u64,
    pub(crate) summary_bytes: u32,
    /// The checksum of the summary.
    pub(crate) summary: u32,
}

impl Header {
    /// Bytes of the header: the directory of the buckets begins at a cache line.
    pub(crate) const LENGTH: usize = 64;

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = [&MAGIC[..], &VERSION.to_le_bytes(), &self.day.to_le_bytes()].concat();
        bytes.extend(self.positions.to_le_bytes());
        bytes.extend(self.buckets.to_le_bytes());
        bytes.extend(self.directory.to_le_bytes());
        bytes.extend(self.data_bytes.to_le_bytes());
        bytes.extend(self.summary_bytes.to_le_bytes());
        bytes.extend(self.summary.to_le_bytes());
        bytes.resize(Self::LENGTH - 4, 0);
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (body, sum) = bytes.get(..Self::LENGTH)?.split_last_chunk()?;
        let u32_at = |at: usize| {
            body.get(at..)?
                .first_chunk()
                .map(|bytes| u32::from_le_bytes(*bytes))
        };
        let u64_at = |at: usize| {
            body.get(at..)?
                .first_chunk()
                .map(|bytes| u64::from_le_bytes(*bytes))
        };
        if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
            return None;
        }
        Some(Self {
            day: u32_at(12)?,
            positions: u64_at(16)?,
            buckets: u32_at(24)?,
            directory: u32_at(28)?,
            data_bytes: u64_at(32)?,
            summary_bytes: u32_at(40)?,
            summary: u32_at(44)?,
        })
    }
}

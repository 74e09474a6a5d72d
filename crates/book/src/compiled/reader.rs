//! The reader of compiled books: one immutable file for any number of processes.

use std::path::{Path, PathBuf};

use kagetsu_game::{Answer, Key, Position, Provenance};

use crate::compiled::buckets::Buckets;
use crate::compiled::encoding::Compact;
use crate::compiled::key_tail::Tail;
use crate::compiled::map::Map;
use crate::error::{BookError, CompiledError, FileError};
use crate::inspection::overview::OverviewBody;
use crate::{CheckReport, Derived, Overview, Stats};

pub(crate) const MAGIC: [u8; 8] = *b"kagetsub";
pub(crate) const VERSION: u32 = 3;
/// The version whose summary has no overview.
const STATS_ONLY_VERSION: u32 = 2;
/// The engine's name in answers of a compiled book, which does not keep the engines of its source.
pub const ENGINE: &str = "compiled book";

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

/// An open compiled book. It takes one bit of memory for each 4 KiB of the file. Pages that were
/// read are in memory too; all processes share them, and the system can reclaim them.
#[derive(Debug)]
pub struct Compiled {
    path: PathBuf,
    map: Map,
    header: Header,
    buckets: Buckets,
    by: Provenance,
    stats: Stats,
    overview: Overview,
}

/// Reads the statistics and the overview of a summary.
fn read_summary(version: u32, bytes: &[u8]) -> Option<(Stats, Overview)> {
    if version == STATS_ONLY_VERSION {
        return Some((postcard::from_bytes(bytes).ok()?, Overview::default()));
    }
    let (stats, overview): (Stats, OverviewBody) = postcard::from_bytes(bytes).ok()?;
    Some((stats, overview.overview()?))
}

impl Compiled {
    /// Opens the file. Verifies the checksums of header, directory and summary now, and the others
    /// when they are first read.
    ///
    /// # Errors
    /// If the file cannot be read, is not a compiled book, or is damaged.
    pub fn open(path: &Path) -> Result<Self, BookError> {
        let map = Map::open(path)?;
        let Some((version, _)) = map
            .strip_prefix(&MAGIC)
            .and_then(|rest| rest.split_first_chunk())
        else {
            return Err(CompiledError::NotCompiled(path.into()).into());
        };
        let version = u32::from_le_bytes(*version);
        if version > VERSION {
            return Err(FileError::Newer {
                path: path.into(),
                found: version,
                known: VERSION,
            }
            .into());
        }
        let damaged = |what| CompiledError::Damaged {
            path: path.into(),
            what,
        };
        if version < STATS_ONLY_VERSION {
            return Err(damaged("its format is older than any that was released").into());
        }
        let header = Header::read(&map).ok_or(damaged("its header is not what was written"))?;
        let long = damaged("it has not the length that it was written with");
        if header.data_bytes > map.len() as u64 {
            return Err(long.into());
        }
        let buckets = Buckets::new(Header::LENGTH, header.buckets, header.data_bytes);
        let Some(buckets) = buckets else {
            return Err(long.into());
        };
        let sums = buckets.sums();
        let length = (sums.end as u64).checked_add(header.summary_bytes.into());
        if length != Some(map.len() as u64) {
            return Err(long.into());
        }
        let mut sum = crc32fast::Hasher::new();
        [buckets.directory(), sums]
            .into_iter()
            .filter_map(|part| map.get(part))
            .for_each(|part| sum.update(part));
        if sum.finalize() != header.directory {
            return Err(damaged("its directory does not match its checksum").into());
        }
        let summary = map.get(map.len() - header.summary_bytes as usize..);
        let summary = summary.filter(|bytes| crc32fast::hash(bytes) == header.summary);
        let summary = summary.and_then(|bytes| read_summary(version, bytes));
        let (stats, overview) =
            summary.ok_or(damaged("its summary does not match its checksum"))?;
        let by = Provenance {
            engine: ENGINE.into(),
            day: header.day,
        };
        Ok(Self {
            path: path.into(),
            map,
            header,
            buckets,
            by,
            stats,
            overview,
        })
    }

    /// Returns the number of positions.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.header.positions
    }

    /// Returns whether the book holds no position.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the size of the file in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.map.len() as u64
    }

    /// Returns the statistics of the book that was compiled.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Returns the variants and roots of the book that was compiled; empty for a file of version 2,
    /// which does not name them.
    #[must_use]
    pub fn overview(&self) -> &Overview {
        &self.overview
    }

    #[cold]
    fn damaged(&self, what: &'static str) -> BookError {
        CompiledError::Damaged {
            path: self.path.clone(),
            what,
        }
        .into()
    }

    /// Returns the position with this key. Reads two places of the file and allocates nothing.
    ///
    /// # Errors
    /// If the bytes there are damaged.
    #[inline]
    pub fn find(&self, key: Key) -> Result<Option<Compact<'_>>, BookError> {
        let found = self.buckets.find(&self.map, key);
        match found {
            Ok(None) => Ok(None),
            Ok(Some(bytes)) => Compact::read(bytes)
                .map(Some)
                .ok_or_else(|| self.damaged("a position is torn")),
            Err(what) => Err(self.damaged(what)),
        }
    }

    /// Returns the header.
    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the number of buckets.
    pub(crate) fn buckets(&self) -> u32 {
        self.buckets.count()
    }

    /// Returns the bytes of a bucket.
    ///
    /// # Errors
    /// If they are damaged.
    pub(crate) fn raw_bucket(&self, number: u32) -> Result<&[u8], BookError> {
        let bytes = self.buckets.raw(&self.map, number);
        bytes.map_err(|what| self.damaged(what))
    }

    /// Returns the bytes of the summary.
    pub(crate) fn raw_summary(&self) -> &[u8] {
        let begin = self.map.len() - self.header.summary_bytes as usize;
        self.map.get(begin..).unwrap_or_default()
    }

    /// Returns the positions of a bucket.
    fn bucket(&self, number: u32) -> Result<Vec<(Tail, &[u8])>, BookError> {
        let positions = self.buckets.bucket(&self.map, number);
        positions.map_err(|what| self.damaged(what))
    }

    /// Returns the answer and the value of a position, in any orientation and reached by any moves.
    ///
    /// # Errors
    /// If the bytes there are damaged.
    pub fn lookup(&self, position: &Position) -> Result<Option<(Answer, Derived)>, BookError> {
        let (key, symmetry) = position.key_and_symmetry();
        let Some(found) = self.find(key)? else {
            return Ok(None);
        };
        let answer = found
            .answer(&self.by)
            .ok_or_else(|| self.damaged("a move is torn"))?;
        let (variant, back) = (position.variant(), position.variant().inverse(symmetry));
        let answer = answer.turned(variant, back);
        let value = found.value();
        let best = value.best.map(|m| variant.image(m, back));
        Ok(Some((answer, Derived { best, ..value })))
    }

    /// Verifies every byte of the file. `progress` gets the number of checked positions.
    #[must_use]
    pub fn check(&self, progress: &mut dyn FnMut(u64)) -> CheckReport {
        let mut report = CheckReport::default();
        for number in 0..self.header.buckets {
            match self.bucket(number) {
                Ok(bucket) => self.check_bucket(bucket, number, &mut report),
                Err(error) => report.fault(format!("bucket {number}: {error}")),
            }
            if number % 1_024 == 0 {
                progress(report.positions);
            }
        }
        let (found, recorded) = (report.positions, self.header.positions);
        report.hold(found == recorded, || {
            format!("{found} positions, its header says {recorded}")
        });
        let recorded = self.stats.positions;
        report.hold(found == recorded, || {
            format!("{found} positions, its summary says {recorded}")
        });
        report
    }

    fn check_bucket(&self, bucket: Vec<(Tail, &[u8])>, number: u32, report: &mut CheckReport) {
        let mut before = None;
        for (tail, bytes) in bucket {
            let is_whole = Compact::read(bytes)
                .and_then(|compact| compact.answer(&self.by))
                .is_some();
            report.hold(is_whole, || format!("bucket {number}: a position is torn"));
            report.hold(before < Some(tail), || {
                format!("bucket {number}: its positions are not in order")
            });
            before = Some(tail);
            report.positions += 1;
        }
    }
}

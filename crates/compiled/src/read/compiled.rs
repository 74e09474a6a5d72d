//! The reader of compiled books: one immutable file for any number of processes.

use std::path::{Path, PathBuf};

use kagetsu_game::{Answer, Key, Position, Provenance};

use crate::content::check_report::CheckReport;
use crate::content::derived::Derived;
use crate::content::overview::{Overview, OverviewBody};
use crate::content::stats::Stats;
use crate::error::CompiledError;
use crate::format::buckets::Buckets;
use crate::format::encoding::Compact;
use crate::format::header::{Header, MAGIC, STATS_ONLY_VERSION, VERSION};
use crate::format::key_tail::Tail;
use crate::read::map::Map;

/// The engine's name in answers of a compiled book, which does not keep the engines of its source.
pub const ENGINE: &str = "compiled book";

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
    pub fn open(path: &Path) -> Result<Self, CompiledError> {
        let map = Map::open(path)?;
        let Some((version, _)) = map
            .strip_prefix(&MAGIC)
            .and_then(|rest| rest.split_first_chunk())
        else {
            return Err(CompiledError::NotCompiled(path.into()));
        };
        let version = u32::from_le_bytes(*version);
        if version > VERSION {
            return Err(CompiledError::Newer {
                path: path.into(),
                found: version,
                known: VERSION,
            });
        }
        let damaged = |what| CompiledError::Damaged {
            path: path.into(),
            what,
        };
        if version < STATS_ONLY_VERSION {
            return Err(damaged("its format is older than any that was released"));
        }
        let header = Header::read(&map).ok_or(damaged("its header is not what was written"))?;
        let long = damaged("it has not the length that it was written with");
        if header.data_bytes > map.len() as u64 {
            return Err(long);
        }
        let buckets = Buckets::new(Header::LENGTH, header.buckets, header.data_bytes);
        let Some(buckets) = buckets else {
            return Err(long);
        };
        let sums = buckets.sums();
        let length = (sums.end as u64).checked_add(header.summary_bytes.into());
        if length != Some(map.len() as u64) {
            return Err(long);
        }
        let mut sum = crc32fast::Hasher::new();
        [buckets.directory(), sums]
            .into_iter()
            .filter_map(|part| map.get(part))
            .for_each(|part| sum.update(part));
        if sum.finalize() != header.directory {
            return Err(damaged("its directory does not match its checksum"));
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
    fn damaged(&self, what: &'static str) -> CompiledError {
        CompiledError::Damaged {
            path: self.path.clone(),
            what,
        }
    }

    /// Returns the position with this key. Reads two places of the file and allocates nothing.
    ///
    /// # Errors
    /// If the bytes there are damaged.
    #[inline]
    pub fn find(&self, key: Key) -> Result<Option<Compact<'_>>, CompiledError> {
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
    pub(crate) fn raw_bucket(&self, number: u32) -> Result<&[u8], CompiledError> {
        let bytes = self.buckets.raw(&self.map, number);
        bytes.map_err(|what| self.damaged(what))
    }

    /// Returns the bytes of the summary.
    pub(crate) fn raw_summary(&self) -> &[u8] {
        let begin = self.map.len() - self.header.summary_bytes as usize;
        self.map.get(begin..).unwrap_or_default()
    }

    /// Returns the positions of a bucket.
    fn bucket(&self, number: u32) -> Result<Vec<(Tail, &[u8])>, CompiledError> {
        let positions = self.buckets.bucket(&self.map, number);
        positions.map_err(|what| self.damaged(what))
    }

    /// Returns the answer and the value of a position, in any orientation and reached by any moves.
    ///
    /// # Errors
    /// If the bytes there are damaged.
    pub fn lookup(&self, position: &Position) -> Result<Option<(Answer, Derived)>, CompiledError> {
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

//! The reader of compiled books: one immutable file for any number of processes.

#[cfg(feature = "files")]
use std::fs::File;
use std::path::{Path, PathBuf};

use kagetsu_files::FileError;
use kagetsu_game::{Answer, Key, Position, Provenance};

use crate::content::annotation::Annotation;
use crate::content::check_report::CheckReport;
use crate::content::derived::Derived;
use crate::content::extras::Extras;
use crate::content::overview::{Overview, OverviewBody};
use crate::content::stats::Stats;
use crate::error::CompiledError;
use crate::format::buckets::positions;
use crate::format::encoding::Compact;
use crate::format::header::{Header, MAGIC, STATS_ONLY_VERSION, VERSION};
use crate::format::key_tail::Tail;
use crate::read::buckets::{BucketFault, BucketWalk, Buckets, Places};
#[cfg(feature = "files")]
use crate::read::file::FileSource;
use crate::read::source::ReadAt;

/// The engine's name in answers of a compiled book, which does not keep the engines of its source.
pub const ENGINE: &str = "compiled book";

/// An open compiled book. Its answers are those of the file that was opened, whatever happens to
/// the file: each part that a look-up needs is read once, verified and kept, up to 1 GiB in all.
/// Where the file has other bytes by then, the look-up fails with [`CompiledError::Changed`].
#[derive(Debug)]
pub struct Compiled {
    path: PathBuf,
    source: Box<dyn ReadAt>,
    bytes: u64,
    header: Header,
    buckets: Buckets,
    by: Provenance,
    summary: Vec<u8>,
    stats: Stats,
    overview: Overview,
    extras: Extras,
}

/// Reads the parts of a summary.
fn read_summary(version: u32, bytes: &[u8]) -> Option<(Stats, Overview, Extras)> {
    if version == STATS_ONLY_VERSION {
        let stats = postcard::from_bytes(bytes).ok()?;
        return Some((stats, Overview::default(), Extras::default()));
    }
    let (summary, rest) = postcard::take_from_bytes::<(Stats, OverviewBody)>(bytes).ok()?;
    let extras = match rest {
        [] => Extras::default(),
        rest => postcard::from_bytes(rest).ok()?,
    };
    Some((summary.0, summary.1.overview()?, extras))
}

impl Compiled {
    /// Opens the file. Verifies the checksums of header, directory and summary now, and the others
    /// when they are first read.
    ///
    /// # Errors
    /// If the file cannot be read, is not a compiled book, or is damaged.
    #[cfg(feature = "files")]
    pub fn open(path: &Path) -> Result<Self, CompiledError> {
        let source = FileSource::open(path).map_err(CompiledError::io("cannot read", path))?;
        Self::read(Box::new(source), path)
    }

    /// Opens the book in a file that is open; messages call it `name`.
    ///
    /// # Errors
    /// As [`Self::open`].
    #[cfg(feature = "files")]
    pub fn open_file(file: File, name: &Path) -> Result<Self, CompiledError> {
        let source = FileSource::new(file).map_err(CompiledError::io("cannot read", name))?;
        Self::read(Box::new(source), name)
    }

    /// Opens a book in other bytes than those of a file; messages call it `name`.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn read(source: Box<dyn ReadAt>, name: &Path) -> Result<Self, CompiledError> {
        let io = |error| CompiledError::io("cannot read", name)(error);
        let damaged = |what| CompiledError::Damaged {
            path: name.into(),
            what,
        };
        let bytes = source.length().map_err(io)?;
        let mut first = vec![0; bytes.min(Header::LENGTH as u64) as usize];
        source.read_at(&mut first, 0).map_err(io)?;
        let Some((version, _)) = first
            .strip_prefix(&MAGIC)
            .and_then(|rest| rest.split_first_chunk())
        else {
            return Err(CompiledError::NotCompiled(name.into()));
        };
        let version = u32::from_le_bytes(*version);
        if version > VERSION {
            return Err(FileError::Newer {
                path: name.into(),
                found: version,
                known: VERSION,
            }
            .into());
        }
        if version < STATS_ONLY_VERSION {
            return Err(damaged("its format is older than any that was released"));
        }
        let header = Header::read(&first).ok_or(damaged("its header is not what was written"))?;
        let places = Places::new(Header::LENGTH, header.buckets, header.data_bytes);
        let length = |places: &Places| places.sums.end.checked_add(header.summary_bytes.into());
        let places = places.filter(|places| length(places) == Some(bytes));
        let places = places.ok_or(damaged("it has not the length that it was written with"))?;
        let part = |part: std::ops::Range<u64>| {
            let mut read = vec![0; (part.end - part.start) as usize];
            source.read_at(&mut read, part.start).map_err(io)?;
            Ok::<_, CompiledError>(read)
        };
        let directory = part(places.directory.clone())?;
        let sums = part(places.sums.clone())?;
        let mut sum = crc32fast::Hasher::new();
        sum.update(&directory);
        sum.update(&sums);
        if sum.finalize() != header.directory {
            return Err(damaged("its directory does not match its checksum"));
        }
        let summary = part(places.sums.end..bytes)?;
        let read = Some(&summary[..]).filter(|bytes| crc32fast::hash(bytes) == header.summary);
        let read = read.and_then(|bytes| read_summary(version, bytes));
        let (stats, overview, extras) =
            read.ok_or(damaged("its summary does not match its checksum"))?;
        let by = Provenance {
            engine: ENGINE.into(),
            day: header.day,
        };
        Ok(Self {
            path: name.into(),
            source,
            bytes,
            header,
            buckets: Buckets::new(places, directory, sums),
            by,
            summary,
            stats,
            overview,
            extras,
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
        self.bytes
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

    /// Returns the words of people about a position, in any orientation; none where the book was
    /// compiled without them.
    #[must_use]
    pub fn annotations(&self, position: &Position) -> Vec<Annotation> {
        let (key, symmetry) = position.key_and_symmetry();
        let (variant, back) = (position.variant(), position.variant().inverse(symmetry));
        let known = self.extras.annotations.get(&key.0).into_iter().flatten();
        let turned = known.map(|note| note.clone().turned(variant, back));
        turned.collect()
    }

    /// Returns the results of the games that passed a position, as [`Extras::games`] holds them.
    #[must_use]
    pub fn games(&self, position: &Position) -> &[(u128, [u32; 4])] {
        let known = self.extras.games.get(&position.key().0);
        known.map_or(&[], Vec::as_slice)
    }

    #[cold]
    fn fault(&self, fault: impl Into<BucketFault>) -> CompiledError {
        let path = self.path.clone();
        match fault.into() {
            _ if self.source.is_changed() => CompiledError::Changed(path),
            BucketFault::Torn(what) => CompiledError::Damaged { path, what },
            BucketFault::Read(error) => CompiledError::io("cannot read", &path)(error),
        }
    }

    /// Returns the position with this key. Reads two places of memory and allocates nothing, once
    /// the part of the file was read.
    ///
    /// # Errors
    /// If the bytes there are damaged, or the file changed.
    #[inline]
    pub fn find(&self, key: Key) -> Result<Option<Compact<'_>>, CompiledError> {
        match self.buckets.find(&*self.source, key) {
            Ok(None) => Ok(None),
            Ok(Some(bytes)) => Compact::read(bytes)
                .map(Some)
                .ok_or_else(|| self.fault("a position is torn")),
            Err(fault) => Err(self.fault(fault)),
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

    /// Returns the bytes of the summary.
    pub(crate) fn raw_summary(&self) -> &[u8] {
        &self.summary
    }

    /// Returns a walk through the buckets in the file.
    pub(crate) fn walk(&self) -> CompiledWalk<'_> {
        CompiledWalk {
            book: self,
            walk: BucketWalk::new(&self.buckets, &*self.source),
        }
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
            .ok_or_else(|| self.fault("a move is torn"))?;
        let (variant, back) = (position.variant(), position.variant().inverse(symmetry));
        let answer = answer.turned(variant, back);
        let value = found.value();
        let best = value.best.map(|m| variant.image(m, back));
        Ok(Some((answer, Derived { best, ..value })))
    }

    /// Verifies every byte of the file. `progress` gets the number of checked positions.
    #[must_use]
    pub fn check(&self, progress: &mut dyn FnMut(u64)) -> CheckReport {
        let (mut report, mut walk) = (CheckReport::default(), self.walk());
        for number in 0..self.header.buckets {
            match walk.positions(number) {
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
            let is_whole = Compact::read(bytes.into())
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

/// A walk through the buckets of a book, which reads each part of the file once.
pub(crate) struct CompiledWalk<'a> {
    book: &'a Compiled,
    walk: BucketWalk<'a>,
}

impl CompiledWalk<'_> {
    /// Returns the bytes of a bucket.
    ///
    /// # Errors
    /// If they are damaged, or the file changed.
    pub(crate) fn bucket(&mut self, number: u32) -> Result<&[u8], CompiledError> {
        let bytes = self.walk.bucket(number);
        bytes.map_err(|fault| self.book.fault(fault))
    }

    fn positions(&mut self, number: u32) -> Result<Vec<(Tail, &[u8])>, CompiledError> {
        let book = self.book;
        positions(self.bucket(number)?).map_err(|torn| book.fault(torn))
    }
}

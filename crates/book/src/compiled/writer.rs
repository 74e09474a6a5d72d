//! The writer of compiled books.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kagetsu_game::{Answer, Key};

use crate::book::believed;
use crate::compiled::buckets::{self, buckets_for};
use crate::compiled::encoding;
use crate::compiled::key_tail::{bucket_of, tail_of};
use crate::compiled::links::Links;
use crate::compiled::reader::{Compiled, Header, MAGIC};
use crate::error::{BookError, CompiledError, LearnError};
use crate::graph::id::Id;
use crate::graph::index::{copied_names, read_node};
use crate::graph::keys::POSITION;
use crate::graph::links::Stage;
use crate::graph::row::record_in;
use crate::inspection::overview::{OverviewBody, children};
use crate::maintenance::full_scan::{Known, known};
use crate::{Book, Derived, Overview, Stats};
use kagetsu_store::{Partition, map_partitions};

/// The greatest ratio between the buckets of a base and the number that is best for a book.
const MAX_BASE_RATIO: u32 = 2;

/// The result of a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompileReport {
    /// Positions of the compiled book.
    pub positions: u64,
    /// Bytes of the file.
    pub bytes: u64,
}

/// Visits that may be spent on counting the positions behind the roots.
const MAX_VISITS: usize = 20_000_000;

/// A part of a book that is compiled.
#[derive(Default)]
struct CompiledPart {
    compiler: Compiler,
    stats: Stats,
    /// The numbers of positions and of the held positions that they lead to.
    links: Vec<(u32, u32)>,
}

/// Collects the positions of a compiled book in memory, in about 60 bytes each.
#[derive(Debug, Default)]
pub struct Compiler {
    /// The key of each position, and the offset of its encoded moves.
    keys: Vec<(Key, u64)>,
    bytes: Vec<u8>,
    day: u32,
}

impl Compiler {
    /// Adds a position by the key of its canonical form, with value and moves in canonical
    /// orientation.
    ///
    /// # Errors
    /// If the answer has a move that no game has.
    pub fn add(&mut self, key: Key, value: &Derived, answer: &Answer) -> Result<(), BookError> {
        let bytes = encoding::write(value, answer).ok_or(BookError::record(key))?;
        self.keys.push((key, self.bytes.len() as u64));
        self.bytes
            .push(u8::try_from(bytes.len()).map_err(|_| BookError::record(key))?);
        self.bytes.extend(bytes);
        self.day = answer
            .verdicts()
            .iter()
            .map(|(_, v)| v.by.day)
            .fold(self.day, u32::max);
        Ok(())
    }

    fn append(&mut self, other: Self) {
        let begin = self.bytes.len() as u64;
        self.keys
            .extend(other.keys.into_iter().map(|(key, at)| (key, begin + at)));
        self.bytes.extend(other.bytes);
        self.day = self.day.max(other.day);
    }

    /// Writes the file, whole or not at all. Replaces a compiled book of the same name.
    ///
    /// # Errors
    /// If two positions have the same key, another kind of file has the name, or the disk refuses.
    pub fn write(
        self,
        path: &Path,
        stats: &Stats,
        overview: &Overview,
    ) -> Result<CompileReport, BookError> {
        self.write_like(path, stats, overview, None)
    }

    /// Writes the file as [`Self::write`] does, with as many buckets as `base` has, if they
    /// suffice: then most of the buckets of two versions of a book are equal.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn write_like(
        mut self,
        path: &Path,
        stats: &Stats,
        overview: &Overview,
        base: Option<&Compiled>,
    ) -> Result<CompileReport, BookError> {
        leave_others_alone(path)?;
        let positions = self.keys.len() as u64;
        let ideal = buckets_for(positions, self.bytes.len() as u64)
            .ok_or(CompiledError::TooMany(positions))?;
        let suffices = |buckets: &u32| {
            (ideal / MAX_BASE_RATIO..=ideal.saturating_mul(MAX_BASE_RATIO)).contains(buckets)
        };
        let buckets = base
            .map(Compiled::buckets)
            .filter(suffices)
            .unwrap_or(ideal);
        self.keys
            .sort_unstable_by_key(|(key, _)| (bucket_of(*key, buckets), tail_of(*key)));
        let name = |key: Key| (bucket_of(key, buckets), tail_of(key));
        if let Some(pair) = self
            .keys
            .windows(2)
            .find(|pair| name(pair[0].0) == name(pair[1].0))
        {
            return Err(LearnError::Collision(pair[1].0).into());
        }
        let known = self.keys.iter().map(|(key, at)| {
            let (length, rest) = self.bytes[*at as usize..]
                .split_first()
                .expect("each has its length");
            (*key, &rest[..usize::from(*length)])
        });
        let (directory, data, sums) =
            buckets::write(buckets, known).ok_or(CompiledError::TooMany(positions))?;
        let mut sum = crc32fast::Hasher::new();
        sum.update(&directory);
        sum.update(&sums);
        let summary = postcard::to_allocvec(&(stats, OverviewBody::from(overview)))
            .expect("plain data, and memory grows");
        let header = Header {
            day: self.day,
            positions,
            buckets,
            directory: sum.finalize(),
            data_bytes: data.len() as u64,
            summary_bytes: summary.len() as u32,
            summary: crc32fast::hash(&summary),
        };
        let header = header.bytes();
        let parts = [&header, &directory, &data, &sums, &summary].map(|part| &part[..]);
        put(path, &parts).map_err(BookError::io("cannot write", path))?;
        Ok(CompileReport {
            positions,
            bytes: parts.iter().map(|part| part.len() as u64).sum(),
        })
    }
}

/// Refuses to replace a file that is not a compiled book.
pub(crate) fn leave_others_alone(path: &Path) -> Result<(), BookError> {
    let mut magic = [0; MAGIC.len()];
    match File::open(path).and_then(|mut file| io::Read::read_exact(&mut file, &mut magic)) {
        Ok(()) if magic == MAGIC => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        _ => Err(CompiledError::Taken(path.into()).into()),
    }
}

/// Writes a temporary file, makes it durable, and renames it.
pub(crate) fn put(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let mut name = path
        .file_name()
        .ok_or(io::ErrorKind::InvalidFilename)?
        .to_os_string();
    name.push(format!(".{}.new", std::process::id()));
    let temporary = path.with_file_name(name);
    let folder = path
        .parent()
        .filter(|folder| *folder != Path::new(""))
        .map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    let write = || {
        let mut file = BufWriter::new(File::create(&temporary)?);
        parts.iter().try_for_each(|part| file.write_all(part))?;
        file.into_inner()?.sync_all()?;
        fs::rename(&temporary, path)?;
        File::open(&folder)?.sync_all()
    };
    let written = write();
    if written.is_err() {
        // A partial file is of no use.
        let _ = fs::remove_file(&temporary);
    }
    written
}

impl Book {
    /// Compiles the book into one file. `progress` gets the number of positions that are done.
    /// Takes about 200 bytes of memory for each position.
    ///
    /// # Errors
    /// If a record is damaged or the disk refuses. Then there is no new file.
    pub fn compile(
        &self,
        path: &Path,
        progress: &mut dyn FnMut(u64),
    ) -> Result<CompileReport, BookError> {
        self.compile_like(path, None, progress)
    }

    /// Compiles the book as [`Self::compile`] does, in a form that differs little from `base`, an
    /// older version; see [`write_delta`](crate::write_delta).
    ///
    /// # Errors
    /// As [`Self::compile`].
    pub fn compile_like(
        &self,
        path: &Path,
        base: Option<&Compiled>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<CompileReport, BookError> {
        leave_others_alone(path)?;
        let known = known(&*self.store)?;
        let engines = self.index().engines()?.to_vec();
        let records = Partition::split(&*self.store, Some(POSITION));
        let mut done = 0;
        let mut each = |part: &CompiledPart| {
            done += part.stats.positions;
            progress(done);
        };
        let parts = map_partitions(
            &records,
            |piece| self.compiled(piece, &known, &engines),
            &mut each,
        )?;
        let mut all = CompiledPart::default();
        all.stats.entries = self.marker.applied;
        for part in parts {
            all.compiler.append(part.compiler);
            all.stats.add(&part.stats);
            all.links.extend(part.links);
        }
        let links = Links::new(known.len(), &all.links);
        let overview = self.overview_with(MAX_VISITS, |id, visits| {
            Ok(links.count_behind(known.number(id), visits))
        })?;
        all.compiler.write_like(path, &all.stats, &overview, base)
    }

    /// Collects the positions of a partition.
    fn compiled(
        &self,
        piece: &Partition,
        known: &Known,
        engines: &[Arc<str>],
    ) -> Result<CompiledPart, BookError> {
        let engines = copied_names(engines);
        let mut part = CompiledPart::default();
        for pair in piece.entries(&*self.store) {
            let (key, bytes) = pair?;
            let id = Id::at_end(&key).ok_or(BookError::entry("a key"))?;
            let record = record_in(&key, &bytes).ok_or(BookError::record(id.key()))?;
            if record.is_empty() {
                continue;
            }
            let about = known.position(id);
            if about.stage == Stage::Distrusted {
                continue;
            }
            let node = read_node(id, record, &engines)?;
            let value = about.value.ok_or(BookError::entry("a value"))?;
            let answer = believed(&node, |m| {
                Ok(node.child(m).and_then(|child| known.value_after(id, child)))
            })?;
            part.compiler.add(id.key(), &value, &answer)?;
            part.stats.count(id, &node, &value);
            if let Some(from) = known.number(id) {
                let held = children(&node)
                    .into_iter()
                    .filter_map(|to| known.number(to));
                part.links.extend(held.map(|to| (from, to)));
            }
        }
        Ok(part)
    }
}

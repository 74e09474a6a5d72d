//! The writer of compiled books.

use std::path::Path;

use kagetsu_game::{Answer, Key};

use crate::content::derived::Derived;
use crate::content::extras::Extras;
use crate::content::overview::{Overview, OverviewBody};
use crate::content::stats::Stats;
use crate::error::CompiledError;
use crate::format::buckets::{self, buckets_for};
use crate::format::encoding;
use crate::format::header::Header;
use crate::format::key_tail::{bucket_of, tail_of};
use crate::read::compiled::Compiled;
use crate::write::put::{leave_others_alone, put};

/// The greatest ratio between the buckets of a base and the number that is best for a book.
const MAX_BASE_RATIO: u32 = 2;

/// Bytes of a position in its bucket beside its moves.
const KEY_BYTES: usize = 11;

/// The result of a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompileReport {
    /// Positions of the compiled book.
    pub positions: u64,
    /// Bytes of the file.
    pub bytes: u64,
}

/// Collects the positions of a compiled book in memory, in about 60 bytes each.
#[derive(Debug, Default)]
pub struct Compiler {
    /// The key of each position, and the offset of its encoded moves.
    keys: Vec<(Key, u64)>,
    bytes: Vec<u8>,
    day: u32,
    /// The parts beside the values.
    pub extras: Extras,
    /// The greatest size of the file, in bytes.
    pub max_bytes: Option<u64>,
}

impl Compiler {
    /// Adds a position by the key of its canonical form, with value and moves in canonical
    /// orientation. Returns its bytes in the file.
    ///
    /// # Errors
    /// If the answer has a move that no game has.
    pub fn add(
        &mut self,
        key: Key,
        value: &Derived,
        answer: &Answer,
    ) -> Result<u64, CompiledError> {
        let bytes = encoding::write(value, answer).ok_or(CompiledError::Impossible(key))?;
        self.keys.push((key, self.bytes.len() as u64));
        self.bytes
            .push(u8::try_from(bytes.len()).map_err(|_| CompiledError::Impossible(key))?);
        let all = (bytes.len() + KEY_BYTES) as u64;
        self.bytes.extend(bytes);
        self.day = answer
            .verdicts()
            .iter()
            .map(|(_, v)| v.by.day)
            .fold(self.day, u32::max);
        Ok(all)
    }

    /// Adds the positions of another compiler.
    pub fn append(&mut self, other: Self) {
        let begin = self.bytes.len() as u64;
        self.keys
            .extend(other.keys.into_iter().map(|(key, at)| (key, begin + at)));
        self.bytes.extend(other.bytes);
        self.day = self.day.max(other.day);
    }

    /// Writes the file, whole or not at all. Replaces a compiled book of the same name. The file
    /// has as many buckets as `base`, if they suffice: then most of the buckets of two versions of
    /// a book are equal.
    ///
    /// # Errors
    /// If two positions have the same key, the file would be too large, another kind of file has
    /// the name, or the disk refuses.
    pub fn write(
        mut self,
        path: &Path,
        stats: &Stats,
        overview: &Overview,
        base: Option<&Compiled>,
    ) -> Result<CompileReport, CompiledError> {
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
            return Err(CompiledError::Collision(pair[1].0));
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
        let mut summary = postcard::to_allocvec(&(stats, OverviewBody::from(overview)))
            .expect("plain data, and memory grows");
        summary.extend(self.extras.bytes());
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
        let bytes = parts.iter().map(|part| part.len() as u64).sum();
        if self.max_bytes.is_some_and(|most| bytes > most) {
            return Err(CompiledError::TooLarge { positions, bytes });
        }
        put(path, &parts).map_err(CompiledError::io("cannot write", path))?;
        Ok(CompileReport { positions, bytes })
    }
}

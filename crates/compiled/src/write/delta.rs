//! The difference between two compiled books: a file that turns the older one into the newer one.

use std::io::Read;
use std::path::Path;

use kagetsu_files::open_regular;

use crate::error::CompiledError;
use crate::format::buckets::assemble;
use crate::format::header::Header;
use crate::read::compiled::Compiled;
use crate::write::compiler::CompileReport;
use crate::write::put::{leave_others_alone, put};

const MAGIC: [u8; 8] = *b"kagetsud";
const VERSION: u32 = 1;

/// The contents of a delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeltaReport {
    /// Bytes of the delta.
    pub bytes: u64,
    /// Buckets that it replaces.
    pub changed: u32,
    /// Buckets of the newer book.
    pub buckets: u32,
}

/// Writes the difference that turns the book `old` into the book `new`. It is small where both have
/// the same number of buckets, as after [`Compiler::write`](crate::Compiler::write).
///
/// # Errors
/// If a book is damaged, or the disk refuses.
pub fn write_delta(
    old: &Compiled,
    new: &Compiled,
    path: &Path,
) -> Result<DeltaReport, CompiledError> {
    let mut bytes = [&MAGIC[..], &VERSION.to_le_bytes()].concat();
    bytes.extend(old.header().bytes());
    bytes.extend(new.header().bytes());
    bytes.extend(new.raw_summary());
    let is_alike = old.buckets() == new.buckets();
    let (mut held, mut wanted) = (old.walk(), new.walk());
    let (mut changed, mut next) = (0, 0);
    for number in 0..new.buckets() {
        let bucket = wanted.bucket(number)?;
        if is_alike && held.bucket(number)? == bucket {
            continue;
        }
        let length = u16::try_from(bucket.len());
        let length = length.map_err(|_| CompiledError::TooMany(new.len()))?;
        bytes.extend((number - next).to_le_bytes());
        bytes.extend(length.to_le_bytes());
        bytes.extend(bucket);
        (changed, next) = (changed + 1, number + 1);
    }
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    put(path, &[&bytes]).map_err(CompiledError::io("cannot write", path))?;
    Ok(DeltaReport {
        bytes: bytes.len() as u64,
        changed,
        buckets: new.buckets(),
    })
}

/// A delta that was read.
struct Delta<'a> {
    old: &'a [u8],
    header: Header,
    summary: &'a [u8],
    /// The changed buckets: the gap to the one before (4 bytes), the length (2), the bytes.
    buckets: &'a [u8],
}

impl<'a> Delta<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, &'static str> {
        const SHORT: &str = "it is too short";
        let rest = bytes
            .strip_prefix(&MAGIC)
            .ok_or("it is no delta of a compiled book")?;
        let (version, rest) = rest.split_first_chunk().ok_or(SHORT)?;
        if u32::from_le_bytes(*version) != VERSION {
            return Err("it is of another version; use the version of Kagetsu that wrote it");
        }
        let (rest, sum) = rest.split_last_chunk().ok_or(SHORT)?;
        if crc32fast::hash(&bytes[..bytes.len() - sum.len()]) != u32::from_le_bytes(*sum) {
            return Err("it does not match its checksum");
        }
        let (old, rest) = rest.split_at_checked(Header::LENGTH).ok_or(SHORT)?;
        let (header, rest) = rest.split_at_checked(Header::LENGTH).ok_or(SHORT)?;
        let header = Header::read(header).ok_or("its header is damaged")?;
        let length = header.summary_bytes as usize;
        let (summary, buckets) = rest.split_at_checked(length).ok_or(SHORT)?;
        Ok(Self {
            old,
            header,
            summary,
            buckets,
        })
    }
}

/// Writes to `path` the newer book that a delta makes of `old`. The result has the same bytes as
/// the newer book.
///
/// # Errors
/// If the delta is damaged or belongs to another book, or the disk refuses. Then nothing is
/// written.
pub fn apply_delta(
    old: &Compiled,
    delta: &Path,
    path: &Path,
) -> Result<CompileReport, CompiledError> {
    leave_others_alone(path)?;
    let unusable = |what| CompiledError::Delta {
        path: delta.into(),
        what,
    };
    let mut bytes = Vec::new();
    open_regular(delta)
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(CompiledError::io("cannot read", delta))?;
    let read = Delta::read(&bytes).map_err(unusable)?;
    if read.old != old.header().bytes() {
        return Err(unusable(
            "it belongs to another compiled book than the one given",
        ));
    }
    let is_alike = old.buckets() == read.header.buckets;
    // Each bucket of a book of another shape is in the delta, so a wrong number is damage.
    let least = if is_alike {
        0
    } else {
        6 * u64::from(read.header.buckets)
    };
    if (read.buckets.len() as u64) < least {
        return Err(unusable("it is too short"));
    }
    let (mut rest, mut error, mut held) = (read.buckets, None, old.walk());
    let mut next = take(&mut rest, 0);
    let assembled = assemble(read.header.buckets, |number, data| match next {
        Some((changed, bucket)) if changed == number => {
            data.extend(bucket);
            next = take(&mut rest, number + 1);
            Some(())
        }
        _ if is_alike => match held.bucket(number) {
            Ok(bucket) => {
                data.extend(bucket);
                Some(())
            }
            Err(damage) => {
                error = Some(damage);
                None
            }
        },
        _ => None,
    });
    if let Some(error) = error {
        return Err(error);
    }
    let (directory, data, sums) = assembled.ok_or_else(|| unusable("a bucket is missing"))?;
    let mut sum = crc32fast::Hasher::new();
    sum.update(&directory);
    sum.update(&sums);
    let is_whole = sum.finalize() == read.header.directory
        && data.len() as u64 == read.header.data_bytes
        && crc32fast::hash(read.summary) == read.header.summary;
    if !is_whole {
        return Err(unusable(
            "the result does not match the newer book's checksums",
        ));
    }
    let header = read.header.bytes();
    let parts = [&header[..], &directory, &data, &sums, read.summary];
    put(path, &parts).map_err(CompiledError::io("cannot write", path))?;
    Ok(CompileReport {
        positions: read.header.positions,
        bytes: parts.iter().map(|part| part.len() as u64).sum(),
    })
}

/// Takes the next changed bucket, which is at least number `from`; `None` at the end.
fn take<'a>(bytes: &mut &'a [u8], from: u32) -> Option<(u32, &'a [u8])> {
    let (gap, rest) = bytes.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (bucket, rest) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
    *bytes = rest;
    Some((from.checked_add(u32::from_le_bytes(*gap))?, bucket))
}

//! The buckets of compiled books of version 1, which are still read: each is held against its checksum and walked through
//! at every look-up.

use kagetsu_game::Key;

use crate::compiled::key_tail::{Tail, bucket_of, checksum, tail_of};

/// Where the buckets lie in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scanned {
    /// The directory's first byte, and the first after it: there the buckets begin.
    directory: usize,
    data: usize,
    buckets: u32,
}

/// Why there is no bucket.
type Torn = &'static str;

impl Scanned {
    pub(crate) fn new(directory: usize, buckets: u32) -> Self {
        Self {
            directory,
            data: directory + 4 * (buckets as usize + 1),
            buckets,
        }
    }

    /// The first byte after the directory.
    pub(crate) fn data(&self) -> usize {
        self.data
    }

    pub(crate) fn find<'a>(&self, file: &'a [u8], key: Key) -> Result<Option<&'a [u8]>, Torn> {
        let wanted = tail_of(key);
        for entry in self.bucket(file, bucket_of(key, self.buckets))? {
            let (tail, bytes) = entry.ok_or("a bucket is torn")?;
            if *tail == wanted {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }

    /// The positions of a bucket.
    pub(crate) fn bucket<'a>(&self, file: &'a [u8], number: u32) -> Result<Bucket<'a>, Torn> {
        let at = self.directory + 4 * number as usize;
        let bound = |at: usize| {
            file.get(at..)?
                .first_chunk()
                .map(|bytes| u32::from_le_bytes(*bytes) as usize)
        };
        let whole = || {
            let (from, to) = (bound(at)?, bound(at + 4)?);
            file.get(self.data..)?.get(from..to)
        };
        let whole = whole().ok_or("its directory leads nowhere")?;
        let Some((sum, rest)) = whole.split_first_chunk() else {
            return Ok(Bucket { rest: &[] });
        };
        if checksum(number, rest) != u32::from_le_bytes(*sum) {
            return Err("a bucket does not match its checksum");
        }
        Ok(Bucket { rest })
    }
}

/// The positions of a bucket: tail of the key and what is known. `None` for bytes that nobody wrote.
pub(crate) struct Bucket<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Bucket<'a> {
    type Item = Option<(&'a Tail, &'a [u8])>;

    fn next(&mut self) -> Option<Self::Item> {
        let (&length, rest) = self.rest.split_first()?;
        let Some((entry, rest)) = rest.split_at_checked(length.into()) else {
            self.rest = &[];
            return Some(None);
        };
        self.rest = rest;
        Some(entry.split_first_chunk())
    }
}

//! Several levels of a store, read as one.

use std::iter::Peekable;

use crate::StoreError;
use crate::store::{Pair, Pairs};

/// An entry of a level: a key, and its value or `None` as a tombstone.
pub(crate) type LevelEntry = (Vec<u8>, Option<Vec<u8>>);

/// The entries of a level in key order.
pub(crate) type Source<'a> = Box<dyn Iterator<Item = Result<LevelEntry, StoreError>> + 'a>;

/// Turns entries into a level without tombstones.
pub(crate) fn without_tombstones<'a>(
    pairs: impl Iterator<Item = Result<Pair, StoreError>> + 'a,
) -> Source<'a> {
    Box::new(pairs.map(|pair| pair.map(|(key, value)| (key, Some(value)))))
}

/// Drops the tombstones of a level.
pub(crate) fn drop_tombstones<'a>(
    entries: impl Iterator<Item = Result<LevelEntry, StoreError>> + 'a,
) -> impl Iterator<Item = Result<Pair, StoreError>> + 'a {
    entries.filter_map(|entry| entry.map(|(key, value)| Some((key, value?))).transpose())
}

/// Returns the entries whose keys begin with `prefix`, up to the first other one.
pub(crate) fn with_prefix<'a>(levels: MergeIterator<'a>, prefix: &[u8]) -> Pairs<'a> {
    let prefix = prefix.to_vec();
    let has_prefix = move |pair: &Result<Pair, StoreError>| match pair {
        Ok((key, _)) => key.starts_with(&prefix),
        Err(_) => true,
    };
    Box::new(drop_tombstones(levels).take_while(has_prefix))
}

/// Returns the entries before a key.
pub(crate) fn before<'a>(levels: MergeIterator<'a>, to: Option<&[u8]>) -> Pairs<'a> {
    let to = to.map(<[u8]>::to_vec);
    let is_before = move |entry: &Result<LevelEntry, StoreError>| match (entry, &to) {
        (Ok((key, _)), Some(to)) => key < to,
        _ => true,
    };
    Box::new(drop_tombstones(levels.take_while(is_before)))
}

/// Merges levels: of several entries with one key it returns that of the first level.
pub(crate) struct MergeIterator<'a> {
    sources: Vec<Peekable<Source<'a>>>,
}

impl<'a> MergeIterator<'a> {
    /// Merges these levels, of which the newest comes first.
    pub(crate) fn new(sources: Vec<Source<'a>>) -> Self {
        Self {
            sources: sources.into_iter().map(Iterator::peekable).collect(),
        }
    }
}

impl Iterator for MergeIterator<'_> {
    type Item = Result<LevelEntry, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut first: Option<(usize, &[u8])> = None;
        for (at, source) in self.sources.iter_mut().enumerate() {
            match source.peek() {
                Some(Ok((key, _))) if first.is_none_or(|(_, first)| **key < *first) => {
                    first = Some((at, key))
                }
                Some(Err(_)) => return source.next(),
                _ => {}
            }
        }
        let (level, _) = first?;
        let entry = self.sources[level].next()?;
        if let Ok((key, _)) = &entry {
            for source in &mut self.sources[level + 1..] {
                source.next_if(|other| other.as_ref().is_ok_and(|(other, _)| other == key));
            }
        }
        Some(entry)
    }
}

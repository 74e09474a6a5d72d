//! Parts of a store, one above the other, as one.

use std::iter::Peekable;

use crate::BookError;
use crate::store::Pair;

/// An entry of a part: the value, or that it is gone.
pub(super) type Told = (Vec<u8>, Option<Vec<u8>>);

/// Entries of a part in key order.
pub(super) type Source<'a> = Box<dyn Iterator<Item = Result<Told, BookError>> + 'a>;

/// A part in which nothing is gone.
pub(super) fn here<'a>(pairs: impl Iterator<Item = Result<Pair, BookError>> + 'a) -> Source<'a> {
    Box::new(pairs.map(|pair| pair.map(|(key, value)| (key, Some(value)))))
}

/// What is not gone.
pub(super) fn left<'a>(
    told: impl Iterator<Item = Result<Told, BookError>> + 'a,
) -> impl Iterator<Item = Result<Pair, BookError>> + 'a {
    told.filter_map(|told| told.map(|(key, value)| Some((key, value?))).transpose())
}

/// Parts as one: of entries with one key the first source's counts. Those that are gone are told too.
pub(super) struct Merged<'a> {
    sources: Vec<Peekable<Source<'a>>>,
}

impl<'a> Merged<'a> {
    /// Of these parts, the topmost first.
    pub(super) fn of(sources: Vec<Source<'a>>) -> Self {
        Self {
            sources: sources.into_iter().map(Iterator::peekable).collect(),
        }
    }
}

impl Iterator for Merged<'_> {
    type Item = Result<Told, BookError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut least: Option<(usize, &[u8])> = None;
        for (at, source) in self.sources.iter_mut().enumerate() {
            match source.peek() {
                Some(Ok((key, _))) if least.is_none_or(|(_, least)| **key < *least) => {
                    least = Some((at, key))
                }
                Some(Err(_)) => return source.next(),
                _ => {}
            }
        }
        let (first, _) = least?;
        let told = self.sources[first].next()?;
        if let Ok((key, _)) = &told {
            for source in &mut self.sources[first + 1..] {
                source.next_if(|other| other.as_ref().is_ok_and(|(other, _)| other == key));
            }
        }
        Some(told)
    }
}

//! A store read in pieces, on all cores at once.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use crate::BookError;
use crate::store::{Pair, Store};

/// Pieces of a store, if it is large: so many that no core is idle for long while another finishes.
const PIECES: usize = 256;

/// The entries from a key on up to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    from: Vec<u8>,
    to: Option<Vec<u8>>,
}

impl Piece {
    /// The pieces that make up all entries whose keys begin with a byte, or all entries, in order.
    pub(crate) fn all(store: &dyn Store, first: Option<u8>) -> Vec<Self> {
        let begin = first.map_or_else(Vec::new, |first| vec![first]);
        let end = first.map(|first| vec![first + 1]);
        let is_within = |cut: &Vec<u8>| *cut > begin && end.as_ref().is_none_or(|end| cut < end);
        let mut bounds = vec![begin.clone()];
        bounds.extend(store.cuts(PIECES).into_iter().filter(is_within));
        let mut pieces: Vec<Self> = bounds
            .windows(2)
            .map(|pair| Self {
                from: pair[0].clone(),
                to: Some(pair[1].clone()),
            })
            .collect();
        pieces.push(Self {
            from: bounds.pop().unwrap_or_default(),
            to: end,
        });
        pieces
    }

    /// Its entries.
    pub(crate) fn entries<'a>(
        &self,
        store: &'a dyn Store,
    ) -> impl Iterator<Item = Result<Pair, BookError>> + use<'a> {
        store.scan(&self.from, self.to.as_deref())
    }
}

/// Names that a thread counts alone: the counting of all threads would be in each other's way.
pub(crate) fn own(names: &[Arc<str>]) -> Vec<Arc<str>> {
    names.iter().map(|name| Arc::from(&**name)).collect()
}

/// Does a work to every piece, on all cores; the results are in the order of the pieces. `each` hears every result as it comes.
///
/// # Errors
/// Of the errors one.
pub(crate) fn on_all_cores<T: Send>(
    pieces: &[Piece],
    work: impl Fn(&Piece) -> Result<T, BookError> + Sync,
    each: &mut dyn FnMut(&T),
) -> Result<Vec<T>, BookError> {
    let cores = thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(pieces.len());
    let next = AtomicUsize::new(0);
    let mut done: Vec<(usize, T)> = Vec::with_capacity(pieces.len());
    thread::scope(|scope| {
        let (sender, receiver) = channel();
        for _ in 0..cores {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                while let Some((at, piece)) = Some(next.fetch_add(1, Ordering::Relaxed))
                    .and_then(|at| Some((at, pieces.get(at)?)))
                {
                    // Nobody hears any more after an error.
                    if sender.send(work(piece).map(|found| (at, found))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for found in receiver {
            let found = found?;
            each(&found.1);
            done.push(found);
        }
        Ok::<_, BookError>(())
    })?;
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, found)| found).collect())
}

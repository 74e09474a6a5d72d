//! A store read in parts, on all cores at once.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use crate::store::{Pairs, Store};

/// Partitions of a large store: enough that no core is idle for long while another finishes.
const MAX_PARTITIONS: usize = 256;

/// The entries from one key on up to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    from: Vec<u8>,
    to: Option<Vec<u8>>,
}

impl Partition {
    /// Splits all entries, or those whose keys begin with the byte `first`, into partitions in key
    /// order.
    #[must_use]
    pub fn split(store: &dyn Store, first: Option<u8>) -> Vec<Self> {
        let begin = first.map_or_else(Vec::new, |first| vec![first]);
        let end = first.map(|first| vec![first + 1]);
        let is_within = |key: &Vec<u8>| *key > begin && end.as_ref().is_none_or(|end| key < end);
        let mut bounds = vec![begin.clone()];
        let points = store.split_points(MAX_PARTITIONS);
        bounds.extend(points.into_iter().filter(is_within));
        let mut partitions: Vec<Self> = bounds
            .windows(2)
            .map(|pair| Self {
                from: pair[0].clone(),
                to: Some(pair[1].clone()),
            })
            .collect();
        partitions.push(Self {
            from: bounds.pop().unwrap_or_default(),
            to: end,
        });
        partitions
    }

    /// Returns the entries of the partition.
    pub fn entries<'a>(&self, store: &'a dyn Store) -> Pairs<'a> {
        store.scan(&self.from, self.to.as_deref())
    }
}

/// Maps every partition on all cores and returns the results in their order. `progress` gets each
/// result when it is there.
///
/// # Errors
/// One of the errors of `map`.
pub fn map_partitions<T: Send, E: Send>(
    partitions: &[Partition],
    map: impl Fn(&Partition) -> Result<T, E> + Sync,
    progress: &mut dyn FnMut(&T),
) -> Result<Vec<T>, E> {
    let cores = thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(partitions.len());
    let next = AtomicUsize::new(0);
    let mut done: Vec<(usize, T)> = Vec::with_capacity(partitions.len());
    thread::scope(|scope| {
        let (sender, receiver) = channel();
        for _ in 0..cores {
            let (sender, next, map) = (sender.clone(), &next, &map);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(partition) = partitions.get(at) else {
                        return;
                    };
                    // The receiver is gone after an error.
                    if sender
                        .send(map(partition).map(|result| (at, result)))
                        .is_err()
                    {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for result in receiver {
            let result = result?;
            progress(&result.1);
            done.push(result);
        }
        Ok(())
    })?;
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

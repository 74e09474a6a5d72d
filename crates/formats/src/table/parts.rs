//! The positions of a book in order, made into the parts of a file on all cores.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use anyhow::{Result, anyhow};
use kagetsu_book::{Book, BookError, BookScan, ScannedEntry, StoredRecord};
use kagetsu_game::Variant;
use rayon::prelude::*;

use super::columns::PositionRows;
use super::paths::Paths;
use crate::omissions::{Omissions, is_exported};

/// Parts that are made together: at most so many cores work at once.
const MAX_PARTS_TOGETHER: usize = 8;
/// Groups of records, and groups of parts, that wait for the next thread.
const WAITING_GROUPS: usize = 1;

/// Makes the parts of a file from `positions_per_part` positions each, on all cores, and passes
/// them to `write` in order. Returns the number of positions.
///
/// One thread reads the records, one combines what the cores do, and the calling one writes.
pub(super) fn each_part<T: Send>(
    book: &Book,
    variant: Option<Variant>,
    positions_per_part: usize,
    make: impl Fn(&[PositionRows]) -> Result<T> + Send + Sync,
    write: impl FnMut(T) -> Result<()>,
) -> Result<(u64, Omissions)> {
    let scan = book.scan()?;
    let work = PartMaker {
        scan: &scan,
        variant,
        paths: Paths::of(book, &scan, variant)?,
        positions_per_part,
        make,
    };
    let records_together =
        positions_per_part * rayon::current_num_threads().min(MAX_PARTS_TOGETHER);
    let (groups, received) = sync_channel(WAITING_GROUPS);
    let (parts, made) = sync_channel(WAITING_GROUPS);
    thread::scope(|scope| {
        let scan = &scan;
        scope.spawn(move || read_groups(scan, records_together, &groups));
        let maker = scope.spawn(move || work.make_all(&received, &parts));
        // When writing fails, the channel closes, and the other threads end.
        made.into_iter().flatten().try_for_each(write)?;
        let counts = maker.join();
        counts.map_err(|_| anyhow!("the thread that makes the table panicked"))?
    })
}

/// Sends all records in groups, up to the first error.
fn read_groups(
    scan: &BookScan<'_>,
    records_together: usize,
    groups: &SyncSender<Result<Vec<StoredRecord>, BookError>>,
) {
    let mut records = scan.records();
    loop {
        let group: Result<Vec<_>, _> = records.by_ref().take(records_together).collect();
        let is_last = group.as_ref().is_ok_and(Vec::is_empty) || group.is_err();
        if groups.send(group).is_err() || is_last {
            return;
        }
    }
}

/// Makes parts from records.
struct PartMaker<'a, F> {
    scan: &'a BookScan<'a>,
    variant: Option<Variant>,
    paths: Paths,
    positions_per_part: usize,
    make: F,
}

impl<F> PartMaker<'_, F> {
    /// Makes all parts. Returns the number of positions, and what was left out.
    fn make_all<T: Send>(
        mut self,
        groups: &Receiver<Result<Vec<StoredRecord>, BookError>>,
        parts: &SyncSender<Vec<T>>,
    ) -> Result<(u64, Omissions)>
    where
        F: Fn(&[PositionRows]) -> Result<T> + Sync,
    {
        let (mut count, mut omissions) = (0, Omissions::new());
        for records in groups {
            let decoded = records?
                .into_par_iter()
                .map(|record| self.scan.decode(&record));
            let decoded: Vec<Option<ScannedEntry>> = decoded.collect::<Result<_, _>>()?;
            let mut chunks = Vec::new();
            let mut chunk = Vec::new();
            for scanned in decoded.into_iter().flatten() {
                if !is_exported(&scanned.position, self.variant, &mut omissions) {
                    continue;
                }
                // The way to a position leads over earlier positions, so this is done in order.
                self.paths.note(&scanned);
                chunk.push(scanned);
                count += 1;
                if chunk.len() == self.positions_per_part {
                    chunks.push(std::mem::take(&mut chunk));
                }
            }
            if !chunk.is_empty() {
                chunks.push(chunk);
            }
            let rows = |scanned| PositionRows {
                way: self.paths.way(&scanned),
                scanned,
            };
            let made = chunks.into_par_iter().map(|chunk: Vec<ScannedEntry>| {
                let chunk: Vec<_> = chunk.into_iter().map(rows).collect();
                (self.make)(&chunk)
            });
            if parts.send(made.collect::<Result<_>>()?).is_err() {
                // The writer's own error says more.
                break;
            }
        }
        Ok((count, omissions))
    }
}

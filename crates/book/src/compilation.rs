//! The compilation of a book into one immutable file.

mod links;
mod reach;

use std::path::Path;
use std::sync::Arc;

use kagetsu_compiled::{
    CompileReport, Compiled, CompiledError, Compiler, Extras, Stats, leave_others_alone,
};
use kagetsu_store::{Partition, map_partitions};

use self::links::{Link, Links, MAX_LOSS};
use self::reach::{Weight, choose};
use crate::base::id::Id;
use crate::base::links::Stage;
use crate::book::believed;
use crate::graph::index::{copied_names, read_node};
use crate::graph::keys::POSITION;
use crate::graph::row::record_in;
use crate::inspection::overview::children;
use crate::maintenance::full_scan::{Known, known};
use crate::maintenance::stats::count;
use crate::{Book, BookError};

/// Visits that may be spent on counting the positions behind the roots.
const MAX_VISITS: usize = 20_000_000;

/// A book that is still too large is compiled again with less room, by this part of it.
const MARGIN_DIVISOR: u64 = 50;

/// A part of a book that is compiled.
#[derive(Default)]
struct CompiledPart {
    compiler: Compiler,
    stats: Stats,
    /// The links between held positions.
    links: Vec<Link>,
    /// The numbers of positions, and what they cost and are worth.
    weights: Vec<(u32, Weight)>,
}

/// The choices for a compiled book.
#[derive(Default)]
pub struct Compilation<'a> {
    /// An older version, from which the new one differs little; see
    /// [`write_delta`](kagetsu_compiled::write_delta).
    pub base: Option<&'a Compiled>,
    /// Parts beside the values.
    pub extras: Extras,
    /// The greatest size of the file, in bytes. A larger book keeps the positions that are reached
    /// most often, times the nodes of their searches, and those on the way to them.
    pub max_bytes: Option<u64>,
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
        compilation: Compilation<'_>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<CompileReport, BookError> {
        leave_others_alone(path)?;
        let known = known(&*self.store)?;
        let Compilation {
            base,
            extras,
            max_bytes,
        } = compilation;
        let all = self.collect(&known, None, progress)?;
        let links = Links::new(known.len(), &all.links);
        let overview = self.overview_with(MAX_VISITS, |id, visits| {
            Ok(links.count_behind(known.number(id), visits))
        })?;
        let write = |mut all: CompiledPart| {
            all.compiler.extras = extras.clone();
            all.compiler.max_bytes = max_bytes;
            all.stats.entries = self.marker.applied;
            all.compiler.write(path, &all.stats, &overview, base)
        };
        let mut room = max_bytes.unwrap_or(0);
        let mut weights = vec![Weight::default(); known.len()];
        for (number, weight) in &all.weights {
            weights[*number as usize] = *weight;
        }
        let mut written = write(all);
        // The buckets and the summary take some of the room.
        while let Err(CompiledError::TooLarge { positions, .. }) = written
            && positions > 0
        {
            let chosen = choose(&links, &weights, room);
            room = room.saturating_sub(room / MARGIN_DIVISOR + 1);
            written = write(self.collect(&known, Some(&chosen), progress)?);
        }
        Ok(written?)
    }

    /// Collects the positions, or those whose numbers are chosen.
    fn collect(
        &self,
        known: &Known,
        chosen: Option<&[bool]>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<CompiledPart, BookError> {
        let engines = self.index().engines()?.to_vec();
        let records = Partition::split(&*self.store, Some(POSITION));
        let mut done = 0;
        let mut each = |part: &CompiledPart| {
            done += part.stats.positions;
            progress(done);
        };
        let parts = map_partitions(
            &records,
            |piece| self.compiled_part(piece, known, &engines, chosen),
            &mut each,
        )?;
        let mut all = CompiledPart::default();
        for part in parts {
            all.compiler.append(part.compiler);
            all.stats.add(&part.stats);
            all.links.extend(part.links);
            all.weights.extend(part.weights);
        }
        Ok(all)
    }

    /// Collects the positions of a partition.
    fn compiled_part(
        &self,
        piece: &Partition,
        known: &Known,
        engines: &[Arc<str>],
        chosen: Option<&[bool]>,
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
            let number = known.number(id);
            let is_chosen = |number: u32| chosen.is_none_or(|chosen| chosen[number as usize]);
            if about.stage == Stage::Distrusted || !number.is_none_or(is_chosen) {
                continue;
            }
            let node = read_node(id, record, &engines)?;
            let value = about.value.ok_or(BookError::entry("a value"))?;
            let answer = believed(&node, |m| {
                Ok(node.child(m).and_then(|child| known.value_after(id, child)))
            })?;
            let bytes = part.compiler.add(id.key(), &value, &answer)?;
            count(&mut part.stats, id, &node, &value);
            let Some(from) = number else { continue };
            let nodes = node.facts.nodes();
            part.weights.push((from, Weight { bytes, nodes }));
            let best = answer.best().map(|(_, best)| i32::from(best.score.raw()));
            let loss = |to: Id| {
                let mut verdicts = answer.verdicts().iter();
                let (_, verdict) = verdicts.find(|(m, _)| node.child(*m) == Some(to))?;
                let loss = best? - i32::from(verdict.score.raw());
                Some(loss.clamp(0, MAX_LOSS.into()) as u16)
            };
            let link = |to: Id| {
                Some(Link {
                    from,
                    to: known.number(to)?,
                    loss: loss(to).unwrap_or(MAX_LOSS),
                })
            };
            part.links
                .extend(children(&node).into_iter().filter_map(link));
        }
        Ok(part)
    }
}

//! The compilation of a book into one immutable file.

mod links;
mod reach;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use kagetsu_compiled::{
    CompileReport, Compiled, CompiledError, Compiler, Extras, Stats, leave_others_alone,
};
use kagetsu_game::Answer;
use kagetsu_store::{Partition, map_partitions};

use self::links::{Link, Links, MAX_LOSS};
use self::reach::{Weight, choose};
use crate::base::id::Id;
use crate::base::links::Stage;
use crate::base::node::Node;
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
    /// Positions by the code of their variant.
    variants: BTreeMap<u32, u64>,
    /// The links between held positions.
    links: Vec<Link>,
    /// The numbers of positions, and what they cost and are worth.
    weights: Vec<(u32, Weight)>,
}

/// The positions that a pass collects.
#[derive(Clone, Copy)]
enum CompilePass<'a> {
    All,
    /// All, with what they cost and are worth, and with the losses of moves.
    Weighed,
    /// Those with `true`, by their numbers.
    Chosen(&'a [bool]),
}

impl CompilePass<'_> {
    fn has(self, number: u32) -> bool {
        match self {
            Self::All | Self::Weighed => true,
            Self::Chosen(chosen) => chosen[number as usize],
        }
    }
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
    /// If a record is damaged, the disk refuses, or not even the parts beside the positions fit
    /// into the greatest size. Then there is no new file.
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
        let write = |all: CompiledPart, extras: Extras| -> Result<_, BookError> {
            let links = Links::new(known.len(), &all.links);
            let mut overview = self.overview_with(MAX_VISITS, |id, visits| {
                Ok(links.count_behind(known.number(id), visits))
            })?;
            for held in &mut overview.variants {
                held.positions = *all.variants.get(&held.variant.code()).unwrap_or(&0);
            }
            let (mut compiler, mut stats) = (all.compiler, all.stats);
            (compiler.extras, compiler.max_bytes) = (extras, max_bytes);
            stats.entries = self.marker.applied;
            Ok(compiler.write(path, &stats, &overview, base))
        };
        let Some(mut room) = max_bytes else {
            let all = self.collect(&known, CompilePass::All, progress)?;
            return Ok(write(all, extras)??);
        };
        let all = self.collect(&known, CompilePass::Weighed, progress)?;
        let links = Links::new(known.len(), &all.links);
        let mut weights = vec![Weight::default(); known.len()];
        for (number, weight) in &all.weights {
            weights[*number as usize] = *weight;
        }
        let mut written = write(all, extras.clone())?;
        // The buckets and the summary take some of the room.
        while let Err(CompiledError::TooLarge { positions, .. }) = written
            && positions > 0
        {
            let chosen = choose(&links, &weights, room);
            room = room.saturating_sub(room / MARGIN_DIVISOR + 1);
            let some = self.collect(&known, CompilePass::Chosen(&chosen), progress)?;
            written = write(some, extras.clone())?;
        }
        Ok(written?)
    }

    /// Collects the positions that are selected.
    fn collect(
        &self,
        known: &Known,
        pass: CompilePass<'_>,
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
            |piece| self.compiled_part(piece, known, &engines, pass),
            &mut each,
        )?;
        let mut all = CompiledPart::default();
        for part in parts {
            all.compiler.append(part.compiler);
            all.stats.add(&part.stats);
            for (variant, positions) in part.variants {
                *all.variants.entry(variant).or_default() += positions;
            }
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
        pass: CompilePass<'_>,
    ) -> Result<CompiledPart, BookError> {
        let engines = copied_names(engines);
        let mut part = CompiledPart::default();
        for pair in piece.entries(&*self.store) {
            let (key, bytes) = pair?;
            let id = Id::at_end(&key).ok_or(BookError::Entry("a key"))?;
            let record = record_in(&key, &bytes).ok_or(BookError::Record(id.key()))?;
            if record.is_empty() {
                continue;
            }
            let about = known.position(id);
            let number = known.number(id);
            if about.stage == Stage::Distrusted || !number.is_none_or(|at| pass.has(at)) {
                continue;
            }
            let node = read_node(id, record, &engines)?;
            let value = about.value.ok_or(BookError::Entry("a value"))?;
            let answer = believed(&node, |m| {
                Ok(node.child(m).and_then(|child| known.value_after(id, child)))
            })?;
            let bytes = part.compiler.add(id.key(), &value, &answer)?;
            count(&mut part.stats, id, &node, &value);
            *part
                .variants
                .entry(node.position.variant().code())
                .or_default() += 1;
            let Some(from) = number else { continue };
            let is_weighed = matches!(pass, CompilePass::Weighed);
            if is_weighed {
                let nodes = node.facts.nodes();
                part.weights.push((from, Weight { bytes, nodes }));
            }
            let link = |child: Id| {
                let to = known.number(child).filter(|to| pass.has(*to))?;
                let loss = is_weighed.then(|| loss(&node, &answer, child));
                let loss = loss.flatten().unwrap_or(MAX_LOSS);
                Some(Link { from, to, loss })
            };
            part.links
                .extend(children(&node).into_iter().filter_map(link));
        }
        Ok(part)
    }
}

/// Returns the centi-units by which the move to a position is worse than the best; `None` for a
/// move without a value.
fn loss(node: &Node, answer: &Answer, child: Id) -> Option<u16> {
    let mut verdicts = answer.verdicts().iter();
    let (_, verdict) = verdicts.find(|(m, _)| node.child(*m) == Some(child))?;
    let (_, best) = answer.best()?;
    let loss = i32::from(best.score.raw()) - i32::from(verdict.score.raw());
    Some(loss.clamp(0, MAX_LOSS.into()) as u16)
}

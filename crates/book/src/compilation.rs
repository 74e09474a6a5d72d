//! The compilation of a book into one immutable file.

mod links;

use std::path::Path;
use std::sync::Arc;

use kagetsu_compiled::{CompileReport, Compiled, Compiler, Extras, Stats, leave_others_alone};
use kagetsu_store::{Partition, map_partitions};

use self::links::Links;
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

/// A part of a book that is compiled.
#[derive(Default)]
struct CompiledPart {
    compiler: Compiler,
    stats: Stats,
    /// The numbers of positions and of the held positions that they lead to.
    links: Vec<(u32, u32)>,
}

impl Book {
    /// Compiles the book into one file, with some parts beside the values, and in a form that
    /// differs little from `base`, an older version; see
    /// [`write_delta`](kagetsu_compiled::write_delta). `progress` gets the number of positions that
    /// are done. Takes about 200 bytes of memory for each position.
    ///
    /// # Errors
    /// If a record is damaged or the disk refuses. Then there is no new file.
    pub fn compile(
        &self,
        path: &Path,
        base: Option<&Compiled>,
        extras: Extras,
        progress: &mut dyn FnMut(u64),
    ) -> Result<CompileReport, BookError> {
        leave_others_alone(path)?;
        let known = known(&*self.store)?;
        let engines = self.index().engines()?.to_vec();
        let records = Partition::split(&*self.store, Some(POSITION));
        let mut done = 0;
        let mut each = |part: &CompiledPart| {
            done += part.stats.positions;
            progress(done);
        };
        let parts = map_partitions(
            &records,
            |piece| self.compiled_part(piece, &known, &engines),
            &mut each,
        )?;
        let mut all = CompiledPart::default();
        all.stats.entries = self.marker.applied;
        all.compiler.extras = extras;
        for part in parts {
            all.compiler.append(part.compiler);
            all.stats.add(&part.stats);
            all.links.extend(part.links);
        }
        let links = Links::new(known.len(), &all.links);
        let overview = self.overview_with(MAX_VISITS, |id, visits| {
            Ok(links.count_behind(known.number(id), visits))
        })?;
        Ok(all.compiler.write(path, &all.stats, &overview, base)?)
    }

    /// Collects the positions of a partition.
    fn compiled_part(
        &self,
        piece: &Partition,
        known: &Known,
        engines: &[Arc<str>],
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
            if about.stage == Stage::Distrusted {
                continue;
            }
            let node = read_node(id, record, &engines)?;
            let value = about.value.ok_or(BookError::entry("a value"))?;
            let answer = believed(&node, |m| {
                Ok(node.child(m).and_then(|child| known.value_after(id, child)))
            })?;
            part.compiler.add(id.key(), &value, &answer)?;
            count(&mut part.stats, id, &node, &value);
            if let Some(from) = known.number(id) {
                let held = children(&node)
                    .into_iter()
                    .filter_map(|to| known.number(to));
                part.links.extend(held.map(|to| (from, to)));
            }
        }
        Ok(part)
    }
}

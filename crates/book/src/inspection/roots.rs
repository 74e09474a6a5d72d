use std::collections::BTreeSet;

use kagetsu_game::{Position, Variant};

use crate::base::id::Id;
use crate::graph::keys::{POSITION, key};
use crate::{Book, BookError};

/// Positions that are read to find those to which no other leads.
const MAX_ROWS: usize = 10_000;

/// The roots of a variant.
#[derive(Debug, Default)]
pub(crate) struct Roots {
    /// The first of them.
    pub(crate) listed: Vec<Position>,
    /// The number of all.
    pub(crate) all: u64,
}

impl Book {
    /// Returns the positions where the book begins, the first `most` of them.
    pub(crate) fn roots(&self, variant: Variant, most: usize) -> Result<Roots, BookError> {
        let mut roots = Roots::default();
        let mut seen = BTreeSet::new();
        let start = Position::start(variant);
        let is_held = self.lookup(&start)?.is_some();
        let of_jobs = self
            .jobs
            .specs
            .values()
            .filter(|spec| spec.variant == variant);
        let of_jobs = of_jobs.flat_map(|spec| spec.roots.iter().cloned());
        for position in is_held.then_some(start).into_iter().chain(of_jobs) {
            if seen.insert(position.key()) {
                roots.add(position, most);
            }
        }
        if roots.all == 0 {
            self.first_positions(variant, most, &mut roots)?;
        }
        Ok(roots)
    }

    /// Adds the positions to which no other leads.
    fn first_positions(
        &self,
        variant: Variant,
        most: usize,
        roots: &mut Roots,
    ) -> Result<(), BookError> {
        let from = key(POSITION, &[&variant.code().to_be_bytes()]);
        let of_variant = |id: &Result<Id, BookError>| {
            id.as_ref()
                .map_or(true, |id| id.variant() == variant.code())
        };
        let mut index = self.index();
        for id in self.ids_from(&from).take_while(of_variant).take(MAX_ROWS) {
            let id = id?;
            if index.reach(id)?.parents().next().is_some() {
                continue;
            }
            let Some(node) = index.node(id)? else {
                continue;
            };
            let line = node.position.line();
            let position = line.and_then(|line| Position::new(variant, None, &line).ok());
            roots.add(position.unwrap_or_else(|| node.position.clone()), most);
        }
        Ok(())
    }
}

impl Roots {
    fn add(&mut self, position: Position, most: usize) {
        self.all += 1;
        if self.listed.len() < most {
            self.listed.push(position);
        }
    }
}

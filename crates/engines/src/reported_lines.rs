use std::collections::BTreeMap;

use kagetsu_game::{Bound, Move};

use crate::session::{SearchLine, SearchResult};

/// The lines that an engine has reported in one search so far.
#[derive(Debug, Default)]
pub(crate) struct ReportedLines {
    /// Exact lines by rank, from 1.
    lines: BTreeMap<u32, SearchLine>,
    /// Lines with bounds only, used where no exact line exists.
    bounds: BTreeMap<u32, SearchLine>,
    nodes: u64,
    /// The deepest iteration that was reported to the caller.
    reported_depth: u8,
}

impl ReportedLines {
    /// Records the number of nodes that the engine reports.
    pub(crate) fn count(&mut self, nodes: u64) {
        self.nodes = self.nodes.max(nodes);
    }

    /// Records the line of a rank from 1 to `max_rank` if its first move is among `allowed`.
    /// Returns whether the line completes an iteration.
    pub(crate) fn add(&mut self, rank: u32, line: SearchLine, allowed: &[Move], most: u16) -> bool {
        if !allowed.contains(&line.m) || !(1..=u32::from(most)).contains(&rank) {
            return false;
        }
        if line.bound != Bound::Exact {
            self.bounds.insert(rank, line);
            return false;
        }
        let is_iteration = line.depth > self.reported_depth
            && rank as usize == usize::from(most).min(allowed.len());
        if is_iteration {
            self.reported_depth = line.depth;
        }
        self.lines.insert(rank, line);
        is_iteration
    }

    /// Returns the lines, with the line of `best` first.
    pub(crate) fn found(&self, best: Option<Move>) -> SearchResult {
        let known = if self.lines.is_empty() {
            &self.bounds
        } else {
            &self.lines
        };
        let mut lines: Vec<SearchLine> = Vec::with_capacity(known.len());
        for line in known.values() {
            match lines.iter_mut().find(|known| known.m == line.m) {
                Some(known) if known.depth >= line.depth => {}
                Some(known) => *known = line.clone(),
                None => lines.push(line.clone()),
            }
        }
        if let Some(best) = best {
            let bare = SearchLine {
                m: best,
                value: None,
                bound: Bound::Exact,
                depth: 1,
                line: vec![best],
            };
            let at = lines.iter().position(|line| line.m == best);
            let line = at.map_or(bare, |at| lines.remove(at));
            lines.insert(0, line);
        }
        SearchResult {
            lines,
            nodes: self.nodes,
        }
    }
}

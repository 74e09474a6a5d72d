use std::collections::BTreeMap;

use kagetsu_game::{Bound, Move};

use crate::talk::{Found, Line};

/// What an engine has said of its lines so far.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// By their rank, from 1.
    lines: BTreeMap<u32, Line>,
    /// Lines that are only bounds, for want of others.
    bounds: BTreeMap<u32, Line>,
    nodes: u64,
    /// The deepest iteration that was told of.
    told: u8,
}

impl Gathered {
    /// Takes in how many positions it says it has visited.
    pub(crate) fn count(&mut self, nodes: u64) {
        self.nodes = self.nodes.max(nodes);
    }

    /// Takes in the line of a rank from 1 to `most`, if it begins with a move that was `asked` about; whether that ended an
    /// iteration.
    pub(crate) fn add(&mut self, rank: u32, line: Line, asked: &[Move], most: u16) -> bool {
        if !asked.contains(&line.m) || !(1..=u32::from(most)).contains(&rank) {
            return false;
        }
        if line.bound != Bound::Exact {
            self.bounds.insert(rank, line);
            return false;
        }
        let is_iteration =
            line.depth > self.told && rank as usize == usize::from(most).min(asked.len());
        if is_iteration {
            self.told = line.depth;
        }
        self.lines.insert(rank, line);
        is_iteration
    }

    /// What is known, `best` first.
    pub(crate) fn found(&self, best: Option<Move>) -> Found {
        let known = if self.lines.is_empty() {
            &self.bounds
        } else {
            &self.lines
        };
        let mut lines: Vec<Line> = Vec::with_capacity(known.len());
        for line in known.values() {
            match lines.iter_mut().find(|known| known.m == line.m) {
                Some(known) if known.depth >= line.depth => {}
                Some(known) => *known = line.clone(),
                None => lines.push(line.clone()),
            }
        }
        if let Some(best) = best {
            let bare = Line {
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
        Found {
            lines,
            nodes: self.nodes,
        }
    }
}

//! The tables of the paper and of the patent on gomoku beside figures of ours.

use anyhow::{Result, bail};
use kagetsu_search::EngineOptions;
use kagetsu_search::seeds;
use serde::Serialize;

use super::Averages;

/// The documents' ways to search with their figures, one a line.
const SETTINGS: &str = include_str!("gomoku.txt");

/// The settings at some depths.
#[derive(Default, Serialize)]
pub(super) struct GomokuSeeds {
    paper: Vec<SettingRow>,
    patent: Vec<SettingRow>,
}

/// One setting at one depth; means are a move's. A field is null where the documents print no
/// figure, or nothing was searched.
#[derive(Serialize)]
struct SettingRow {
    name: &'static str,
    depth: u8,
    settings: &'static str,
    their_nodes: Option<f64>,
    nodes: Option<Averages>,
    their_ms: Option<f64>,
    ms: Option<Averages>,
    nodes_by_move: Vec<u64>,
}

pub(super) fn method() -> String {
    format!(
        "Ours: the positions after each move of {}, searched to a fixed depth, wall-clock time on \
         this machine. Theirs: the means of ten moves that the documents print, from games of \
         their own. Paper: all moves to the \
         same depth, no table; the last two rows are its candidates with one. Patent: the 20 most \
         promising candidates, fours at leaves. Nodes and ms are mean, median and geometric mean \
         of a move.",
        seeds::LINE.join(" ")
    )
}

impl GomokuSeeds {
    /// Searches the ten positions by every setting that searches so deep.
    pub(super) fn add(&mut self, engine: EngineOptions, depth: u8) -> Result<()> {
        for line in SETTINGS.lines() {
            let rows = match line.split_once(" | ") {
                Some(("paper", _)) => &mut self.paper,
                Some(("patent", _)) => &mut self.patent,
                _ => continue,
            };
            rows.push(measure_setting(line, engine, depth)?);
        }
        Ok(())
    }
}

fn measure_setting(line: &'static str, engine: EngineOptions, depth: u8) -> Result<SettingRow> {
    let fields: Vec<&str> = line.split(" | ").collect();
    let [_, name, settings, deepest, theirs] = fields[..] else {
        bail!("'{line}' has not five fields");
    };
    let rows = if depth <= deepest.parse()? {
        seeds::measure(format!("{engine},{settings}").parse()?, depth)?
    } else {
        Vec::new()
    };
    let mut theirs = theirs.split(", ").map(|row| row.split(' '));
    let mut theirs = theirs.find(|row| row.clone().next() == Some(&*depth.to_string()));
    let mut printed = |field| theirs.as_mut()?.nth(field)?.parse().ok();
    Ok(SettingRow {
        name,
        depth,
        settings,
        their_nodes: printed(1),
        nodes: Averages::of(rows.iter().map(|row| row.nodes as f64)),
        their_ms: printed(0),
        ms: Averages::of(rows.iter().map(|row| row.time.as_secs_f64() * 1e3)),
        nodes_by_move: rows.iter().map(|row| row.nodes).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_makes_an_engine() {
        let mut measured = GomokuSeeds::default();
        measured
            .add(EngineOptions::default(), 1)
            .expect("settings that parse");
        for row in measured.paper.iter().chain(&measured.patent) {
            assert_eq!(row.nodes_by_move.len(), seeds::LINE.len(), "{}", row.name);
        }
    }
}

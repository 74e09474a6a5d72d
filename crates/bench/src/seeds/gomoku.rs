//! The tables of the paper and of the patent on gomoku beside figures of ours.

use anyhow::Result;
use kagetsu_search::EngineOptions;
use kagetsu_search::seeds;
use serde::Serialize;

use super::Averages;
use super::documents::{self, Depths, Figure};

/// A way to search, and the documents' figures for theirs.
struct GomokuSetting {
    name: &'static str,
    /// As text; see `bench match --help`.
    options: &'static str,
    theirs: Depths,
    /// The greatest depth that is searched in a few minutes.
    deepest: u8,
}

macro_rules! local {
    () => {
        "selective=off,table=0,leaf-fours=0,candidates=224,neighbourhood=paper-12"
    };
}
macro_rules! four {
    () => {
        "threads=4,split=seeded"
    };
}

const fn setting(
    name: &'static str,
    options: &'static str,
    theirs: Depths,
    deepest: u8,
) -> GomokuSetting {
    GomokuSetting {
        name,
        options,
        theirs,
        deepest,
    }
}

/// The paper's searches: every candidate to the same depth, no table, no search for fours; then its
/// candidates with mechanisms that it lacked. A limit of 224 candidates leaves none out.
const PAPER: &[GomokuSetting] = &[
    setting(
        "all cells",
        "selective=off,table=0,leaf-fours=0,seed=off,candidates=all",
        documents::ALL_CELLS,
        6,
    ),
    setting(
        "local cells",
        concat!(local!(), ",seed=off"),
        documents::LOCAL,
        6,
    ),
    setting(
        "local, 4 threads",
        concat!(local!(), ",seed=off,", four!()),
        documents::FOUR,
        6,
    ),
    setting("local, seed move", local!(), documents::SEEDED, 6),
    setting(
        "local, seed move, 4 threads",
        concat!(local!(), ",", four!()),
        documents::FOUR_SEEDED,
        6,
    ),
    setting(
        "local, table",
        "selective=off,leaf-fours=0,candidates=224,neighbourhood=paper-12",
        documents::SEEDED,
        8,
    ),
    setting(
        "local, as Kagetsu searches",
        "candidates=224,neighbourhood=paper-12",
        documents::SEEDED,
        12,
    ),
];

/// The patent's four ways, and Kagetsu as it is.
const PATENT: &[GomokuSetting] = &[
    setting(
        "no table",
        "selective=off,table=0,candidates=20",
        documents::PATENT_PLAIN,
        8,
    ),
    setting("table", "selective=off,candidates=20", &[], 8),
    setting(
        "no table, 4 threads",
        concat!("selective=off,table=0,candidates=20,", four!()),
        &[],
        8,
    ),
    setting(
        "table, 4 threads",
        concat!("selective=off,candidates=20,", four!()),
        documents::PATENT,
        8,
    ),
    setting("Kagetsu as it is", "", documents::PATENT_PLAIN, 20),
    setting("as it is, 4 threads", "threads=4", documents::PATENT, 20),
];

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
        for (rows, settings) in [(&mut self.paper, PAPER), (&mut self.patent, PATENT)] {
            for setting in settings {
                rows.push(measure_setting(setting, engine, depth)?);
            }
        }
        Ok(())
    }
}

fn measure_setting(
    setting: &'static GomokuSetting,
    engine: EngineOptions,
    depth: u8,
) -> Result<SettingRow> {
    let options: EngineOptions = format!("{engine},{}", setting.options).parse()?;
    let rows = if depth <= setting.deepest {
        seeds::measure(options, depth)?
    } else {
        Vec::new()
    };
    let theirs = setting.theirs.iter().find(|(at, _)| *at == depth);
    let Figure { nodes, ms } = theirs.map_or_else(Figure::default, |(_, figure)| *figure);
    Ok(SettingRow {
        name: setting.name,
        depth,
        settings: setting.options,
        their_nodes: nodes,
        nodes: Averages::of(rows.iter().map(|row| row.nodes as f64)),
        their_ms: ms,
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

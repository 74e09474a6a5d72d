//! The tables of the paper and of the patent on gomoku beside figures of ours.

use anyhow::Result;
use kagetsu_search::EngineOptions;
use kagetsu_search::seeds;
use serde::Serialize;

use super::Averages;

/// The figures of a document: the depth, mean nodes and mean milliseconds of a move. Zero stands
/// for a figure that it does not print.
type Figures = &'static [(u8, f64, f64)];

/// A way to search: its name, its settings (see `bench match --help`), the greatest depth that is
/// searched in a few minutes, and the documents' figures for theirs.
type GomokuSetting = (&'static str, &'static str, u8, Figures);

/// Zheng and Kuang's searches (i7-8550U, tables 2 to 6): every candidate to the same depth, no
/// table, no search for fours; then its candidates with mechanisms that it lacked. A limit of 224
/// candidates leaves none out. At depth 4 of all cells the mean is of four moves.
const PAPER: &[GomokuSetting] = &[
    (
        "all cells",
        "selective=off,table=0,leaf-fours=0,seed=off,candidates=all",
        6,
        &[(2, 17_338.5, 0.0), (4, 186_767_951.3, 0.0)],
    ),
    (
        "local cells",
        "selective=off,table=0,leaf-fours=0,candidates=224,neighbourhood=paper-12,seed=off",
        6,
        &[
            (2, 592.1, 15.3),
            (4, 114_741.6, 1_185.5),
            (6, 47_581_577.4, 458_916.5),
        ],
    ),
    (
        "local, 4 threads",
        "selective=off,table=0,leaf-fours=0,candidates=224,neighbourhood=paper-12,seed=off,\
         threads=4,split=seeded",
        6,
        &[
            (2, 1_207.1, 17.1),
            (4, 310_164.9, 1_420.8),
            (6, 98_051_448.1, 487_238.2),
        ],
    ),
    (
        "local, seed move",
        "selective=off,table=0,leaf-fours=0,candidates=224,neighbourhood=paper-12",
        6,
        SEEDED,
    ),
    (
        "local, seed move, 4 threads",
        "selective=off,table=0,leaf-fours=0,candidates=224,neighbourhood=paper-12,threads=4,\
         split=seeded",
        6,
        &[
            (2, 2_904.8, 32.2),
            (4, 111_672.5, 561.0),
            (6, 38_399_549.0, 183_329.6),
        ],
    ),
    (
        "local, table",
        "selective=off,leaf-fours=0,candidates=224,neighbourhood=paper-12",
        8,
        SEEDED,
    ),
    (
        "local, as Kagetsu searches",
        "candidates=224,neighbourhood=paper-12",
        12,
        SEEDED,
    ),
];
const SEEDED: Figures = &[
    (2, 979.5, 18.7),
    (4, 70_245.9, 720.9),
    (6, 32_797_238.2, 311_161.2),
];

/// The four ways of Kou Yinghan's patent of 2021, which names no machine, and Kagetsu as it is. The
/// time without a table is computed from its claim of 53.5 % less.
const PATENT: &[GomokuSetting] = &[
    (
        "no table",
        "selective=off,table=0,candidates=20",
        8,
        PATENT_PLAIN,
    ),
    ("table", "selective=off,candidates=20", 8, &[]),
    (
        "no table, 4 threads",
        "selective=off,table=0,candidates=20,threads=4,split=seeded",
        8,
        &[],
    ),
    (
        "table, 4 threads",
        "selective=off,candidates=20,threads=4,split=seeded",
        8,
        PATENT_TABLE,
    ),
    ("Kagetsu as it is", "", 20, PATENT_PLAIN),
    ("as it is, 4 threads", "threads=4", 20, PATENT_TABLE),
];
const PATENT_PLAIN: Figures = &[(6, 0.0, 14_280.0)];
const PATENT_TABLE: Figures = &[(6, 0.0, 6_640.0)];

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
                rows.push(measure_setting(*setting, engine, depth)?);
            }
        }
        Ok(())
    }
}

fn measure_setting(
    (name, settings, deepest, theirs): GomokuSetting,
    engine: EngineOptions,
    depth: u8,
) -> Result<SettingRow> {
    let rows = if depth <= deepest {
        seeds::measure(format!("{engine},{settings}").parse()?, depth)?
    } else {
        Vec::new()
    };
    let theirs = theirs.iter().find(|(at, ..)| *at == depth);
    let printed = |figure: f64| (figure > 0.0).then_some(figure);
    Ok(SettingRow {
        name,
        depth,
        settings,
        their_nodes: theirs.and_then(|(_, nodes, _)| printed(*nodes)),
        nodes: Averages::of(rows.iter().map(|row| row.nodes as f64)),
        their_ms: theirs.and_then(|(.., ms)| printed(*ms)),
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

//! The tables of the paper and of the patent on gomoku beside figures of ours.

use std::io::Write;

use anyhow::Result;
use kagetsu_search::EngineOptions;
use kagetsu_search::seeds::{self, SeedRow};
use kagetsu_terminal::table;
use serde::Serialize;

use super::documents::{self, Depths, Figure, Moves};
use super::figures::{Averages, cell};

/// A way to search, and the documents' figures for theirs.
struct GomokuSetting {
    name: &'static str,
    /// As text; see `bench match --help`.
    options: &'static str,
    theirs: Depths,
    /// The greatest depth that is searched in a few minutes.
    deepest: u8,
}

impl GomokuSetting {
    /// Returns the documents' figure at a depth, empty where they print none.
    fn theirs_at(&self, depth: u8) -> Figure {
        let mut theirs = self.theirs.iter();
        let found = theirs.find(|(at, _)| *at == depth);
        found.map_or_else(Figure::default, |(_, figure)| *figure)
    }
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

/// All settings at one depth.
pub(super) struct GomokuSeeds {
    depth: u8,
    paper: Vec<Measured>,
    patent: Vec<Measured>,
}

/// Searches the ten positions by every setting.
pub(super) fn measure(engine: EngineOptions, depth: u8) -> Result<GomokuSeeds> {
    Ok(GomokuSeeds {
        depth,
        paper: measure_settings(PAPER, engine, depth)?,
        patent: measure_settings(PATENT, engine, depth)?,
    })
}

/// One depth as JSON. A field is null where the documents print no figure, or nothing was searched.
#[derive(Serialize)]
pub(super) struct GomokuSeedsJson {
    depth: u8,
    paper: Vec<SettingJson>,
    patent: Vec<SettingJson>,
}

/// One setting as JSON; means are a move's.
#[derive(Serialize)]
struct SettingJson {
    name: &'static str,
    settings: &'static str,
    their_nodes: Option<f64>,
    their_ms: Option<f64>,
    nodes: Option<Averages>,
    ms: Option<Averages>,
    moves: Vec<SeedMoveJson>,
}

/// One of the ten positions as JSON.
#[derive(Serialize)]
struct SeedMoveJson {
    nodes: u64,
    ms: f64,
}

impl From<GomokuSeeds> for GomokuSeedsJson {
    fn from(seeds: GomokuSeeds) -> Self {
        let rows = |measured: &[Measured]| {
            let rows = measured
                .iter()
                .map(|measured| setting_json(measured, seeds.depth));
            rows.collect()
        };
        Self {
            depth: seeds.depth,
            paper: rows(&seeds.paper),
            patent: rows(&seeds.patent),
        }
    }
}

fn setting_json((setting, rows): &Measured, depth: u8) -> SettingJson {
    let theirs = setting.theirs_at(depth);
    SettingJson {
        name: setting.name,
        settings: setting.options,
        their_nodes: theirs.nodes,
        their_ms: theirs.ms,
        nodes: Averages::of(rows.iter().map(|row| row.nodes as f64)),
        ms: Averages::of(rows.iter().map(milliseconds)),
        moves: rows
            .iter()
            .map(|row| SeedMoveJson {
                nodes: row.nodes,
                ms: milliseconds(row),
            })
            .collect(),
    }
}

/// Measures and writes depth after depth.
pub(super) fn write_all(engine: EngineOptions, depths: &[u8], out: &mut dyn Write) -> Result<()> {
    writeln!(
        out,
        "Ours: the positions after each move of {}, searched to a fixed",
        seeds::LINE.join(" ")
    )?;
    writeln!(
        out,
        "depth, wall-clock time, on this machine. Theirs: the means of ten moves that the documents print, from"
    )?;
    writeln!(
        out,
        "games of their own; no figure where they print none. Means, medians and geometric means are a move's."
    )?;
    for &depth in depths {
        let (least, all) = documents::least_and_all(depth);
        writeln!(out, "\n== depth {depth}")?;
        if depth % 2 == 0 {
            writeln!(
                out,
                "A tree of 225 cells has {all:.4e} leaves; alpha-beta visits {least:.4e} of them at least."
            )?;
        }
        writeln!(
            out,
            "\nAs in the paper (tables 2 to 6): all moves to the same depth, no table; the last two rows: its candidates, with one"
        )?;
        let paper = measure_settings(PAPER, engine, depth)?;
        write_settings(&paper, depth, out)?;
        for (_, one, four) in documents::BY_MOVE.iter().filter(|(at, ..)| *at == depth) {
            writeln!(out, "\nBy move, local with the seed move (paper, table 7)")?;
            write_moves([(one, &paper[3].1), (four, &paper[4].1)], out)?;
        }
        writeln!(
            out,
            "\nAs in the patent: all moves to the same depth; the 20 most promising candidates, fours at leaves"
        )?;
        write_settings(&measure_settings(PATENT, engine, depth)?, depth, out)?;
        out.flush()?;
    }
    Ok(())
}

type Measured = (&'static GomokuSetting, Vec<SeedRow>);

/// The ten positions by every setting that searches so deep.
fn measure_settings(
    settings: &'static [GomokuSetting],
    engine: EngineOptions,
    depth: u8,
) -> Result<Vec<Measured>> {
    let rows = |setting: &'static GomokuSetting| {
        let options: EngineOptions = format!("{engine},{}", setting.options).parse()?;
        let rows = if depth <= setting.deepest {
            seeds::measure(options, depth)?
        } else {
            Vec::new()
        };
        Ok((setting, rows))
    };
    settings.iter().map(rows).collect()
}

fn write_settings(measured: &[Measured], depth: u8, out: &mut dyn Write) -> Result<()> {
    let header = [
        "",
        "nodes: theirs",
        "ours",
        "median",
        "geometric",
        "ms: theirs",
        "ours",
        "median",
        "geometric",
        "theirs / ours",
    ];
    let mut table = table::plain(&header);
    for (setting, rows) in measured {
        let Figure { nodes, ms } = setting.theirs_at(depth);
        let mut cells = vec![setting.name.to_string(), cell(nodes)];
        let visited = Averages::of(rows.iter().map(|row| row.nodes as f64));
        cells.extend(Averages::columns(visited).map(cell));
        let times = Averages::columns(Averages::of(rows.iter().map(milliseconds)));
        cells.push(cell(ms));
        cells.extend(times.map(cell));
        cells.push(cell(ms.zip(times[0]).map(|(theirs, ours)| theirs / ours)));
        table.add_row(cells);
    }
    table::align_right(&mut table, &(1..header.len()).collect::<Vec<_>>());
    table::write(out, &table)
}

/// Theirs and ours, move by move, on one thread and on four.
fn write_moves(threads: [(&Moves, &Vec<SeedRow>); 2], out: &mut dyn Write) -> Result<()> {
    let one = ["nodes: theirs", "ours", "ms: theirs", "ours"];
    let four = ["4 threads: theirs", "ours", "ms: theirs", "ours"];
    let header: Vec<&str> = ["move"].into_iter().chain(one).chain(four).collect();
    let mut table = table::plain(&header);
    for index in 0..seeds::LINE.len() {
        let cells = threads.iter().flat_map(|(theirs, ours)| {
            let ((nodes, ms), row) = (theirs[index], ours.get(index));
            let (our_nodes, our_ms) = (row.map(|row| row.nodes as f64), row.map(milliseconds));
            [
                Some(f64::from(nodes)),
                our_nodes,
                Some(f64::from(ms)),
                our_ms,
            ]
            .map(cell)
        });
        table.add_row([(index + 1).to_string()].into_iter().chain(cells));
    }
    table::align_right(&mut table, &(0..header.len()).collect::<Vec<_>>());
    table::write(out, &table)
}

fn milliseconds(row: &SeedRow) -> f64 {
    row.time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_makes_an_engine() {
        let (paper, patent) = [PAPER, PATENT]
            .map(|all| measure_settings(all, EngineOptions::default(), 1).expect("settings"))
            .into();
        for (setting, rows) in paper.iter().chain(&patent) {
            assert_eq!(rows.len(), seeds::LINE.len(), "{}", setting.name);
        }
    }
}

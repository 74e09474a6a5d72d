mod documents;
mod surakarta;

use std::io::Write;

use anyhow::Result;
use kagetsu_search::EngineOptions;
use kagetsu_search::seeds::{self, SeedRow};

use documents::{Depths, Figure, Moves};
use kagetsu_terminal::table;

/// Tables of the founding documents, side by side with Kagetsu's figures on this machine
///
/// Example: kagetsu bench seeds --depth 2,4
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Game of the documents
    #[arg(long, default_value = "gomoku", value_name = "GAME")]
    game: SeedGame,
    /// Plies to search [default: 2,4,6 for gomoku, 7 for surakarta]
    #[arg(long, value_delimiter = ',', value_name = "N", value_parser = clap::value_parser!(u8).range(1..=20))]
    depth: Vec<u8>,
    /// Settings of the engine that the documents leave open, as in constants=paper; see `bench
    /// match
    /// --help`
    #[arg(long = "settings", default_value = "default", value_name = "SETTINGS")]
    engine: EngineOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum SeedGame {
    Gomoku,
    Surakarta,
}

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
        "selective=off,table=0",
        documents::PATENT_PLAIN,
        8,
    ),
    setting("table", "selective=off", &[], 8),
    setting(
        "no table, 4 threads",
        concat!("selective=off,table=0,", four!()),
        &[],
        8,
    ),
    setting(
        "table, 4 threads",
        concat!("selective=off,", four!()),
        documents::PATENT,
        8,
    ),
    setting("Kagetsu as it is", "", documents::PATENT_PLAIN, 20),
    setting("as it is, 4 threads", "threads=4", documents::PATENT, 20),
];

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<()> {
    let depths = |default: &[u8]| {
        if args.depth.is_empty() {
            default.to_vec()
        } else {
            args.depth.clone()
        }
    };
    match args.game {
        SeedGame::Gomoku => gomoku(args.engine, &depths(&[2, 4, 6]), out),
        SeedGame::Surakarta => depths(&[7])
            .iter()
            .try_for_each(|&depth| surakarta::run(args.engine, depth, out)),
    }
}

fn gomoku(engine: EngineOptions, depths: &[u8], out: &mut dyn Write) -> Result<()> {
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
        let paper = measure(PAPER, engine, depth)?;
        write_settings(&paper, depth, out)?;
        for (_, one, four) in documents::BY_MOVE.iter().filter(|(at, ..)| *at == depth) {
            writeln!(out, "\nBy move, local with the seed move (paper, table 7)")?;
            write_moves([(one, &paper[3].1), (four, &paper[4].1)], out)?;
        }
        writeln!(
            out,
            "\nAs in the patent: all moves to the same depth; the 20 most promising candidates, fours at leaves"
        )?;
        write_settings(&measure(PATENT, engine, depth)?, depth, out)?;
        out.flush()?;
    }
    Ok(())
}

type Measured = (&'static GomokuSetting, Vec<SeedRow>);

/// The ten positions by every setting that searches so deep.
fn measure(
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
        let theirs = setting
            .theirs
            .iter()
            .find(|(at, _)| *at == depth)
            .map(|(_, figure)| *figure);
        let Figure { nodes, ms } = theirs.unwrap_or_default();
        let mut cells = vec![setting.name.to_string(), cell(nodes)];
        cells.extend(summary(rows.iter().map(|row| row.nodes as f64)).map(cell));
        let times = summary(rows.iter().map(milliseconds));
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

/// Mean, median and geometric mean; nothing of nothing.
fn summary(values: impl Iterator<Item = f64>) -> [Option<f64>; 3] {
    let mut values: Vec<f64> = values.collect();
    if values.is_empty() {
        return [None; 3];
    }
    values.sort_by(f64::total_cmp);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let middle = (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0;
    let logarithms: Vec<f64> = values
        .iter()
        .map(|value| value.max(f64::MIN_POSITIVE).ln())
        .collect();
    [mean(&values), middle, mean(&logarithms).exp()].map(Some)
}

/// A number with as many digits as matter.
pub(crate) fn cell(value: Option<f64>) -> String {
    match value {
        None => String::new(),
        Some(value) if value < 10.0 => format!("{value:.2}"),
        Some(value) if value < 1_000.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_makes_an_engine() {
        let (paper, patent) = [PAPER, PATENT]
            .map(|all| measure(all, EngineOptions::default(), 1).expect("settings"))
            .into();
        for (setting, rows) in paper.iter().chain(&patent) {
            assert_eq!(rows.len(), seeds::LINE.len(), "{}", setting.name);
        }
    }

    #[test]
    fn summaries_are_mean_median_and_geometric_mean() {
        let [mean, median, geometric] =
            summary([8.0, 1.0, 1.0, 2.0].into_iter()).map(|value| value.expect("of something"));
        assert_eq!((mean, median), (3.0, 1.5));
        assert!((geometric - 2.0).abs() < 1e-12);
        assert_eq!(summary(std::iter::empty()), [None; 3]);
    }
}

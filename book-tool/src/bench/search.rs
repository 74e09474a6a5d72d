use std::io::Write;

use anyhow::Result;
use clap::ValueEnum;
use kagetsu_search::seeds::{self, Row};
use kagetsu_search::{Constants, EngineOptions, Neighbourhood};

use crate::table;

/// The number of positions visited by ten fixed searches: the same on every machine, changed only by what is searched
#[derive(Debug, clap::Args)]
pub(super) struct SignatureArgs {}

/// Nodes and times of the ten "fixed" positions of the documents that Kagetsu grew from
#[derive(Debug, clap::Args)]
pub(super) struct SeedsArgs {
    /// Plies to search
    #[arg(long, value_delimiter = ',', default_values_t = [2, 4, 6], value_name = "N", value_parser = clap::value_parser!(u8).range(1..=20))]
    depth: Vec<u8>,
    /// Threads to search with
    #[arg(long, value_delimiter = ',', default_values_t = [1], value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    threads: Vec<u16>,
    /// What the patterns are worth
    #[arg(long, value_enum, default_value_t, value_name = "SET")]
    constants: ConstantsArg,
}

/// A set of pattern values.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum ConstantsArg {
    /// Kagetsu's
    #[default]
    Own,
    /// The paper's
    Paper,
    /// The patent's
    Patent,
    /// The blog's
    Blog,
}

pub(super) fn signature(_: &SignatureArgs, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "signature {}", seeds::signature()?)?;
    Ok(())
}

pub(super) fn seeds(args: &SeedsArgs, out: &mut dyn Write) -> Result<()> {
    let constants = match args.constants {
        ConstantsArg::Own => Constants::Own,
        ConstantsArg::Paper => Constants::Paper,
        ConstantsArg::Patent => Constants::Patent,
        ConstantsArg::Blog => Constants::Blog,
    };
    writeln!(
        out,
        "The positions after each move of {}, searched to a fixed depth with a table of",
        seeds::LINE.join(" ")
    )?;
    writeln!(out, "64 MiB that is empty for each; candidates within two cells, 20 at most; wall-clock time.")?;
    for &depth in &args.depth {
        for &threads in &args.threads {
            let all = EngineOptions { threads: threads.into(), constants, ..EngineOptions::default() };
            let variants = [
                ("as it is", all),
                ("no seed", EngineOptions { seed: false, ..all }),
                ("no table", EngineOptions { table_bytes: 0, ..all }),
                ("no fours at leaves", EngineOptions { leaf_fours: 0, ..all }),
                ("candidates of the paper (12)", EngineOptions { neighbourhood: Neighbourhood::Paper12, ..all }),
            ];
            let plural = if threads == 1 { "" } else { "s" };
            writeln!(out, "\ndepth {depth}, {threads} thread{plural}")?;
            let measured = variants.map(|(name, options)| (name, seeds::measure(options, depth)));
            write_rows(
                out,
                &measured
                    .map(|(name, rows)| rows.map(|rows| (name, rows)))
                    .into_iter()
                    .collect::<Result<Vec<_>, _>>()?,
            )?;
        }
    }
    writeln!(
        out,
        "\nFor comparison, mean per move: the paper 311,161 ms at depth 6 on one thread and 183,330 ms on four with"
    )?;
    writeln!(
        out,
        "the seed (1,185 and 561 ms at depth 4); the patent 6,640 ms at depth 6 on four threads with a table."
    )?;
    Ok(())
}

fn write_rows(out: &mut dyn Write, measured: &[(&str, Vec<Row>)]) -> Result<()> {
    let moves: Vec<String> = (1..=seeds::LINE.len()).map(|n| n.to_string()).collect();
    let header: Vec<&str> = ["nodes after move"].into_iter().chain(moves.iter().map(String::as_str)).collect();
    let mut nodes = table::plain(&header);
    for (name, rows) in measured {
        nodes.add_row([name.to_string()].into_iter().chain(rows.iter().map(|row| row.nodes.to_string())));
    }
    table::align_right(&mut nodes, &(1..=moves.len()).collect::<Vec<_>>());
    table::write(out, &nodes)?;
    let mut totals = table::plain(&["", "mean nodes", "median", "geometric", "mean ms", "median", "k nodes/s"]);
    for (name, rows) in measured {
        totals.add_row([vec![name.to_string()], summary(rows)].concat());
    }
    table::align_right(&mut totals, &[1, 2, 3, 4, 5, 6]);
    writeln!(out)?;
    table::write(out, &totals)
}

fn summary(rows: &[Row]) -> Vec<String> {
    let nodes: Vec<f64> = rows.iter().map(|row| row.nodes as f64).collect();
    let times: Vec<f64> = rows.iter().map(|row| row.time.as_secs_f64() * 1e3).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let median = |values: &[f64]| {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (sorted.len().saturating_sub(1) / 2, sorted.len() / 2);
        (sorted.get(low).copied().unwrap_or(0.0) + sorted.get(high).copied().unwrap_or(0.0)) / 2.0
    };
    let geometric = mean(&nodes.iter().map(|n| n.max(1.0).ln()).collect::<Vec<_>>()).exp();
    let rate = mean(&nodes) / mean(&times).max(1e-6);
    let whole = |value: f64| format!("{value:.0}");
    let tenth = |value: f64| format!("{value:.1}");
    vec![
        tenth(mean(&nodes)),
        tenth(median(&nodes)),
        tenth(geometric),
        tenth(mean(&times)),
        tenth(median(&times)),
        whole(rate),
    ]
}

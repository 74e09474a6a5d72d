use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use kagetsu_game::Variant;
use kagetsu_program::{Exit, Readers, check_place, shown, write_whole};
use kagetsu_search::{END_TABLE_PIECES, build_end_tables};

use crate::arguments::path::refuse_stdout;

/// Builds the end tables of surakarta
///
/// For every position of at most so many pieces the file says whether the side to move wins, draws
/// or loses. --tables of `analyze`, `build`, `brain` and of the servers uses it. The file appears
/// when it is complete; an interruption leaves nothing under its name.
///
/// With 6 pieces the file has 4 MB and takes 9 seconds of a core, with 7 it has 38 MB and takes a
/// minute of a core and 150 MB of memory.
///
/// Example: kagetsu tables surakarta --pieces 6 --out surakarta.tables
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Game; surakarta alone has end tables
    #[arg(default_value_t = Variant::SURAKARTA, value_name = "VARIANT")]
    variant: Variant,
    /// Most pieces of a position, both sides together
    #[arg(long, default_value_t = *END_TABLE_PIECES.end(), value_name = "N",
        value_parser = clap::value_parser!(u8).range(2..=7))]
    pieces: u8,
    /// File to write, or a folder for it
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    ensure!(
        matches!(args.variant, Variant::Surakarta { .. }),
        "{} has no end tables; surakarta has",
        args.variant
    );
    refuse_stdout(&args.out)?;
    let mut path = args.out.clone();
    if path.is_dir() {
        path.push(format!("{}-{}.tables", args.variant, args.pieces));
    }
    ensure!(
        !path.exists(),
        "{} is there already; remove it, or name another file",
        shown(&path)
    );
    let place = || format!("cannot write {}", shown(&path));
    check_place(&path).with_context(place)?;
    let (begun, mut most) = (Instant::now(), 0);
    let bytes = build_end_tables(args.pieces, &mut |one, other, longest| {
        most = most.max(longest);
        let seconds = begun.elapsed().as_secs_f64();
        eprintln!("{one} against {other}: {longest} plies to a capture at most, {seconds:.1} s");
    });
    write_whole(&path, &bytes, Readers::Usual).with_context(place)?;
    let (file, length) = (shown(&path), bytes.len());
    writeln!(
        out,
        "{file}: {length} bytes, for limits from {most} plies on"
    )?;
    Ok(Exit::Done)
}

//! Counts lines of legal moves: `perft VARIANT DEPTH [FEN]`, for instance
//! `cargo run --release -p kagetsu-game --example perft -- xiangqi 5`.
#![expect(clippy::print_stdout, reason = "a program prints its result")]

use std::error::Error;
use std::time::Instant;

use kagetsu_game::{Position, Variant, perft, with_game};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [variant, depth, fen @ ..] = arguments.as_slice() else {
        return Err("usage: perft VARIANT DEPTH [FEN]".into());
    };
    let (variant, depth): (Variant, u32) = (variant.parse()?, depth.parse()?);
    let position = match fen {
        [] => Position::start(variant),
        words => Position::from_fen(variant, &words.join(" "))?,
    };
    let start = Instant::now();
    let nodes = with_game!(variant, G => perft(&mut position.game::<G>(), depth));
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{nodes} nodes in {seconds:.3} s, {:.1} million a second",
        nodes as f64 / seconds / 1e6
    );
    Ok(())
}

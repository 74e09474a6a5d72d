//! Looks up a position in a compiled book: `lookup FILE VARIANT [MOVES]`, for instance
//! `cargo run --release -p kagetsu-compiled --example lookup -- h8.kbk freestyle-15 "h8 i9"`.
#![expect(clippy::print_stdout, reason = "a program prints its result")]

use std::error::Error;
use std::path::Path;

use kagetsu_compiled::{Choice, Compiled};
use kagetsu_game::{Position, Variant};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, variant, moves @ ..] = arguments.as_slice() else {
        return Err("usage: lookup FILE VARIANT [MOVES]".into());
    };
    let variant: Variant = variant.parse()?;
    let position = Position::from_line(variant, &moves.join(" "))?;
    let book = Compiled::open(Path::new(file))?;
    let Some((answer, value)) = book.lookup(&position)? else {
        return Err("the book lacks this position".into());
    };
    println!("value {}, depth {}", value.score, value.depth);
    for (m, verdict) in answer.verdicts() {
        let (name, bound) = (position.write_move(*m), verdict.bound);
        println!("{name:>4}  {} ({bound})", verdict.score);
    }
    if let Some((m, _)) = Choice::default().pick(&answer) {
        println!("best {}", position.write_move(*m));
    }
    Ok(())
}

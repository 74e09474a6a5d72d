//! Prints what the ten fixed positions take: `cargo run --release -p kagetsu-search --example seeds`.

use kagetsu_search::{EngineError, EngineOptions, seeds};

fn main() -> Result<(), EngineError> {
    for (name, leaf_fours) in [("fours at leaves", EngineOptions::default().leaf_fours), ("none", 0)] {
        for depth in [2, 4, 6, 8] {
            let rows = seeds::measure(EngineOptions { leaf_fours, ..EngineOptions::default() }, depth)?;
            let nodes: u64 = rows.iter().map(|row| row.nodes).sum();
            let seconds: f64 = rows.iter().map(|row| row.time.as_secs_f64()).sum();
            println!("{name}, depth {depth}: {:.1} ms, {} nodes a position", seconds * 100.0, nodes / 10);
        }
    }
    println!("signature {}", seeds::signature()?);
    Ok(())
}

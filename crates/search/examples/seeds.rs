//! Prints what the ten fixed positions take: `cargo run --release -p kagetsu-search --example
//! seeds`.

use std::time::Duration;

use kagetsu_game::{Effort, Question};
use kagetsu_search::{Control, Engine, EngineError, EngineOptions, seeds};

fn main() -> Result<(), EngineError> {
    let plain = EngineOptions {
        selective: false,
        candidates: seeds::CANDIDATES,
        ..EngineOptions::default()
    };
    let without = EngineOptions {
        leaf_fours: 0,
        ..plain
    };
    for (name, options) in [
        ("plain", plain),
        ("no fours", without),
        ("selective", EngineOptions::default()),
    ] {
        for depth in [2, 4, 6, 8, 10, 12]
            .into_iter()
            .filter(|&depth| depth <= 8 || options.selective)
        {
            let rows = seeds::measure(options, depth)?;
            let nodes: u64 = rows.iter().map(|row| row.nodes).sum();
            let seconds: f64 = rows.iter().map(|row| row.time.as_secs_f64()).sum();
            let speed = nodes as f64 / seconds / 1e6;
            println!(
                "{name}, depth {depth}: {:.1} ms, {} nodes, {speed:.2} M/s",
                seconds * 100.0,
                nodes / 10
            );
        }
    }
    let mut engine = Engine::new(EngineOptions::default())?;
    for position in seeds::positions().expect("legal") {
        let effort = Effort {
            time: Some(Duration::from_secs(1)),
            ..Effort::default()
        };
        let question = Question::new(position.clone(), effort);
        let (mut depth, mut nodes) = (0, 0);
        let answer = engine.answer(&question, &Control::new(), &mut |p| {
            (depth, nodes) = (p.depth, p.nodes)
        })?;
        let best = answer
            .best()
            .map(|(m, v)| format!("{} {}", position.write_move(m), v.score));
        println!(
            "1 s: depth {depth}, {nodes} nodes, {}",
            best.unwrap_or_default()
        );
    }
    for (number, position) in seeds::positions().expect("legal").iter().enumerate() {
        println!(
            "play and undo after move {}: {:?}",
            number + 1,
            seeds::play_and_undo(position, 20_000)?
        );
    }
    println!("signature {}", seeds::signature()?);
    Ok(())
}

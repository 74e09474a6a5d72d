//! Measures how much the values of honest engines differ at equal effort, in centi-units:
//!
//! ```text
//! cargo run --release -p kagetsu-search --example tolerance -- VARIANT POSITIONS DEPTH...
//! ```
//!
//! The positions come from random games. Each is searched by the reference (one thread, 16 MiB) and
//! by other settings to the same depth. A row gives quantiles of the largest difference between two
//! answers to a position: of the best moves' values, and of each move that both value exactly. The
//! last column counts positions with a move that only one of the two has proven.

use kagetsu_game::{Answer, Effort, Position, Question, Variant};
use kagetsu_search::{Control, Engine, EngineOptions};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Moves with exact values, as a build asks for them.
const WIDTH: u16 = 3;
/// Plies of the random games.
const PLIES: std::ops::RangeInclusive<usize> = 4..=14;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [variant, positions, depths @ ..] = arguments.as_slice() else {
        return Err("tolerance VARIANT POSITIONS DEPTH...".into());
    };
    let variant: Variant = variant.parse()?;
    let count: u64 = positions.parse()?;
    let positions: Vec<Position> = (0..count).map(|seed| opening(variant, seed)).collect();
    println!("{variant}, {count} positions, {WIDTH} moves with exact values\n");
    println!("| other engine | depth | median | 90 % | 99 % | largest | only one proven |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for depth in depths {
        let depth: u8 = depth.parse()?;
        let effort = Effort::depth(depth);
        let mut reference = engine(1, 16 << 20)?;
        let expected = answers(&mut reference, &positions, effort)?;
        for (name, threads, table, factor) in [
            ("table of 1 MiB", 1, 1 << 20, None),
            ("2 threads", 2, 16 << 20, None),
            ("4 threads", 4, 16 << 20, None),
            ("half of the nodes", 1, 16 << 20, Some((1, 2))),
            ("twice the nodes", 1, 16 << 20, Some((2, 1))),
        ] {
            let mut other = engine(threads, table)?;
            let mut rows = Vec::new();
            for (position, expected) in positions.iter().zip(&expected) {
                // An effort in time reaches other node counts on another machine.
                let effort = factor.map_or(effort, |(more, less)| {
                    Effort::nodes((expected.nodes() * more / less).max(100))
                });
                let found = ask(&mut other, position, effort)?;
                rows.push(compare(expected, &found));
            }
            print(name, depth, &rows);
        }
    }
    Ok(())
}

fn engine(threads: usize, table_bytes: usize) -> Result<Engine, Failure> {
    Ok(Engine::new(EngineOptions {
        threads,
        table_bytes,
        ..EngineOptions::default()
    })?)
}

/// Plays moves at random: in gomoku near the middle, elsewhere any.
fn opening(variant: Variant, seed: u64) -> Position {
    let mut dice = SmallRng::seed_from_u64(seed);
    let mut position = Position::start(variant);
    for _ in 0..dice.random_range(PLIES) {
        let mut legal = position.legal_moves();
        if let Variant::Gomoku { size, .. } = variant {
            let is_central = |at: u16| {
                let (x, y) = (at % u16::from(size), at / u16::from(size));
                let middle = u16::from(size) / 2;
                x.abs_diff(middle) <= 3 && y.abs_diff(middle) <= 3
            };
            legal.retain(|m| is_central(m.code()));
        }
        if legal.is_empty() {
            break;
        }
        let m = legal[dice.random_range(0..legal.len())];
        match position.play(m) {
            Ok(next) if next.outcome().is_none() => position = next,
            _ => break,
        }
    }
    position
}

fn ask(engine: &mut Engine, position: &Position, effort: Effort) -> Result<Answer, Failure> {
    let question = Question {
        width: WIDTH,
        ..Question::new(position.clone(), effort)
    };
    Ok(engine.answer(&question, &Control::new(), &mut |_| {})?)
}

fn answers(
    engine: &mut Engine,
    positions: &[Position],
    effort: Effort,
) -> Result<Vec<Answer>, Failure> {
    positions
        .iter()
        .map(|position| ask(engine, position, effort))
        .collect()
}

/// Returns the largest difference, and whether only one answer has a proof of a move.
fn compare(one: &Answer, other: &Answer) -> (u32, bool) {
    let mut largest = 0;
    let mut is_proven_once = false;
    let value = |answer: &Answer| {
        answer
            .best()
            .filter(|(_, verdict)| verdict.proof.is_none())
            .map(|(_, verdict)| i32::from(verdict.score.raw()))
    };
    if let (Some(a), Some(b)) = (value(one), value(other)) {
        largest = a.abs_diff(b);
    }
    for (m, a) in one.verdicts().iter().filter(|(_, v)| v.is_exact()) {
        let Some(b) = other.get(*m).filter(|verdict| verdict.is_exact()) else {
            continue;
        };
        match (a.proof, b.proof) {
            (None, None) => {
                let (a, b) = (i32::from(a.score.raw()), i32::from(b.score.raw()));
                largest = largest.max(a.abs_diff(b));
            }
            (Some(_), Some(_)) => {}
            _ => is_proven_once = true,
        }
    }
    (largest, is_proven_once)
}

fn print(name: &str, depth: u8, rows: &[(u32, bool)]) {
    let mut differences: Vec<u32> = rows.iter().map(|(difference, _)| *difference).collect();
    differences.sort_unstable();
    let at = |percent: usize| {
        let index = (differences.len() * percent / 100).min(differences.len() - 1);
        f64::from(differences[index]) / 100.0
    };
    let proven = rows.iter().filter(|(_, is_proven)| *is_proven).count();
    println!(
        "| {name} | {depth} | {:.2} | {:.2} | {:.2} | {:.2} | {proven} of {} |",
        at(50),
        at(90),
        at(99),
        at(100),
        rows.len()
    );
}

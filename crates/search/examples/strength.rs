//! Measures the gomoku search independently of the clock, on positions in which it once chose a
//! losing move: `cargo run --release -p kagetsu-search --example strength -- FILE [NODES]
//! [OPTIONS]`.
//!
//! Each line of FILE is a JSON object with `variant`, `moves`, `avoid` (the losing move) and `then`
//! (the reply that wins by force). The example prints three measures, each with a budget of NODES
//! positions a search:
//! - how often the search avoids the losing move;
//! - how often, after the losing move, the search of the winner's side proves the win or values it
//!   at 4.00 or more;
//! - how many positions searches to depth 8, 12 and 16 visit, before the losing move and earlier in
//!   the same games.

use std::time::Instant;

use kagetsu_game::{Answer, Effort, Position, Question, Score};
use kagetsu_search::{Control, Engine, EngineOptions};
use serde_json::Value;

/// Depths to which the cost of a search is measured.
const DEPTHS: [u8; 3] = [8, 12, 16];

/// Positions of the measurement of depths.
const MAX_DEPTH_POSITIONS: usize = 50;

/// A search to a depth is given up after so many positions.
const MAX_DEPTH_NODES: u64 = 3_000_000;

/// A value from which a position counts as seen to be won, in centi-units.
const SEEN: i32 = 400;

struct Row {
    id: String,
    before: Position,
    avoid: String,
    then: String,
}

fn rows(path: &str) -> Vec<Row> {
    let text = std::fs::read_to_string(path).expect("a file of positions");
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(row).collect()
}

fn row(line: &str) -> Row {
    let value: Value = serde_json::from_str(line).expect("a JSON object on each line");
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_string();
    let variant = text("variant").parse().expect("a variant");
    let before = Position::from_line(variant, &text("moves")).expect("legal moves");
    Row {
        id: text("id"),
        before,
        avoid: text("avoid"),
        then: text("then"),
    }
}

/// The best move, its value and the depth reached, of one search.
struct Outcome {
    best: String,
    score: Score,
    depth: u8,
    answer: Answer,
}

fn search(engine: &mut Engine, position: &Position, effort: Effort) -> Outcome {
    let question = Question::new(position.clone(), effort);
    let answer = engine
        .answer(&question, &Control::new(), &mut |_| {})
        .expect("gomoku is supported");
    let (m, verdict) = answer.best().expect("the game is not over");
    Outcome {
        best: position.write_move(m),
        score: verdict.score,
        depth: verdict.depth,
        answer: answer.clone(),
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments
        .next()
        .expect("a file of positions as first argument");
    let nodes: u64 = arguments.next().map_or(1_000_000, |nodes| {
        nodes
            .parse()
            .expect("a number of positions as second argument")
    });
    let options: EngineOptions = arguments
        .next()
        .map_or_else(EngineOptions::default, |text| {
            text.parse().expect("engine options")
        });
    let rows = rows(&path);
    let mut engine = Engine::new(options).expect("an engine");
    if nodes > 0 {
        measure_moves(&mut engine, &rows, nodes);
    }
    measure_depths(&mut engine, &rows);
}

fn measure_moves(engine: &mut Engine, rows: &[Row], nodes: u64) {
    let (mut avoided, mut seen, mut proven) = (0, 0, 0);
    let (mut visited, begun) = (0, Instant::now());
    for row in rows {
        let own = search(engine, &row.before, Effort::nodes(nodes));
        let m = row.before.parse_move(&row.avoid).expect("a move");
        let after = row.before.play(m).expect("a legal move");
        let other = search(engine, &after, Effort::nodes(nodes));
        visited += own.answer.nodes() + other.answer.nodes();
        let is_avoided = own.best != row.avoid;
        let is_proven = other.score.win_plies().is_some();
        let is_seen = is_proven || i32::from(other.score.raw()) >= SEEN;
        avoided += u32::from(is_avoided);
        seen += u32::from(is_seen);
        proven += u32::from(is_proven);
        println!(
            "{:6} {} {} {:>4} {:>8} depth {:2} | after {}: {} ({}) {:>8} depth {:2}",
            row.id,
            row.before.variant(),
            if is_avoided { "ok " } else { "BAD" },
            own.best,
            own.score.to_string(),
            own.depth,
            row.avoid,
            other.best,
            row.then,
            other.score.to_string(),
            other.depth,
        );
    }
    let speed = visited as f64 / begun.elapsed().as_secs_f64() / 1e6;
    println!(
        "avoided {avoided} of {}, win seen {seen}, proven {proven}; {speed:.2} M positions/s",
        rows.len()
    );
}

/// Positions before the losing moves, and half-way to them.
fn depth_positions(rows: &[Row]) -> Vec<Position> {
    let start = |row: &Row, plies: usize| {
        let moves = &row.before.moves()[..plies];
        moves
            .iter()
            .fold(Position::start(row.before.variant()), |position, &m| {
                position.play(m).expect("a legal move")
            })
    };
    let earlier = rows
        .iter()
        .map(|row| start(row, row.before.moves().len() / 2));
    let before = rows.iter().map(|row| row.before.clone());
    before.chain(earlier).take(MAX_DEPTH_POSITIONS).collect()
}

fn measure_depths(engine: &mut Engine, rows: &[Row]) {
    let mut costs: [Vec<u64>; 3] = Default::default();
    for position in depth_positions(rows) {
        let effort = Effort {
            depth: Some(DEPTHS[2]),
            nodes: Some(MAX_DEPTH_NODES),
            time: None,
        };
        let mut reached = [None; 3];
        let question = Question::new(position, effort);
        let answer = engine
            .answer(&question, &Control::new(), &mut |progress| {
                for (cost, depth) in reached.iter_mut().zip(DEPTHS) {
                    if progress.depth == depth {
                        *cost = Some(progress.nodes);
                    }
                }
            })
            .expect("gomoku is supported");
        let is_decided = answer.best().is_some_and(|(_, best)| best.score.is_mate());
        for (costs, cost) in costs.iter_mut().zip(reached) {
            // A decided position needs no deeper search, and says nothing of its cost.
            if !is_decided {
                costs.push(cost.unwrap_or(MAX_DEPTH_NODES));
            }
        }
    }
    for (costs, depth) in costs.iter_mut().zip(DEPTHS) {
        costs.sort_unstable();
        let logarithms: f64 = costs.iter().map(|&cost| (cost as f64).ln()).sum();
        println!(
            "depth {depth:2}: median {:>9} positions, geometric mean {:>9.0}, of {} undecided",
            costs.get(costs.len() / 2).copied().unwrap_or_default(),
            (logarithms / costs.len().max(1) as f64).exp(),
            costs.len()
        );
    }
}

//! Plays games against itself for the fit of the evaluation, and appends them to a file, a line
//! each:
//!
//! ```text
//! cargo run --release -p kagetsu-search --example selfplay -- VARIANTS GAMES NODES FILE [FIRST]
//! ```
//!
//! VARIANTS is one or several with commas between them, of which each pair of games takes the next.
//! A line is `result;moves;scores;variant`. The result is 1, 0 or 0.5 for the first side. Every
//! move that was searched has a score, in centi-units from the view of the side to move; a move of
//! the random opening has `-`. A second run continues where the file ends, up to GAMES games. Game
//! n is the same in every run; the first of the file is FIRST, or 0. All cores play.
//!
//! A game of gomoku begins with a few random moves. Every second one goes on with up to 60 moves
//! that keep the game even, because games between strong players are long.
//!
//! A game of xiangqi begins with random moves after which the search values it as open. It ends
//! early where both sides see that it is won, or where it stays even.

use std::fs::OpenOptions;
use std::io::Write;

use kagetsu_game::gomoku::Point;
use kagetsu_game::{Effort, Move, Outcome, Position, Question, Score, Side, Variant, Verdict};
use kagetsu_search::{Control, Engine, EngineOptions};
use rand::seq::IteratorRandom;
use rand::{Rng, RngExt, SeedableRng};
use rayon::prelude::*;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Games longer than this are drawn.
const LONGEST: usize = 150;

/// Most moves that keep a game of gomoku even before the players begin.
const MAX_EVEN_MOVES: usize = 60;

/// Positions of the search before each of these moves, and the moves that it compares.
const EVEN_SEARCH: (u64, u16) = (500, 5);

/// Greatest score that counts as even in gomoku, in centi-units for either side.
const MAX_EVEN: i32 = 250;

/// Most openings from which such moves are tried.
const EVEN_TRIES: usize = 30;

/// Games of xiangqi longer than this are drawn.
const LONGEST_XIANGQI: usize = 220;

/// Greatest score after a random opening of xiangqi, in centi-units for either side.
const MAX_OPEN: i32 = 300;

/// A game of xiangqi is won from this score on, in centi-units, if both sides see it.
const MIN_WON: i32 = 1_300;

/// Scores of smaller magnitude, in centi-units, count as even.
const MIN_UNEVEN: i32 = 40;

/// Even plies after which a game of xiangqi is drawn, and the plies before which it is not.
const EVEN_PLIES: [usize; 2] = [16, 70];

/// Games that each core plays before the file grows.
const ROUND: usize = 16;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [variants, games, nodes, file, first @ ..] = arguments.as_slice() else {
        return Err("selfplay VARIANTS GAMES NODES FILE [FIRST]".into());
    };
    let variants = variants.split(',').map(str::parse);
    let variants: Vec<Variant> = variants.collect::<Result<_, _>>()?;
    let (games, nodes): (u64, u64) = (games.parse()?, nodes.parse()?);
    let first: u64 = first.first().map_or(Ok(0), |first| first.parse())?;
    let played = std::fs::read_to_string(file).map_or(0, |text| text.lines().count() as u64);
    let mut out = OpenOptions::new().create(true).append(true).open(file)?;
    let numbers: Vec<u64> = (first + played..first + games).collect();
    for round in numbers.chunks(ROUND * rayon::current_num_threads()) {
        let lines = round.par_iter().map(|&number| {
            let variant = variants[(number / 2) as usize % variants.len()];
            game(variant, nodes, number)
        });
        let lines: Vec<String> = lines.collect::<Result<_, _>>()?;
        writeln!(out, "{}", lines.join("\n"))?;
    }
    Ok(())
}

fn game(variant: Variant, nodes: u64, number: u64) -> Result<String, Failure> {
    let mut engine = Engine::new(EngineOptions {
        table_bytes: 4 << 20,
        // Mates by checks alone take longer than the rest of such a short search.
        leaf_fours: if matches!(variant, Variant::Xiangqi { .. }) {
            0
        } else {
            EngineOptions::default().leaf_fours
        },
        ..EngineOptions::default()
    })?;
    let mut dice = rand::rngs::SmallRng::seed_from_u64(number);
    if let Variant::Xiangqi { .. } = variant {
        return xiangqi(&mut engine, variant, nodes, &mut dice);
    }
    let mut position = if number.is_multiple_of(2) {
        opening(variant, &mut dice)
    } else {
        even(&mut engine, variant, &mut dice)?
    };
    let mut scores: Vec<String> = position.moves().iter().map(|_| "-".into()).collect();
    let result = loop {
        if let Some(outcome) = position.outcome() {
            break outcome;
        }
        if position.moves().len() >= LONGEST {
            break Outcome::Draw;
        }
        let effort = Effort {
            nodes: Some(nodes),
            ..Effort::default()
        };
        let question = Question {
            width: 2,
            ..Question::new(position.clone(), effort)
        };
        let answer = engine.answer(&question, &Control::new(), &mut |_| {})?;
        let (best, verdict) = answer.best().ok_or("no move")?;
        if verdict.score.win_plies().is_some() {
            break Outcome::Win(position.side());
        }
        if verdict.score.loss_plies().is_some() {
            break Outcome::Win(position.side().other());
        }
        // Now and then the second best, so that the games differ.
        let second = answer
            .verdicts()
            .get(1)
            .filter(|(_, v)| !v.score.is_mate() && dice.random_ratio(1, 12));
        let (m, score) = second.map_or((best, verdict.score), |(m, _)| (*m, verdict.score));
        position = position.play(m)?;
        scores.push(score.raw().to_string());
    };
    Ok(line(&position, result, &scores))
}

/// Returns a position of gomoku after up to [`MAX_EVEN_MOVES`] moves that keep the game even, the
/// longest of some tries if none has as many as are wanted.
fn even(engine: &mut Engine, variant: Variant, dice: &mut impl Rng) -> Result<Position, Failure> {
    let wanted = dice.random_range(0..=MAX_EVEN_MOVES);
    let mut longest = Vec::new();
    for _ in 0..EVEN_TRIES {
        let moves = even_moves(engine, opening(variant, dice), wanted, dice)?;
        if moves.len() > longest.len() {
            longest = moves;
        }
        if longest.len() >= wanted {
            break;
        }
    }
    let mut position = Position::start(variant);
    for m in longest {
        position = position.play(m)?;
    }
    Ok(position)
}

/// Plays on for up to `most` moves while a move keeps the game even, half of the time the move that
/// does so best. Returns the moves from the start to the last position with such a move.
fn even_moves(
    engine: &mut Engine,
    mut position: Position,
    most: usize,
    dice: &mut impl Rng,
) -> Result<Vec<Move>, Failure> {
    let (nodes, width) = EVEN_SEARCH;
    let score = |verdict: &Verdict| i32::from(verdict.score.raw()).abs();
    let mut moves = Vec::new();
    for _ in 0..=most {
        let question = Question {
            width,
            ..Question::new(position.clone(), Effort::nodes(nodes))
        };
        let answer = engine.answer(&question, &Control::new(), &mut |_| {})?;
        let verdicts = answer.verdicts().iter();
        let mut even: Vec<_> = verdicts.filter(|(_, v)| score(v) <= MAX_EVEN).collect();
        even.sort_by_key(|(_, verdict)| score(verdict));
        let few = if dice.random_ratio(1, 2) {
            1
        } else {
            even.len()
        };
        let Some((m, _)) = even.into_iter().take(few).choose(dice) else {
            break;
        };
        moves = position.moves().to_vec();
        position = position.play(*m)?;
    }
    Ok(moves)
}

/// Plays a game of xiangqi after random moves that lose nothing.
fn xiangqi(
    engine: &mut Engine,
    variant: Variant,
    nodes: u64,
    dice: &mut impl Rng,
) -> Result<String, Failure> {
    let effort = Effort {
        nodes: Some(nodes),
        ..Effort::default()
    };
    let mut search = |position: &Position| -> Result<(Move, Score), Failure> {
        let question = Question::new(position.clone(), effort);
        let answer = engine.answer(&question, &Control::new(), &mut |_| {})?;
        let (best, verdict) = answer.best().ok_or("no move")?;
        Ok((best, verdict.score))
    };
    let mut position = loop {
        let mut position = Position::start(variant);
        for _ in 0..dice.random_range(4..=14) {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position = position.play(moves[dice.random_range(0..moves.len())])?;
        }
        if position.outcome().is_none() && i32::from(search(&position)?.1.raw()).abs() <= MAX_OPEN {
            break position;
        }
    };
    let mut scores: Vec<String> = position.moves().iter().map(|_| "-".into()).collect();
    let (mut last, mut even) = (0, 0);
    let result = loop {
        if let Some(outcome) = position.outcome() {
            break outcome;
        }
        if position.moves().len() >= LONGEST_XIANGQI {
            break Outcome::Draw;
        }
        let (m, score) = search(&position)?;
        let score = i32::from(score.raw());
        if score >= MIN_WON && last <= -MIN_WON {
            break Outcome::Win(position.side());
        }
        if score <= -MIN_WON && last >= MIN_WON {
            break Outcome::Win(position.side().other());
        }
        last = score;
        even = if score.abs() < MIN_UNEVEN {
            even + 1
        } else {
            0
        };
        if even >= EVEN_PLIES[0] && position.moves().len() >= EVEN_PLIES[1] {
            break Outcome::Draw;
        }
        position = position.play(m)?;
        scores.push(score.to_string());
    };
    Ok(line(&position, result, &scores))
}

fn line(position: &Position, result: Outcome, scores: &[String]) -> String {
    let result = match result {
        Outcome::Win(Side::First) => "1",
        Outcome::Win(Side::Second) => "0",
        Outcome::Draw => "0.5",
    };
    let moves: Vec<String> = position
        .moves()
        .iter()
        .map(|&m| position.write_move(m))
        .collect();
    let (moves, scores) = (moves.join(" "), scores.join(" "));
    format!("{result};{moves};{scores};{}", position.variant())
}

/// A few stones near a random place, more often than not the middle.
fn opening(variant: Variant, dice: &mut impl Rng) -> Position {
    let size = match variant {
        Variant::Gomoku { size, .. } => size,
        _ => 15,
    };
    let margin = dice
        .random_range(3..=size / 2 - 1)
        .max(dice.random_range(3..=size / 2 - 1));
    let middle = (
        dice.random_range(margin..size - margin),
        dice.random_range(margin..size - margin),
    );
    let mut position = Position::start(variant);
    for _ in 0..dice.random_range(2..=8) {
        let near = |at: u8, dice: &mut dyn Rng| {
            (at + dice.random_range(0..=6))
                .saturating_sub(3)
                .min(size - 1)
        };
        let (x, y) = (near(middle.0, dice), near(middle.1, dice));
        let m = Point { x, y }.as_move(size);
        if position.legal_moves().contains(&m) {
            position = position.play(m).expect("legal");
        }
    }
    position
}

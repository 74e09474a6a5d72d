//! The opening rule "swap 2": one side places three stones; the other takes a colour, or places two
//! more and lets the first side choose.

use std::time::Duration;

use kagetsu_engines::gomocup::{FromEngine, Point};
use kagetsu_game::{Effort, Move, Position, Question, RuleName, Score, Variant};
use rand::seq::IndexedRandom;

use crate::mind::Mind;

/// Openings of three stones that are looked at.
const OPENINGS: u32 = 10;
/// How far from the middle they may lie.
const REACH: i32 = 4;

/// The decision about an opening of no stone, three or five, black's first.
///
/// # Errors
/// If it is no such opening.
pub(super) fn decide(
    mind: &mut Mind,
    rule: RuleName,
    size: u8,
    stones: &[Point],
    effort: Effort,
) -> Result<FromEngine, String> {
    let variant = Variant::Gomoku { rule, size };
    let moves: Option<Vec<Move>> = stones.iter().map(|point| point.to_move(size)).collect();
    let moves =
        moves.ok_or_else(|| format!("a stone is off the board of {size} by {size} points"))?;
    let position = Position::new(variant, None, &moves).map_err(|error| error.to_string())?;
    match moves.len() {
        0 => open(mind, variant, size, effort),
        3 | 5 => {
            // White is to move: whoever is worse off as white takes black.
            let (best, score) = value(mind, position, effort)?;
            Ok(if score < Score::ZERO {
                FromEngine::Swap
            } else {
                FromEngine::Points(vec![Point::of(best, size)])
            })
        }
        other => Err(format!(
            "swap 2 has openings of 0, 3 or 5 stones, not {other}"
        )),
    }
}

/// The best move and its value for the side to move.
fn value(mind: &mut Mind, position: Position, effort: Effort) -> Result<(Move, Score), String> {
    let answer = mind
        .ask(&Question::new(position, effort))
        .map_err(|error| format!("{error:#}"))?;
    answer
        .best()
        .map(|(m, verdict)| (m, verdict.score))
        .ok_or_else(|| "the game is over".into())
}

/// Three stones after which neither colour is better off, as far as the time tells.
fn open(mind: &mut Mind, variant: Variant, size: u8, effort: Effort) -> Result<FromEngine, String> {
    let share = Effort {
        time: effort
            .time
            .map(|time| (time / OPENINGS).min(Duration::from_secs(2))),
        nodes: effort
            .nodes
            .map(|nodes| (nodes / u64::from(OPENINGS)).max(1)),
        ..effort
    };
    let middle = i32::from(size) / 2;
    let reach = REACH.min(middle);
    let square = (-reach..=reach).flat_map(|x| (-reach..=reach).map(move |y| (x, y)));
    let near: Vec<Move> = square
        .filter_map(|(x, y)| {
            Point {
                x: middle + x,
                y: middle + y,
            }
            .to_move(size)
        })
        .collect();
    let mut chance = rand::rng();
    let mut best: Option<(i16, Vec<Move>)> = None;
    for _ in 0..OPENINGS {
        let moves: Vec<Move> = near.sample(&mut chance, 3).copied().collect();
        // Renju may forbid what was drawn by lot.
        let Ok(position) = Position::new(variant, None, &moves) else {
            continue;
        };
        let Ok((_, score)) = value(mind, position, share) else {
            continue;
        };
        let distance = score.raw().saturating_abs();
        if best.as_ref().is_none_or(|(least, _)| distance < *least) {
            best = Some((distance, moves));
        }
    }
    let (_, moves) = best.ok_or("no opening was found")?;
    Ok(FromEngine::Points(
        moves.into_iter().map(|m| Point::of(m, size)).collect(),
    ))
}

//! The opening rule "swap 2": one side places three stones; the other takes a colour, or places two
//! more and lets the first side choose.

use std::time::Duration;

use kagetsu_engines::gomocup::{FromEngine, Point};
use kagetsu_game::{Effort, Move, Position, Question, RuleName, Score, Variant};
use rand::seq::IndexedRandom;

use crate::move_finder::MoveFinder;

/// Openings of three stones that are looked at.
const OPENINGS: u32 = 10;
/// How far from the middle they may lie.
const REACH: i32 = 4;

/// The decision about an opening of no stone, three or five, black's first.
///
/// # Errors
/// If it is no such opening.
pub(super) fn decide(
    finder: &mut MoveFinder,
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
        0 => open(finder, variant, size, effort),
        3 | 5 => {
            // White is to move: take black if white is worse off.
            let (best, score) = value(finder, position, effort)?;
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
fn value(
    finder: &mut MoveFinder,
    position: Position,
    effort: Effort,
) -> Result<(Move, Score), String> {
    // A book that cannot be read is no reason to lose the game.
    let known = finder.known(&position).ok().flatten();
    let known = known.as_ref().and_then(|answer| answer.best());
    if let Some((m, verdict)) = known.filter(|(_, verdict)| verdict.is_exact()) {
        return Ok((m, verdict.score));
    }
    let answer = finder
        .ask(&Question::new(position, effort))
        .map_err(|error| format!("{error:#}"))?;
    answer
        .best()
        .map(|(m, verdict)| (m, verdict.score))
        .ok_or_else(|| "the game is over".into())
}

/// Three stones after which neither colour is better off by a book, else as far as the time tells.
fn open(
    finder: &mut MoveFinder,
    variant: Variant,
    size: u8,
    effort: Effort,
) -> Result<FromEngine, String> {
    if let Ok(Some(opening)) = finder.books().balanced_opening(variant) {
        let points = opening.moves().iter().map(|m| Point::of(*m, size));
        return Ok(FromEngine::Points(points.collect()));
    }
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
        let Ok((_, score)) = value(finder, position, share) else {
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

#[cfg(test)]
mod tests {
    use kagetsu_compiled::Choice;

    use super::*;
    use crate::books::tests::write_book;
    use crate::move_finder::Settings;

    #[test]
    fn opening_comes_from_the_balanced_roots_of_a_book() {
        let folder = tempfile::tempdir().expect("a folder");
        // Only the second root is balanced, and only the first two have three stones.
        let rows = [
            ("h8 i9 j10", "a1", 80),
            ("h8 i9 j9", "a1", -20),
            ("h8", "a1", 0),
        ];
        let path = write_book(folder.path(), &rows);
        let mut finder = MoveFinder::new(Settings {
            threads: 1,
            table_mib: Some(1),
            choice: Choice::default(),
            min_nodes: None,
            book_depth: 100,
        });
        finder.open(&path).expect("it is there");
        let decide = |finder: &mut MoveFinder, stones: &str| {
            let position = Position::from_line(Variant::FREESTYLE_15, stones).expect("legal");
            let points = position.moves().iter().map(|m| Point::of(*m, 15));
            let points: Vec<Point> = points.collect();
            decide(finder, RuleName::Freestyle, 15, &points, Effort::depth(1)).expect("possible")
        };
        let FromEngine::Points(points) = decide(&mut finder, "") else {
            panic!("it places stones");
        };
        let moves: Vec<Move> = points.iter().filter_map(|p| p.to_move(15)).collect();
        let opened = Position::new(Variant::FREESTYLE_15, None, &moves).expect("legal");
        let wanted = Position::from_line(Variant::FREESTYLE_15, "h8 i9 j9").expect("legal");
        assert_eq!(opened.key(), wanted.key(), "{opened}");
        // White is worse off there by the book, so White takes Black's stones.
        assert_eq!(decide(&mut finder, "h8 i9 j9"), FromEngine::Swap);
        assert!(matches!(
            decide(&mut finder, "h8 i9 j10"),
            FromEngine::Points(_)
        ));
    }
}

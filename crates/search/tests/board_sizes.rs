//! A compact position far from the edges is worth about the same on every board.

use kagetsu_game::{Effort, Move, Position, Question, RuleName, Variant};
use kagetsu_search::{Control, Engine, EngineOptions};
use rand::rngs::SmallRng;
use rand::seq::IteratorRandom;
use rand::{RngExt, SeedableRng};

/// Width and height of the square in the middle that holds all stones.
const BOX: u8 = 7;
const DEPTH: u8 = 6;
/// Positions of each rule.
const POSITIONS: usize = 75;
/// Least numbers of values and of best moves that stay.
const MIN_VALUES: usize = 12;
const MIN_MOVES: usize = 42;
/// Greatest magnitude of a value on the board of 15 lines, in centi-units.
const MAX_VALUE: i32 = 300;
/// Greatest difference of a kept value, in centi-units.
const MAX_DIFFERENCE: i32 = 30;

/// Returns the position after moves to points of the square in the middle, if they are legal.
fn placed(rule: RuleName, size: u8, points: &[(u8, u8)]) -> Option<Position> {
    let corner = (size - BOX) / 2;
    let mut position = Position::start(Variant::Gomoku { rule, size });
    for (x, y) in points {
        let m = Move::new(u16::from(corner + y) * u16::from(size) + u16::from(corner + x));
        position = position.play(m).ok()?;
    }
    position.outcome().is_none().then_some(position)
}

/// Returns the value of the best move and its point, seen from the corner of the square in the
/// middle; `None` where the game is decided.
fn judged(engine: &mut Engine, position: &Position, size: u8) -> Option<(i32, [i32; 2])> {
    let question = Question::new(position.clone(), Effort::depth(DEPTH));
    let answer = engine.answer(&question, &Control::new(), &mut |_| {});
    let answer = answer.expect("supported and legal");
    let (best, verdict) = answer.best()?;
    let size = i32::from(size);
    let corner = (size - i32::from(BOX)) / 2;
    let cell = best.index() as i32;
    let point = [cell % size - corner, cell / size - corner];
    (!verdict.score.is_mate()).then(|| (verdict.score.raw().into(), point))
}

/// How many of the positions of a rule keep their value and their best move on a board of `size`.
#[derive(Default)]
struct Kept {
    size: u8,
    values: usize,
    moves: usize,
}

#[test]
fn compact_positions_keep_value_and_move_by_size() {
    let mut dice = SmallRng::seed_from_u64(20);
    let options = EngineOptions {
        table_bytes: 4 << 20,
        ..EngineOptions::default()
    };
    let mut engine = Engine::new(options).expect("an engine");
    for rule in [RuleName::Freestyle, RuleName::Standard, RuleName::Renju] {
        let mut kept = [17, 20, 22].map(|size| Kept {
            size,
            ..Kept::default()
        });
        let mut count = 0;
        while count < POSITIONS {
            let stones = dice.random_range(3..=12);
            let points = (0..BOX * BOX).map(|at| (at % BOX, at / BOX));
            let mut points = points.sample(&mut dice, stones);
            points.sort_by_key(|_| dice.random::<u32>());
            let mut judged = |size| judged(&mut engine, &placed(rule, size, &points)?, size);
            let Some((value, best)) = judged(15).filter(|(value, _)| value.abs() <= MAX_VALUE)
            else {
                continue;
            };
            count += 1;
            for kept in &mut kept {
                if let Some((other, move_there)) = judged(kept.size) {
                    kept.values += usize::from((other - value).abs() <= MAX_DIFFERENCE);
                    kept.moves += usize::from(move_there == best);
                }
            }
        }
        for Kept {
            size,
            values,
            moves,
        } in kept
        {
            println!("{rule:?}, {size}: {values} values and {moves} moves of {POSITIONS} stay");
            assert!(values >= MIN_VALUES, "{rule:?}, {size}: {values} values");
            assert!(moves >= MIN_MOVES, "{rule:?}, {size}: {moves} moves");
        }
    }
}

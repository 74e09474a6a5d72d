use std::ops::RangeInclusive;

use anyhow::{Result, bail};
use kagetsu_game::{BoardShape, Effort, Move, MoveKind, Position, Question, Score, Variant};
use kagetsu_search::{Control, Engine, EngineOptions, Progress};
use rand::prelude::*;

/// Stones of an opening of gomoku.
const STONES: RangeInclusive<usize> = 4..=6;
/// Plies of an opening of a game whose pieces move.
const PLIES: RangeInclusive<usize> = 6..=9;
/// Points from the centre, in columns and in rows, in which the stones stand.
const REACH: i16 = 3;
/// Depth of the search that judges an opening. A search of one ply less counts too, because it
/// favours the other side.
const DEPTH: u8 = 6;
/// The greatest mean of the two values that is balanced, in centi-units.
pub(crate) const MARGIN: i32 = 30;
/// Openings to try before giving up.
const TRIES: usize = 2_000;

/// Makes balanced openings: 4 to 6 random stones near the centre of a gomoku board, 6 to 9 random
/// moves of other games. The mean value after searches of [`DEPTH`] plies and of one less is near
/// zero.
pub(crate) struct Balanced {
    variant: Variant,
    seed: u64,
    judge: Engine,
}

impl Balanced {
    /// # Errors
    /// If there is no memory for an engine.
    pub(crate) fn new(variant: Variant, seed: u64) -> Result<Self> {
        let judge = Engine::new(EngineOptions {
            table_bytes: 16 << 20,
            ..EngineOptions::default()
        })?;
        Ok(Self {
            variant,
            seed,
            judge,
        })
    }

    /// Returns the opening of this number. It depends on the seed and the engine alone.
    ///
    /// # Errors
    /// If none is found.
    pub(crate) fn opening(&mut self, number: u32) -> Result<Position> {
        let mut dice = StdRng::seed_from_u64(self.seed ^ (u64::from(number) << 32));
        for _ in 0..TRIES {
            let position = self.random(&mut dice);
            if self.is_balanced(&position)? {
                return Ok(position);
            }
        }
        bail!(
            "no balanced opening of {} in {TRIES} tries; give a file of openings with --openings",
            self.variant
        )
    }

    fn random(&self, dice: &mut StdRng) -> Position {
        let board = self.variant.board();
        match board.moves {
            MoveKind::Placement => self.stones(board, dice),
            MoveKind::Movement => self.moves(dice),
        }
    }

    /// Any stones that the rules allow.
    fn stones(&self, board: BoardShape, dice: &mut StdRng) -> Position {
        let stones = dice.random_range(STONES);
        let mut position = Position::start(self.variant);
        while position.moves().len() < stones {
            let mut coordinate = |size: u8| {
                let size = i16::from(size);
                (size / 2 + dice.random_range(-REACH..=REACH)).clamp(0, size - 1)
            };
            let (column, row) = (coordinate(board.columns), coordinate(board.rows));
            let m = Move::new((row * i16::from(board.columns) + column) as u16);
            if let Ok(next) = position.play(m) {
                position = next;
            }
        }
        position
    }

    /// Random moves from the start, as long as there are some.
    fn moves(&self, dice: &mut StdRng) -> Position {
        let plies = dice.random_range(PLIES);
        let mut position = Position::start(self.variant);
        for _ in 0..plies {
            let Some(&m) = position.legal_moves().choose(dice) else {
                break;
            };
            position = position.play(m).expect("legal");
        }
        position
    }

    fn is_balanced(&mut self, position: &Position) -> Result<bool> {
        if position.outcome().is_some() {
            return Ok(false);
        }
        let mut values = [Score::MAX; 2];
        let question = Question::new(position.clone(), Effort::depth(DEPTH));
        let mut note = |progress: &Progress| {
            values = [
                values[1],
                progress
                    .answer
                    .best()
                    .map_or(Score::MAX, |(_, verdict)| verdict.score),
            ];
        };
        self.judge.answer(&question, &Control::new(), &mut note)?;
        let sum: i32 = values.iter().map(|value| i32::from(value.raw())).sum();
        // A proven value is far from zero, so is one that was not searched.
        Ok(values
            .iter()
            .all(|value| value.raw().abs() <= Score::OPINION_MAX.raw())
            && sum.abs() <= 2 * MARGIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_depend_on_seed_and_number_alone() {
        for (variant, lengths) in [
            (Variant::FREESTYLE_15, STONES),
            (Variant::XIANGQI, PLIES),
            (Variant::SURAKARTA, PLIES),
        ] {
            let made = |seed, numbers: [u32; 3]| {
                let mut balanced = Balanced::new(variant, seed).expect("an engine");
                numbers.map(|number| balanced.opening(number).expect("there are many"))
            };
            let ([a, b, c], [again, _, first]) = (made(1, [0, 1, 2]), made(1, [2, 3, 0]));
            assert_eq!((&c, &a), (&again, &first));
            let [other, ..] = made(2, [0, 1, 2]);
            assert!(a != b && a != other, "{a}, {b}, {other}");
            for opening in [a, b, c, other] {
                assert!(
                    lengths.contains(&opening.moves().len()) && opening.outcome().is_none(),
                    "{opening}"
                );
            }
        }
    }
}

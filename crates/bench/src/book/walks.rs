use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use kagetsu_book::Choice;
use kagetsu_game::{Answer, Key, Move, Position, Score, Side, Verdict};
use kagetsu_reader::Source;
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

/// Centi-units of value that make a reply of the opponent e times less likely.
const REPLY_TEMPERATURE: f64 = 50.0;
/// Replies that are worse than the best by more centi-units are no holes.
const MAX_HOLE_LOSS: i32 = 50;
/// Plies after which a walk ends; it would go round in some books of xiangqi.
const MAX_WALK_PLIES: usize = 200;
/// Walks for each move that is drawn.
const WALKS_A_MOVE: u32 = 10;
/// Openings that are drawn, and the most replies of one.
const DRAWN_OPENINGS: usize = 1_000;
const MAX_REPLIES: usize = 6;

/// Walks through a book, in which one side plays its moves.
#[derive(Default)]
pub(super) struct Walks {
    /// The positions in which the book had a move, once for each visit.
    pub(super) visits: Vec<BookVisit>,
    /// Replies with a value near the best in the positions of the opponent, and those of them that
    /// lead out of the book.
    pub(super) replies: u64,
    pub(super) holes: u64,
}

/// A position with the move that the book plays there.
#[derive(Clone)]
pub(super) struct BookVisit {
    pub(super) position: Position,
    pub(super) book_move: Move,
    /// Whether the book has proven how the game ends.
    pub(super) is_proven: bool,
    /// Whether a move without a value may be better.
    pub(super) is_open: bool,
}

impl Walks {
    /// Walks from all roots in turn, with the book on either side.
    ///
    /// # Errors
    /// If the book cannot be read.
    pub(super) fn through(
        book: &Source,
        roots: &[Position],
        moves: u32,
        dice: &mut StdRng,
    ) -> Result<Self> {
        let mut walks = Self::default();
        for number in 0..WALKS_A_MOVE.saturating_mul(moves) as usize {
            let side = [Side::First, Side::Second][number % 2];
            walks.walk(book, &roots[number / 2 % roots.len()], side, dice)?;
        }
        Ok(walks)
    }

    fn walk(
        &mut self,
        book: &Source,
        root: &Position,
        side: Side,
        dice: &mut StdRng,
    ) -> Result<()> {
        let mut position = root.clone();
        for _ in 0..MAX_WALK_PLIES {
            if position.outcome().is_some() {
                break;
            }
            let Some(found) = book.find(&position)? else {
                break;
            };
            let answer = book.by_hand(&position, found.answer)?;
            let picked = if position.side() == side {
                Choice::default().pick(&answer)
            } else {
                self.note_replies(book, &position, &answer)?;
                reply(&answer, dice)
            };
            let Some((m, verdict)) = picked else { break };
            if position.side() == side {
                let is_open = found.derived.is_some_and(|derived| derived.is_open);
                self.visits.push(BookVisit {
                    position: position.clone(),
                    book_move: *m,
                    is_proven: verdict.score.is_mate() || verdict.proof.is_some(),
                    is_open: is_open || !Choice::default().rivals(&answer).is_empty(),
                });
            }
            position = position.play(*m).context("the book has an illegal move")?;
        }
        Ok(())
    }

    fn note_replies(&mut self, book: &Source, position: &Position, answer: &Answer) -> Result<()> {
        let Some((_, best)) = answer.best() else {
            return Ok(());
        };
        for (m, verdict) in answer.verdicts() {
            let loss = i32::from(best.score.raw()) - i32::from(verdict.score.raw());
            if !verdict.is_exact() || verdict.is_silent() || loss > MAX_HOLE_LOSS {
                continue;
            }
            let next = position.play(*m)?;
            self.replies += 1;
            let is_hole = next.outcome().is_none()
                && verdict.proof.is_none()
                && book.lookup(&next)?.is_none();
            self.holes += u64::from(is_hole);
        }
        Ok(())
    }

    /// Draws different positions by how often they were visited.
    pub(super) fn draw(&self, moves: u32, dice: &mut StdRng) -> Vec<BookVisit> {
        let mut order: Vec<usize> = (0..self.visits.len()).collect();
        order.shuffle(dice);
        let mut seen: BTreeSet<Key> = BTreeSet::new();
        let visits = order.into_iter().map(|at| &self.visits[at]);
        let new = visits.filter(|visit| seen.insert(visit.position.key()));
        new.take(moves as usize).cloned().collect()
    }
}

/// Draws a reply of the opponent by its value.
fn reply<'a>(answer: &'a Answer, dice: &mut StdRng) -> Option<&'a (Move, Verdict)> {
    let choice = Choice {
        temperature: REPLY_TEMPERATURE,
        seed: Some(dice.random()),
        ..Choice::default()
    };
    choice.pick(answer)
}

/// Returns different openings in the book, the most balanced of those that are drawn: a root, and
/// up to six replies of either side that the book values and holds.
///
/// # Errors
/// If the book cannot be read.
pub(super) fn openings(
    book: &Source,
    roots: &[Position],
    most: usize,
    dice: &mut StdRng,
) -> Result<Vec<Position>> {
    let mut drawn = BTreeMap::new();
    for _ in 0..DRAWN_OPENINGS {
        let mut position = roots[dice.random_range(0..roots.len())].clone();
        for _ in 0..=dice.random_range(0..=MAX_REPLIES) {
            let Some(answer) = book.lookup(&position)? else {
                break;
            };
            let (Some((_, best)), Some((m, _))) = (answer.best(), reply(&answer, dice)) else {
                break;
            };
            let value = i32::from(best.score.raw()).abs();
            drawn.insert(position.key(), (value, position.clone()));
            position = position.play(*m)?;
        }
    }
    let mut drawn: Vec<_> = drawn.into_values().collect();
    drawn.sort_by_key(|(value, _)| *value);
    let openings = drawn.into_iter().map(|(_, position)| position);
    Ok(openings.take(most).collect())
}

/// Returns a value in units, within ±10.
pub(super) fn units(score: Score) -> f64 {
    f64::from(score.raw().clamp(-1_000, 1_000)) / 100.0
}

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::ops::Range;

use kagetsu_game::{Answer, Effort, Move, Question};

/// The way in which a question is divided among workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Split {
    /// One task with the whole question. The answer does not depend on the number of workers.
    #[default]
    Never,
    /// If fewer questions wait than slots are free, the root moves are divided, each part with the
    /// best move of a 2-ply search (the seed) at its head. This is the division of Kagetsu's
    /// founding documents.
    Seeded,
    /// Every worker searches the whole question and shares its table entries; the first answer
    /// counts. For a question without others beside it.
    Shared,
}

/// Cuts `len` root moves into `parts` contiguous, non-empty ranges; fewer ranges if there are fewer
/// moves. [`divide`] deals them in turn instead: contiguous ranges give all expensive moves to the
/// first part, and the others wait for it.
///
/// 20 moves in 4 parts are 0..5, 5..10, 10..15, 15..20, as in Kou's patent (filed 2021). Where the
/// division leaves a remainder, the ends are rounded as in the four-way split of Zheng and Kuang's
/// paper: down in the first half, to the nearest in the second (`L/4`, `L/2`, `(L/2 + 1 + L)/2`,
/// `L`).
#[must_use]
pub fn ranges(len: usize, parts: usize) -> Vec<Range<usize>> {
    let parts = parts.min(len);
    let end = |i: usize| (i * len + if 2 * i > parts { parts / 2 } else { 0 }) / parts;
    (0..parts).map(|i| end(i)..end(i + 1)).collect()
}

/// Divides a question into at most `parts` smaller ones whose answers merge into its answer.
///
/// The root moves are those that the question names, or else all of `shallow`. They are dealt in
/// turn in the order of `shallow`, moves that it lacks last: the expensive moves stand early, and
/// every part gets its share of them. The first of them, the seed, stands once at the head of every
/// part and gives it the bound that a single search would have had. Every part has the question's
/// depth, time, window and width; a node limit is divided.
///
/// Returns the question itself if there is nothing to divide.
#[must_use]
pub fn divide(question: &Question, shallow: &Answer, parts: usize) -> Vec<Question> {
    let moves = root_moves(question, shallow);
    let Some((&seed, rest)) = moves.split_first() else {
        return [question.clone()].into();
    };
    let parts = parts.min(rest.len());
    if parts < 2 {
        return [question.clone()].into();
    }
    let effort = Effort {
        nodes: question.effort.nodes.map(|n| n.div_ceil(parts as u64)),
        ..question.effort
    };
    let part = |moves| Question {
        moves,
        effort,
        ..question.clone()
    };
    let hand = |first| moves.iter().skip(first).step_by(parts).copied().collect();
    (0..parts)
        .map(|first| part(with_head(seed, hand(first))))
        .collect()
}

/// Returns how many parts a question is worth at most, with at least `min_moves` moves in each.
pub(crate) fn max_parts(question: &Question, shallow: &Answer, min_moves: usize) -> usize {
    root_moves(question, shallow).len().saturating_sub(1) / min_moves.max(1)
}

/// Returns the moves asked about, each once, in shallow order.
fn root_moves(question: &Question, shallow: &Answer) -> Vec<Move> {
    let known = shallow.verdicts().iter().map(|(m, _)| *m);
    if question.moves.is_empty() {
        return known.collect();
    }
    let mut missing: BTreeSet<Move> = question.moves.iter().copied().collect();
    known
        .chain(question.moves.iter().copied())
        .filter(|m| missing.remove(m))
        .collect()
}

/// Puts the seed move at the head, unless it is there already.
fn with_head(seed: Move, mut hand: Vec<Move>) -> Vec<Move> {
    if hand.first() != Some(&seed) {
        hand.insert(0, seed);
    }
    hand
}

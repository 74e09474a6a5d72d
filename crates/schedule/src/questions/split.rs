use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::ops::Range;

use kagetsu_game::{Answer, Effort, Move, Question};

/// Whether a question may be divided among workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Split {
    /// One task, the question as it was asked; the answer does not depend on how many workers there are.
    #[default]
    Never,
    /// Its root moves are divided when it is begun while there are fewer questions than free slots, each part with the
    /// best of a 2-ply search at its head, as the documents that this program grew from have it.
    Seeded,
    /// Every worker searches all of it, and they share what their tables learn; the first answer counts. For a question
    /// that is asked alone.
    Shared,
}

/// How root moves, best first by a shallow search, are dealt to parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Distribution {
    /// In turn, like cards. The default: the moves that are dear to search stand early in the shallow order, and dealing
    /// in turn gives each part its share of them; contiguous ranges give them all to the first part, for which the others
    /// then wait.
    #[default]
    RoundRobin,
    /// Static contiguous ranges, as the seeds of this program divide (see [`ranges`]); kept for comparison.
    Contiguous,
}

/// Cuts `len` root moves into `parts` contiguous ranges (fewer, where there are not so many moves), none of them empty.
///
/// 20 moves in 4 parts are 0..5, 5..10, 10..15, 15..20, as in Kou's patent (filed 2021). Where the division leaves a
/// remainder, the ends are rounded as in the four-way split of Zheng and Kuang's paper: down in the first half, to the
/// nearest in the second (`L/4`, `L/2`, `(L/2 + 1 + L)/2`, `L`).
#[must_use]
pub fn ranges(len: usize, parts: usize) -> Vec<Range<usize>> {
    let parts = parts.min(len);
    let end = |i: usize| (i * len + if 2 * i > parts { parts / 2 } else { 0 }) / parts;
    (0..parts).map(|i| end(i)..end(i + 1)).collect()
}

/// Divides a question into at most `parts` smaller ones whose answers merge into its answer.
///
/// The root moves are those asked about, or all of `shallow` where all were; they are dealt in the order of `shallow`.
/// Moves that it does not know come last. The best of them, the seed, stands at the head of every part, once: it gives
/// each part the bound that the single search would have had, and no other move gives way to it. Depth, time, window and
/// width go to each part as they are; a node limit is shared out.
///
/// One question, unchanged, where there is nothing to divide.
#[must_use]
pub fn divide(
    question: &Question,
    shallow: &Answer,
    parts: usize,
    distribution: Distribution,
) -> Vec<Question> {
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
    deal(&moves, parts, distribution)
        .into_iter()
        .map(|hand| part(with_head(seed, hand)))
        .collect()
}

/// How many parts a question of so many root moves is worth at most, with at least `min_moves` in each.
pub(crate) fn most_parts(question: &Question, shallow: &Answer, min_moves: usize) -> usize {
    root_moves(question, shallow).len().saturating_sub(1) / min_moves.max(1)
}

/// The moves asked about, each once, in shallow order.
fn root_moves(question: &Question, shallow: &Answer) -> Vec<Move> {
    let known = shallow.verdicts().iter().map(|(m, _)| *m);
    if question.moves.is_empty() {
        return known.collect();
    }
    let mut asked: BTreeSet<Move> = question.moves.iter().copied().collect();
    known
        .chain(question.moves.iter().copied())
        .filter(|m| asked.remove(m))
        .collect()
}

fn deal(moves: &[Move], parts: usize, distribution: Distribution) -> Vec<Vec<Move>> {
    match distribution {
        Distribution::RoundRobin => (0..parts)
            .map(|i| moves.iter().skip(i).step_by(parts).copied().collect())
            .collect(),
        Distribution::Contiguous => ranges(moves.len(), parts)
            .into_iter()
            .map(|range| moves[range].to_vec())
            .collect(),
    }
}

/// Inserts the seed move, or leaves it where it is the head already.
fn with_head(seed: Move, mut hand: Vec<Move>) -> Vec<Move> {
    if hand.first() != Some(&seed) {
        hand.insert(0, seed);
    }
    hand
}

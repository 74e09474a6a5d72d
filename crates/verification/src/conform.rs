use alloc::sync::Arc;
use core::time::Duration;

use kagetsu_game::{Answer, Bound, Effort, Move, Provenance, Question, Score, Verdict, Window};

use crate::compare::UNPROVEN_WIN;

/// Nodes that one thread can visit in a second, generously: ten times the fastest engine measured.
const MAX_NODES_PER_SECOND: u64 = 10_000_000;
/// Nodes that any task may report, however short it was: clocks are coarse.
const MIN_NODES_ALLOWED: u64 = 1_000_000;
/// Threads of a worker that count for its speed.
const MAX_THREADS: u32 = 256;
/// Longest line of a verdict, in plies.
const MAX_LINE: usize = 128;

/// Bounds of what a worker's answer can say, besides the question.
#[derive(Clone, Debug)]
pub struct AnswerLimits {
    /// Engine of the worker's introduction.
    pub engine: Arc<str>,
    /// The coordinator's date, in days since 1970-01-01.
    pub day: u32,
    /// Nodes that the worker can have visited; see [`max_plausible_nodes`].
    pub max_nodes: u64,
}

/// The reason why an answer is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerFault {
    /// It has no verdict on a move that was asked about.
    #[error("the answer has no verdict on a move that was asked about")]
    NoMove,
    /// It has no value, although the question's window is full.
    #[error("the answer has only bounds and no value")]
    OnlyBounds,
}

/// Returns how many nodes a worker can have visited in `elapsed` with so many threads.
#[must_use]
pub fn max_plausible_nodes(threads: u32, elapsed: Duration) -> u64 {
    let speed = MAX_NODES_PER_SECOND * u64::from(threads.clamp(1, MAX_THREADS));
    let millis = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    (speed / 1_000)
        .saturating_mul(millis)
        .saturating_add(MIN_NODES_ALLOWED)
}

/// Returns the answer cut to the question: only moves of the question, no depth beyond the
/// effort, at most `limits.max_nodes` nodes in all, the given engine and date, unproven wins and
/// losses as +100.00 and -100.00.
///
/// # Errors
/// If nothing remains that answers the question.
pub fn conform(
    question: &Question,
    answer: &Answer,
    limits: &AnswerLimits,
) -> Result<Answer, AnswerFault> {
    let is_requested = |m: &Move| question.moves.is_empty() || question.moves.contains(m);
    let by = Provenance {
        engine: Arc::clone(&limits.engine),
        day: limits.day,
    };
    let budget = max_nodes(question.effort, limits.max_nodes);
    let claimed: u128 = answer
        .verdicts()
        .iter()
        .map(|(_, v)| u128::from(v.nodes))
        .sum();
    let scale = |nodes: u64| {
        if claimed <= u128::from(budget) {
            nodes
        } else {
            u64::try_from(u128::from(nodes) * u128::from(budget) / claimed).unwrap_or(budget)
        }
    };
    let total = scale(u64::try_from(claimed).unwrap_or(u64::MAX)).min(budget);
    let deepest = max_depth(question.effort, total);
    let mut answer = answer.changed(|_, verdict| {
        verdict.score = without_unproven_win(verdict);
        verdict.depth = verdict.depth.min(deepest);
        verdict.nodes = scale(verdict.nodes);
        verdict.line.truncate(MAX_LINE);
        verdict.by = by.clone();
    });
    answer.retain(|m, _| is_requested(&m));
    if answer.is_empty() {
        return Err(AnswerFault::NoMove);
    }
    let has_value = answer
        .verdicts()
        .iter()
        .any(|(_, verdict)| verdict.is_exact());
    if question.window == Window::FULL && !has_value {
        return Err(AnswerFault::OnlyBounds);
    }
    Ok(answer)
}

/// Returns an answer with unproven wins and losses as +100.00 and -100.00.
pub(crate) fn without_unproven_wins(answer: &Answer) -> Answer {
    answer.changed(|_, verdict| verdict.score = without_unproven_win(verdict))
}

/// Returns the score of a verdict, at most as decided as an unproven win. A bound may become
/// weaker, never stronger: "at most +300.00" says nothing and stays.
fn without_unproven_win(verdict: &Verdict) -> Score {
    let raw = i32::from(verdict.score.raw());
    let raw = match verdict.bound {
        _ if verdict.proof.is_some() => return verdict.score,
        Bound::Exact => raw.clamp(-UNPROVEN_WIN, UNPROVEN_WIN),
        Bound::Lower => raw.min(UNPROVEN_WIN),
        Bound::Upper => raw.max(-UNPROVEN_WIN),
    };
    Score::opinion(raw)
}

/// A search may overrun its node limit a little, not twofold.
fn max_nodes(effort: Effort, plausible: u64) -> u64 {
    effort.nodes.map_or(plausible, |nodes| {
        plausible.min(nodes.saturating_mul(2).max(1_000))
    })
}

/// An effort in depth bounds the depth. Without one, depth costs nodes: each ply is taken to
/// multiply them by 1.4 at least.
fn max_depth(effort: Effort, nodes: u64) -> u8 {
    let by_nodes = 4 + 2 * (u64::BITS - nodes.leading_zeros());
    effort
        .depth
        .unwrap_or_else(|| u8::try_from(by_nodes).unwrap_or(Effort::MAX_DEPTH))
        .min(Effort::MAX_DEPTH)
}

//! Which moves of a position a tree of a book shows.

use anyhow::Result;
use kagetsu_game::{Answer, Bound, Move, Position, Verdict};

use crate::books::Source;

/// Moves with an upper bound alone that are looked up at most: the book may be on another machine.
const TRIED: usize = 16;

/// The moves that lead on, at most `most`: those with a value, best first; those that were made and no more, the most frequent
/// first; then those of which only an upper bound is known, as far as they lead to positions of the book.
///
/// # Errors
/// If the book is damaged, or the server gone.
pub(crate) fn branches(
    source: &mut Source,
    position: &Position,
    answer: &Answer,
    most: usize,
) -> Result<Vec<(Move, Verdict)>> {
    let is_upper = |verdict: &Verdict| verdict.bound == Bound::Upper && verdict.proof.is_none();
    let (upper, known): (Vec<_>, Vec<_>) = answer
        .verdicts()
        .iter()
        .cloned()
        .partition(|(_, v)| is_upper(v));
    let (mut made, mut shown): (Vec<_>, Vec<_>) =
        known.into_iter().partition(|(_, v)| v.is_silent());
    made.sort_by_key(|(_, verdict)| std::cmp::Reverse(verdict.nodes));
    shown.extend(made);
    for (m, verdict) in upper.into_iter().take(TRIED) {
        if shown.len() >= most {
            break;
        }
        let Ok(next) = position.play(m) else { continue };
        if source.lookup(&next, false)?.is_some() {
            shown.push((m, verdict));
        }
    }
    shown.truncate(most);
    Ok(shown)
}

/// What is known of how good a move is, as in `+0.31`, `at most -1.20` or `made 12 times`.
pub(crate) fn worth(verdict: &Verdict) -> String {
    match verdict.bound {
        _ if verdict.is_silent() => match verdict.nodes {
            0 => "made".into(),
            1 => "made once".into(),
            times => format!("made {times} times"),
        },
        Bound::Upper if verdict.proof.is_none() => format!("at most {}", verdict.score),
        Bound::Lower if verdict.proof.is_none() => format!("at least {}", verdict.score),
        _ => verdict.score.to_string(),
    }
}

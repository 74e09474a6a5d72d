//! The moves of a position that the tree of a book shows.

use anyhow::Result;
use kagetsu_game::{Answer, Bound, Move, Position, Verdict};

use kagetsu_reader::BookReader;

/// The most moves with only an upper bound that are looked up: each costs a call to a server.
const MAX_LOOKUPS: usize = 16;

/// Returns at most `most` moves to follow: first those with a value, best first; then those that
/// were only played, most frequent first; then those with only an upper bound that lead into the
/// book.
///
/// # Errors
/// If the book is damaged, or the server cannot be reached.
pub(crate) fn branches(
    source: &mut dyn BookReader,
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
    for (m, verdict) in upper.into_iter().take(MAX_LOOKUPS) {
        if shown.len() >= most {
            break;
        }
        let Ok(next) = position.play(m) else { continue };
        if source.lookup(&next)?.is_some() {
            shown.push((m, verdict));
        }
    }
    shown.truncate(most);
    Ok(shown)
}

/// Writes a move's value, as in `+0.31`, `at most -1.20` or `made 12 times`.
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

//! Derives the value of a position from its facts and from the values behind it.

use kagetsu_game::{Bound, Claim, Move, Proof, ProofKind, Score, Verdict};

use crate::BookError;
use crate::Derived;
use crate::base::id::Id;
use crate::base::node::Node;
use crate::graph::index::Index;

/// Derives the value of a position. `after` returns the value of the position behind a move, if the
/// move is followed and its position is known.
pub(crate) fn derive(
    node: &Node,
    mut after: impl FnMut(Move) -> Result<Option<Derived>, BookError>,
) -> Result<Derived, BookError> {
    let mut values: Vec<(Move, Seen)> = Vec::with_capacity(node.facts.len());
    let (mut rest, mut silent) = (None, None);
    for (m, verdict) in node.facts.verdicts() {
        let child = after(*m)?.and_then(|child| Seen::from_child(child, verdict));
        if let Some(seen) = child.or_else(|| Seen::from_verdict(verdict)) {
            values.push((*m, seen));
        } else if verdict.is_silent() {
            silent = silent.or(Some((*m, Seen::made())));
        } else {
            rest = rest.max(Some(verdict.score));
        }
    }
    if values.is_empty() {
        let is_open = rest.is_some() || silent.is_some();
        return Ok(Derived {
            score: Score::ZERO,
            proof: None,
            best: None,
            depth: 0,
            is_open,
        });
    }
    // A losing move is no better than a move without a value.
    values.extend(silent.filter(|_| {
        values
            .iter()
            .all(|(_, seen)| seen.score.loss_plies().is_some())
    }));
    Ok(best_of(node, &values, rest))
}

/// Returns the value of the position that a move leads to, if the move is followed and the position
/// is known.
pub(crate) fn value_after(
    index: &mut Index,
    id: Id,
    node: &Node,
    m: Move,
) -> Result<Option<Derived>, BookError> {
    match node.child(m) {
        Some(child) if index.reach(child)?.is_from(id) => child_value(index, child),
        _ => Ok(None),
    }
}

/// Returns the value of a position that a move leads to, if the position is known, valid, and has a
/// value.
pub(crate) fn child_value(index: &mut Index, child: Id) -> Result<Option<Derived>, BookError> {
    let reach = index.reach(child)?;
    let value = if reach.is_known() && !reach.is_distrusted() {
        index.value(child)?
    } else {
        None
    };
    Ok(value.filter(Derived::has_value))
}

/// One move's value, from the view of the side that makes it.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) score: Score,
    pub(crate) proof: Option<Proof>,
    /// Plies to the leaf of this value, with the search there; 0 without a search.
    pub(crate) depth: u16,
}

impl Seen {
    /// Returns the value of a move that leads to a position with this value. `None` if the search
    /// of the move went deeper than this value does and nothing is proven. An opinion without a
    /// search keeps depth 0 on its way.
    pub(crate) fn from_child(child: Derived, verdict: &Verdict) -> Option<Self> {
        let proof = child.proof.map(|proof| Proof {
            kind: tree(proof.kind),
            ..proof.before()
        });
        let score = proof.map_or(child.score.before(), Proof::score);
        let depth = if child.depth == 0 {
            0
        } else {
            child.depth.saturating_add(1)
        };
        (proof.is_some() || depth >= verdict.depth.into()).then_some(Self {
            score,
            proof,
            depth,
        })
    }

    /// Returns the value from the search of a move; `None` if the search gave neither a value nor a
    /// lower bound.
    fn from_verdict(verdict: &Verdict) -> Option<Self> {
        let is_value =
            verdict.is_exact() || (verdict.bound == Bound::Lower && !verdict.is_silent());
        is_value.then(|| Self {
            score: verdict.score,
            proof: verdict.proof,
            depth: verdict.depth.into(),
        })
    }

    /// Returns the value of a move that was only made.
    fn made() -> Self {
        Self {
            score: -Score::OPINION_MAX,
            proof: None,
            depth: 0,
        }
    }
}

/// Returns the kind of a proof that was carried over a move. A manual proof stays manual.
fn tree(kind: ProofKind) -> ProofKind {
    if kind == ProofKind::Manual {
        kind
    } else {
        ProofKind::Tree
    }
}

/// Returns the value of the best move. `rest` is the greatest bound of the moves without a value.
fn best_of(node: &Node, values: &[(Move, Seen)], rest: Option<Score>) -> Derived {
    let greatest = values.iter().copied().reduce(|best, next| {
        if next.1.score > best.1.score {
            next
        } else {
            best
        }
    });
    let (m, seen) = greatest.expect("one value at least");
    let (best, depth) = (Some(m), seen.depth);
    if let Some(win) = seen.proof.filter(|proof| proof.claim == Claim::Win) {
        return Derived {
            score: seen.score,
            proof: Some(win),
            best,
            depth,
            is_open: false,
        };
    }
    let is_lost = seen.score.loss_plies().is_some();
    let is_all = (is_lost || seen.proof.is_some()) && rest.is_none() && {
        let moves: Vec<Move> = values.iter().map(|(m, _)| *m).collect();
        node.is_covered_by(&moves)
    };
    // A loss or a draw needs a proof of every move: nothing is called lost on a partial list.
    if let Some(proof) = seen
        .proof
        .filter(|_| is_all)
        .and_then(|proof| together(proof, values))
    {
        return Derived {
            score: seen.score,
            proof: Some(proof),
            best,
            depth,
            is_open: false,
        };
    }
    let is_open = rest.is_some_and(|rest| rest > seen.score) || (is_lost && !is_all);
    // If all known moves lose, the remaining moves decide, and only their bound is known.
    let guess = rest
        .filter(|rest| !rest.is_mate())
        .unwrap_or(Score::opinion(i32::from(i16::MIN)));
    let score = if is_lost { guess } else { seen.score };
    Derived {
        score,
        proof: None,
        best,
        depth,
        is_open,
    }
}

/// Returns the proof of the best move if all moves have one. Its kind covers all of them.
fn together(best: Proof, values: &[(Move, Seen)]) -> Option<Proof> {
    let kinds: Option<Vec<ProofKind>> = values
        .iter()
        .map(|(_, seen)| seen.proof.map(|proof| proof.kind))
        .collect();
    let kinds = kinds?;
    let kind = if kinds.contains(&ProofKind::Manual) {
        ProofKind::Manual
    } else if kinds.iter().all(|kind| *kind == best.kind) {
        best.kind
    } else {
        ProofKind::Tree
    };
    Some(Proof { kind, ..best })
}

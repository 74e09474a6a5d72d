//! An engine that is quick and always says the same: values out of a hash of the position.

use kagetsu_game::{
    Answer, Bound, Claim, Move, Outcome, Position, Proof, ProofKind, Provenance, Question, Score,
    Verdict,
};

/// Answers as a search would: the best `width` moves exactly, the others with the bound that
/// follows.
pub(crate) fn answer(question: &Question) -> Answer {
    let position = &question.position;
    let moves = if question.moves.is_empty() {
        position.distinct_moves()
    } else {
        question.moves.clone()
    };
    let mut valued: Vec<(Score, Option<Proof>, Move)> =
        moves.iter().map(|&m| value(position, m)).collect();
    valued.sort_by_key(|(score, _, m)| (std::cmp::Reverse(*score), *m));
    let width = usize::from(question.width);
    let bound = valued
        .get(width - 1)
        .map_or(Score::MIN, |(score, ..)| *score);
    let verdict = |(index, (score, proof, m)): (usize, (Score, Option<Proof>, Move))| {
        let is_exact = index < width || proof.is_some();
        let (score, bound) = if is_exact {
            (score, Bound::Exact)
        } else {
            (bound, Bound::Upper)
        };
        let line = if is_exact { vec![m] } else { Vec::new() };
        let by = Provenance {
            engine: "hash 1".into(),
            day: 20_000,
        };
        let depth = question.effort.depth.unwrap_or(3);
        (
            m,
            Verdict {
                score,
                bound,
                depth,
                nodes: 100 + m.code() as u64 % 7,
                line,
                proof,
                by,
            },
        )
    };
    valued.into_iter().enumerate().map(verdict).collect()
}

/// The same for every way of turning the position.
fn value(position: &Position, m: Move) -> (Score, Option<Proof>, Move) {
    let next = position.play(m).expect("legal");
    let proof = match next.outcome() {
        Some(Outcome::Win(_)) => Some(Proof::new(Claim::Win, ProofKind::Terminal, 1)),
        Some(Outcome::Draw) => Some(Proof::new(Claim::Draw, ProofKind::Terminal, 0)),
        None => None,
    };
    let hash = (next.key().0 >> 7) as u64;
    let opinion = Score::opinion((hash % 400) as i32 - 200);
    (proof.map_or(opinion, Proof::score), proof, m)
}

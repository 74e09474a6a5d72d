//! A deterministic engine: its verdict depends on the position, the move and the depth alone.

use std::time::Duration;

use kagetsu_game::{
    Answer, Bound, Effort, Move, Position, Question, Score, Variant, Verdict, zobrist,
};

/// Candidates of a question that names no moves.
const CANDIDATES: usize = 24;

/// Returns position number `n` of 225 unfinished ones.
pub(crate) fn position(n: usize) -> Position {
    let start = Position::start(Variant::FREESTYLE_15);
    let cell = |k: usize| start.legal_moves()[(n * 7 + k * 31) % 225];
    (0..3).fold(start.clone(), |position, k| {
        position
            .play(cell(k))
            .expect("31 does not divide the board")
    })
}

/// Returns the answer that one worker alone gives: the best `width` moves exactly, the others as no
/// better than the worst of these.
pub(crate) fn answer(question: &Question) -> Answer {
    let depth = question.effort.depth.unwrap_or(2);
    let moves = if question.moves.is_empty() {
        candidates(&question.position)
    } else {
        question.moves.clone()
    };
    let mut verdicts: Vec<_> = moves
        .into_iter()
        .map(|m| (m, verdict(&question.position, m, depth)))
        .collect();
    verdicts.sort_by_key(|(m, verdict)| (std::cmp::Reverse(verdict.score), *m));
    let width = usize::from(question.width).min(verdicts.len());
    let worst = verdicts[width - 1].1.score;
    for (_, verdict) in &mut verdicts[width..] {
        (verdict.score, verdict.bound) = (worst, Bound::Upper);
        verdict.line.clear();
    }
    verdicts.into_iter().collect()
}

/// Returns the 2-ply answer: all candidates, in an order that resembles the deep one.
pub(crate) fn shallow(question: &Question) -> Answer {
    let all = Question {
        effort: Effort::depth(2),
        width: u16::MAX,
        ..question.clone()
    };
    answer(&all)
}

/// Returns the true value of a move at a depth.
pub(crate) fn verdict(position: &Position, m: Move, depth: u8) -> Verdict {
    let noise = mix(position, m, u64::from(depth));
    let lasting = (mix(position, m, 0) % 1500) as i32 - 750;
    Verdict {
        score: Score::opinion(lasting + (noise % 500) as i32),
        depth,
        nodes: 1_000 + noise % 9_000,
        ..kagetsu_builders::verdict(m, None)
    }
}

/// Returns the time of a question for a worker that visits `speed` positions a second.
pub(crate) fn cost(question: &Question, speed: u64) -> Duration {
    Duration::from_micros(answer(question).nodes() * 1_000_000 / speed)
}

fn candidates(position: &Position) -> Vec<Move> {
    let mut moves = position.legal_moves();
    moves.sort_by_key(|m| mix(position, *m, 0));
    moves.truncate(CANDIDATES);
    moves
}

fn mix(position: &Position, m: Move, salt: u64) -> u64 {
    let moves = position.moves().iter().chain([&m]);
    moves.fold(salt, |hash, m| {
        zobrist::number(hash >> 2 ^ u64::from(m.code())) as u64
    })
}

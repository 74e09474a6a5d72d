//! Verdicts from an engine's lines. An engine's mate is a claim: only the rules or Kagetsu's own
//! threat search turn it into a proof.

use kagetsu_game::{
    Bound, Claim, Effort, Move, Outcome, Position, Proof, ProofKind, Provenance, Question, Score,
    Verdict,
};
use kagetsu_search::threats::{ThreatClass, ThreatOutcome as Decision, ThreatSearch};
use kagetsu_search::{Control, Engine, EngineOptions, provenance, provenance_of};

use crate::eval::Eval;
use crate::session::SearchLine;

/// Nodes of the threat search that checks one claim.
const CLAIM_CHECK_NODES: u64 = 50_000;
/// Nodes of the search that values a move for an engine without values.
const VALUATION_NODES: u64 = 20_000;
/// Table memory for either search, in bytes.
const TABLE_BYTES: usize = 1 << 20;

/// Returns a claim as an opinion, never as a proof: the nearer the mate, the greater the value.
pub(crate) fn score(value: Eval) -> Score {
    let most = i32::from(Score::OPINION_MAX.raw());
    let mate = |plies: u32| most - plies.min(u32::from(Score::MAX_PLIES)) as i32;
    match value {
        Eval::Centi(centi) => Score::opinion(centi),
        Eval::Win(plies) => Score::opinion(mate(plies)),
        Eval::Loss(plies) => Score::opinion(-mate(plies)),
    }
}

/// Returns the verdict of one line.
pub(crate) fn verdict(
    line: &SearchLine,
    value: Eval,
    nodes: u64,
    by: &Provenance,
) -> (Move, Verdict) {
    let verdict = Verdict {
        score: score(value),
        bound: line.bound,
        depth: line.depth,
        nodes,
        line: line.line.clone(),
        proof: None,
        by: by.clone(),
    };
    (line.m, verdict)
}

/// Returns the verdict of a move that is at most as good as the last line with a value. Its depth
/// is the smallest, so that any search of the move itself outweighs it.
pub(crate) fn no_better(m: Move, than: &Verdict) -> (Move, Verdict) {
    (
        m,
        Verdict {
            bound: Bound::Upper,
            depth: 1,
            nodes: 0,
            line: Vec::new(),
            proof: None,
            ..than.clone()
        },
    )
}

/// Returns the rules' verdict on a move that ends the game.
pub(crate) fn ending(position: &Position, m: Move) -> Option<(Move, Verdict)> {
    let next = position.play(m).ok()?;
    let (claim, plies) = match next.outcome()? {
        Outcome::Win(side) if side == position.side() => (Claim::Win, 1),
        Outcome::Win(_) => (Claim::Loss, 1),
        Outcome::Draw => (Claim::Draw, 0),
    };
    let proof = Proof::new(claim, ProofKind::Terminal, plies);
    Some((m, proven(m, proof, vec![m], 0)))
}

fn proven(m: Move, proof: Proof, line: Vec<Move>, nodes: u64) -> Verdict {
    let line = if line.is_empty() { vec![m] } else { line };
    let verdict = Verdict::proven(proof, line, nodes, provenance());
    Verdict {
        depth: verdict.depth.max(1),
        ..verdict
    }
}

/// Checks an engine's claim of a win by threat search. Returns a move that is proven to win,
/// perhaps another one.
pub(crate) fn checked_win(position: &Position, control: &Control) -> Option<(Move, Verdict)> {
    let (proof, line, nodes) = threat(position, control)?;
    let m = *line.first()?;
    Some((m, proven(m, proof, line, nodes)))
}

/// Checks a claim that `m` loses, by threat search for the opponent.
pub(crate) fn checked_loss(
    position: &Position,
    m: Move,
    control: &Control,
) -> Option<(Move, Verdict)> {
    let next = position
        .play(m)
        .ok()
        .filter(|next| next.outcome().is_none())?;
    let (proof, line, nodes) = threat(&next, control)?;
    let line = std::iter::once(m).chain(line).collect();
    Some((m, proven(m, proof.before(), line, nodes)))
}

fn threat(position: &Position, control: &Control) -> Option<(Proof, Vec<Move>, u64)> {
    // Only gomoku has threat search; in other games nothing is found.
    let found = ThreatSearch::new(TABLE_BYTES)
        .search(
            position,
            ThreatClass::Vct,
            Effort::nodes(CLAIM_CHECK_NODES),
            control,
        )
        .ok()?;
    let Decision::Win { plies, kind, line } = found.outcome else {
        return None;
    };
    Some((Proof::new(Claim::Win, kind, plies), line, found.nodes))
}

/// Returns Kagetsu's own value of a move that an engine chose without a value.
pub(crate) fn valued(
    position: &Position,
    m: Move,
    name: &str,
    control: &Control,
) -> Option<(Move, Verdict)> {
    let options = EngineOptions {
        table_bytes: TABLE_BYTES,
        ..EngineOptions::default()
    };
    let question = Question {
        moves: vec![m],
        ..Question::new(position.clone(), Effort::nodes(VALUATION_NODES))
    };
    let answer = Engine::new(options)
        .ok()?
        .answer(&question, control, &mut |_| {})
        .ok()?;
    let mut verdict = answer.get(m)?.clone();
    if verdict.proof.is_none() {
        verdict.by = provenance_of(&format!("{name}, value by {}", Engine::NAME));
    }
    Some((m, verdict))
}

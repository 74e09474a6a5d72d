//! The JSON of one answer, as in every command and server.

use kagetsu_book::Choice;
use kagetsu_game::{Answer, Bound, Move, Position, Proof, Score, Verdict};
use serde::Serialize;
use time::macros::format_description;
use time::{Date, Duration};

/// What is known of one position. Values are from the side to move's view.
#[derive(Debug, Serialize)]
pub struct AnswerJson {
    variant: String,
    moves: Vec<String>,
    side: String,
    key: String,
    best: Option<String>,
    #[serde(flatten)]
    value: ValueJson,
    answers: Vec<VerdictJson>,
    nodes: u64,
    time_ms: u64,
    depth: u8,
}

/// A value: a score in centi-units, or the plies to a forced win or loss.
#[derive(Debug, Default, Serialize)]
pub struct ValueJson {
    score: Option<i16>,
    win_in: Option<u16>,
    loss_in: Option<u16>,
    proof: String,
    proof_kind: Option<String>,
}

/// What is known of one move.
#[derive(Debug, Serialize)]
pub struct VerdictJson {
    r#move: String,
    #[serde(flatten)]
    value: ValueJson,
    bound: String,
    depth: u8,
    nodes: u64,
    line: Vec<String>,
    engine: String,
    date: String,
}

impl AnswerJson {
    /// `time_ms` is the time that the answer took; 0 for one that was only looked up.
    #[must_use]
    pub fn new(position: &Position, answer: &Answer, time_ms: u64) -> Self {
        let names = |moves: &[Move]| moves.iter().map(|&m| position.write_move(m)).collect();
        // What is only bounded from above may stand first, and is no choice.
        let best = Choice::default().pick(answer);
        let verdict = |(m, v): &(Move, Verdict)| VerdictJson {
            r#move: position.write_move(*m),
            value: ValueJson::of(v),
            bound: v.bound.to_string(),
            depth: v.depth,
            nodes: v.nodes,
            line: names(&v.line),
            engine: v.by.engine.to_string(),
            date: date(v.by.day),
        };
        Self {
            variant: position.variant().to_string(),
            moves: names(position.moves()),
            side: position.side().to_string(),
            key: position.key().to_string(),
            best: best.map(|(m, _)| position.write_move(*m)),
            value: best.map_or_else(ValueJson::unknown, |(_, v)| ValueJson::of(v)),
            answers: answer.verdicts().iter().map(verdict).collect(),
            nodes: answer.nodes(),
            time_ms,
            depth: best.map_or(0, |(_, v)| v.depth),
        }
    }

    /// The same with the positions that all workers have visited so far.
    #[must_use]
    pub fn with_nodes(self, nodes: u64) -> Self {
        Self { nodes, ..self }
    }
}

impl ValueJson {
    /// Nothing is known.
    #[must_use]
    pub fn unknown() -> Self {
        Self {
            proof: "none".into(),
            ..Self::default()
        }
    }

    /// The value of a move, where a search has found out something of it.
    #[must_use]
    pub fn of(verdict: &Verdict) -> Self {
        if is_unknown(verdict) {
            Self::unknown()
        } else {
            Self::new(verdict.score, verdict.proof)
        }
    }

    /// A score, and what is proven of it.
    #[must_use]
    pub fn new(score: Score, proof: Option<Proof>) -> Self {
        Self {
            score: (!score.is_mate()).then(|| score.raw()),
            win_in: score.win_plies(),
            loss_in: score.loss_plies(),
            proof: proof.map_or_else(|| "none".into(), |proof| proof.claim.to_string()),
            proof_kind: proof.map(|proof| proof.kind.to_string()),
        }
    }
}

/// Whether a verdict says nothing of the value but that it is no forced loss, or no forced win: so it is with the moves of which
/// a search for a proof was only asked whether they lose.
#[must_use]
pub fn is_unknown(verdict: &Verdict) -> bool {
    verdict.proof.is_none()
        && match verdict.bound {
            Bound::Lower => verdict.score <= -Score::OPINION_MAX,
            Bound::Upper => verdict.score >= Score::OPINION_MAX,
            Bound::Exact => false,
        }
}

/// `2026-11-21` from days since 1970-01-01; empty for a day that no calendar has.
#[must_use]
pub fn date(day: u32) -> String {
    let first = Date::from_ordinal_date(1970, 1).expect("a date");
    let date = first.checked_add(Duration::days(i64::from(day)));
    date.and_then(|date| {
        date.format(format_description!("[year]-[month]-[day]"))
            .ok()
    })
    .unwrap_or_default()
}

/// Days since 1970-01-01 of `2026-11-21`.
#[must_use]
pub fn day(text: &str) -> Option<u32> {
    let date = Date::parse(text, format_description!("[year]-[month]-[day]")).ok()?;
    let first = Date::from_ordinal_date(1970, 1).expect("a date");
    u32::try_from((date - first).whole_days()).ok()
}

#[cfg(test)]
mod tests {
    use kagetsu_game::{Claim, ProofKind, Provenance, Variant};

    use super::*;

    #[test]
    fn what_says_no_more_than_that_nothing_is_forced_has_no_value() {
        let by = Provenance {
            engine: "kagetsu 0.1.0".into(),
            day: 20_778,
        };
        let verdict = |score, bound| Verdict {
            score,
            bound,
            depth: 1,
            nodes: 1,
            line: vec![],
            proof: None,
            by: by.clone(),
        };
        let rows = [
            (-Score::OPINION_MAX, Bound::Lower, true),
            (-Score::OPINION_MAX, Bound::Upper, false),
            (-Score::OPINION_MAX, Bound::Exact, false),
            (Score::OPINION_MAX, Bound::Upper, true),
            (Score::OPINION_MAX, Bound::Lower, false),
            (Score::opinion(-29_999), Bound::Lower, false),
        ];
        for (score, bound, is_so) in rows {
            let verdict = verdict(score, bound);
            let json = serde_json::to_value(ValueJson::of(&verdict)).expect("plain data");
            assert_eq!(
                (is_unknown(&verdict), json["score"].is_null()),
                (is_so, is_so),
                "{score} {bound}"
            );
        }
    }

    #[test]
    fn an_answer_has_the_fields_of_the_contract() {
        let position = Position::from_line(Variant::FREESTYLE_15, "h8 i9").expect("legal");
        let by = Provenance {
            engine: "kagetsu 0.1.0".into(),
            day: 20_778,
        };
        let h9 = position.parse_move("h9").expect("legal");
        let h10 = position.parse_move("h10").expect("legal");
        let proof = Some(Proof {
            claim: Claim::Win,
            kind: ProofKind::Vcf,
            plies: 7,
        });
        let verdict = Verdict {
            score: Score::win_in(7),
            bound: Bound::Exact,
            depth: 8,
            nodes: 51_234,
            line: vec![h9, h10],
            proof,
            by,
        };
        let other = Verdict {
            score: Score::opinion(34),
            proof: None,
            line: vec![h10],
            ..verdict.clone()
        };
        let answer = [(h10, other), (h9, verdict)].into_iter().collect();
        let json =
            serde_json::to_value(AnswerJson::new(&position, &answer, 412)).expect("plain data");
        let expected = serde_json::json!({
            "variant": "freestyle-15", "moves": ["h8", "i9"], "side": "first", "key": position.key().to_string(),
            "best": "h9", "win_in": 7, "loss_in": null, "score": null, "proof": "win", "proof_kind": "vcf",
            "answers": [
                {"move": "h9", "score": null, "win_in": 7, "loss_in": null, "bound": "exact", "depth": 8, "nodes": 51234,
                 "proof": "win", "proof_kind": "vcf", "line": ["h9", "h10"], "engine": "kagetsu 0.1.0", "date": "2026-11-21"},
                {"move": "h10", "score": 34, "win_in": null, "loss_in": null, "bound": "exact", "depth": 8, "nodes": 51234,
                 "proof": "none", "proof_kind": null, "line": ["h10"], "engine": "kagetsu 0.1.0", "date": "2026-11-21"},
            ],
            "nodes": 102_468, "time_ms": 412, "depth": 8,
        });
        assert_eq!(json, expected);
    }
}

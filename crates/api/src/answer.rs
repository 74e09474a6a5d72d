use std::cmp::Reverse;
use std::fmt;

use kagetsu_compiled::{AnnotationJson, AnnotationKind, Choice, Day};
use kagetsu_game::{Answer, Bound, Move, Position, Proof, Score, Verdict};
use serde::{Deserialize, Serialize};

/// The knowledge about a position. Values are from the view of the side to move.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Answer))]
pub struct AnswerJson {
    /// The game.
    variant: String,
    /// The moves to this position.
    moves: Vec<String>,
    /// The side to move: `first` or `second`.
    side: String,
    /// 32 hex digits, the same for every order of moves and every symmetry of the board.
    key: String,
    /// The best move; null where no move has more than an upper bound.
    best: Option<String>,
    #[serde(flatten)]
    value: ValueJson,
    /// The results of the imported games that passed the position, for the side to move; absent
    /// where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    games: Option<ResultsJson>,
    /// The words of people about the position and its moves; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    annotations: Vec<AnnotationJson>,
    /// The value that a person gave the position; absent where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hand: Option<HandJson>,
    /// The moves: those with a value or a bound of it, best first; then those of games alone, the
    /// most frequent first.
    answers: Vec<VerdictJson>,
    /// Positions visited by the searches of all moves.
    nodes: u64,
    /// Time of the search in milliseconds; 0 for a look-up.
    time_ms: u64,
    /// Plies of the best move's search.
    depth: u8,
}

/// The annotations of a position and of its moves.
#[derive(Debug, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Annotations))]
pub struct AnnotationsJson {
    /// Those of the position, then those of its moves and points.
    pub annotations: Vec<AnnotationJson>,
}

/// A value that a person set, beside the searched ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Hand))]
pub struct HandJson {
    /// Centi-units from the view of the side to move.
    score: Option<i16>,
    /// `win`, `draw` or `loss` of the side to move.
    outcome: Option<String>,
    /// Whether the move is to be preferred (true) or avoided (false).
    prefer: Option<bool>,
    /// The reason; empty for none.
    reason: String,
    /// Its author; empty where it is unknown.
    author: String,
    /// The day, as in 2026-11-21.
    date: String,
}

impl HandJson {
    /// Returns the latest of the values that people set, for a move or (`None`) for the position.
    fn of(notes: &[AnnotationJson], m: Option<&str>) -> Option<Self> {
        let is_value = |note: &&AnnotationJson| {
            note.r#move.as_deref() == m && note.kind.parse().is_ok_and(AnnotationKind::is_value)
        };
        let latest = notes
            .iter()
            .filter(is_value)
            .max_by_key(|note| &note.date)?;
        let is = |kind: &str| latest.kind == kind;
        Some(Self {
            score: latest.score,
            outcome: ["win", "draw", "loss"]
                .map(is)
                .contains(&true)
                .then(|| latest.kind.clone()),
            prefer: is("prefer")
                .then_some(true)
                .or(is("avoid").then_some(false)),
            reason: latest.text.clone(),
            author: latest.author.clone(),
            date: latest.date.clone(),
        })
    }
}

/// The results of games for one side. Games without a known result are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Results))]
pub struct ResultsJson {
    /// Games that the side won.
    pub wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games that the side lost.
    pub losses: u64,
}

impl ResultsJson {
    /// The number of games.
    #[must_use]
    pub fn sum(self) -> u64 {
        self.wins + self.draws + self.losses
    }
}

/// A value: a score, or the plies to a forced win or loss.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Value))]
pub struct ValueJson {
    /// Centi-units from the view of the side to move; null for a forced win or loss.
    score: Option<i16>,
    /// Plies to a forced win.
    win_in: Option<u16>,
    /// Plies to a forced loss.
    loss_in: Option<u16>,
    /// `none`, `win`, `loss` or `draw`.
    proof: String,
    /// `terminal`, `vcf`, `vct`, `search`, `tree` or `manual`; null without a proof.
    proof_kind: Option<String>,
}

/// The knowledge about one move.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Verdict))]
pub struct VerdictJson {
    /// The move.
    r#move: String,
    /// Its value.
    #[serde(flatten)]
    value: ValueJson,
    /// The results of the imported games in which the side to move made it; absent where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    games: Option<ResultsJson>,
    /// The value that a person gave it; absent where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hand: Option<HandJson>,
    /// `exact`, `lower` or `upper`.
    bound: String,
    /// Plies of its search.
    depth: u8,
    /// Positions visited by its search.
    nodes: u64,
    /// The expected play, this move first.
    line: Vec<String>,
    /// The engine that valued it, with its version.
    engine: String,
    /// The day of the search, as in 2026-11-21.
    date: String,
}

/// Returns the moves, best first; behind them those of games and libraries alone, the most frequent
/// first.
#[must_use]
pub fn best_first(answer: &Answer) -> Vec<&(Move, Verdict)> {
    let mut verdicts: Vec<_> = answer.verdicts().iter().collect();
    verdicts.sort_by_key(|(_, v)| match v.is_silent() {
        true => (true, Reverse(v.nodes)),
        false => (false, Reverse(0)),
    });
    verdicts
}

impl AnswerJson {
    /// The JSON of an answer that took `time_ms`; 0 for a look-up.
    #[must_use]
    pub fn new(position: &Position, answer: &Answer, time_ms: u64) -> Self {
        let names = |moves: &[Move]| moves.iter().map(|&m| position.write_move(m)).collect();
        let best = Choice::default().pick(answer);
        let verdict = |(m, v): &(Move, Verdict)| VerdictJson {
            r#move: position.write_move(*m),
            value: ValueJson::of(v),
            games: None,
            hand: None,
            bound: v.bound.to_string(),
            depth: v.depth,
            nodes: v.nodes,
            line: names(&v.line),
            engine: v.by.engine.to_string(),
            date: Day(v.by.day).to_string(),
        };
        Self {
            variant: position.variant().to_string(),
            moves: names(position.moves()),
            side: position.side().to_string(),
            key: position.key().to_string(),
            best: best.map(|(m, _)| position.write_move(*m)),
            value: best.map_or_else(ValueJson::unknown, |(_, v)| ValueJson::of(v)),
            games: None,
            annotations: Vec::new(),
            hand: None,
            answers: best_first(answer).into_iter().map(verdict).collect(),
            nodes: answer.nodes(),
            time_ms,
            depth: best.map_or(0, |(_, v)| v.depth),
        }
    }

    /// Adds the results of the games that passed the position, and those of each move by its name.
    #[must_use]
    pub fn with_games(
        mut self,
        all: ResultsJson,
        of_move: impl Fn(&str) -> Option<ResultsJson>,
    ) -> Self {
        self.games = Some(all).filter(|all| all.sum() > 0);
        for verdict in &mut self.answers {
            verdict.games = of_move(&verdict.r#move).filter(|results| results.sum() > 0);
        }
        self
    }

    /// Returns the moves that were made in games, with their results for the side to move.
    pub fn games_of_moves(&self) -> impl Iterator<Item = (&str, ResultsJson)> {
        let moves = self.answers.iter();
        moves.filter_map(|verdict| Some((&*verdict.r#move, verdict.games?)))
    }

    /// Adds what people wrote, and the values that they set.
    #[must_use]
    pub fn with_annotations(mut self, notes: Vec<AnnotationJson>) -> Self {
        self.hand = HandJson::of(&notes, None);
        for verdict in &mut self.answers {
            verdict.hand = HandJson::of(&notes, Some(&verdict.r#move));
        }
        self.annotations = notes;
        self
    }

    /// Replaces the number of visited positions.
    #[must_use]
    pub fn with_nodes(self, nodes: u64) -> Self {
        Self { nodes, ..self }
    }
}

impl ValueJson {
    /// The value of a position about which nothing is known.
    #[must_use]
    pub fn unknown() -> Self {
        Self {
            proof: "none".into(),
            ..Self::default()
        }
    }

    /// The value of a move; [`ValueJson::unknown`] where no search valued it.
    #[must_use]
    pub fn of(verdict: &Verdict) -> Self {
        if is_unknown(verdict) {
            Self::unknown()
        } else {
            Self::new(verdict.score, verdict.proof)
        }
    }

    /// Whether the value has a proof.
    #[must_use]
    pub fn is_proven(&self) -> bool {
        self.proof_kind.is_some()
    }

    /// Writes the proof as in `win (vcf)`; `None` without one.
    #[must_use]
    pub fn proof_text(&self) -> Option<String> {
        let kind = self.proof_kind.as_ref()?;
        Some(format!("{} ({kind})", self.proof))
    }

    /// A score with its proof.
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

/// Writes a score as in `+0.31`, `win in 7` or `unknown`.
impl fmt::Display for ValueJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let score = match (self.score, self.win_in, self.loss_in) {
            (Some(raw), ..) => Some(Score::opinion(raw.into())),
            (_, Some(plies), _) => Some(Score::win_in(plies)),
            (.., Some(plies)) => Some(Score::loss_in(plies)),
            _ => None,
        };
        match score {
            Some(score) => score.fmt(f),
            None => f.write_str("unknown"),
        }
    }
}

/// Whether a verdict says no more than that the move is not a forced loss, or not a forced win. A
/// search for a proof leaves such verdicts on the moves that it only tests for losing.
#[must_use]
pub fn is_unknown(verdict: &Verdict) -> bool {
    verdict.proof.is_none()
        && match verdict.bound {
            Bound::Lower => verdict.score <= -Score::OPINION_MAX,
            Bound::Upper => verdict.score >= Score::OPINION_MAX,
            Bound::Exact => false,
        }
}

#[cfg(test)]
mod tests {
    use kagetsu_game::{Claim, ProofKind, Provenance, Variant};

    use super::*;

    #[test]
    fn a_bound_that_excludes_only_mates_has_no_value() {
        let verdict = |score, bound| Verdict {
            score,
            bound,
            ..kagetsu_builders::verdict(Move::new(0), None)
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
    fn answer_has_the_documented_fields() {
        let position = Position::from_line(Variant::FREESTYLE_15, "h8 i9").expect("legal");
        let by = Provenance {
            engine: "kagetsu 0.1.0".into(),
            day: 20_778,
        };
        let h9 = position.parse_move("h9").expect("legal");
        let h10 = position.parse_move("h10").expect("legal");
        let proof = Some(Proof::new(Claim::Win, ProofKind::Vcf, 7));
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

use kagetsu_game::{Answer, Bound, Move, Position, Proof, Provenance, Score, Variant, Verdict};

/// Returns the position after a line of freestyle-15.
///
/// # Panics
/// If a move of the line is illegal.
#[must_use]
pub fn position(line: &str) -> Position {
    position_of(Variant::FREESTYLE_15, line)
}

/// Returns the position after a line.
///
/// # Panics
/// If a move of the line is illegal.
#[must_use]
pub fn position_of(variant: Variant, line: &str) -> Position {
    Position::from_line(variant, line).unwrap_or_else(|error| panic!("{variant} {line}: {error}"))
}

/// Returns the engine `test` of a fixed day.
#[must_use]
pub fn provenance() -> Provenance {
    Provenance {
        engine: "test".into(),
        day: 20_000,
    }
}

/// Returns the verdict of the engine `test` on a move: the value of its proof, else 0.00; exact, of
/// depth 1, one position visited, with the move as its line.
#[must_use]
pub fn verdict(m: Move, proof: Option<Proof>) -> Verdict {
    Verdict {
        score: proof.map_or(Score::ZERO, Proof::score),
        bound: Bound::Exact,
        depth: 1,
        nodes: 1,
        line: vec![m],
        proof,
        by: provenance(),
    }
}

/// Returns a move with its value in centi-units, without a proof; see [`verdict`].
#[must_use]
pub fn opinion(m: Move, centi: i32) -> (Move, Verdict) {
    let verdict = Verdict {
        score: Score::opinion(centi),
        ..verdict(m, None)
    };
    (m, verdict)
}

/// Returns an answer without the day on which it was found: a test may run past midnight.
#[must_use]
pub fn undated(answer: &Answer) -> Answer {
    answer.changed(|_, verdict| verdict.by.day = 0)
}

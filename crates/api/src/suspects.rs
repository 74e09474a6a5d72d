use kagetsu_book::{Doubt, Suspect};
use kagetsu_game::{Move, Position, Score};
use kagetsu_proto::{WireError, v1};
use serde::Serialize;

/// The most doubtful positions from one on.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Suspects))]
pub struct SuspectsJson {
    /// The positions, the most doubtful first.
    pub suspects: Vec<SuspectJson>,
}

/// A position whose value is doubtful.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Suspect))]
pub struct SuspectJson {
    /// The moves from the start of the game, or from the position that the question was about
    /// where that was a FEN.
    pub moves: Vec<String>,
    /// How doubtful the value is, in missing plies; less for positions far from the first one.
    pub doubt: f64,
    /// Plies of the search that valued it.
    pub depth: u8,
    /// Why the value is doubtful, in English.
    pub reasons: Vec<String>,
    /// The search was this many plies less deep than half of the book.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_plies: Option<u8>,
    /// The value of the search in centi-units, where the positions behind the moves give another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub searched_score: Option<i16>,
    /// The value of the positions behind the moves, in centi-units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind_score: Option<i16>,
    /// The best move of the search, where the positions behind the moves prefer another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub searched_best: Option<String>,
    /// The best move by the positions behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind_best: Option<String>,
    /// The engine that searched it, where another searched the newest position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_engine: Option<String>,
}

impl From<&Suspect> for SuspectJson {
    fn from(suspect: &Suspect) -> Self {
        let position = &suspect.position;
        let name = |m: Move| position.write_move(m);
        let mut json = Self {
            moves: position.moves().iter().map(|&m| name(m)).collect(),
            doubt: suspect.doubt,
            depth: suspect.depth,
            reasons: suspect
                .reasons
                .iter()
                .map(|reason| words(reason, position))
                .collect(),
            missing_plies: None,
            searched_score: None,
            behind_score: None,
            searched_best: None,
            behind_best: None,
            other_engine: None,
        };
        for reason in &suspect.reasons {
            match reason {
                Doubt::Shallow(missing) => json.missing_plies = Some(*missing),
                Doubt::OtherValue { searched, behind } => {
                    json.searched_score = Some(searched.raw());
                    json.behind_score = Some(behind.raw());
                }
                Doubt::OtherBest { searched, behind } => {
                    json.searched_best = Some(name(*searched));
                    json.behind_best = Some(name(*behind));
                }
                Doubt::OtherEngine(engine) => json.other_engine = Some(engine.clone()),
            }
        }
        json
    }
}

/// Says a reason in words.
fn words(reason: &Doubt, position: &Position) -> String {
    match reason {
        Doubt::Shallow(missing) => {
            format!("searched {missing} plies less deeply than half of the book")
        }
        Doubt::OtherValue { searched, behind } => {
            format!("the search says {searched}, the positions behind {behind}")
        }
        Doubt::OtherBest { searched, behind } => format!(
            "the search prefers {}, the positions behind {}",
            position.write_move(*searched),
            position.write_move(*behind)
        ),
        Doubt::OtherEngine(engine) => format!("searched by {engine}"),
    }
}

/// Returns a doubtful position as a message.
#[must_use]
pub fn suspect_message(suspect: &Suspect) -> v1::Suspect {
    let mut message = v1::Suspect {
        position: Some((&suspect.position).into()),
        doubt: suspect.doubt,
        depth: suspect.depth.into(),
        ..v1::Suspect::default()
    };
    for reason in &suspect.reasons {
        match reason {
            Doubt::Shallow(missing) => message.missing_plies = Some((*missing).into()),
            Doubt::OtherValue { searched, behind } => {
                message.searched_score = Some(searched.raw().into());
                message.behind_score = Some(behind.raw().into());
            }
            Doubt::OtherBest { searched, behind } => {
                message.searched_best = Some(searched.code().into());
                message.behind_best = Some(behind.code().into());
            }
            Doubt::OtherEngine(engine) => message.other_engine = Some(engine.clone()),
        }
    }
    message
}

/// Reads a doubtful position.
///
/// # Errors
/// If a number is out of its range or the position is impossible.
pub fn read_suspect(message: &v1::Suspect) -> Result<Suspect, WireError> {
    let position = message.position.as_ref();
    let position = Position::try_from(position.ok_or(WireError::Missing("the position"))?)?;
    let plies = |plies: u32| u8::try_from(plies).map_err(|_| out_of_range("a depth", plies));
    let mut reasons = Vec::new();
    if let Some(missing) = message.missing_plies {
        reasons.push(Doubt::Shallow(plies(missing)?));
    }
    if let (Some(searched), Some(behind)) = (message.searched_score, message.behind_score) {
        let [searched, behind] = [searched, behind].map(score);
        reasons.push(Doubt::OtherValue {
            searched: searched?,
            behind: behind?,
        });
    }
    if let (Some(searched), Some(behind)) = (message.searched_best, message.behind_best) {
        let legal = position.legal_moves();
        let read = |code: u32| {
            let m = u16::try_from(code).ok().map(Move::new);
            m.filter(|m| legal.contains(m))
                .ok_or_else(|| out_of_range("a move", code))
        };
        reasons.push(Doubt::OtherBest {
            searched: read(searched)?,
            behind: read(behind)?,
        });
    }
    if let Some(engine) = &message.other_engine {
        reasons.push(Doubt::OtherEngine(engine.clone()));
    }
    Ok(Suspect {
        position,
        doubt: message.doubt,
        depth: plies(message.depth)?,
        reasons,
    })
}

fn score(raw: i32) -> Result<Score, WireError> {
    let score = i16::try_from(raw).ok().and_then(Score::from_raw);
    score.ok_or(WireError::Range {
        what: "a score",
        value: raw.into(),
    })
}

fn out_of_range(what: &'static str, value: u32) -> WireError {
    WireError::Range {
        what,
        value: value.into(),
    }
}

#[cfg(test)]
mod tests {
    use kagetsu_game::Variant;

    use super::*;

    #[test]
    fn suspects_survive_the_wire() {
        let position = Position::from_line(Variant::FREESTYLE_15, "h8 i9").expect("legal");
        let [one, other] = ["h9", "j10"].map(|m| position.parse_move(m).expect("legal"));
        let suspect = Suspect {
            position,
            doubt: 2.5,
            depth: 4,
            reasons: vec![
                Doubt::Shallow(2),
                Doubt::OtherValue {
                    searched: Score::opinion(-30),
                    behind: Score::opinion(80),
                },
                Doubt::OtherBest {
                    searched: one,
                    behind: other,
                },
                Doubt::OtherEngine("older 1.0".into()),
            ],
        };
        let message = suspect_message(&suspect);
        assert_eq!(read_suspect(&message).expect("in range"), suspect);
        let json = SuspectJson::from(&suspect);
        assert_eq!(json.moves, ["h8", "i9"]);
        assert_eq!(json.reasons.len(), 4);
        let wrong = v1::Suspect {
            behind_best: Some(70_000),
            ..message
        };
        assert!(read_suspect(&wrong).is_err());
    }
}

//! Conversions between messages and the types of `kagetsu-game`.

use std::time::Duration;

use kagetsu_game::{
    Answer, Bound, Claim, Effort, MAX_NAME_BYTES, Move, Packed, Position, PositionError, Proof,
    ProofKind, Provenance, Question, Score, Variant, VariantError, Verdict, Window,
};

use super::limits::MAX_MOVES;
use crate::v1;

/// The reason why a message is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// A required field is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A number is out of its range.
    #[error("{0} {1} is out of range")]
    Range(&'static str, i64),
    /// A list or a text is too long.
    #[error("{0}: {1} are more than {2}")]
    Long(&'static str, usize, usize),
    /// The variant does not exist.
    #[error(transparent)]
    Variant(#[from] VariantError),
    /// The position is impossible.
    #[error(transparent)]
    Position(#[from] PositionError),
    /// A verdict is about an illegal move.
    #[error("a verdict on the illegal move with code {0}")]
    Illegal(u16),
}

fn bounded<T>(what: &'static str, list: &[T], most: usize) -> Result<(), WireError> {
    if list.len() > most {
        Err(WireError::Long(what, list.len(), most))
    } else {
        Ok(())
    }
}

fn narrow<T: TryFrom<i64>>(what: &'static str, value: impl Into<i64>) -> Result<T, WireError> {
    let value = value.into();
    T::try_from(value).map_err(|_| WireError::Range(what, value))
}

fn moves(what: &'static str, codes: &[u32]) -> Result<Vec<Move>, WireError> {
    bounded(what, codes, MAX_MOVES)?;
    codes
        .iter()
        .map(|&code| narrow(what, code).map(Move::new))
        .collect()
}

fn codes(moves: &[Move]) -> Vec<u32> {
    moves.iter().map(|m| m.code().into()).collect()
}

fn score(what: &'static str, raw: i32) -> Result<Score, WireError> {
    Score::from_raw(narrow(what, raw)?).ok_or(WireError::Range(what, raw.into()))
}

impl From<&Position> for v1::Position {
    fn from(position: &Position) -> Self {
        Self {
            variant: position.variant().to_string(),
            setup: position.setup().map(|packed| packed.0.clone()),
            moves: codes(position.moves()),
        }
    }
}

impl TryFrom<&v1::Position> for Position {
    type Error = WireError;
    fn try_from(message: &v1::Position) -> Result<Self, WireError> {
        bounded(
            "letters of the variant",
            message.variant.as_bytes(),
            MAX_NAME_BYTES,
        )?;
        let variant: Variant = message.variant.parse()?;
        let setup = message.setup.clone().map(Packed);
        Ok(Self::new(
            variant,
            setup,
            &moves("moves of the position", &message.moves)?,
        )?)
    }
}

impl From<Effort> for v1::Effort {
    fn from(effort: Effort) -> Self {
        let time_ms = effort
            .time
            .map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        Self {
            depth: effort.depth.map(Into::into),
            nodes: effort.nodes,
            time_ms,
        }
    }
}

impl TryFrom<&v1::Effort> for Effort {
    type Error = WireError;
    fn try_from(message: &v1::Effort) -> Result<Self, WireError> {
        let depth = message.depth.map(|depth| match narrow("depth", depth)? {
            depth @ 1..=Self::MAX_DEPTH => Ok(depth),
            _ => Err(WireError::Range("depth", depth.into())),
        });
        Ok(Self {
            depth: depth.transpose()?,
            nodes: message.nodes,
            time: message.time_ms.map(Duration::from_millis),
        })
    }
}

impl From<&Question> for v1::Question {
    fn from(question: &Question) -> Self {
        let Window { alpha, beta } = question.window;
        Self {
            position: Some((&question.position).into()),
            moves: codes(&question.moves),
            alpha: (alpha != Score::MIN).then(|| alpha.raw().into()),
            beta: (beta != Score::MAX).then(|| beta.raw().into()),
            effort: Some(question.effort.into()),
            width: question.width.into(),
        }
    }
}

impl TryFrom<&v1::Question> for Question {
    type Error = WireError;
    fn try_from(message: &v1::Question) -> Result<Self, WireError> {
        let position = message
            .position
            .as_ref()
            .ok_or(WireError::Missing("the position"))?
            .try_into()?;
        let effort = message
            .effort
            .as_ref()
            .ok_or(WireError::Missing("the effort"))?
            .try_into()?;
        let alpha = message
            .alpha
            .map_or(Ok(Score::MIN), |raw| score("alpha", raw))?;
        let beta = message
            .beta
            .map_or(Ok(Score::MAX), |raw| score("beta", raw))?;
        let width: u16 = narrow("width", message.width)?;
        if width == 0 {
            return Err(WireError::Range("width", 0));
        }
        let moves = moves("moves of the question", &message.moves)?;
        Ok(Self {
            position,
            moves,
            window: Window { alpha, beta },
            effort,
            width,
        })
    }
}

/// Converts an enum of `kagetsu-game` to that of the wire and back; a text names a missing one.
macro_rules! convert {
    ($kind:ident, $missing:literal, $($value:ident),+) => {
        impl From<$kind> for v1::$kind {
            fn from(value: $kind) -> Self {
                match value {
                    $($kind::$value => Self::$value),+
                }
            }
        }

        impl TryFrom<v1::$kind> for $kind {
            type Error = WireError;
            fn try_from(value: v1::$kind) -> Result<Self, WireError> {
                match value {
                    v1::$kind::Unspecified => Err(WireError::Missing($missing)),
                    $(v1::$kind::$value => Ok(Self::$value)),+
                }
            }
        }
    };
}

convert!(Claim, "the claim of a proof", Draw, Loss, Win);
convert!(Bound, "the bound of a verdict", Upper, Lower, Exact);
convert!(
    ProofKind,
    "the kind of a proof",
    Manual,
    Search,
    Vct,
    Vcf,
    Tree,
    Terminal
);

impl From<Proof> for v1::Proof {
    fn from(proof: Proof) -> Self {
        Self {
            claim: v1::Claim::from(proof.claim).into(),
            kind: v1::ProofKind::from(proof.kind).into(),
            plies: proof.plies.into(),
        }
    }
}

impl TryFrom<&v1::Proof> for Proof {
    type Error = WireError;
    fn try_from(message: &v1::Proof) -> Result<Self, WireError> {
        let claim = message.claim().try_into()?;
        let kind = message.kind().try_into()?;
        let plies: u16 = narrow("plies of a proof", message.plies)?;
        if plies > Score::MAX_PLIES {
            return Err(WireError::Range("plies of a proof", plies.into()));
        }
        Ok(Self { claim, kind, plies })
    }
}

impl From<&(Move, Verdict)> for v1::Verdict {
    fn from((m, verdict): &(Move, Verdict)) -> Self {
        Self {
            r#move: m.code().into(),
            score: verdict.score.raw().into(),
            bound: v1::Bound::from(verdict.bound).into(),
            depth: verdict.depth.into(),
            nodes: verdict.nodes,
            line: codes(&verdict.line),
            proof: verdict.proof.map(Into::into),
            engine: verdict.by.engine.to_string(),
            day: verdict.by.day,
        }
    }
}

impl TryFrom<&v1::Verdict> for (Move, Verdict) {
    type Error = WireError;
    fn try_from(message: &v1::Verdict) -> Result<Self, WireError> {
        let bound = message.bound().try_into()?;
        bounded(
            "letters of the engine's name",
            message.engine.as_bytes(),
            MAX_NAME_BYTES,
        )?;
        let proof: Option<Proof> = message.proof.as_ref().map(TryInto::try_into).transpose()?;
        let score = score("score", message.score)?;
        if proof.is_some_and(|proof| proof.score() != score) {
            let what = "the score beside a proof";
            return Err(WireError::Range(what, message.score.into()));
        }
        let verdict = Verdict {
            score,
            bound,
            depth: narrow("depth", message.depth)?,
            nodes: message.nodes,
            line: moves("moves of a line", &message.line)?,
            proof,
            by: Provenance {
                engine: message.engine.as_str().into(),
                day: message.day,
            },
        };
        Ok((Move::new(narrow("move", message.r#move)?), verdict))
    }
}

impl From<&Answer> for v1::Answer {
    fn from(answer: &Answer) -> Self {
        Self {
            verdicts: answer.verdicts().iter().map(Into::into).collect(),
        }
    }
}

/// Does not check whether the moves are legal; see [`v1::Answer::about`].
impl TryFrom<&v1::Answer> for Answer {
    type Error = WireError;
    fn try_from(message: &v1::Answer) -> Result<Self, WireError> {
        bounded("verdicts of an answer", &message.verdicts, MAX_MOVES)?;
        message.verdicts.iter().map(TryInto::try_into).collect()
    }
}

impl v1::Answer {
    /// Returns the answer, if its moves and all moves of its lines are legal in `position`.
    ///
    /// # Errors
    /// For invalid values and illegal moves.
    pub fn about(&self, position: &Position) -> Result<Answer, WireError> {
        let answer = Answer::try_from(self)?;
        let mut legal = position.legal_moves();
        legal.sort_unstable();
        for (m, verdict) in answer.verdicts() {
            let is_known = legal.binary_search(m).is_ok();
            let is_legal = is_known && verdict.line.first().is_none_or(|first| first == m);
            if !is_legal {
                return Err(WireError::Illegal(m.code()));
            }
        }
        let lines = answer.verdicts().iter().map(|(_, verdict)| &*verdict.line);
        position.check_lines(lines)?;
        Ok(answer)
    }
}

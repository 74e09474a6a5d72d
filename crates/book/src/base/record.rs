//! The encoding of verdicts: moves with a common verdict form a group, so that many bounded moves
//! cost little.

use std::sync::Arc;

use kagetsu_game::{Answer, Bound, Move, Proof, Provenance, Score, Verdict};
use serde::{Deserialize, Serialize};

/// A position and its moves as they were searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) packed: Vec<u8>,
    pub(crate) groups: Vec<Group>,
}

/// Moves with the same verdict, except nodes and line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Group {
    head: GroupHead,
    /// The moves, ascending.
    moves: Vec<MoveBody>,
}

/// The verdict of a group. The engine is a number in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct GroupHead {
    score: i16,
    bound: u8,
    depth: u8,
    proof: Option<ProofBody>,
    engine: u32,
    day: u32,
    /// Whether every move comes with a line, which begins with the move.
    has_line: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct MoveBody {
    /// The difference of its code to that of the move before.
    step: u16,
    nodes: u64,
    /// The line after the move.
    line: Vec<u16>,
}

/// Kinds of proofs in the code of a proof.
const KINDS: u8 = 6;

/// An encoded proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProofBody {
    claim: u8,
    kind: u8,
    plies: u16,
}

impl From<Proof> for ProofBody {
    fn from(proof: Proof) -> Self {
        Self {
            claim: proof.code() / KINDS,
            kind: proof.code() % KINDS,
            plies: proof.plies,
        }
    }
}

impl ProofBody {
    pub(crate) fn proof(self) -> Option<Proof> {
        if self.kind >= KINDS {
            return None;
        }
        let code = self.claim.checked_mul(KINDS)?.checked_add(self.kind)?;
        Proof::from_code(code, self.plies)
    }
}

/// Decodes an optional proof; `None` for a damaged one.
fn proof_of(body: Option<ProofBody>) -> Option<Option<Proof>> {
    match body {
        None => Some(None),
        Some(body) => body.proof().map(Some),
    }
}

/// Encodes an answer as groups in a canonical order; `number` returns an engine's number. Leaves
/// out a line that does not begin with its move.
pub(crate) fn write<E>(
    answer: &Answer,
    mut number: impl FnMut(&Arc<str>) -> Result<u32, E>,
) -> Result<Vec<Group>, E> {
    let mut verdicts: Vec<&(Move, Verdict)> = answer.verdicts().iter().collect();
    verdicts.sort_by_key(|(m, _)| *m);
    let mut groups: Vec<(Group, u16)> = Vec::new();
    for (m, v) in verdicts {
        let head = GroupHead {
            score: v.score.raw(),
            bound: v.bound as u8,
            depth: v.depth,
            proof: v.proof.map(Into::into),
            engine: number(&v.by.engine)?,
            day: v.by.day,
            has_line: v.line.first() == Some(m),
        };
        let known = groups.iter().position(|(group, _)| group.head == head);
        let at = known.unwrap_or_else(|| {
            let moves = Vec::new();
            groups.push((Group { head, moves }, 0));
            groups.len() - 1
        });
        let (group, last) = &mut groups[at];
        let line = v
            .line
            .iter()
            .skip(1)
            .filter(|_| head.has_line)
            .map(|m| m.code())
            .collect();
        group.moves.push(MoveBody {
            step: m.code() - *last,
            nodes: v.nodes,
            line,
        });
        *last = m.code();
    }
    Ok(groups.into_iter().map(|(group, _)| group).collect())
}

/// Decodes an answer; `None` for damaged groups. `name` returns the engine of a number.
pub(crate) fn read(groups: &[Group], name: impl Fn(u32) -> Option<Arc<str>>) -> Option<Answer> {
    let mut verdicts = Vec::new();
    for Group { head, moves } in groups {
        let bound = match head.bound {
            0 => Bound::Upper,
            1 => Bound::Lower,
            2 => Bound::Exact,
            _ => return None,
        };
        let by = Provenance {
            engine: name(head.engine)?,
            day: head.day,
        };
        let (score, proof) = (Score::from_raw(head.score)?, proof_of(head.proof)?);
        let mut code = 0_u16;
        for body in moves {
            code = code.checked_add(body.step)?;
            let m = Move::new(code);
            let rest = body.line.iter().map(|&code| Move::new(code));
            let line = head.has_line.then_some(m).into_iter().chain(rest).collect();
            let by = by.clone();
            verdicts.push((
                m,
                Verdict {
                    score,
                    bound,
                    depth: head.depth,
                    nodes: body.nodes,
                    line,
                    proof,
                    by,
                },
            ));
        }
    }
    Some(verdicts.into_iter().collect())
}

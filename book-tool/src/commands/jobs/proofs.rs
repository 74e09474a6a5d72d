//! Reports whether a build has proven its roots.

use std::io::Write;

use anyhow::Result;
use kagetsu_api::ValueJson;
use kagetsu_book::Choice;
use kagetsu_game::{Claim, Position, Proof, Side, Verdict};
use kagetsu_proto::{Connector, v1};
use serde::Serialize;

use crate::client as remote;

/// Roots that are looked up at a time, with all their moves.
const MAX_ROOTS_PER_LOOKUP: usize = 16;

/// The state of a root that is to be won.
#[derive(Debug, Serialize)]
pub(crate) struct ProofJson {
    moves: Vec<String>,
    /// The side to move; the value is from its view.
    side: String,
    /// The side whose win is to be proven.
    attacker: String,
    /// Whether it is proven.
    proven: bool,
    #[serde(flatten)]
    value: ValueJson,
    /// The state as text.
    #[serde(skip)]
    text: String,
}

impl ProofJson {
    fn new(root: &Position, attacker: Side, best: Option<&Verdict>) -> Self {
        let proof = best.and_then(|verdict| verdict.proof);
        let winner = proof.and_then(|proof| match proof.claim {
            Claim::Win => Some(root.side()),
            Claim::Loss => Some(root.side().other()),
            Claim::Draw => None,
        });
        let outcome = match (proof, winner) {
            (None, _) => "not proven yet".into(),
            (Some(Proof { plies, .. }), Some(winner)) if winner == attacker => {
                format!("{attacker} wins in {plies}, proven")
            }
            (Some(Proof { plies, .. }), Some(winner)) => {
                format!("{winner} wins in {plies}, proven: {attacker} cannot")
            }
            (Some(_), None) => format!("a draw, proven: {attacker} cannot win"),
        };
        let moves: Vec<String> = root.moves().iter().map(|&m| root.write_move(m)).collect();
        let name = if moves.is_empty() {
            root.to_string()
        } else {
            moves.join(" ")
        };
        Self {
            moves,
            side: root.side().to_string(),
            attacker: attacker.to_string(),
            proven: winner == Some(attacker),
            value: best.map_or_else(ValueJson::unknown, ValueJson::of),
            text: format!("{name}: {outcome}"),
        }
    }
}

/// Returns the state of these roots in the book of a coordinator.
///
/// # Errors
/// If the coordinator is gone, or refuses.
pub(crate) async fn of(
    connector: &Connector,
    roots: &[Position],
    attacker: Side,
) -> Result<Vec<ProofJson>> {
    let mut proofs = Vec::with_capacity(roots.len());
    for some in roots.chunks(MAX_ROOTS_PER_LOOKUP) {
        let positions: Vec<v1::Position> = some.iter().map(Into::into).collect();
        for (root, found) in some
            .iter()
            .zip(remote::lookup(connector, &positions, 0).await?)
        {
            let answer = found.answer.unwrap_or_default().about(root)?;
            let best = Choice::default().pick(&answer).map(|(_, verdict)| verdict);
            proofs.push(ProofJson::new(root, attacker, best));
        }
    }
    Ok(proofs)
}

/// Writes a line for each root.
///
/// # Errors
/// If the output is closed.
pub(crate) fn write(out: &mut dyn Write, proofs: &[ProofJson]) -> Result<()> {
    proofs
        .iter()
        .try_for_each(|proof| Ok(writeln!(out, "{}", proof.text)?))
}

#[cfg(test)]
mod tests {
    use kagetsu_game::{Move, ProofKind, Variant};

    use super::*;

    #[test]
    fn output_names_the_side_whose_win_is_proven() {
        let rows = [
            (
                "h8",
                Side::First,
                Some((Claim::Loss, 8)),
                true,
                "h8: first wins in 8, proven",
            ),
            (
                "h8",
                Side::Second,
                Some((Claim::Win, 7)),
                true,
                "h8: second wins in 7, proven",
            ),
            (
                "h8",
                Side::First,
                Some((Claim::Win, 7)),
                false,
                "h8: second wins in 7, proven: first cannot",
            ),
            (
                "h8",
                Side::First,
                Some((Claim::Draw, 0)),
                false,
                "h8: a draw, proven: first cannot win",
            ),
            ("h8 a1", Side::First, None, false, "h8 a1: not proven yet"),
            ("", Side::First, None, false, "freestyle-15: not proven yet"),
        ];
        for (line, attacker, claim, proven, text) in rows {
            let root = Position::from_line(Variant::FREESTYLE_15, line).expect("legal");
            let proof = claim.map(|(claim, plies)| Proof::new(claim, ProofKind::Tree, plies));
            let verdict = kagetsu_builders::verdict(Move::new(0), proof);
            let json = ProofJson::new(&root, attacker, Some(&verdict));
            assert_eq!((json.proven, &*json.text), (proven, text));
        }
        let unknown = ProofJson::new(&Position::start(Variant::FREESTYLE_15), Side::First, None);
        assert!(!unknown.proven);
    }
}

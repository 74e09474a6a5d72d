//! Turns the results of a root search into verdicts.

use std::collections::BTreeSet;

use kagetsu_game::{
    Answer, Bound, Claim, Move, Outcome, Proof, ProofKind, Provenance, Score, Verdict,
};

use crate::root::provenance::provenance;
use crate::root::{Root, RootMove, RootSearch};

impl RootSearch<'_> {
    /// Returns the exact scores of the best `width` moves, upper bounds for the others, and a proof
    /// for every mate score.
    pub(crate) fn answer(&self, known: &[RootMove], root: &Root) -> Answer {
        let by = provenance();
        let width = self.width();
        let exact = known.iter().filter(|found| found.bound != Bound::Upper);
        let bound = exact
            .clone()
            .nth(width - 1)
            .map_or(Score::MIN, |found| found.score);
        let kept: BTreeSet<Move> = exact.take(width).map(|found| found.m).collect();
        let mut verdicts: Vec<(Move, Verdict)> = Vec::with_capacity(known.len());
        for found in known {
            let proof = self.proof(found);
            let (score, bound, line) = match () {
                // A mate score that rests on earlier positions counts as the greatest opinion.
                () if found.is_bound_to_path && found.score.is_mate() => {
                    let most = Score::OPINION_MAX;
                    (
                        found.score.clamp(-most, most),
                        found.bound,
                        found.line.clone(),
                    )
                }
                () if proof.is_some() => (found.score, Bound::Exact, found.line.clone()),
                () if kept.contains(&found.m) || found.bound == Bound::Lower => {
                    (found.score, found.bound, found.line.clone())
                }
                // Beside a proven win, an unsearched move is only known to win no sooner.
                () if found.score.max(bound) > Score::OPINION_MAX => continue,
                () => (found.score.max(bound), Bound::Upper, Vec::new()),
            };
            let (depth, nodes, by) = (found.depth, found.nodes, by.clone());
            verdicts.push((
                found.m,
                Verdict {
                    score,
                    bound,
                    depth,
                    nodes,
                    line,
                    proof,
                    by,
                },
            ));
        }
        verdicts.extend(root.fouls.iter().map(|&m| (m, foul(m, &by))));
        if let Some(plies) = root
            .otherwise
            .filter(|_| verdicts.iter().all(|(_, v)| is_loss(v)))
        {
            verdicts.extend(self.lost(plies, &verdicts, &by));
        }
        verdicts.into_iter().collect()
    }

    /// Returns the proof behind a mate score. An upper bound proves only a loss; a score that rests
    /// on a repetition proves nothing.
    fn proof(&self, found: &RootMove) -> Option<Proof> {
        if found.is_bound_to_path {
            return None;
        }
        let (claim, plies) = match (found.score.win_plies(), found.score.loss_plies()) {
            (Some(plies), _) if found.bound != Bound::Upper => (Claim::Win, plies),
            (_, Some(plies)) if found.bound != Bound::Lower => (Claim::Loss, plies),
            _ => return self.draw(found),
        };
        let kind = if plies == 1 {
            ProofKind::Terminal
        } else {
            ProofKind::Search
        };
        Some(Proof::new(claim, kind, plies))
    }

    fn draw(&self, found: &RootMove) -> Option<Proof> {
        let ends = found.score == Score::ZERO
            && self
                .question
                .position
                .play(found.m)
                .is_ok_and(|next| next.outcome() == Some(Outcome::Draw));
        ends.then_some(Proof::new(Claim::Draw, ProofKind::Terminal, 0))
    }

    /// Returns verdicts for the moves that do not meet a threat, where even the moves that meet it
    /// lose.
    fn lost(&self, plies: u16, known: &[(Move, Verdict)], by: &Provenance) -> Vec<(Move, Verdict)> {
        let searched: Vec<Move> = known.iter().map(|(m, _)| *m).collect();
        let proof = Proof::new(Claim::Loss, ProofKind::Search, plies);
        let verdict = |m| Verdict::proven(proof, vec![m], 0, by.clone());
        self.others(&searched)
            .into_iter()
            .map(|m| (m, verdict(m)))
            .collect()
    }
}

/// Returns the verdict of a forbidden move, which loses at once.
fn foul(m: Move, by: &Provenance) -> Verdict {
    let proof = Proof::new(Claim::Loss, ProofKind::Terminal, 1);
    Verdict::proven(proof, vec![m], 0, by.clone())
}

fn is_loss(verdict: &Verdict) -> bool {
    verdict
        .proof
        .is_some_and(|proof| proof.claim == Claim::Loss)
}

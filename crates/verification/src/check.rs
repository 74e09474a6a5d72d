use alloc::vec::Vec;

use kagetsu_game::{Answer, Claim, Move, Proof, Question, Score, Verdict};
use kagetsu_schedule::{QuestionId, WorkerId};

/// Value of an unproven win, in centi-units: a winning opinion, and visibly none of a proof.
pub(crate) const UNPROVEN_WIN: i32 = 10_000;

/// The number of a cross-check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckId(pub u64);

/// One answer to the question of a check.
#[derive(Clone, Debug)]
pub(crate) struct Opinion {
    /// Workers that gave it; none for the coordinator's own engine.
    pub(crate) by: Vec<WorkerId>,
    pub(crate) answer: Answer,
}

impl Opinion {
    pub(crate) fn is_own(&self) -> bool {
        self.by.is_empty()
    }
}

/// An answer that waits for its check before it enters the book.
#[derive(Clone, Debug)]
pub(crate) struct HeldAnswer {
    pub(crate) id: QuestionId,
    /// Moves with claims that the coordinator did not find.
    pub(crate) unproven: Vec<Move>,
}

/// A question that is asked again to verify its first answer.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub(crate) question: Question,
    pub(crate) job: Option<u32>,
    pub(crate) priority: u64,
    /// The opinions so far, the answer to be verified first.
    pub(crate) opinions: Vec<Opinion>,
    /// `None` if the answer is in the book already.
    pub(crate) held: Option<HeldAnswer>,
    /// Whether a volunteer had a part in the first answer.
    pub(crate) is_volunteers: bool,
}

impl Check {
    /// Returns the workers that have given an opinion.
    pub(crate) fn answerers(&self) -> Vec<WorkerId> {
        self.opinions
            .iter()
            .flat_map(|opinion| &opinion.by)
            .copied()
            .collect()
    }

    /// Returns an opinion's answer for the book: claims without evidence are opinions. Evidence is
    /// the coordinator's own finding, either in its replay of the first answer or in its own
    /// opinion.
    pub(crate) fn answer_for_book(&self, index: usize) -> Answer {
        let mut answer = self.opinions[index].answer.clone();
        if self.opinions[index].is_own() {
            return answer;
        }
        let claim_of = |opinion: &Opinion, m: Move| {
            opinion
                .answer
                .get(m)
                .and_then(|verdict| verdict.proof)
                .map(|proof| proof.claim)
        };
        let is_evident = |m: Move, claim: Claim| {
            let is_replayed = self
                .held
                .as_ref()
                .is_none_or(|held| !held.unproven.contains(&m));
            let first = &self.opinions[0];
            (is_replayed && claim_of(first, m) == Some(claim))
                || self
                    .opinions
                    .iter()
                    .any(|opinion| opinion.is_own() && claim_of(opinion, m) == Some(claim))
        };
        let unproven: Vec<Move> = answer
            .verdicts()
            .iter()
            .filter(|(m, v)| v.proof.is_some_and(|proof| !is_evident(*m, proof.claim)))
            .map(|(m, _)| *m)
            .collect();
        demote(&mut answer, &unproven);
        answer
    }
}

/// Turns the claims about these moves into opinions of the same depth.
pub(crate) fn demote(answer: &mut Answer, moves: &[Move]) {
    let demoted = |(m, verdict): &(Move, Verdict)| {
        let Some(proof) = verdict.proof.filter(|_| moves.contains(m)) else {
            return (*m, verdict.clone());
        };
        let score = match proof.claim {
            Claim::Win => Score::opinion(UNPROVEN_WIN),
            Claim::Draw => Score::ZERO,
            Claim::Loss => Score::opinion(-UNPROVEN_WIN),
        };
        let verdict = Verdict {
            score,
            bound: kagetsu_game::Bound::Exact,
            proof: None,
            ..verdict.clone()
        };
        (*m, verdict)
    };
    *answer = answer.verdicts().iter().map(demoted).collect();
}

/// Replaces proofs by the coordinator's own, which are true for sure.
pub(crate) fn lengthen(answer: &mut Answer, found: &[(Move, Proof)]) {
    let lengthened = |(m, verdict): &(Move, Verdict)| {
        let mut verdict = verdict.clone();
        if let Some((_, proof)) = found.iter().find(|(found, _)| found == m) {
            (verdict.score, verdict.proof) = (proof.score(), Some(*proof));
        }
        (*m, verdict)
    };
    *answer = answer.verdicts().iter().map(lengthened).collect();
}

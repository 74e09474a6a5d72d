use alloc::vec::Vec;

use kagetsu_game::{Answer, Claim, Move, Proof, Question, Score, Verdict};
use kagetsu_schedule::{QuestionId, WorkerId};

use crate::compare::{UNPROVEN_WIN, is_decided};

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

    /// Returns what the coordinator has found to be proven of a move: in its replay of the first
    /// answer, or in its own search.
    fn evidence(&self, m: Move) -> impl Iterator<Item = Claim> {
        let held = self.held.as_ref();
        let is_replayed = held.is_none_or(|held| !held.unproven.contains(&m));
        let opinions = self.opinions.iter().enumerate();
        opinions
            .filter(move |(at, opinion)| opinion.is_own() || *at == 0 && is_replayed)
            .filter_map(move |(_, opinion)| Some(opinion.answer.get(m)?.proof?.claim))
    }

    /// Whether the coordinator has found the proof of a move.
    pub(crate) fn is_evident(&self, m: Move) -> bool {
        self.evidence(m).next().is_some()
    }

    /// Whether an opinion calls its best move won or lost, without evidence.
    pub(crate) fn has_claim(&self, index: usize) -> bool {
        let best = self.opinions[index].answer.best();
        best.is_some_and(|(m, verdict)| is_decided(verdict) && !self.is_evident(m))
    }

    /// Returns the lines of the best moves that are called won or lost, each with its first move.
    pub(crate) fn lines(&self) -> Vec<Vec<Move>> {
        let claims = (0..self.opinions.len()).filter(|index| self.has_claim(*index));
        let best = claims.filter_map(|index| self.opinions[index].answer.best());
        let line = |(m, verdict): (Move, &Verdict)| {
            if verdict.line.first() == Some(&m) {
                verdict.line.clone()
            } else {
                [m].into()
            }
        };
        best.map(line).collect()
    }

    /// Returns an opinion's answer for the book: claims without evidence are opinions.
    pub(crate) fn answer_for_book(&self, index: usize) -> Answer {
        let mut answer = self.opinions[index].answer.clone();
        if self.opinions[index].is_own() {
            return answer;
        }
        let is_evident = |m, claim| self.evidence(m).any(|found| found == claim);
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
    *answer = answer.changed(|m, verdict| {
        if let Some(proof) = verdict.proof.take_if(|_| moves.contains(&m)) {
            verdict.bound = kagetsu_game::Bound::Exact;
            verdict.score = match proof.claim {
                Claim::Win => Score::opinion(UNPROVEN_WIN),
                Claim::Draw => Score::ZERO,
                Claim::Loss => Score::opinion(-UNPROVEN_WIN),
            };
        }
    });
}

/// Replaces proofs by the coordinator's own, which are true for sure.
pub(crate) fn lengthen(answer: &mut Answer, found: &[(Move, Proof)]) {
    *answer = answer.changed(|m, verdict| {
        if let Some((_, proof)) = found.iter().find(|(found, _)| *found == m) {
            (verdict.score, verdict.proof) = (proof.score(), Some(*proof));
        }
    });
}

//! Making sure: claims are repeated before they enter the book, a share of the answers is asked for twice, and who was
//! wrong is believed no more.

use kagetsu_book::Work;
use kagetsu_game::{Answer, Bound, Claim, Move, Score, Verdict};
use kagetsu_schedule::{QuestionId, Suspension, TaskId, WorkerId};
use tonic::Status;

use crate::cluster::state::{Purpose, State, urgency};
use crate::verification::compare::difference;
use crate::verification::prover::{Claims, Kept};

/// An answer that another worker is asked to confirm, and a third where the two differ.
pub(crate) struct Check {
    pub(crate) work: Work,
    /// Who said what, in the order in which they said it; nobody for the coordinator itself.
    said: Vec<(Vec<WorkerId>, Answer)>,
    /// The question whose answer waits for this, with the moves whose claims could not be repeated; none where the answer
    /// is in the book already.
    pub(crate) held: Option<(QuestionId, Vec<Move>)>,
}

impl Check {
    /// Who has said something of it.
    fn asked(&self) -> Vec<WorkerId> {
        self.said.iter().flat_map(|(by, _)| by).copied().collect()
    }
}

impl State {
    /// A position of a build is answered.
    pub(crate) fn answered(
        &mut self,
        id: QuestionId,
        work: Work,
        answer: Answer,
        by: Vec<WorkerId>,
    ) {
        if self.trust.is_blind {
            return self.learn(id, work, answer);
        }
        if by.iter().any(|worker| self.trust.is_quarantined(*worker)) {
            return self.again(id, work);
        }
        if answer
            .verdicts()
            .iter()
            .all(|(_, verdict)| verdict.proof.is_none())
        {
            return self.accept(id, work, answer, &by);
        }
        let claims = Box::new(Claims {
            id,
            work,
            answer,
            by,
        });
        let waits = match &self.prover {
            Some(prover) => prover.prove(claims),
            None => Err(claims),
        };
        if let Err(claims) = waits {
            let open = claims
                .answer
                .verdicts()
                .iter()
                .filter(|(_, v)| v.proof.is_some())
                .map(|(m, _)| *m)
                .collect();
            self.proven(*claims, open);
        }
    }

    /// The answer to a person goes into the book, once its claims are repeated.
    pub(crate) fn keep(&mut self, kept: Box<Kept>) {
        let claims: Vec<Move> = kept
            .answer
            .verdicts()
            .iter()
            .filter(|(_, verdict)| verdict.proof.is_some())
            .map(|(m, _)| *m)
            .collect();
        if self.trust.is_blind || claims.is_empty() {
            return self.learn_kept(kept, &[]);
        }
        let waits = match &self.prover {
            Some(prover) => prover.keep(kept),
            None => Err(kept),
        };
        if let Err(kept) = waits {
            self.learn_kept(kept, &claims);
        }
    }

    /// It goes into the book, with these claims as opinions.
    pub(crate) fn learn_kept(&mut self, kept: Box<Kept>, open: &[Move]) {
        kept.by
            .iter()
            .for_each(|worker| self.trust.said(*worker, None, &kept.question.position));
        let mut learned = kept.answer.clone();
        weaken(&mut learned, open);
        match &self.keeper {
            Some(keeper) => keeper.keep(kept, learned),
            None => self.scheduler.settle(kept.id),
        }
    }

    /// The prover has repeated the claims of an answer, but for these.
    pub(crate) fn proven(&mut self, claims: Claims, open: Vec<Move>) {
        let Claims {
            id,
            work,
            mut answer,
            by,
        } = claims;
        if by.iter().any(|worker| self.trust.is_quarantined(*worker)) {
            self.again(id, work);
        } else if open.is_empty() {
            self.accept(id, work, answer, &by);
        } else if self
            .scheduler
            .has_other_worker(work.question.position.variant(), &by)
        {
            self.check(Check {
                work,
                said: vec![(by, answer)],
                held: Some((id, open)),
            });
        } else {
            tracing::debug!(position = %work.question.position, moves = open.len(), "claims nobody could repeat: opinions");
            weaken(&mut answer, &open);
            self.accept(id, work, answer, &by);
        }
    }

    /// An answer goes into the book, and perhaps to another worker too.
    fn accept(&mut self, id: QuestionId, work: Work, answer: Answer, by: &[WorkerId]) {
        by.iter().for_each(|worker| {
            self.trust
                .said(*worker, Some(work.job), &work.question.position)
        });
        let variant = work.question.position.variant();
        if self.trust.is_sampled(id) && self.scheduler.has_other_worker(variant, by) {
            self.check(Check {
                work: work.clone(),
                said: vec![(by.to_vec(), answer.clone())],
                held: None,
            });
        }
        self.learn(id, work, answer);
    }

    fn learn(&self, id: QuestionId, work: Work, answer: Answer) {
        if let Some(keeper) = &self.keeper {
            keeper.finish(id, work, answer);
        }
    }

    /// The answer is not to be believed: the position waits again.
    fn again(&mut self, id: QuestionId, work: Work) {
        self.scheduler.settle(id);
        if let Some(keeper) = &self.keeper {
            keeper.release(work);
        }
    }

    /// Asks somebody who has not said anything of it.
    fn check(&mut self, check: Check) {
        let work = &check.work;
        let priority = urgency(work);
        let id = self.scheduler.submit_excluding(
            self.now,
            work.question.clone(),
            priority,
            check.asked(),
        );
        self.purposes.insert(id, Purpose::Check(Box::new(check)));
    }

    /// Another worker has answered too.
    pub(crate) fn checked(
        &mut self,
        id: QuestionId,
        mut check: Box<Check>,
        answer: Answer,
        by: Vec<WorkerId>,
    ) {
        self.scheduler.settle(id);
        if by.iter().any(|worker| self.trust.is_quarantined(*worker)) {
            return self.check(*check);
        }
        check.said.push((by, answer));
        self.weigh(check);
    }

    /// The coordinator has searched itself, if it could.
    pub(crate) fn refereed(&mut self, mut check: Box<Check>, answer: Option<Answer>) {
        match answer {
            Some(answer) => {
                check.said.push((Vec::new(), answer));
                self.weigh(check);
            }
            None => self.unresolved(*check),
        }
    }

    fn weigh(&mut self, check: Box<Check>) {
        let position = &check.work.question.position;
        let everybody = check.asked();
        let band = self.trust.band(check.work.question.effort, &everybody);
        let differ = |one: usize, other: usize| {
            difference(position, band, &check.said[one].1, &check.said[other].1)
        };
        if check.said.len() == 2 {
            let Some(reason) = differ(0, 1) else {
                return self.settled(*check, 0, &[0, 1]);
            };
            tracing::warn!(%position, reason, "two workers differ");
            if self
                .scheduler
                .has_other_worker(position.variant(), &everybody)
            {
                return self.check(*check);
            }
            return self.judge(check);
        }
        match (differ(0, 2), differ(1, 2)) {
            (None, Some(reason)) => self.refuted(*check, 1, [0, 2], &reason),
            (Some(reason), None) => self.refuted(*check, 0, [1, 2], &reason),
            (None, None) => self.settled(*check, 2, &[]),
            (Some(_), Some(_)) => self.unresolved(*check),
        }
    }

    /// One of three answers was wrong; the first of the others counts.
    fn refuted(&mut self, check: Check, wrong: usize, right: [usize; 2], reason: &str) {
        let position = &check.work.question.position;
        let reason = format!("wrong about {position}: {reason}");
        for worker in check.said[wrong].0.clone() {
            // Where there were several, whose part of it was wrong nobody knows.
            if check.said[wrong].0.len() == 1 {
                self.quarantine(worker, reason.clone(), false);
            }
        }
        // What is in the book already; the worker may have said much since.
        if let Some(keeper) = self
            .keeper
            .as_ref()
            .filter(|_| wrong == 0 && check.held.is_none())
        {
            keeper.distrust(vec![(Some(check.work.job), position.clone())]);
        }
        self.settled(check, right[0], &right);
    }

    /// One answer counts, and these were right.
    fn settled(&mut self, check: Check, counts: usize, right: &[usize]) {
        let Check {
            work,
            mut said,
            held,
        } = check;
        let workers: Vec<WorkerId> = right
            .iter()
            .flat_map(|right| said[*right].0.clone())
            .collect();
        workers
            .iter()
            .for_each(|worker| self.trust.confirm(*worker, &work.question.position));
        let others: Vec<Answer> = said
            .iter()
            .enumerate()
            .filter(|(index, _)| *index != counts)
            .map(|(_, (_, answer))| answer.clone())
            .collect();
        let (by, mut answer) = said.swap_remove(counts);
        let Some((id, open)) = held else { return };
        // A claim that nobody else makes stays an opinion, however well the values agree.
        let repeats = |m: &Move, claimed: &Verdict| {
            let proof = |other: &Answer| other.get(*m).and_then(|verdict| verdict.proof);
            let is_it = |other: &Answer| {
                proof(other).map(|proof| proof.claim) == claimed.proof.map(|proof| proof.claim)
            };
            others.iter().any(is_it)
        };
        let alone = answer
            .verdicts()
            .iter()
            .filter(|(m, v)| v.proof.is_some() && open.contains(m) && !repeats(m, v));
        let alone: Vec<Move> = alone.map(|(m, _)| *m).collect();
        weaken(&mut answer, &alone);
        by.iter()
            .filter(|_| !right.contains(&counts))
            .for_each(|worker| {
                self.trust
                    .said(*worker, Some(work.job), &work.question.position);
            });
        self.learn(id, work, answer);
    }

    /// Nobody knows who is right: no claim is believed that could not be repeated.
    fn unresolved(&mut self, check: Check) {
        tracing::warn!(position = %check.work.question.position, "nobody knows who is right");
        self.settled(check, 0, &[]);
    }

    /// Somebody has gone: what nobody is left to confirm the coordinator searches itself, if it waits for that.
    pub(crate) fn look_after_checks(&mut self) {
        let is_left = |(id, purpose): (&QuestionId, &Purpose)| match purpose {
            Purpose::Check(check) => {
                let variant = check.work.question.position.variant();
                (!self.scheduler.has_other_worker(variant, &check.asked())).then_some(*id)
            }
            _ => None,
        };
        let left: Vec<QuestionId> = self.purposes.iter().filter_map(is_left).collect();
        for id in left {
            self.scheduler.cancel(self.now, id);
            if let Some(Purpose::Check(check)) = self.forget(id) {
                self.judge(check);
            }
        }
    }

    /// The coordinator searches itself, where an answer waits for it.
    fn judge(&mut self, check: Box<Check>) {
        if check.held.is_none() && check.said.len() < 2 {
            return;
        }
        let asked = match &self.prover {
            Some(prover) => prover.referee(check),
            None => Err(check),
        };
        if let Err(check) = asked {
            self.unresolved(*check);
        }
    }

    /// A check that ended without an answer, or is wanted no more.
    pub(crate) fn unchecked(&mut self, check: Check) {
        if check.held.is_some() {
            self.settled(check, 0, &[]);
        }
    }

    /// A worker has answered a question of the exam, rightly or not.
    pub(crate) fn marked(&mut self, worker: WorkerId, task: TaskId, marked: Result<(), String>) {
        if let Err(fault) = marked {
            self.quarantine(worker, fault.clone(), true);
            let why = format!("this worker gives wrong answers: {fault}");
            return self.links.refuse(worker, Status::failed_precondition(why));
        }
        let Some(record) = self.trust.record_mut(worker) else {
            return;
        };
        let Some(exam) = record.exam.as_mut() else {
            return;
        };
        // Who says one answer twice has not given another.
        exam.remove(&task);
        if exam.is_empty() && record.quarantine.is_none() {
            self.believe(worker);
        }
    }

    /// A worker is believed no more: it gets nothing, and what it said and nobody has confirmed is searched anew.
    /// What it said in the exam holds for this process; what it said at work for all that come under its name.
    pub(crate) fn quarantine(&mut self, worker: WorkerId, reason: String, is_of_exam: bool) {
        let until = if is_of_exam {
            "until it is started anew, and examined; or `kagetsu workers release`"
        } else {
            "and whoever comes under its name, until `kagetsu workers release`"
        };
        let token = self
            .links
            .about(worker)
            .and_then(|about| about.token.as_deref());
        tracing::error!(
            worker = self.name(worker),
            token,
            reason,
            "a worker is in quarantine, {until}"
        );
        self.unheard.take(worker);
        let unverified = self.trust.refute(worker, reason, is_of_exam);
        self.keep_quarantine();
        self.scheduler
            .suspend(self.now, worker, Some(Suspension::Quarantine));
        if let Some(keeper) = self.keeper.as_ref().filter(|_| !unverified.is_empty()) {
            keeper.distrust(unverified);
        }
        self.look_after_checks();
    }

    /// Ends the quarantine of all workers of a name; how many were in one. Those that are connected are examined.
    pub(crate) fn release(&mut self, name: &str) -> usize {
        let released = self.trust.release(name);
        for &worker in &released {
            if let Some(about) = self.links.about(worker).cloned() {
                let bar = self.receive(worker, &about);
                self.scheduler.suspend(self.now, worker, bar);
            }
        }
        if !released.is_empty() {
            tracing::info!(name, "the quarantine is ended");
            self.keep_quarantine();
        }
        released.len()
    }

    /// Another life of the coordinator is to know who is in quarantine.
    pub(crate) fn keep_quarantine(&self) {
        if let Some(keeper) = &self.keeper {
            keeper.confine(self.trust.confined());
        }
    }
}

/// Makes opinions of these claims: as strong as an opinion can be.
fn weaken(answer: &mut Answer, moves: &[Move]) {
    let weaker = |(m, verdict): &(Move, Verdict)| {
        let Some(proof) = verdict.proof.filter(|_| moves.contains(m)) else {
            return (*m, verdict.clone());
        };
        let (score, bound) = match proof.claim {
            Claim::Win => (Score::OPINION_MAX, Bound::Exact),
            Claim::Draw => (Score::ZERO, Bound::Exact),
            Claim::Loss => (-Score::OPINION_MAX, Bound::Exact),
        };
        (
            *m,
            Verdict {
                score,
                bound,
                proof: None,
                ..verdict.clone()
            },
        )
    };
    *answer = answer.verdicts().iter().map(weaker).collect();
}

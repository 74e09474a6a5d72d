use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use kagetsu_game::{Answer, Move};
use kagetsu_schedule::{QuestionId, WorkerId};

use crate::check::{Check, HeldAnswer, Opinion, demote, lengthen};
use crate::conform::without_unproven_wins;
use crate::machine::{Pending, Verification};
use crate::worker::{Unverified, WorkerRecord, WorkerStanding};
use crate::{CheckId, Class, Decision, Replay, Scope, Ticket};

/// Unconfirmed answers of one worker that are asked again when it turns out to be wrong.
const MAX_UNVERIFIED: usize = 16_384;
/// Checks at a time. Answers beyond them are not checked: the verifying workers are too slow for
/// the share.
const MAX_OPEN_CHECKS: usize = 16_384;

/// Answers: claims and cross-checks.
impl Verification {
    /// Replays that are given out at a time. The claims of further answers are left to a check.
    pub const MAX_REPLAYS: usize = 16;
    /// Searches that are given out at a time. Further ones wait.
    pub const MAX_SEARCHES: usize = 16;

    /// Handles an answer that these workers gave together.
    pub fn answered(&mut self, now: Duration, ticket: Ticket, answer: Answer, by: Vec<WorkerId>) {
        let id = ticket.id;
        if self.options.trusts_all {
            return self.effects.push_back(Decision::Accept { id, answer });
        }
        if self.is_any_quarantined(&by) {
            return self.effects.push_back(Decision::Reject { id });
        }
        let claims = answer.verdicts().iter().filter(|(_, v)| v.proof.is_some());
        let claims: Vec<Move> = claims.map(|(m, _)| *m).collect();
        if claims.is_empty() {
            return self.accept(now, ticket, answer, &by);
        }
        if self.pending.len() >= Self::MAX_REPLAYS {
            return self.weigh_claims(now, ticket, answer, by, claims);
        }
        self.effects.push_back(Decision::Replay {
            id,
            question: ticket.question.clone(),
            answer: answer.clone(),
        });
        self.pending.insert(id, Pending { ticket, answer, by });
    }

    /// Handles the replay of an answer's claims.
    pub fn replayed(&mut self, now: Duration, id: QuestionId, replay: Replay) {
        let Some(Pending {
            ticket,
            mut answer,
            by,
        }) = self.pending.remove(&id)
        else {
            return;
        };
        if self.is_any_quarantined(&by) {
            return self.effects.push_back(Decision::Reject { id });
        }
        if !replay.refuted.is_empty() {
            if let [worker] = by[..] {
                let position = &ticket.question.position;
                let m = position.write_move(replay.refuted[0]);
                let reason = format!("wrong about {position}: the rules refute its proof of {m}");
                self.refute(now, worker, reason);
                return self.effects.push_back(Decision::Reject { id });
            }
            // The guilty one of several is unknown.
            answer.retain(|m, _| !replay.refuted.contains(&m));
            if answer.is_empty() {
                return self.effects.push_back(Decision::Reject { id });
            }
        }
        if !replay.longer.is_empty() {
            lengthen(&mut answer, &replay.longer);
        }
        if replay.unproven.is_empty() {
            return self.accept(now, ticket, answer, &by);
        }
        self.weigh_claims(now, ticket, answer, by, replay.unproven);
    }

    /// Claims that the coordinator did not find: a second opinion tells a deep search from a lie.
    fn weigh_claims(
        &mut self,
        now: Duration,
        ticket: Ticket,
        mut answer: Answer,
        by: Vec<WorkerId>,
        unproven: Vec<Move>,
    ) {
        let is_volunteers = self.has_volunteer(&by);
        if ticket.job.is_none() {
            // A client waits for this answer.
            if is_volunteers {
                answer.retain(|m, _| !unproven.contains(&m));
            }
            demote(&mut answer, &unproven);
            return self.accept(now, ticket, answer, &by);
        }
        let check = Check {
            question: ticket.question.clone(),
            job: ticket.job,
            priority: ticket.priority,
            opinions: vec![Opinion {
                by: by.clone(),
                answer: answer.clone(),
            }],
            held: Some(HeldAnswer {
                id: ticket.id,
                unproven: unproven.clone(),
            }),
            is_volunteers,
        };
        if is_volunteers || self.has_confirmer(now, &check) {
            self.ask(now, check);
        } else {
            demote(&mut answer, &unproven);
            self.accept(now, ticket, answer, &by);
        }
    }

    /// Puts an answer into the book. A share of them is checked: a job's answer before it enters,
    /// so that a job ends only when its checks have ended; an analysis, for which a client waits,
    /// afterwards.
    fn accept(&mut self, now: Duration, ticket: Ticket, answer: Answer, by: &[WorkerId]) {
        let is_volunteers = self.has_volunteer(by);
        let held = ticket.job.map(|_| HeldAnswer {
            id: ticket.id,
            unproven: Vec::new(),
        });
        let check = Check {
            question: ticket.question,
            job: ticket.job,
            priority: ticket.priority,
            opinions: vec![Opinion {
                by: by.to_vec(),
                answer,
            }],
            held,
            is_volunteers,
        };
        let is_asked = self.is_sampled(ticket.id)
            || (check.has_claim(0) && by.iter().any(|worker| self.is_doubted(*worker)));
        let is_checked = is_asked
            && !check.opinions[0].answer.is_empty()
            && self.checks.len() < MAX_OPEN_CHECKS
            && (is_volunteers
                || self.has_confirmer(now, &check)
                || by.iter().any(|worker| self.is_doubted(*worker)));
        if !(is_checked && check.held.is_some()) {
            self.note(&check, 0);
            self.effects.push_back(Decision::Accept {
                id: ticket.id,
                answer: check.opinions[0].answer.clone(),
            });
        }
        if is_checked {
            self.ask(now, check);
        }
    }

    /// Handles a worker's answer to the question of a check.
    pub fn second_opinion(
        &mut self,
        now: Duration,
        id: CheckId,
        answer: Answer,
        by: Vec<WorkerId>,
    ) {
        let Some(mut check) = self.checks.remove(&id) else {
            return;
        };
        if self.is_any_quarantined(&by) || by.is_empty() {
            return self.ask(now, check);
        }
        check.opinions.push(Opinion { by, answer });
        self.weigh(now, check);
    }

    /// The coordinator's engine has answered the question of a check; `None` if it could not.
    pub fn searched(&mut self, now: Duration, id: CheckId, answer: Option<Answer>) {
        self.searching.remove(&id);
        if let Some(check) = self.checks.remove(&id) {
            self.hear_own(now, check, answer);
        }
        self.start_searches();
    }

    fn hear_own(&mut self, now: Duration, mut check: Check, answer: Option<Answer>) {
        match answer.filter(|answer| !answer.is_empty()) {
            Some(answer) => {
                let (by, answer) = (Vec::new(), without_unproven_wins(&answer));
                check.opinions.push(Opinion { by, answer });
                self.weigh(now, check);
            }
            None => self.leave_open(check),
        }
    }

    /// Handles a check whose question no worker could answer, or whose job was stopped.
    pub fn unanswered(&mut self, id: CheckId) {
        if let Some(check) = self.checks.remove(&id) {
            self.leave_open(check);
        }
    }

    /// Ends the checks of a stopped job.
    pub fn stop_job(&mut self, job: u32) {
        let stopped: Vec<CheckId> = self
            .checks
            .iter()
            .filter(|(_, check)| check.job == Some(job))
            .map(|(id, _)| *id)
            .collect();
        for id in stopped {
            self.effects.push_back(Decision::Withdraw { check: id });
            self.unanswered(id);
        }
    }

    /// Ends the checks of answers that have left the book with the quarantine of their workers.
    pub(crate) fn end_checks_of_retracted(&mut self) {
        let is_retracted =
            |check: &Check| check.held.is_none() && self.is_any_quarantined(&check.opinions[0].by);
        let ended: Vec<CheckId> = self
            .checks
            .iter()
            .filter(|(_, check)| is_retracted(check))
            .map(|(id, _)| *id)
            .collect();
        for id in ended {
            self.checks.remove(&id);
            self.effects.push_back(Decision::Withdraw { check: id });
        }
    }

    /// Asks a worker that has not given an opinion, else the coordinator's own engine.
    pub(crate) fn ask(&mut self, now: Duration, check: Check) {
        if !self.has_confirmer(now, &check) {
            return self.search_or_drop(check);
        }
        let id = self.add_check(check.clone());
        self.effects.push_back(Decision::Ask {
            check: id,
            question: check.question.clone(),
            priority: check.priority,
            except: self.no_confirmers(&check),
        });
    }

    /// The coordinator searches where something depends on it: a claim, a disagreement, or the
    /// answer of a volunteer, of a doubted or of a quarantined worker.
    pub(crate) fn search_or_drop(&mut self, check: Check) {
        let has_claims = check
            .held
            .as_ref()
            .is_some_and(|held| !held.unproven.is_empty());
        let by = &check.opinions[0].by;
        let is_suspect =
            |worker: &WorkerId| self.is_quarantined(*worker) || self.is_doubted(*worker);
        let is_doubted = has_claims
            || check.is_volunteers
            || check.opinions.len() > 1
            || by.iter().any(is_suspect);
        if is_doubted {
            self.search(check);
        } else {
            self.leave_open(check);
        }
    }

    /// Asks the coordinator's own engine.
    pub(crate) fn search(&mut self, check: Check) {
        if check.opinions.iter().any(Opinion::is_own) {
            return self.leave_open(check);
        }
        let id = self.add_check(check);
        self.unsearched.push_back(id);
        self.start_searches();
    }

    /// Gives waiting checks to the coordinator's own engine; those that have ended wait no more.
    fn start_searches(&mut self) {
        while self.searching.len() < Self::MAX_SEARCHES
            && let Some(id) = self.unsearched.pop_front()
        {
            if let Some(check) = self.checks.get(&id) {
                self.searching.insert(id);
                self.effects.push_back(Decision::Search {
                    check: id,
                    question: check.question.clone(),
                    lines: check.lines(),
                });
            }
        }
    }

    fn add_check(&mut self, check: Check) -> CheckId {
        self.next_check += 1;
        let id = CheckId(self.next_check);
        self.checks.insert(id, check);
        id
    }

    /// Rejects one opinion as wrong; another counts.
    pub(crate) fn settle_against(
        &mut self,
        now: Duration,
        check: &Check,
        wrong: usize,
        counts: usize,
        right: &[usize],
        reason: &str,
    ) {
        let position = &check.question.position;
        // The guilty one of several is unknown.
        if let [worker] = check.opinions[wrong].by[..] {
            self.refute(now, worker, format!("wrong about {position}: {reason}"));
        }
        if wrong == 0 && check.held.is_none() {
            self.retract(check);
        }
        self.settle(check, counts, right);
    }

    /// Accepts one opinion, and records that the values of the `right` ones were confirmed.
    pub(crate) fn settle(&mut self, check: &Check, counts: usize, right: &[usize]) {
        let key = check.question.position.key();
        for &index in right {
            for worker in &check.opinions[index].by {
                if check.has_claim(index) {
                    self.doubt_less(*worker);
                }
                if let Some(record) = self.records.get_mut(worker) {
                    record.verified += 1;
                    record.unverified.retain(|answer| answer.key != key);
                }
            }
        }
        let Some(held) = &check.held else { return };
        if !right.contains(&counts) {
            self.note(check, counts);
        }
        self.effects.push_back(Decision::Accept {
            id: held.id,
            answer: check.answer_for_book(counts),
        });
    }

    /// Ends a check without a result. The answer of a volunteer or a quarantined worker does not
    /// stay: the question is asked anew. The operator's worker keeps its word, but not its unproven
    /// claims.
    pub(crate) fn leave_open(&mut self, check: Check) {
        let own = check.opinions.iter().position(Opinion::is_own);
        let is_rejected = own.is_none()
            && (check.is_volunteers || self.is_any_quarantined(&check.opinions[0].by));
        match &check.held {
            Some(held) if is_rejected => {
                self.effects.push_back(Decision::Reject { id: held.id });
            }
            // The value that decides less stays.
            Some(_) => {
                let modest = (0..check.opinions.len()).find(|at| !check.has_claim(*at));
                self.settle(&check, own.or(modest).unwrap_or(0), &[]);
            }
            None if check.is_volunteers && check.opinions.len() > 1 => self.retract(&check),
            None => {}
        }
    }

    pub(crate) fn retract(&mut self, check: &Check) {
        self.effects.push_back(Decision::Retract {
            answers: vec![(check.job, check.question.position.clone())],
        });
    }

    pub(crate) fn refute(&mut self, now: Duration, worker: WorkerId, reason: String) {
        if let Some(record) = self.records.get_mut(&worker) {
            record.refuted += 1;
        }
        self.quarantine(now, worker, reason, Scope::Principal);
    }

    /// Remembers an answer in the book that nothing has confirmed.
    fn note(&mut self, check: &Check, counts: usize) {
        let opinion = &check.opinions[counts];
        if opinion.is_own() {
            return;
        }
        let position = &check.question.position;
        let canonical = position.canonical();
        let answer = Unverified {
            job: check.job,
            variant: position.variant(),
            key: canonical.key,
            packed: canonical.packed,
            is_decided: check.has_claim(counts),
        };
        for worker in &opinion.by {
            if let Some(record) = self.records.get_mut(worker) {
                if record.unverified.len() == MAX_UNVERIFIED {
                    record.unverified.pop_front();
                }
                record.unverified.push_back(answer.clone());
            }
        }
    }

    /// Whether one of the operator's workers can answer the check, or will when it is calibrated.
    pub(crate) fn has_confirmer(&self, now: Duration, check: &Check) -> bool {
        let variant = check.question.position.variant();
        let except = self.no_confirmers(check);
        let timeout = self.options.calibration_timeout;
        self.records.iter().any(|(id, record)| {
            let is_ready = match record.standing {
                WorkerStanding::Admitted => true,
                WorkerStanding::Calibrating(since) => now < since.saturating_add(timeout),
                WorkerStanding::Quarantined(_) => false,
            };
            is_ready
                && record.is_connected
                && !record.is_behind
                && record.profile.class == Class::Operator
                && record.profile.plays.contains(&variant)
                && !except.contains(id)
        })
    }

    /// Returns the workers that cannot answer a check: those that have, and for the answer of a
    /// volunteer all whose searches are not of the same engine with one thread.
    fn no_confirmers(&self, check: &Check) -> Vec<WorkerId> {
        let mut except = check.answerers();
        let first = check.opinions[0].by.first();
        let engine = first.and_then(|worker| Some(&self.records.get(worker)?.profile.engine));
        if let Some(engine) = engine.filter(|_| check.is_volunteers) {
            let is_other = |record: &WorkerRecord| {
                record.profile.class == Class::Operator
                    && (record.profile.engine != *engine || record.profile.threads != 1)
            };
            let others = self.records.iter().filter(|(_, record)| is_other(record));
            except.extend(others.map(|(id, _)| *id));
        }
        except
    }

    fn has_volunteer(&self, by: &[WorkerId]) -> bool {
        by.iter()
            .any(|worker| self.class(*worker) == Class::Volunteer)
    }

    fn is_any_quarantined(&self, by: &[WorkerId]) -> bool {
        by.iter().any(|worker| self.is_quarantined(*worker))
    }

    /// Whether an answer is asked again. Workers cannot predict it without the seed.
    fn is_sampled(&self, id: QuestionId) -> bool {
        // SplitMix64 (Steele, Lea, Flood 2014).
        let mut bits = (id.0 ^ self.options.seed).wrapping_add(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % 1_000_000 < u64::from(self.options.share)
    }
}

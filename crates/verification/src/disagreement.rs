use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use kagetsu_game::Variant;
use kagetsu_schedule::WorkerId;

use crate::Decision;
use crate::check::Check;
use crate::compare::{AnswerRelation, Tolerance, compare};
use crate::machine::Verification;
use crate::worker::{Unverified, WorkerRecord};

/// Doubt at which a worker is quarantined.
const QUARANTINE_DOUBT: i32 = 20;

/// Disagreements: what opinions say of each other, and who is doubted for it.
impl Verification {
    /// Compares the last opinion of a check with the others: two that agree settle it, else a
    /// third decides. The coordinator decides about a win or a loss without evidence: two workers
    /// that claim it may lie alike.
    pub(crate) fn weigh(&mut self, now: Duration, check: Check) {
        let last = check.opinions.len() - 1;
        if check.opinions[last].is_own() {
            return self.arbitrate(now, &check);
        }
        let compared: Vec<AnswerRelation> = (0..last)
            .map(|index| self.compare(&check, index, last))
            .collect();
        let is_disputed = last == 2 && self.compare(&check, 0, 1).is_contradiction();
        let right = |index: usize, comparison: &AnswerRelation| match comparison {
            AnswerRelation::Equal => vec![index, 2],
            _ => Vec::new(),
        };
        use AnswerRelation::{Apart, Decided, Equal, Near};
        let has_claim = (0..=last).any(|index| check.has_claim(index));
        match &compared[..] {
            all if has_claim || all.iter().any(|one| matches!(one, Decided { .. })) => {
                self.search(check);
            }
            [Equal] => self.settle(&check, 0, &[0, 1]),
            // Two engines may differ so much. The one that the coordinator knows counts.
            [Near] if self.is_known(&check, 0) => self.settle(&check, 0, &[]),
            [Near] if self.is_known(&check, 1) => self.settle(&check, 1, &[]),
            [_] => self.ask(now, check),
            [first @ (Equal | Near), Apart(reason)] if is_disputed => {
                self.settle_against(now, &check, 1, 0, &right(0, first), reason);
            }
            [Apart(reason), second @ (Equal | Near)] if is_disputed => {
                self.settle_against(now, &check, 0, 1, &right(1, second), reason);
            }
            [Equal, _] => self.settle(&check, 0, &[0, 2]),
            [_, Equal] => self.settle(&check, 1, &[1, 2]),
            [Apart(_), Apart(_)] => self.leave_open(check),
            _ => self.settle(&check, 2, &[]),
        }
    }

    /// Settles a check by the coordinator's own opinion, the last one. A worker is wrong at once
    /// only by a value that no honest search has; what it calls won or lost, and the coordinator
    /// does not, makes it doubted.
    fn arbitrate(&mut self, now: Duration, check: &Check) {
        let own = check.opinions.len() - 1;
        let compared: Vec<AnswerRelation> = (0..own)
            .map(|index| self.compare(check, index, own))
            .collect();
        let equal: Vec<usize> = (0..own)
            .filter(|index| compared[*index] == AnswerRelation::Equal)
            .collect();
        let is_backed = if own == 1 {
            check.is_volunteers
        } else {
            self.compare(check, 0, 1).is_contradiction()
                && compared.iter().any(|other| !other.is_contradiction())
        };
        let position = &check.question.position;
        for (index, comparison) in compared.iter().enumerate() {
            let [worker] = check.opinions[index].by[..] else {
                // The guilty one of several is unknown.
                continue;
            };
            match comparison {
                AnswerRelation::Apart(reason) if is_backed => {
                    self.refute(now, worker, format!("wrong about {position}: {reason}"));
                }
                AnswerRelation::Decided {
                    by_first: true,
                    reason,
                } => {
                    let weight = self.weight(check, index);
                    self.doubt(
                        now,
                        worker,
                        weight,
                        format!("wrong about {position}: {reason}"),
                    );
                }
                _ => {}
            }
        }
        if !equal.contains(&0) && compared[0].is_contradiction() && check.held.is_none() {
            self.retract(check);
        }
        // Beside a false claim the other value stays, as one that is not checked.
        let mut near = (0..own).filter(|index| {
            let is_volunteers = check.is_volunteers && *index == 0;
            !compared[*index].is_contradiction() && !is_volunteers
        });
        let near = near.next().filter(|_| near.next().is_none());
        let counts = equal.first().copied().or(near).unwrap_or(own);
        self.settle(check, counts, &equal);
    }

    /// Returns how much a false claim counts: at once enough where the coordinator can repeat the
    /// search, half of that where another worker of the same engine has, by the words of both.
    fn weight(&self, check: &Check, index: usize) -> i32 {
        let is_repeated = |other: usize| {
            let opinion = &check.opinions[other];
            !opinion.is_own()
                && self.tolerance(false, check, index, other) == Tolerance::SameSearch
                && self.compare(check, index, other).is_contradiction()
        };
        match () {
            () if check.question.effort.time.is_some() => 1,
            () if self.is_known(check, index) => QUARANTINE_DOUBT,
            () if (0..check.opinions.len()).any(|other| other != index && is_repeated(other)) => {
                QUARANTINE_DOUBT / 2
            }
            () => 1,
        }
    }

    /// The coordinator's own engine does not see a win or a loss that a worker claims, even with
    /// the worker's line tried.
    ///
    /// A stronger search than the coordinator's may be right, so this alone shows no liar. Each
    /// such claim counts 1, or more where the [`weight`](Self::weight) of an equal search says so;
    /// each claim that it sees counts -2. At 20 the worker is quarantined. A worker half of whose
    /// claims are seen comes to 20 with a probability below 1.618^-20, one in 15,000 (the bound of
    /// a random walk whose steps 1 and -2 are equally likely). From its first such claim on, all
    /// its claims are checked, and the earlier ones are asked again.
    pub(crate) fn doubt(&mut self, now: Duration, worker: WorkerId, weight: i32, reason: String) {
        let Some(record) = self.records.get(&worker) else {
            return;
        };
        let principal = record.profile.principal();
        let doubt = self.doubts.entry(principal.clone()).or_default();
        *doubt += weight;
        if *doubt >= QUARANTINE_DOUBT {
            self.doubts.remove(&principal);
            return self.refute(now, worker, reason);
        }
        let mut answers = Vec::new();
        let its = |record: &&mut WorkerRecord| record.profile.principal() == principal;
        for record in self.records.values_mut().filter(its) {
            let decided = record.unverified.iter().filter(|answer| answer.is_decided);
            answers.extend(decided.filter_map(Unverified::asked));
            record.unverified.retain(|answer| !answer.is_decided);
        }
        if !answers.is_empty() {
            self.effects.push_back(Decision::Retract { answers });
        }
    }

    /// The coordinator's own engine sees a claim of a worker.
    pub(crate) fn doubt_less(&mut self, worker: WorkerId) {
        if let Some(record) = self.records.get(&worker)
            && let Some(doubt) = self.doubts.get_mut(&record.profile.principal())
        {
            *doubt = (*doubt - 2).max(-QUARANTINE_DOUBT);
        }
    }

    /// Whether the claims of a worker are doubted: all of them are checked.
    pub(crate) fn is_doubted(&self, worker: WorkerId) -> bool {
        let record = self.records.get(&worker);
        record.is_some_and(|record| self.doubts.contains_key(&record.profile.principal()))
    }

    fn compare(&self, check: &Check, one: usize, other: usize) -> AnswerRelation {
        let is_timed = check.question.effort.time.is_some();
        let tolerances = (
            Tolerance::strict(is_timed),
            self.tolerance(is_timed, check, one, other),
        );
        let (one, other) = (&check.opinions[one], &check.opinions[other]);
        let is_evident = |m| check.is_evident(m);
        let position = &check.question.position;
        compare(position, tolerances, &one.answer, &other.answer, is_evident)
    }

    /// Whether an opinion is that of the coordinator's engine, as far as the coordinator knows.
    fn is_known(&self, check: &Check, index: usize) -> bool {
        let is_exact = |worker| {
            self.records
                .get(worker)
                .is_some_and(|record| record.is_exact)
        };
        !self.has_other_tables(check) && check.opinions[index].by.iter().all(is_exact)
    }

    /// Whether honest searches may differ because one has end tables and the other has none.
    fn has_other_tables(&self, check: &Check) -> bool {
        let variant = check.question.position.variant();
        self.options.has_end_tables && matches!(variant, Variant::Surakarta { .. })
    }

    /// Returns the difference within which no worker is blamed. The names of engines widen
    /// only that: [`Tolerance::strict`] says what is confirmed.
    fn tolerance(&self, is_timed: bool, check: &Check, one: usize, other: usize) -> Tolerance {
        let strict = Tolerance::strict(is_timed);
        if self.has_other_tables(check) {
            return Tolerance::OtherEngine;
        }
        if self.is_known(check, one) && self.is_known(check, other) {
            return strict;
        }
        let opinions = [one, other].map(|index| &check.opinions[index]);
        let mut searches = opinions.into_iter().flat_map(|opinion| {
            let profile = |worker| self.records.get(worker).map(|record| &record.profile);
            let own = opinion.is_own().then_some((&self.options.own_engine, 1));
            let profiles = opinion.by.iter().filter_map(profile);
            profiles
                .map(|profile| (&profile.engine, profile.threads))
                .chain(own)
        });
        let Some((engine, threads)) = searches.next() else {
            return Tolerance::OtherEngine;
        };
        let mut tolerance = if threads == 1 {
            strict
        } else {
            Tolerance::SameEngine
        };
        for (other, threads) in searches {
            if other != engine {
                return Tolerance::OtherEngine;
            }
            if threads != 1 {
                tolerance = Tolerance::SameEngine;
            }
        }
        tolerance
    }
}

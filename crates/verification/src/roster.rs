use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use kagetsu_game::Variant;
use kagetsu_schedule::WorkerId;

use crate::machine::Verification;
use crate::worker::{WorkerRecord, WorkerStanding};
use crate::{
    Admission, Class, Decision, Profile, Quarantine, QuarantinedWorker, Scope, WorkerTrust,
};

/// Workers on record, connected or not.
const MAX_RECORDS: usize = 20_000;

/// Workers: connection, calibration, quarantine.
impl Verification {
    /// A worker connects, for the first time or again.
    ///
    /// # Errors
    /// For a worker without a variant, and for a volunteer with an engine or a number of threads
    /// that nothing here can compare its answers with.
    pub fn connect(
        &mut self,
        now: Duration,
        worker: WorkerId,
        profile: Profile,
    ) -> Result<Admission, String> {
        if self.options.trusts_all {
            let record = WorkerRecord::new(profile, WorkerStanding::Admitted);
            self.records.insert(worker, record);
            return Ok(Admission::Admitted);
        }
        if profile.plays.is_empty() {
            return Err(
                "the coordinator has no calibration question for any variant that this worker \
                 names, so it cannot tell whether its answers are right"
                    .into(),
            );
        }
        if profile.class == Class::Volunteer {
            if !self.can_verify(&profile.engine) {
                return Err(format!(
                    "a volunteer must run an engine that the coordinator or one of the operator's \
                     workers runs, so that its answers can be verified; '{}' is not one",
                    profile.engine
                ));
            }
            if profile.threads != 1 {
                return Err(format!(
                    "a volunteer searches with one thread, so that its answers can be repeated, \
                     and not with {}; give --threads 1, and --slots for more searches at a time",
                    profile.threads
                ));
            }
        }
        self.make_room();
        self.inherit_quarantine(now, worker, &profile);
        let record = self.records.entry(worker).or_insert_with(|| {
            WorkerRecord::new(profile.clone(), WorkerStanding::Calibrating(now))
        });
        let is_other_token = record.profile.token != profile.token;
        let calibrated = Arc::clone(&record.profile.plays);
        record.profile = profile;
        if record.standing == WorkerStanding::Admitted && !is_other_token {
            record.profile.plays = calibrated;
        }
        record.is_connected = true;
        Ok(match &record.standing {
            WorkerStanding::Quarantined(_) => Admission::Quarantined,
            // Instance numbers can be learned, so a passed calibration counts for its token only.
            WorkerStanding::Admitted if is_other_token => {
                record.standing = WorkerStanding::Calibrating(now);
                Admission::Calibrating
            }
            WorkerStanding::Admitted => Admission::Admitted,
            WorkerStanding::Calibrating(_) => Admission::Calibrating,
        })
    }

    /// A worker's connection has ended.
    pub fn disconnect(&mut self, now: Duration, worker: WorkerId) {
        if let Some(record) = self.records.get_mut(&worker) {
            record.is_connected = false;
        }
        self.tick(now);
    }

    /// A worker has answered all calibration questions of these variants correctly; `is_exact`: as
    /// the coordinator's own engine does. Returns whether it is admitted by that.
    pub fn pass_calibration(
        &mut self,
        worker: WorkerId,
        plays: Arc<BTreeSet<Variant>>,
        is_exact: bool,
    ) -> bool {
        match self.records.get_mut(&worker) {
            Some(record)
                if matches!(record.standing, WorkerStanding::Calibrating(_))
                    && !plays.is_empty() =>
            {
                (record.standing, record.is_exact) = (WorkerStanding::Admitted, is_exact);
                record.profile.plays = plays;
                true
            }
            _ => false,
        }
    }

    /// A worker has answered a calibration question wrongly.
    pub fn fail_calibration(&mut self, now: Duration, worker: WorkerId, reason: String) {
        if let Some(record) = self.records.get_mut(&worker) {
            record.refuted += 1;
        }
        self.quarantine(now, worker, reason, Scope::Process);
    }

    /// A worker has answered a task.
    pub fn succeeded(&mut self, worker: WorkerId) {
        if let Some(record) = self.records.get_mut(&worker) {
            record.failures_in_a_row = 0;
            record.is_behind = false;
            record.done += 1;
        }
    }

    /// A worker has had a task for too long. Checks that wait for it alone end without it.
    pub fn fell_behind(&mut self, now: Duration, worker: WorkerId) {
        if let Some(record) = self.records.get_mut(&worker) {
            record.is_behind = true;
        }
        self.tick(now);
    }

    /// A worker has failed a task. After too many in a row it is quarantined.
    pub fn failed(&mut self, now: Duration, worker: WorkerId, reason: &str) {
        let Some(record) = self.records.get_mut(&worker) else {
            return;
        };
        record.failed += 1;
        record.failures_in_a_row += 1;
        let failures = record.failures_in_a_row;
        if failures >= self.options.max_failures_in_a_row && !self.options.trusts_all {
            let reason = format!("it failed {failures} tasks in a row, the last: {reason}");
            self.quarantine(now, worker, reason, Scope::Process);
        }
    }

    /// Ends the quarantine of the workers of this name, and of all volunteers that share a token
    /// with one of them. Returns those released; the connected ones must be calibrated.
    pub fn release(&mut self, now: Duration, name: &str) -> Vec<WorkerId> {
        let named: Vec<Profile> = self
            .records
            .values()
            .filter(|record| record.quarantine().is_some() && record.profile.name == name)
            .map(|record| record.profile.clone())
            .collect();
        let mut released = Vec::new();
        for (worker, record) in &mut self.records {
            let is_covered = named
                .iter()
                .any(|profile| record.is_same_principal(profile));
            if record.quarantine().is_some() && is_covered {
                record.standing = WorkerStanding::Calibrating(now);
                record.failures_in_a_row = 0;
                released.push(*worker);
            }
        }
        if !released.is_empty() {
            self.effects.push_back(Decision::Store);
        }
        released
    }

    /// Whether every answer is accepted as it is.
    #[must_use]
    pub const fn trusts_all(&self) -> bool {
        self.options.trusts_all
    }

    /// Whether a worker is quarantined.
    #[must_use]
    pub fn is_quarantined(&self, worker: WorkerId) -> bool {
        self.records
            .get(&worker)
            .is_some_and(|record| record.quarantine().is_some())
    }

    /// Whether a worker gets tasks.
    #[must_use]
    pub fn is_admitted(&self, worker: WorkerId) -> bool {
        self.records
            .get(&worker)
            .is_some_and(|record| record.standing == WorkerStanding::Admitted)
    }

    /// Returns the class of a worker; an unknown one counts as a volunteer.
    #[must_use]
    pub fn class(&self, worker: WorkerId) -> Class {
        self.records
            .get(&worker)
            .map_or(Class::Volunteer, |record| record.profile.class)
    }

    /// Returns the variants of which a worker gets tasks.
    #[must_use]
    pub fn plays(&self, worker: WorkerId) -> Option<&Arc<BTreeSet<Variant>>> {
        self.records
            .get(&worker)
            .map(|record| &record.profile.plays)
    }

    /// Returns a worker's record for lists.
    #[must_use]
    pub fn trust(&self, worker: WorkerId) -> WorkerTrust {
        self.records
            .get(&worker)
            .map(WorkerRecord::trust)
            .unwrap_or_default()
    }

    /// Whether a connected worker that plays the variant is answering calibration questions.
    #[must_use]
    pub fn is_calibrating(&self, variant: Variant) -> bool {
        self.records.values().any(|record| {
            record.is_connected
                && matches!(record.standing, WorkerStanding::Calibrating(_))
                && record.profile.plays.contains(&variant)
        })
    }

    /// Returns the quarantined workers, to be stored.
    #[must_use]
    pub fn quarantined(&self) -> Vec<QuarantinedWorker> {
        let quarantined = |(worker, record): (&WorkerId, &WorkerRecord)| {
            let profile = &record.profile;
            Some(QuarantinedWorker {
                worker: *worker,
                name: profile.name.clone(),
                engine: profile.engine.to_string(),
                token: profile.token.as_deref().map(Into::into),
                is_volunteer: profile.class == Class::Volunteer,
                quarantine: record.quarantine()?.clone(),
            })
        };
        self.records.iter().filter_map(quarantined).collect()
    }

    /// Returns the number of quarantines since the start.
    #[must_use]
    pub const fn quarantines(&self) -> u64 {
        self.quarantines
    }

    /// Takes in the quarantined workers that an earlier process stored.
    pub fn restore(&mut self, stored: Vec<QuarantinedWorker>) {
        for worker in stored {
            let profile = Profile {
                name: worker.name,
                engine: worker.engine.into(),
                slots: 0,
                threads: 0,
                token: worker.token.map(Into::into),
                class: if worker.is_volunteer {
                    Class::Volunteer
                } else {
                    Class::Operator
                },
                plays: Arc::default(),
            };
            let mut record =
                WorkerRecord::new(profile, WorkerStanding::Quarantined(worker.quarantine));
            record.is_connected = false;
            self.records.insert(worker.worker, record);
        }
    }

    /// Whether the coordinator or an admitted worker of the operator runs this engine.
    fn can_verify(&self, engine: &Arc<str>) -> bool {
        *engine == self.options.own_engine
            || self.records.values().any(|record| {
                record.is_connected
                    && record.profile.class == Class::Operator
                    && record.standing == WorkerStanding::Admitted
                    && record.profile.engine == *engine
            })
    }

    /// Forgets a disconnected worker if there are too many; a quarantined one only if all are.
    fn make_room(&mut self) {
        if self.records.len() < MAX_RECORDS {
            return;
        }
        let gone = |(_, record): &(&WorkerId, &WorkerRecord)| !record.is_connected;
        let sound = self
            .records
            .iter()
            .filter(gone)
            .find(|(_, record)| record.quarantine().is_none());
        let since = |record: &WorkerRecord| record.quarantine().map(|quarantine| quarantine.since);
        let eldest = || {
            self.records
                .iter()
                .filter(gone)
                .min_by_key(|(_, record)| since(record))
        };
        if let Some(worker) = sound.or_else(eldest).map(|(worker, _)| *worker) {
            self.records.remove(&worker);
        }
    }

    /// A new process inherits the quarantine of its principal, so that restarting is no way out.
    /// It takes the place of the disconnected processes.
    fn inherit_quarantine(&mut self, now: Duration, worker: WorkerId, profile: &Profile) {
        let known = self.records.get(&worker);
        if known.is_some_and(|known| known.quarantine().is_none()) {
            return;
        }
        let is_new = known.is_none();
        let is_quarantined = |record: &WorkerRecord| {
            record.quarantine().is_some() && record.is_same_principal(profile)
        };
        let heritable = |record: &&WorkerRecord| {
            record
                .quarantine()
                .is_some_and(|quarantine| quarantine.scope == Scope::Principal)
        };
        let heritage = self
            .records
            .values()
            .filter(|record| is_quarantined(record))
            .filter(heritable)
            .filter(|_| is_new)
            .max_by_key(|record| record.quarantine().map(|quarantine| quarantine.since))
            .cloned();
        let before = self.records.len();
        self.records
            .retain(|id, record| *id == worker || record.is_connected || !is_quarantined(record));
        let is_changed = heritage.is_some() || self.records.len() < before;
        if let Some(heritage) = heritage {
            let mut record = WorkerRecord::new(profile.clone(), WorkerStanding::Calibrating(now));
            record.standing = heritage.standing;
            (record.verified, record.refuted) = (heritage.verified, heritage.refuted);
            self.records.insert(worker, record);
        }
        if is_changed {
            self.effects.push_back(Decision::Store);
        }
    }

    pub(crate) fn quarantine(
        &mut self,
        now: Duration,
        worker: WorkerId,
        reason: String,
        scope: Scope,
    ) {
        let Some(record) = self.records.get(&worker) else {
            return;
        };
        if record.quarantine().is_some() {
            return;
        }
        let profile = record.profile.clone();
        let is_covered = |id: WorkerId, record: &WorkerRecord| {
            id == worker
                || (scope == Scope::Principal
                    && profile.class == Class::Volunteer
                    && record.is_same_principal(&profile))
        };
        let mut answers = Vec::new();
        for (id, record) in &mut self.records {
            if record.quarantine().is_some() || !is_covered(*id, record) {
                continue;
            }
            record.standing = WorkerStanding::Quarantined(Quarantine {
                reason: reason.clone(),
                since: now,
                scope,
            });
            self.quarantines += 1;
            self.effects.push_back(Decision::Quarantine { worker: *id });
            answers.extend(
                record
                    .unverified
                    .drain(..)
                    .filter_map(|answer| answer.asked()),
            );
        }
        self.effects.push_back(Decision::Store);
        if !answers.is_empty() {
            self.effects.push_back(Decision::Retract { answers });
        }
        self.end_checks_of_retracted();
        self.tick(now);
    }
}

use alloc::collections::{BTreeSet, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use core::time::Duration;

use kagetsu_game::{Key, Packed, Position, Variant};

use crate::Quarantine;

/// The two kinds of workers, by the role of their token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The operator's own. Without tokens every worker is one.
    Operator,
    /// A volunteer's. Its answers are confirmed by the operator's workers or the coordinator alone.
    Volunteer,
}

/// A worker's introduction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name, for display.
    pub name: String,
    /// Name and version of its engine.
    pub engine: Arc<str>,
    /// Searches at a time.
    pub slots: u32,
    /// Threads of each search.
    pub threads: u32,
    /// Name of its token; `None` where no token is needed.
    pub token: Option<Arc<str>>,
    /// Class of its token.
    pub class: Class,
    /// Variants that its engine plays.
    pub plays: Arc<BTreeSet<Variant>>,
}

/// The state in which a worker enters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It gets tasks.
    Admitted,
    /// It must answer the calibration questions first.
    Calibrating,
    /// It gets nothing until it is released.
    Quarantined,
}

/// A worker's record for lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerTrust {
    /// Tasks that it answered.
    pub done: u64,
    /// Answers that another worker or the coordinator confirmed.
    pub verified: u64,
    /// Answers that were found wrong.
    pub refuted: u64,
    /// Tasks that it failed.
    pub failed: u64,
    /// Why it gets no tasks; `None` if it gets some.
    pub quarantine: Option<String>,
    /// Whether it has yet to answer calibration questions.
    pub is_calibrating: bool,
    /// Whether it is a volunteer.
    pub is_volunteer: bool,
}

/// An answer in the book that nothing has confirmed.
#[derive(Clone, Debug)]
pub(crate) struct Unverified {
    pub(crate) job: Option<u32>,
    pub(crate) variant: Variant,
    pub(crate) key: Key,
    pub(crate) packed: Packed,
    /// Whether it calls a move won or lost without evidence.
    pub(crate) is_decided: bool,
}

impl Unverified {
    /// Returns the answer's job and position.
    pub(crate) fn asked(&self) -> Option<(Option<u32>, Position)> {
        let position = Position::unpack(self.variant, self.packed.clone()).ok()?;
        Some((self.job, position))
    }
}

/// A worker's standing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WorkerStanding {
    /// It has passed its calibration.
    Admitted,
    /// It is answering calibration questions since this time.
    Calibrating(Duration),
    Quarantined(Quarantine),
}

/// All that is known of one worker.
#[derive(Clone, Debug)]
pub(crate) struct WorkerRecord {
    pub(crate) profile: Profile,
    pub(crate) is_connected: bool,
    /// Whether it has had a task for too long, and answered none since: no check waits for it.
    pub(crate) is_behind: bool,
    pub(crate) standing: WorkerStanding,
    /// Whether its calibration answers were those of the coordinator's own engine.
    pub(crate) is_exact: bool,
    pub(crate) done: u64,
    pub(crate) verified: u64,
    pub(crate) refuted: u64,
    pub(crate) failed: u64,
    /// Failures since its last answer.
    pub(crate) failures_in_a_row: u32,
    /// Its last answers in the book that nothing has confirmed, the oldest first.
    pub(crate) unverified: VecDeque<Unverified>,
}

/// The owner of a worker's answers: a volunteer's token, or the name of an operator's worker.
pub(crate) type Principal = (Class, String);

impl Profile {
    pub(crate) fn principal(&self) -> Principal {
        let owner = match self.class {
            Class::Volunteer => self.token.as_deref().unwrap_or_default(),
            Class::Operator => &self.name,
        };
        (self.class, owner.into())
    }
}

impl WorkerRecord {
    pub(crate) fn new(profile: Profile, standing: WorkerStanding) -> Self {
        Self {
            profile,
            is_connected: true,
            is_behind: false,
            standing,
            is_exact: false,
            done: 0,
            verified: 0,
            refuted: 0,
            failed: 0,
            failures_in_a_row: 0,
            unverified: VecDeque::new(),
        }
    }

    pub(crate) fn quarantine(&self) -> Option<&Quarantine> {
        match &self.standing {
            WorkerStanding::Quarantined(quarantine) => Some(quarantine),
            WorkerStanding::Admitted | WorkerStanding::Calibrating(_) => None,
        }
    }

    /// Whether a quarantine of scope [`Principal`](crate::Scope::Principal) of this worker covers
    /// a worker of the other profile.
    pub(crate) fn is_same_principal(&self, other: &Profile) -> bool {
        self.profile.principal() == other.principal()
    }

    pub(crate) fn trust(&self) -> WorkerTrust {
        WorkerTrust {
            done: self.done,
            verified: self.verified,
            refuted: self.refuted,
            failed: self.failed,
            quarantine: self
                .quarantine()
                .map(|quarantine| quarantine.reason.clone()),
            is_calibrating: matches!(self.standing, WorkerStanding::Calibrating(_)),
            is_volunteer: self.profile.class == Class::Volunteer,
        }
    }
}

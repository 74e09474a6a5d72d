//! What is known of each worker's word.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::SystemTime;

use kagetsu_book::JobId;
use kagetsu_game::{Effort, Position};
use kagetsu_schedule::{QuestionId, TaskId, WorkerId};

use crate::cluster::links::Introduction;
use crate::verification::compare::Band;
use crate::verification::quarantine::Confined;

/// Answers of one worker that are searched anew when it turns out to be wrong: the last.
const MOST_UNVERIFIED: usize = 512;
/// Workers that are remembered, connected or not.
const MOST_RECORDS: usize = 20_000;

/// What is known of one worker's word.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    /// Its name, for people.
    name: String,
    /// Name and version of its engine, and its threads.
    engine: (String, u32),
    /// The name of the token under which it came last.
    token: Option<Arc<str>>,
    /// Answers that others confirmed.
    pub(crate) confirmed: u64,
    /// Answers that were wrong.
    pub(crate) refuted: u64,
    /// Why it gets no tasks.
    pub(crate) quarantine: Option<String>,
    /// Since when, in seconds since 1970.
    since: u64,
    /// It is in quarantine for what it said in the exam.
    is_of_exam: bool,
    /// Questions of the exam that it has yet to answer, by their tasks; `None` before it was asked.
    pub(crate) exam: Option<BTreeSet<TaskId>>,
    /// What it said last that nobody has confirmed, for a job or for a person.
    unverified: VecDeque<(Option<JobId>, Position)>,
}

impl Record {
    /// What the world may know.
    pub(crate) fn without_answers(&self) -> Self {
        let (confirmed, refuted, quarantine) =
            (self.confirmed, self.refuted, self.quarantine.clone());
        Self {
            confirmed,
            refuted,
            quarantine,
            since: self.since,
            ..Self::default()
        }
    }
}

/// What is known of every worker's word.
pub(crate) struct Trust {
    /// Every word is believed.
    pub(crate) is_blind: bool,
    /// Of how many answers in a million another worker is asked too.
    share: u64,
    chance: RandomState,
    records: BTreeMap<WorkerId, Record>,
    /// Workers quarantined since the start.
    pub(crate) quarantines: u64,
}

impl Trust {
    /// `percent` of the answers are asked for twice.
    pub(crate) fn new(is_blind: bool, percent: f64) -> Self {
        let share = (percent.clamp(0.0, 100.0) * 1e4).round() as u64;
        Self {
            is_blind,
            share,
            chance: RandomState::new(),
            records: BTreeMap::new(),
            quarantines: 0,
        }
    }

    /// A worker is there, for the first time or again.
    pub(crate) fn meet(
        &mut self,
        worker: WorkerId,
        about: &Introduction,
        is_connected: impl Fn(WorkerId) -> bool,
    ) -> &mut Record {
        if self.records.len() >= MOST_RECORDS {
            // Names are drawn by chance: so is who is forgotten, of those that have gone. A bad one is kept, if not all are.
            let mut gone = self.records.iter().filter(|(id, _)| !is_connected(**id));
            let eldest = || self.records.iter().min_by_key(|(_, record)| record.since);
            let gone = gone
                .find(|(_, record)| record.quarantine.is_none())
                .or_else(eldest);
            gone.map(|(id, _)| *id).map(|id| self.records.remove(&id));
        }
        let record = self.records.entry(worker).or_default();
        if record.token != about.token {
            // Numbers can be learned: who comes under another token has everything to show anew.
            record.exam = None;
        }
        (record.name, record.engine) = (about.name.clone(), (about.engine.clone(), about.threads));
        record.token.clone_from(&about.token);
        record
    }

    /// A process that nobody knows comes under the name of one in quarantine: who was wrong at work is not believed either
    /// after a new start, and it takes the place of what has gone. Who failed in the exam is examined anew, which is all
    /// that anybody has to show. Whether this changes who is in quarantine, as it does too where one comes back that is there
    /// itself: others that had its name have gone for good.
    pub(crate) fn succeed(
        &mut self,
        worker: WorkerId,
        about: &Introduction,
        is_connected: impl Fn(WorkerId) -> bool,
    ) -> bool {
        let known = self.records.get(&worker);
        if known.is_some_and(|known| known.quarantine.is_none()) {
            return false;
        }
        let of_name = |record: &Record| record.quarantine.is_some() && record.name == about.name;
        let wrong = self
            .records
            .values()
            .filter(|record| of_name(record) && !record.is_of_exam);
        let heir = wrong
            .filter(|_| known.is_none())
            .max_by_key(|record| record.since)
            .map(Record::without_answers);
        let before = self.records.len();
        self.records
            .retain(|id, record| *id == worker || !of_name(record) || is_connected(*id));
        let is_changed = heir.is_some() || self.records.len() < before;
        if let Some(heir) = heir {
            self.records.insert(worker, heir);
        }
        is_changed
    }

    pub(crate) fn record(&self, worker: WorkerId) -> Option<&Record> {
        self.records.get(&worker)
    }

    pub(crate) fn record_mut(&mut self, worker: WorkerId) -> Option<&mut Record> {
        self.records.get_mut(&worker)
    }

    pub(crate) fn is_quarantined(&self, worker: WorkerId) -> bool {
        !self.is_blind
            && self
                .records
                .get(&worker)
                .is_some_and(|record| record.quarantine.is_some())
    }

    /// Whether another worker is to be asked too; by chance, so that no worker can know.
    pub(crate) fn is_sampled(&self, id: QuestionId) -> bool {
        self.share > 0 && self.chance.hash_one(id) % 1_000_000 < self.share
    }

    /// Notes what a worker said that goes into the book.
    pub(crate) fn said(&mut self, worker: WorkerId, job: Option<JobId>, position: &Position) {
        if let Some(record) = self.records.get_mut(&worker) {
            if record.unverified.len() == MOST_UNVERIFIED {
                record.unverified.pop_front();
            }
            record.unverified.push_back((job, position.clone()));
        }
    }

    /// What a worker said of a position is right.
    pub(crate) fn confirm(&mut self, worker: WorkerId, position: &Position) {
        if let Some(record) = self.records.get_mut(&worker) {
            record.confirmed += 1;
            record.unverified.retain(|(_, said)| said != position);
        }
    }

    /// A worker is believed no more. What it said last, and nobody has confirmed; nothing of one that was quarantined before.
    pub(crate) fn refute(
        &mut self,
        worker: WorkerId,
        reason: String,
        is_of_exam: bool,
    ) -> Vec<(Option<JobId>, Position)> {
        let Some(record) = self.records.get_mut(&worker) else {
            return Vec::new();
        };
        record.refuted += 1;
        if record.quarantine.is_some() {
            return Vec::new();
        }
        (record.quarantine, record.is_of_exam) = (Some(reason), is_of_exam);
        record.since = SystemTime::UNIX_EPOCH
            .elapsed()
            .map_or(0, |since| since.as_secs());
        self.quarantines += 1;
        std::mem::take(&mut record.unverified).into()
    }

    /// Who is in quarantine.
    pub(crate) fn confined(&self) -> Vec<Confined> {
        let confined = |(worker, record): (&WorkerId, &Record)| {
            let Record {
                name,
                engine,
                quarantine,
                since,
                is_of_exam,
                token,
                ..
            } = record;
            let (name, engine, reason) = (name.clone(), engine.0.clone(), quarantine.clone()?);
            let token = token.as_deref().map(Into::into);
            Some(Confined {
                worker: *worker,
                name,
                engine,
                reason,
                since: *since,
                is_of_exam: *is_of_exam,
                token,
            })
        };
        self.records.iter().filter_map(confined).collect()
    }

    /// Who was in quarantine in an earlier life of the coordinator still is.
    pub(crate) fn restore(&mut self, all: Vec<Confined>) {
        for Confined {
            worker,
            name,
            engine,
            reason,
            since,
            is_of_exam,
            token,
        } in all
        {
            let (engine, quarantine, token) = ((engine, 0), Some(reason), token.map(Into::into));
            let record = Record {
                name,
                engine,
                quarantine,
                since,
                is_of_exam,
                token,
                ..Record::default()
            };
            self.records.insert(worker, record);
        }
    }

    /// Ends the quarantine of all workers of a name, who have everything to show anew.
    pub(crate) fn release(&mut self, name: &str) -> Vec<WorkerId> {
        let is_it = |record: &Record| record.quarantine.is_some() && record.name == name;
        let mut released = Vec::new();
        for (worker, record) in self.records.iter_mut().filter(|(_, record)| is_it(record)) {
            (record.quarantine, record.exam) = (None, None);
            released.push(*worker);
        }
        released
    }

    /// How near two workers' answers must be.
    pub(crate) fn band(&self, effort: Effort, workers: &[WorkerId]) -> Band {
        let engines = || {
            workers
                .iter()
                .map(|worker| self.records.get(worker).map(|record| &record.engine))
        };
        let is_one = engines().all(|engine| {
            engine.is_some_and(|engine| engine.1 == 1 && Some(Some(engine)) == engines().next())
        });
        if is_one && effort.time.is_none() {
            Band::Narrow
        } else {
            Band::Wide
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confined(worker: u64, since: u64) -> Confined {
        let (name, engine, reason) = ("liar".into(), "e".into(), "wrong".into());
        Confined {
            worker: WorkerId(worker),
            name,
            engine,
            reason,
            since,
            is_of_exam: false,
            token: None,
        }
    }

    #[test]
    fn who_comes_under_another_token_has_everything_to_show_anew() {
        let about = |token: Option<&str>| {
            let (name, engine, plays) = ("w".into(), "e".into(), Arc::default());
            Introduction {
                name,
                engine,
                slots: 1,
                threads: 1,
                plays,
                token: token.map(Into::into),
            }
        };
        let mut trust = Trust::new(false, 2.0);
        trust.meet(WorkerId(1), &about(Some("one")), |_| true).exam = Some(BTreeSet::new());
        assert!(
            trust
                .meet(WorkerId(1), &about(Some("one")), |_| true)
                .exam
                .is_some()
        );
        assert_eq!(
            trust
                .meet(WorkerId(1), &about(Some("another")), |_| true)
                .exam,
            None
        );
    }

    #[test]
    fn of_a_name_in_quarantine_who_has_gone_is_forgotten_when_one_comes() {
        let plays = Arc::new(BTreeSet::new());
        let about = Introduction {
            name: "liar".into(),
            engine: "e".into(),
            slots: 1,
            threads: 1,
            plays,
            token: None,
        };
        for (comes, is_seven_there, left) in [
            (8, false, &[8][..]),
            (8, true, &[7, 8]),
            (9, false, &[9]),
            (9, true, &[7, 9]),
        ] {
            let mut trust = Trust::new(false, 2.0);
            trust.restore(vec![confined(7, 1), confined(8, 2)]);
            assert!(
                trust.succeed(WorkerId(comes), &about, |worker| is_seven_there
                    && worker == WorkerId(7))
                    || is_seven_there
            );
            let all: Vec<u64> = trust
                .confined()
                .iter()
                .map(|confined| confined.worker.0)
                .collect();
            assert_eq!(all, left, "{comes} comes, 7 is there: {is_seven_there}");
        }
    }
}

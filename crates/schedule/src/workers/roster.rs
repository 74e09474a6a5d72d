use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use core::ops::Bound::{Excluded, Unbounded};
use core::time::Duration;

use kagetsu_game::Variant;

use crate::tasks::Part;
use crate::workers::Worker;
use crate::{Options, WorkerId};

/// Where a worker has room for one more task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// In a free slot: it would begin at once.
    Slot,
    /// In its queue: all its slots are taken.
    Queue,
}

/// Workers that play the same.
#[derive(Debug)]
struct Repertoire {
    plays: Option<Arc<BTreeSet<Variant>>>,
    workers: u64,
    room: u64,
    slots: u64,
    free: u64,
}

/// When a worker was last served, and which; the order in which workers are served.
pub(crate) type Turn = (u64, WorkerId);

/// All workers, and who of them has room, is overloaded, is sound, is to be looked after: each found in O(log n).
///
/// Invariant: the indices agree with the workers; [`Roster::with`] is the only way to change one.
#[derive(Debug)]
pub(crate) struct Roster {
    options: Options,
    workers: BTreeMap<WorkerId, Worker>,
    free: BTreeSet<Turn>,
    hungry: BTreeSet<Turn>,
    loaded: BTreeSet<(u32, WorkerId)>,
    sound: BTreeSet<WorkerId>,
    alarms: BTreeSet<(Duration, WorkerId)>,
    /// Free slots of all workers.
    pub(crate) free_slots: u64,
    /// Slots of all workers that take tasks.
    pub(crate) slots: u64,
    /// Tasks that all workers could take, queued ones included.
    pub(crate) room: u64,
    /// Tasks in the hands of all workers.
    pub(crate) load: u64,
    /// Workers by what they play, their slots, and the tasks that they could take: of the same list by where it lies, 0 for
    /// everything.
    repertoires: BTreeMap<usize, Repertoire>,
}

impl Roster {
    pub(crate) const fn new(options: Options) -> Self {
        Self {
            options,
            workers: BTreeMap::new(),
            free: BTreeSet::new(),
            hungry: BTreeSet::new(),
            loaded: BTreeSet::new(),
            sound: BTreeSet::new(),
            alarms: BTreeSet::new(),
            free_slots: 0,
            slots: 0,
            room: 0,
            load: 0,
            repertoires: BTreeMap::new(),
        }
    }

    pub(crate) fn get(&self, id: WorkerId) -> Option<&Worker> {
        self.workers.get(&id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (WorkerId, &Worker)> {
        self.workers.iter().map(|(id, worker)| (*id, worker))
    }

    pub(crate) fn len(&self) -> usize {
        self.workers.len()
    }

    /// Changes one worker, if it is there.
    pub(crate) fn with<R>(
        &mut self,
        id: WorkerId,
        change: impl FnOnce(&mut Worker) -> R,
    ) -> Option<R> {
        let mut worker = self.remove(id)?;
        let result = change(&mut worker);
        self.insert(id, worker);
        Some(result)
    }

    pub(crate) fn insert(&mut self, id: WorkerId, worker: Worker) {
        self.count(&worker, u64::wrapping_add);
        let turn = (worker.turn, id);
        match room(&worker, self.options.prefetch) {
            Some(Room::Slot) => _ = self.free.insert(turn),
            Some(Room::Queue) => _ = self.hungry.insert(turn),
            None => {}
        }
        if worker.surplus() > 0 {
            self.loaded.insert((worker.surplus(), id));
        }
        if worker.is_sound() {
            self.sound.insert(id);
        }
        self.alarms
            .extend(worker.alarm(&self.options).map(|at| (at, id)));
        self.workers.insert(id, worker);
    }

    pub(crate) fn remove(&mut self, id: WorkerId) -> Option<Worker> {
        let worker = self.workers.remove(&id)?;
        self.count(&worker, u64::wrapping_sub);
        self.free.remove(&(worker.turn, id));
        self.hungry.remove(&(worker.turn, id));
        self.loaded.remove(&(worker.surplus(), id));
        self.sound.remove(&id);
        if let Some(at) = worker.alarm(&self.options) {
            self.alarms.remove(&(at, id));
        }
        Some(worker)
    }

    /// The worker with room that was served longest ago, of those after `last`.
    pub(crate) fn next(&self, room: Room, last: Option<Turn>) -> Option<Turn> {
        let turns = match room {
            Room::Slot => &self.free,
            Room::Queue => &self.hungry,
        };
        turns
            .range((last.map_or(Unbounded, Excluded), Unbounded))
            .next()
            .copied()
    }

    /// The worker with the longest queue.
    pub(crate) fn most_loaded(&self) -> Option<WorkerId> {
        self.loaded.last().map(|(_, id)| *id)
    }

    /// Whether there is a sound worker that plays the variant and is none of `tried`.
    pub(crate) fn has_sound_but(
        &self,
        tried: impl Iterator<Item = WorkerId>,
        variant: Variant,
    ) -> bool {
        let tried: BTreeSet<_> = tried.collect();
        let mut others = self.sound.iter().filter(|id| !tried.contains(id));
        others.any(|id| {
            self.workers
                .get(id)
                .is_some_and(|worker| worker.has(variant))
        })
    }

    /// Whether somebody gets tasks, may have this one, and is none of these. Looks at every worker, if it must.
    pub(crate) fn has_but(&self, these: &BTreeSet<WorkerId>, part: &Part) -> bool {
        let variant = part.ask.position.variant();
        let may = |id: &WorkerId, worker: &Worker| {
            worker.slot_limit() > 0
                && worker.has(variant)
                && !part.barred.contains(id)
                && !these.contains(id)
        };
        self.workers.iter().any(|(id, worker)| may(id, worker))
    }

    /// Tasks that the workers that play the variant could take beyond what they have.
    pub(crate) fn room_for(&self, variant: Variant) -> u64 {
        self.who_play(variant)
            .map(|repertoire| repertoire.room)
            .sum()
    }

    /// Slots of the workers that play the variant and take tasks, and how many of them are free.
    pub(crate) fn slots_for(&self, variant: Variant) -> (u64, u64) {
        let both = self
            .who_play(variant)
            .map(|repertoire| (repertoire.slots, repertoire.free));
        both.fold((0, 0), |(slots, free), (more, are_free)| {
            (slots + more, free + are_free)
        })
    }

    fn who_play(&self, variant: Variant) -> impl Iterator<Item = &Repertoire> {
        let has = move |plays: &Option<Arc<BTreeSet<Variant>>>| {
            plays.as_ref().is_none_or(|plays| plays.contains(&variant))
        };
        self.repertoires
            .values()
            .filter(move |repertoire| has(&repertoire.plays))
    }

    /// When somebody is to be looked after.
    pub(crate) fn alarm(&self) -> Option<(Duration, WorkerId)> {
        self.alarms.first().copied()
    }

    fn count(&mut self, worker: &Worker, add: fn(u64, u64) -> u64) {
        let load = worker.load();
        let free = worker.slot_limit().saturating_sub(load);
        let room = worker
            .queue_limit(self.options.prefetch)
            .saturating_sub(load);
        self.free_slots = add(self.free_slots, u64::from(free));
        self.slots = add(self.slots, u64::from(worker.slot_limit()));
        self.room = add(self.room, u64::from(room));
        self.load = add(self.load, u64::from(load));
        let key = worker
            .plays
            .as_ref()
            .map_or(0, |plays| Arc::as_ptr(plays).addr());
        let nobody = || Repertoire {
            plays: worker.plays.clone(),
            workers: 0,
            room: 0,
            slots: 0,
            free: 0,
        };
        let same = self.repertoires.entry(key).or_insert_with(nobody);
        (same.workers, same.room) = (add(same.workers, 1), add(same.room, u64::from(room)));
        (same.slots, same.free) = (
            add(same.slots, u64::from(worker.slot_limit())),
            add(same.free, u64::from(free)),
        );
        if same.workers == 0 {
            self.repertoires.remove(&key);
        }
    }
}

fn room(worker: &Worker, prefetch: u32) -> Option<Room> {
    match worker.load() {
        load if load < worker.slot_limit() => Some(Room::Slot),
        load if load < worker.queue_limit(prefetch) => Some(Room::Queue),
        _ => None,
    }
}

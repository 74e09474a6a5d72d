use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use core::ops::Bound::{Excluded, Unbounded};
use core::time::Duration;

use kagetsu_game::Variant;

use crate::tasks::TaskState;
use crate::workers::Worker;
use crate::{Capacity, Options, WorkerId};

/// A place for one more task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vacancy {
    /// A free slot: the task starts at once.
    Slot,
    /// The queue: all slots are taken.
    Queue,
}

/// Workers that play the same variants.
#[derive(Debug)]
struct VariantGroup {
    /// That of one of them.
    capacity: Capacity,
    workers: u64,
    room: u64,
    slots: u64,
    free: u64,
}

/// A worker's last assignment and its id; workers are served in this order.
pub(crate) type Candidate = (u64, WorkerId);

/// All workers, with indices of those that have a vacancy, are overloaded, are sound or have a
/// timer: each found in O(log n).
///
/// Invariant: the indices match the workers; [`Roster::with`] is the only way to change a worker.
#[derive(Debug)]
pub(crate) struct Roster {
    options: Options,
    workers: BTreeMap<WorkerId, Worker>,
    free: BTreeSet<Candidate>,
    queue_vacancies: BTreeSet<Candidate>,
    loaded: BTreeSet<(u32, WorkerId)>,
    sound: BTreeSet<WorkerId>,
    alarms: BTreeSet<(Duration, WorkerId)>,
    /// Free slots of all workers.
    pub(crate) free_slots: u64,
    /// Slots of all workers that take tasks.
    pub(crate) slots: u64,
    /// Tasks that all workers could take, in slots and queues.
    pub(crate) room: u64,
    /// Leases of all workers.
    pub(crate) load: u64,
    /// Workers grouped by the address of their list of variants; 0 stands for every variant.
    variant_groups: BTreeMap<usize, VariantGroup>,
}

impl Roster {
    pub(crate) const fn new(options: Options) -> Self {
        Self {
            options,
            workers: BTreeMap::new(),
            free: BTreeSet::new(),
            queue_vacancies: BTreeSet::new(),
            loaded: BTreeSet::new(),
            sound: BTreeSet::new(),
            alarms: BTreeSet::new(),
            free_slots: 0,
            slots: 0,
            room: 0,
            load: 0,
            variant_groups: BTreeMap::new(),
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

    /// Changes a worker, if it is known.
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
        let candidate = (worker.sequence, id);
        match room(&worker, self.options.prefetch) {
            Some(Vacancy::Slot) => _ = self.free.insert(candidate),
            Some(Vacancy::Queue) => _ = self.queue_vacancies.insert(candidate),
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
        self.free.remove(&(worker.sequence, id));
        self.queue_vacancies.remove(&(worker.sequence, id));
        self.loaded.remove(&(worker.surplus(), id));
        self.sound.remove(&id);
        if let Some(at) = worker.alarm(&self.options) {
            self.alarms.remove(&(at, id));
        }
        Some(worker)
    }

    /// Returns the worker with such a vacancy that was served longest ago, after `last`.
    pub(crate) fn next(&self, room: Vacancy, last: Option<Candidate>) -> Option<Candidate> {
        let candidates = match room {
            Vacancy::Slot => &self.free,
            Vacancy::Queue => &self.queue_vacancies,
        };
        candidates
            .range((last.map_or(Unbounded, Excluded), Unbounded))
            .next()
            .copied()
    }

    /// Returns the worker with the longest queue.
    pub(crate) fn most_loaded(&self) -> Option<WorkerId> {
        self.loaded.last().map(|(_, id)| *id)
    }

    /// Whether a sound worker outside `tried` plays the variant.
    pub(crate) fn has_sound_worker_except(
        &self,
        tried: impl Iterator<Item = WorkerId>,
        variant: Variant,
    ) -> bool {
        let tried: BTreeSet<_> = tried.collect();
        let mut others = self.sound.iter().filter(|id| !tried.contains(id));
        others.any(|id| {
            self.workers
                .get(id)
                .is_some_and(|worker| worker.capacity.has(variant))
        })
    }

    /// Whether a worker outside `these` gets tasks and may have this one. Costs at most O(workers).
    pub(crate) fn has_worker_except(&self, these: &BTreeSet<WorkerId>, state: &TaskState) -> bool {
        let variant = state.ask.position.variant();
        let may = |id: &WorkerId, worker: &Worker| {
            worker.usable_slots() > 0
                && worker.capacity.has(variant)
                && !state.excludes(*id, worker.capacity.is_trusted)
                && !these.contains(id)
        };
        self.workers.iter().any(|(id, worker)| may(id, worker))
    }

    /// Returns how many more tasks the workers that play the variant could take.
    pub(crate) fn room_for(&self, variant: Variant) -> u64 {
        self.groups_playing(variant)
            .map(|repertoire| repertoire.room)
            .sum()
    }

    /// Returns the slots of the workers that play the variant and take tasks, and how many are
    /// free.
    pub(crate) fn slots_for(&self, variant: Variant) -> (u64, u64) {
        let both = self
            .groups_playing(variant)
            .map(|repertoire| (repertoire.slots, repertoire.free));
        both.fold((0, 0), |(slots, free), (more, are_free)| {
            (slots + more, free + are_free)
        })
    }

    fn groups_playing(&self, variant: Variant) -> impl Iterator<Item = &VariantGroup> {
        self.variant_groups
            .values()
            .filter(move |repertoire| repertoire.capacity.has(variant))
    }

    /// Returns the next timer and its worker.
    pub(crate) fn alarm(&self) -> Option<(Duration, WorkerId)> {
        self.alarms.first().copied()
    }

    fn count(&mut self, worker: &Worker, add: fn(u64, u64) -> u64) {
        let load = worker.load();
        let free = worker.usable_slots().saturating_sub(load);
        let room = worker
            .usable_queue(self.options.prefetch)
            .saturating_sub(load);
        self.free_slots = add(self.free_slots, u64::from(free));
        self.slots = add(self.slots, u64::from(worker.usable_slots()));
        self.room = add(self.room, u64::from(room));
        self.load = add(self.load, u64::from(load));
        let key = worker
            .capacity
            .plays
            .as_ref()
            .map_or(0, |plays| Arc::as_ptr(plays).addr());
        let empty_group = || VariantGroup {
            capacity: worker.capacity.clone(),
            workers: 0,
            room: 0,
            slots: 0,
            free: 0,
        };
        let same = self.variant_groups.entry(key).or_insert_with(empty_group);
        (same.workers, same.room) = (add(same.workers, 1), add(same.room, u64::from(room)));
        (same.slots, same.free) = (
            add(same.slots, u64::from(worker.usable_slots())),
            add(same.free, u64::from(free)),
        );
        if same.workers == 0 {
            self.variant_groups.remove(&key);
        }
    }
}

fn room(worker: &Worker, prefetch: u32) -> Option<Vacancy> {
    match worker.load() {
        load if load < worker.usable_slots() => Some(Vacancy::Slot),
        load if load < worker.usable_queue(prefetch) => Some(Vacancy::Queue),
        _ => None,
    }
}

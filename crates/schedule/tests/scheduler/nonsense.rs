//! Arbitrary events in arbitrary order: nothing panics, the counts are right, and no task is lost.

use std::collections::BTreeMap;
use std::time::Duration;

use kagetsu_game::Answer;
use kagetsu_schedule::{
    Effect, Options, QuestionId, Report, Scheduler, Split, Task, TaskId, WorkerId,
};
use proptest::prelude::*;

use crate::engine;
use crate::harness::question;

/// An event. Its numbers may name existing or unknown workers, tasks and questions.
#[derive(Clone, Debug)]
enum Event {
    Submit(usize, Split, u64),
    Cancel(u64),
    Settle(u64),
    Join(u64, u32, Vec<(u64, u32)>),
    Leave(u64, bool),
    Heartbeat(u64, Vec<(u64, u64)>),
    Report(u64, u64, u32, Option<Answer>, bool),
    Tick(u64),
}

fn events() -> impl Strategy<Value = Event> {
    let (worker, id, attempt) = (0_u64..4, 0_u64..40, 0_u32..5);
    let answers = (0_usize..3).prop_map(|n| engine::answer(&question(n)));
    let slots = prop_oneof![9 => 0_u32..4, 1 => Just(u32::MAX)];
    let holding = prop::collection::vec((id.clone(), attempt.clone()), 0..4);
    let progress = prop::collection::vec(
        (id.clone(), prop_oneof![0_u64..5_000, Just(u64::MAX)]),
        0..4,
    );
    let splits = prop_oneof![Just(Split::Never), Just(Split::Seeded), Just(Split::Shared)];
    prop_oneof![
        3 => (0_usize..3, splits, 0_u64..3).prop_map(|(n, split, priority)| Event::Submit(n, split, priority)),
        1 => id.clone().prop_map(Event::Cancel),
        1 => id.clone().prop_map(Event::Settle),
        2 => (worker.clone(), slots, holding).prop_map(|(w, slots, holding)| Event::Join(w, slots, holding)),
        1 => (worker.clone(), any::<bool>()).prop_map(|(w, goodbye)| Event::Leave(w, goodbye)),
        3 => (worker.clone(), progress).prop_map(|(w, progress)| Event::Heartbeat(w, progress)),
        6 => (worker, id, attempt, prop::option::of(answers), any::<bool>())
            .prop_map(|(w, task, attempt, answer, back)| Event::Report(w, task, attempt, answer, back)),
        2 => prop_oneof![0_u64..100_000, Just(u64::MAX)].prop_map(Event::Tick),
    ]
}

fn happen(scheduler: &mut Scheduler, now: &mut Duration, event: Event) {
    match event {
        Event::Submit(n, split, priority) => {
            scheduler.submit(
                *now,
                question(n),
                engine::shallow(&question(n)),
                split,
                priority,
                (),
            );
        }
        Event::Cancel(id) => drop(scheduler.cancel(*now, QuestionId(id))),
        Event::Settle(id) => scheduler.settle(QuestionId(id)),
        Event::Join(worker, slots, holding) => {
            let holding: Vec<_> = holding
                .into_iter()
                .map(|(task, attempt)| (TaskId(task), attempt))
                .collect();
            scheduler.join(*now, WorkerId(worker), slots, &holding);
        }
        Event::Leave(worker, goodbye) => scheduler.leave(*now, WorkerId(worker), goodbye),
        Event::Heartbeat(worker, progress) => {
            let progress: Vec<_> = progress
                .into_iter()
                .map(|(task, nodes)| (TaskId(task), nodes))
                .collect();
            scheduler.heartbeat(*now, WorkerId(worker), &progress);
        }
        Event::Report(worker, task, attempt, answer, is_back) => {
            let otherwise = if is_back {
                Report::HandedBack
            } else {
                Report::Failed("nonsense".into())
            };
            let report = answer.map_or(otherwise, Report::Done);
            scheduler.report(*now, WorkerId(worker), TaskId(task), attempt, report);
        }
        Event::Tick(milliseconds) => {
            *now = now.saturating_add(Duration::from_millis(milliseconds));
            scheduler.tick(*now);
        }
    }
}

/// The leases and open questions, derived from the effects alone.
#[derive(Default)]
struct Ledger {
    open: i64,
    held: BTreeMap<(WorkerId, TaskId), Task>,
}

impl Ledger {
    fn read(&mut self, scheduler: &mut Scheduler) {
        while let Some(effect) = scheduler.poll() {
            match effect {
                Effect::Assign { worker, task } => _ = self.held.insert((worker, task.id), task),
                Effect::Revoke { worker, task } => _ = self.held.remove(&(worker, task)),
                Effect::Finished { .. } | Effect::Failed { .. } => self.open -= 1,
                Effect::Acknowledge { .. } | Effect::Progress { .. } | Effect::Behind { .. } => {}
            }
        }
    }
}

/// Checks the counts after each event, and after an honest worker has done the rest.
fn balances(events: Vec<Event>, prefetch: u32) -> Result<(), TestCaseError> {
    let mut scheduler = Scheduler::new(Options {
        prefetch,
        ..Options::default()
    });
    let (mut now, mut ledger) = (Duration::ZERO, Ledger::default());
    for event in events {
        ledger.open += i64::from(matches!(event, Event::Submit(..)));
        let cancelled = scheduler.counts().totals.cancelled;
        happen(&mut scheduler, &mut now, event);
        ledger.open -= (scheduler.counts().totals.cancelled - cancelled) as i64;
        ledger.read(&mut scheduler);
        let counts = scheduler.counts();
        prop_assert_eq!(counts.open_questions as i64, ledger.open);
        prop_assert_eq!(
            counts.leased_tasks,
            scheduler.workers().map(|w| w.tasks.len()).sum::<usize>()
        );
        prop_assert_eq!(counts.workers, scheduler.workers().count());
        prop_assert!(
            scheduler
                .deadline()
                .is_none_or(|at| at > now || now == Duration::MAX)
        );
    }
    finish(&mut scheduler, now, &mut ledger);
    prop_assert_eq!(ledger.open, 0);
    prop_assert_eq!(
        (
            scheduler.counts().waiting_tasks,
            scheduler.counts().leased_tasks
        ),
        (0, 0)
    );
    Ok(())
}

proptest! {
    #[test]
    fn random_events_neither_panic_nor_lose_tasks(
        events in prop::collection::vec(events(), 0..80), prefetch in prop_oneof![0_u32..3, Just(u32::MAX)],
    ) {
        balances(events, prefetch)?;
    }
}

#[test]
fn huge_node_counts_do_not_overflow() -> Result<(), TestCaseError> {
    let progress = (0..4).map(|task| (task, u64::MAX)).collect();
    let answer = |task| Event::Report(2, task, 1, Some(engine::answer(&question(0))), false);
    let begun = [
        Event::Submit(0, Split::Shared, 0),
        Event::Join(2, u32::MAX, Vec::new()),
    ];
    let messages = [Event::Heartbeat(2, progress), answer(3)];
    balances(begun.into_iter().chain(messages).collect(), 0)
}

#[test]
fn pause_may_end_while_its_worker_is_silent() -> Result<(), TestCaseError> {
    let mut events = vec![Event::Join(2, u32::MAX, Vec::new())];
    events.extend((0..4).map(|_| Event::Submit(0, Split::Seeded, 0)));
    events.extend([
        Event::Tick(u64::MAX),
        // The worker is back with tasks that are overdue, so it pauses; then it is silent.
        Event::Heartbeat(2, vec![(2, 0), (3, 0)]),
        Event::Join(2, 0, vec![(4, 1)]),
        Event::Join(2, 0, vec![(2, 1)]),
        Event::Tick(15_000),
        Event::Join(2, 0, Vec::new()),
    ]);
    balances(events, 0)
}

/// Lets an honest worker do the rest.
fn finish(scheduler: &mut Scheduler, now: Duration, ledger: &mut Ledger) {
    (0..4).for_each(|worker| scheduler.leave(now, WorkerId(worker), true));
    ledger.held.clear();
    scheduler.join(now, WorkerId(9), 1, &[]);
    ledger.read(scheduler);
    loop {
        if let Some(((worker, _), task)) = ledger.held.pop_first() {
            scheduler.report(
                now,
                worker,
                task.id,
                task.attempt,
                Report::Done(engine::answer(&task.part)),
            );
        } else {
            return;
        }
        ledger.read(scheduler);
    }
}

//! The shared state of a coordinator: who changes it, and who waits for a change.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use kagetsu_book::Work;
use kagetsu_game::{Answer, Move, Question, Variant};
use kagetsu_proto::v1;
use kagetsu_schedule::{
    Capacity, Counts, QuestionId, Report, Split, Suspension, TaskId, WorkerId, WorkerStatus,
};
use tokio::sync::{Notify, mpsc, watch};
use tonic::Status;

use crate::book::desk::KeeperDesk;
use crate::cluster::links::{Introduction, Told};
use crate::cluster::state::{AT_ONCE, Held, Purpose, State, urgency};
use crate::cluster::watched::Watched;
use crate::telemetry::metrics::Metrics;
use crate::verification::audit::Check;
use crate::verification::exam;
use crate::verification::prover::{Claims, Kept, Prover};
use crate::verification::quarantine::Confined;
use crate::verification::trust::{Record, Trust};

/// Bytes that a table may learn at a time.
const MOST_NOTES: usize = 16 * 4_096;

/// What is known of an analysis.
#[derive(Clone, Debug, Default)]
pub(crate) struct Update {
    pub(crate) answer: Answer,
    pub(crate) nodes: u64,
    pub(crate) end: Option<Result<(), String>>,
}

/// The shared state, and the bell that says it has changed.
pub(crate) struct Hub {
    state: Mutex<State>,
    /// Rung when the scheduler's deadline has come nearer.
    bell: Notify,
    /// Rung when replies are to be found out.
    begun: Instant,
    metrics: Arc<Metrics>,
    /// The same as long as this process lives.
    epoch: u64,
}

impl Hub {
    pub(crate) fn new(keeper: Option<KeeperDesk>, trust: Trust) -> Arc<Self> {
        // Ids above all that were used before a restart: late reports of an earlier life are unknown, never mistaken.
        let first_id = SystemTime::UNIX_EPOCH
            .elapsed()
            .map_or(0, |since| since.as_micros() as u64)
            .max(1);
        let metrics = Arc::new(Metrics::default());
        let state = State::new(first_id, keeper, trust, Arc::clone(&metrics));
        Arc::new(Self {
            state: Mutex::new(state),
            bell: Notify::new(),
            begun: Instant::now(),
            metrics,
            epoch: first_id,
        })
    }

    /// Tells the lives of a coordinator from each other; never 0.
    pub(crate) const fn epoch(&self) -> u64 {
        self.epoch
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is whole between calls; a panic elsewhere does not make it less so.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, then does what follows from it.
    fn with<T>(&self, change: impl FnOnce(&mut State, Duration) -> T) -> T {
        let now = self.begun.elapsed();
        let mut state = self.lock();
        state.now = now;
        let value = change(&mut state, now);
        state.follow();
        let is_nearer = state.has_nearer_deadline();
        drop(state);
        if is_nearer {
            self.bell.notify_one();
        }
        value
    }

    /// Watches the scheduler's clock; never ends.
    pub(crate) async fn keep_time(&self) {
        loop {
            let deadline = self.lock().await_deadline();
            let due = async {
                match deadline {
                    Some(at) => tokio::time::sleep_until((self.begun + at).into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = due => self.with(|state, now| {
                    state.scheduler.tick(now);
                    // Who does not pass its exam is nobody after a while. The clock rings about once a lease.
                    state.look_after_checks();
                }),
                () = self.bell.notified() => {}
            }
        }
    }

    /// A worker says hello. Gives the number of its stream, and the messages to send to it.
    ///
    /// # Errors
    /// `ALREADY_EXISTS` where one of its number is connected under another token: numbers can be learned.
    pub(crate) fn join(
        &self,
        worker: WorkerId,
        about: Introduction,
        mut held: Held,
    ) -> Result<(u64, mpsc::Receiver<Told>), Status> {
        held.ours.retain(|(task, _)| !exam::is_part(*task));
        let (exams, earlier) = held
            .earlier
            .into_iter()
            .partition::<Vec<_>, _>(|(task, _)| exam::is_part(*task));
        self.with(|state, now| {
            if state
                .links
                .about(worker)
                .is_some_and(|known| known.token != about.token)
            {
                return Err(Status::already_exists(
                    "a worker of this number is connected under another token",
                ));
            }
            let capacity = Capacity {
                slots: about.slots,
                plays: Some(Arc::clone(&about.plays)),
            };
            let link = state.links.add(worker, about.clone());
            // It says again what was not acknowledged.
            state.unheard.take(worker);
            let bar = state.receive(worker, &about);
            // An exam has the same numbers in every life: taking back that of another would take back this one.
            if bar != Some(Suspension::Qualification) {
                exams
                    .into_iter()
                    .for_each(|(task, _)| state.revoke(worker, task));
            }
            // What it must not have it must not be given first.
            state
                .scheduler
                .join_suspended(now, worker, capacity, &held.ours, bar);
            // Before the keeper hears that there is room: what is at work already goes first.
            match &state.keeper {
                Some(keeper) if !earlier.is_empty() && bar != Some(Suspension::Quarantine) => {
                    keeper.reclaim(worker, earlier)
                }
                _ => earlier
                    .into_iter()
                    .for_each(|(task, _)| state.revoke(worker, task)),
            }
            Ok(link)
        })
    }

    /// A worker's stream has ended, with a goodbye or without.
    pub(crate) fn leave(&self, worker: WorkerId, stream: u64, goodbye: bool) {
        self.with(|state, now| {
            if state.links.remove(worker, stream) {
                state.unheard.take(worker);
                state.scheduler.leave(now, worker, goodbye);
                state.look_after_checks();
            }
        });
    }

    /// A worker says on this stream what cannot be: it ends, in words.
    pub(crate) fn refuse(&self, worker: WorkerId, stream: u64, why: Status) {
        self.with(|state, _| {
            if state.links.is_of(worker, stream) {
                state.links.refuse(worker, why);
            }
        });
    }

    /// A worker's sign of life, with what it says of its tasks. What it has found on the way is shown to who watches, and
    /// counts for nothing.
    pub(crate) fn heartbeat(&self, worker: WorkerId, progress: &[v1::TaskProgress]) {
        // The scheduler knows nothing of the exam.
        let progress: Vec<_> = progress
            .iter()
            .filter(|p| !exam::is_part(TaskId(p.task)))
            .collect();
        let visited: Vec<_> = progress.iter().map(|p| (TaskId(p.task), p.nodes)).collect();
        let found: Vec<_> = progress
            .iter()
            .map(|p| self.read_progress(TaskId(p.task), p.so_far.as_ref()))
            .collect();
        self.with(|state, now| {
            state.scheduler.heartbeat(now, worker, &visited);
            if state.is_examined(worker) {
                return;
            }
            for ((task, nodes), so_far) in visited.iter().zip(found) {
                // A beat may come after the report.
                if state.scheduler.holds(worker, *task)
                    && let Some(watched) = state.watched(*task)
                {
                    watched.progress(worker, *task, *nodes, so_far);
                }
            }
        });
    }

    /// A worker's table has learned something that others may use.
    pub(crate) fn notes(&self, worker: WorkerId, notes: &v1::Notes) {
        if notes.notes.len() <= MOST_NOTES {
            let state = self.lock();
            if !state.trust.is_quarantined(worker) && !state.is_examined(worker) {
                state.relay(worker, TaskId(notes.task), &notes.notes);
            }
        }
    }

    fn read_progress(&self, task: TaskId, so_far: Option<&v1::Answer>) -> Option<Answer> {
        let position = self
            .lock()
            .asked
            .get(&task)
            .map(|asked| asked.position.clone())?;
        so_far?.about(&position).ok()
    }

    /// A worker's report; an answer that cannot be is a failure.
    pub(crate) fn report(&self, worker: WorkerId, report: v1::Report) {
        let task = TaskId(report.task);
        if exam::is_part(task) {
            return self.examined(worker, &report);
        }
        self.metrics.reported(task);
        let outcome = match report.outcome {
            Some(v1::report::Outcome::Answer(answer)) => self.read_answer(task, &answer),
            Some(v1::report::Outcome::Failed(reason)) => Report::Failed(reason),
            Some(v1::report::Outcome::HandedBack(_)) => Report::HandedBack,
            None => Report::Failed("an empty report".into()),
        };
        let outcome = if let Report::Failed(reason) = outcome {
            Report::Failed(exam::brief(reason))
        } else {
            outcome
        };
        self.with(|state, _| state.heard(worker, task, report.attempt, outcome));
    }

    /// Holds an answer against the rules, which takes a while and needs no lock.
    fn read_answer(&self, task: TaskId, answer: &v1::Answer) -> Report {
        let asked = self
            .lock()
            .asked
            .get(&task)
            .map(|asked| asked.position.clone());
        // Nothing will be done with the answer to a task that nobody knows.
        let Some(position) = asked else {
            return Report::Done(Answer::new());
        };
        match answer.about(&position) {
            Ok(answer) if answer.is_empty() && position.outcome().is_none() => {
                Report::Failed("an answer without a move".into())
            }
            Ok(answer) => Report::Done(answer),
            Err(error) => Report::Failed(format!("an answer that cannot be: {error}")),
        }
    }

    /// A worker has answered a question of the exam: it passes, goes on, or is refused.
    fn examined(&self, worker: WorkerId, report: &v1::Report) {
        let Some(about) = self.lock().links.about(worker).cloned() else {
            return;
        };
        if matches!(report.outcome, Some(v1::report::Outcome::HandedBack(_))) {
            // It is about to stop, and has said nothing wrong.
            return self
                .with(|state, _| state.acknowledge(worker, TaskId(report.task), report.attempt));
        }
        let marked = exam::mark(&about, report);
        self.with(|state, _| {
            state.acknowledge(worker, TaskId(report.task), report.attempt);
            state.marked(worker, TaskId(report.task), marked);
        });
    }

    /// The prover has repeated the claims of an answer, but for these.
    pub(crate) fn proven(&self, claims: Claims, open: &[Move]) {
        self.with(|state, _| state.proven(claims, open.to_vec()));
    }

    /// The prover has repeated the claims of an answer to a person, but for these: it goes into the book.
    pub(crate) fn kept(&self, kept: Box<Kept>, open: &[Move]) {
        self.with(|state, _| state.learn_kept(kept, open));
    }

    /// The coordinator has searched a question itself on which workers differ.
    pub(crate) fn refereed(&self, check: Box<Check>, answer: Option<Answer>) {
        self.with(|state, _| state.refereed(check, answer));
    }

    /// Who repeats what workers claim.
    pub(crate) fn employ(&self, prover: Prover) {
        self.lock().prover = Some(prover);
    }

    /// Ends the prover, if there is one; to be waited for.
    pub(crate) fn dismiss(&self) -> Option<JoinHandle<()>> {
        self.lock().prover.take().map(Prover::end)
    }

    /// Whether there is a book for what is found.
    pub(crate) fn has_book(&self) -> bool {
        self.lock().keeper.is_some()
    }

    /// Asks a question for a person; its answer grows in the receiver, and where it is kept ends when it is on disk.
    pub(crate) fn analyze(
        &self,
        question: Question,
        shallow: Answer,
        split: Split,
        is_kept: bool,
    ) -> (QuestionId, watch::Receiver<Update>) {
        self.with(|state, now| {
            let (watched, updates) = Watched::new(split == Split::Shared);
            let kept = is_kept.then(|| question.clone());
            let id = state
                .scheduler
                .submit(now, question, shallow, split, AT_ONCE);
            state.purposes.insert(id, Purpose::Analysis(watched, kept));
            (id, updates)
        })
    }

    /// Nobody waits for the answer any more. Harmless for a question that has ended.
    pub(crate) fn cancel(&self, id: QuestionId) {
        self.with(|state, now| {
            state.forget(id);
            state.scheduler.cancel(now, id);
        });
    }

    /// Asks for a position of a build.
    pub(crate) fn build(&self, work: Work, shallow: Answer, split: bool) {
        self.with(|state, now| {
            let split = if split { Split::Seeded } else { Split::Never };
            let priority = urgency(&work);
            let id = state
                .scheduler
                .submit(now, work.question.clone(), shallow, split, priority);
            state.purposes.insert(id, Purpose::Build(work));
        });
    }

    /// A worker has at hand, from an earlier life of the coordinator, what is to be asked for a build.
    pub(crate) fn resume(&self, worker: WorkerId, work: Work) {
        self.with(|state, now| {
            let priority = urgency(&work);
            let id = state
                .scheduler
                .resume(now, work.question.clone(), priority, worker);
            state.purposes.insert(id, Purpose::Build(work));
        });
    }

    /// A worker need not go on with a task.
    pub(crate) fn drop_task(&self, worker: WorkerId, task: TaskId) {
        self.with(|state, _| state.revoke(worker, task));
    }

    /// A worker has a task of an earlier life of the coordinator at hand that nobody waits to have done: perhaps it was
    /// asked already.
    pub(crate) fn share(&self, worker: WorkerId, task: TaskId, question: &Question) {
        self.with(|state, now| {
            let is_it = |purpose: &Purpose| matches!(purpose, Purpose::Build(work) if work.question == *question);
            let id = state.purposes.iter().find(|(_, purpose)| is_it(purpose)).map(|(id, _)| *id);
            if !id.is_some_and(|id| state.scheduler.also_assign(now, id, worker)) {
                state.revoke(worker, task);
            }
        });
    }

    /// Drops the questions of a job; gives back its works.
    pub(crate) fn withdraw(&self, job: kagetsu_book::JobId) -> Vec<Work> {
        self.with(|state, now| {
            let is_its = |purpose: &Purpose| match purpose {
                Purpose::Build(work) => work.job == job,
                Purpose::Check(check) => check.work.job == job,
                Purpose::Analysis(..) => false,
            };
            let ids: Vec<_> = state
                .purposes
                .iter()
                .filter(|(_, p)| is_its(p))
                .map(|(id, _)| *id)
                .collect();
            ids.iter().for_each(|&id| state.scheduler.cancel(now, id));
            let mut works = Vec::new();
            for id in ids {
                match state.forget(id) {
                    Some(Purpose::Build(work)) => works.push(work),
                    Some(Purpose::Check(check)) => state.unchecked(*check),
                    _ => {}
                }
            }
            works
        })
    }

    /// The answers of these questions are on disk: their reports are acknowledged.
    pub(crate) fn settle(&self, ids: &[QuestionId]) {
        self.with(|state, _| ids.iter().for_each(|&id| state.scheduler.settle(id)));
    }

    /// How many more positions of the variant the workers could take at once.
    pub(crate) fn appetite(&self, variant: Variant) -> usize {
        usize::try_from(self.lock().scheduler.spare_capacity_for(variant)).unwrap_or(usize::MAX)
    }

    /// Workers connected that play the variant.
    pub(crate) fn worker_count(&self, variant: Variant) -> u32 {
        self.lock().links.count(variant)
    }

    pub(crate) fn workers(&self) -> Vec<(WorkerStatus, Introduction, Record)> {
        let state = self.lock();
        let about = |status: WorkerStatus| {
            let about = state.links.about(status.id).cloned()?;
            let record = state
                .trust
                .record(status.id)
                .map(Record::without_answers)
                .unwrap_or_default();
            Some((status, about, record))
        };
        state.scheduler.workers().filter_map(about).collect()
    }

    /// Who is in quarantine and not connected.
    pub(crate) fn absent(&self) -> Vec<Confined> {
        let state = self.lock();
        state
            .trust
            .confined()
            .into_iter()
            .filter(|confined| state.links.about(confined.worker).is_none())
            .collect()
    }

    /// Ends the quarantine of all workers of a name; how many were in one.
    pub(crate) fn release(&self, name: &str) -> usize {
        self.with(|state, _| state.release(name))
    }

    /// What questions of the variant wait for before anybody can work on them, if nobody can.
    pub(crate) fn waits_for(&self, variant: Variant) -> Option<String> {
        let state = self.lock();
        let are_examined = || state.scheduler.has_other_worker(variant, &[]);
        (!state.scheduler.has_worker_for(variant))
            .then(|| state.links.lack(variant, are_examined()))
    }

    /// Workers quarantined since the start.
    pub(crate) fn quarantines(&self) -> u64 {
        self.lock().trust.quarantines
    }

    /// What is measured.
    pub(crate) const fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// How much there is of everything.
    pub(crate) fn census(&self) -> Counts {
        self.lock().scheduler.counts()
    }

    /// Hands out no more tasks.
    pub(crate) fn retire(&self) {
        self.with(|state, _| {
            state.is_retired = true;
            state.scheduler.stop_assigning();
        });
    }

    /// Whether everything that was handed out is reported, and on disk.
    pub(crate) fn is_done(&self) -> bool {
        let census = self.lock().scheduler.counts();
        census.leased_tasks == 0 && census.unsettled_questions == 0
    }

    /// Ends all workers' streams.
    pub(crate) fn close(&self) {
        self.lock().links.clear();
    }
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;

    #[test]
    fn nobody_takes_the_place_of_who_came_under_another_token() {
        let hub = Hub::new(None, Trust::new(false, 2.0));
        let join = |token: &str| {
            let (name, engine, plays) = (token.into(), "e".into(), Arc::default());
            let about = Introduction {
                name,
                engine,
                slots: 1,
                threads: 1,
                plays,
                token: Some(token.into()),
            };
            hub.join(WorkerId(7), about, Held::default())
        };
        let (stream, mut messages) = join("one").expect("nobody is there");
        assert_eq!(
            join("stranger").expect_err("another's").code(),
            Code::AlreadyExists
        );
        assert!(
            messages
                .try_recv()
                .is_err_and(|error| error == mpsc::error::TryRecvError::Empty),
            "it goes on"
        );
        hub.leave(WorkerId(7), stream, true);
        assert!(join("stranger").is_ok(), "the number is free");
    }
}

//! The state of a coordinator: what is asked, who works, who waits for what.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use kagetsu_book::Work;
use kagetsu_game::{Answer, Position, Question, Variant};
use kagetsu_proto::v1;
use kagetsu_proto::v1::to_worker::Message;
use kagetsu_schedule::{
    Capacity, Effect, Options, QuestionId, Report, Scheduler, Split, TaskId, WorkerId, WorkerStatus,
};
use tokio::sync::{Notify, mpsc, watch};

use crate::keeper::KeeperDesk;
use crate::links::{Introduction, Links};
use crate::watched::Watched;

/// A question that a person asks goes before every position of a build.
const AT_ONCE: u64 = 0;

/// What is known of an analysis.
#[derive(Clone, Debug, Default)]
pub(crate) struct Update {
    pub(crate) answer: Answer,
    pub(crate) nodes: u64,
    pub(crate) end: Option<Result<(), String>>,
}

/// Why a question is asked.
enum Purpose {
    Analysis(Watched),
    Build(Work),
}

pub(crate) struct State {
    scheduler: Scheduler,
    links: Links,
    purposes: BTreeMap<QuestionId, Purpose>,
    /// What each task at work is about, to hold its answer against.
    asked: BTreeMap<TaskId, (QuestionId, Position)>,
    keeper: Option<KeeperDesk>,
}

/// The shared state, and the bell that says it has changed.
pub(crate) struct Hub {
    state: Mutex<State>,
    /// Rung when the scheduler's deadline may have come nearer.
    bell: Notify,
    begun: Instant,
    /// The same as long as this process lives.
    epoch: u64,
}

impl Hub {
    pub(crate) fn new(keeper: Option<KeeperDesk>) -> Arc<Self> {
        // Ids above all that were used before a restart: late reports of an earlier life are unknown, never mistaken.
        let first_id = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_micros() as u64).max(1);
        let state = State {
            scheduler: Scheduler::new(Options { first_id, ..Options::default() }),
            links: Links::default(),
            purposes: BTreeMap::new(),
            asked: BTreeMap::new(),
            keeper,
        };
        Arc::new(Self { state: Mutex::new(state), bell: Notify::new(), begun: Instant::now(), epoch: first_id })
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
        let value = change(&mut state, now);
        state.follow();
        drop(state);
        self.bell.notify_one();
        value
    }

    /// Watches the scheduler's clock; never ends.
    pub(crate) async fn keep_time(&self) {
        loop {
            let deadline = self.lock().scheduler.deadline();
            let due = async {
                match deadline {
                    Some(at) => tokio::time::sleep_until((self.begun + at).into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = due => self.with(|state, now| state.scheduler.tick(now)),
                () = self.bell.notified() => {}
            }
        }
    }

    /// A worker says hello. Gives the number of its stream, and the messages to send to it.
    pub(crate) fn join(
        &self,
        worker: WorkerId,
        about: Introduction,
        held: Held,
    ) -> (u64, mpsc::Receiver<v1::ToWorker>) {
        self.with(|state, now| {
            let capacity = Capacity { slots: about.slots, plays: Some(Arc::clone(&about.plays)) };
            let link = state.links.add(worker, about);
            state.scheduler.join(now, worker, capacity, &held.ours);
            // Before the keeper hears that there is room: what is at work already goes first.
            match &state.keeper {
                Some(keeper) if !held.earlier.is_empty() => keeper.reclaim(worker, held.earlier),
                _ => held.earlier.into_iter().for_each(|(task, _)| state.revoke(worker, task)),
            }
            link
        })
    }

    /// A worker's stream has ended, with a goodbye or without.
    pub(crate) fn leave(&self, worker: WorkerId, stream: u64, goodbye: bool) {
        self.with(|state, now| {
            if state.links.remove(worker, stream) {
                state.scheduler.leave(now, worker, goodbye);
            }
        });
    }

    /// A worker's sign of life, with what it says of its tasks. What it has found on the way is shown to who watches, and
    /// counts for nothing.
    pub(crate) fn heartbeat(&self, worker: WorkerId, progress: &[v1::TaskProgress]) {
        let visited: Vec<_> = progress.iter().map(|p| (TaskId(p.task), p.nodes)).collect();
        let found: Vec<_> = progress.iter().map(|p| self.read_progress(TaskId(p.task), p.so_far.as_ref())).collect();
        self.with(|state, now| {
            for ((task, nodes), so_far) in visited.iter().zip(found) {
                if let Some(watched) = state.watched(*task) {
                    watched.progress(*task, *nodes, so_far);
                }
            }
            state.scheduler.heartbeat(now, worker, &visited);
        });
    }

    fn read_progress(&self, task: TaskId, so_far: Option<&v1::Answer>) -> Option<Answer> {
        let position = self.lock().asked.get(&task).map(|(_, position)| position.clone())?;
        so_far?.about(&position).ok()
    }

    /// A worker's report; an answer that cannot be is a failure.
    pub(crate) fn report(&self, worker: WorkerId, report: v1::Report) {
        let task = TaskId(report.task);
        let outcome = match report.outcome {
            Some(v1::report::Outcome::Answer(answer)) => self.read_answer(task, &answer),
            Some(v1::report::Outcome::Failed(reason)) => Report::Failed(reason),
            Some(v1::report::Outcome::HandedBack(_)) => Report::HandedBack,
            None => Report::Failed("an empty report".into()),
        };
        self.with(|state, now| {
            if let Some(watched) = state.watched(task) {
                watched.ended(task);
            }
            if let Report::Failed(reason) = &outcome {
                tracing::warn!(worker = state.name(worker), task = report.task, reason, "a task failed");
            }
            state.scheduler.report(now, worker, task, report.attempt, outcome);
        });
    }

    /// Holds an answer against the rules, which takes a while and needs no lock.
    fn read_answer(&self, task: TaskId, answer: &v1::Answer) -> Report {
        let position = self.lock().asked.get(&task).map(|(_, position)| position.clone());
        // Nothing will be done with the answer to a task that nobody knows.
        let Some(position) = position else { return Report::Done(Answer::new()) };
        match answer.about(&position) {
            Ok(answer) if answer.is_empty() && position.outcome().is_none() => {
                Report::Failed("an answer without a move".into())
            }
            Ok(answer) => Report::Done(answer),
            Err(error) => Report::Failed(format!("an answer that cannot be: {error}")),
        }
    }

    /// Asks a question for a person; its answer grows in the receiver.
    pub(crate) fn analyze(&self, question: Question, shallow: Answer) -> (QuestionId, watch::Receiver<Update>) {
        self.with(|state, now| {
            let (watched, updates) = Watched::new();
            let id = state.scheduler.submit(now, question, shallow, Split::Auto, AT_ONCE);
            state.purposes.insert(id, Purpose::Analysis(watched));
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
            let split = if split { Split::Auto } else { Split::Never };
            let priority = work.priority.saturating_add(AT_ONCE + 1);
            let id = state.scheduler.submit(now, work.question.clone(), shallow, split, priority);
            state.purposes.insert(id, Purpose::Build(work));
        });
    }

    /// A worker has at hand, from an earlier life of the coordinator, what is to be asked for a build.
    pub(crate) fn resume(&self, worker: WorkerId, work: Work) {
        self.with(|state, now| {
            let priority = work.priority.saturating_add(AT_ONCE + 1);
            let id = state.scheduler.resume(now, work.question.clone(), priority, worker);
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
            if !id.is_some_and(|id| state.scheduler.share(now, id, worker)) {
                state.revoke(worker, task);
            }
        });
    }

    /// Drops the questions of a job; gives back its works.
    pub(crate) fn withdraw(&self, job: kagetsu_book::JobId) -> Vec<Work> {
        self.with(|state, now| {
            let is_its = |purpose: &Purpose| matches!(purpose, Purpose::Build(work) if work.job == job);
            let ids: Vec<_> = state.purposes.iter().filter(|(_, p)| is_its(p)).map(|(id, _)| *id).collect();
            ids.iter().for_each(|&id| state.scheduler.cancel(now, id));
            let works = ids.into_iter().filter_map(|id| match state.forget(id) {
                Some(Purpose::Build(work)) => Some(work),
                _ => None,
            });
            works.collect()
        })
    }

    /// The answers of these questions are on disk: their reports are acknowledged.
    pub(crate) fn settle(&self, ids: &[QuestionId]) {
        self.with(|state, _| ids.iter().for_each(|&id| state.scheduler.settle(id)));
    }

    /// How many more positions of the variant the workers could take at once.
    pub(crate) fn appetite(&self, variant: Variant) -> usize {
        usize::try_from(self.lock().scheduler.appetite_for(variant)).unwrap_or(usize::MAX)
    }

    /// Workers connected that play the variant.
    pub(crate) fn worker_count(&self, variant: Variant) -> u32 {
        self.lock().links.count(variant)
    }

    pub(crate) fn workers(&self) -> Vec<(WorkerStatus, Introduction)> {
        let state = self.lock();
        let about = |status: WorkerStatus| state.links.about(status.id).cloned().map(|about| (status, about));
        state.scheduler.workers().filter_map(about).collect()
    }

    /// Ends all workers' streams.
    pub(crate) fn close(&self) {
        self.lock().links.clear();
    }
}

/// What a worker says that it holds from before.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Tasks of this life of the coordinator, with their attempts.
    pub(crate) ours: Vec<(TaskId, u32)>,
    /// Tasks of earlier ones, with what was asked.
    pub(crate) earlier: Vec<(TaskId, Option<Question>)>,
}

impl State {
    fn revoke(&mut self, worker: WorkerId, task: TaskId) {
        self.links.send(worker, Message::Revoke(v1::Revoke { task: task.0 }));
    }

    fn name(&self, worker: WorkerId) -> &str {
        self.links.about(worker).map_or("unknown", |about| &about.name)
    }

    /// Does what the scheduler wants done.
    fn follow(&mut self) {
        let mut is_hungry = false;
        while let Some(effect) = self.scheduler.poll() {
            match effect {
                Effect::Assign { worker, task } => {
                    self.asked.insert(task.id, (task.question, task.part.position.clone()));
                    let message = v1::Task {
                        task: task.id.0,
                        attempt: task.attempt,
                        question: Some((&task.part).into()),
                        priority: task.priority,
                    };
                    self.links.send(worker, Message::Task(message));
                }
                Effect::Revoke { worker, task } => {
                    self.revoke(worker, task);
                }
                Effect::Acknowledge { worker, task, attempt } => {
                    self.links
                        .send(worker, Message::Acknowledge(v1::Held { task: task.0, attempt, ..Default::default() }));
                }
                Effect::Progress { question, answer } => self.progress(question, answer),
                Effect::Finished { question, answer, nodes } => self.finished(question, answer, nodes),
                Effect::Failed { question, reason } => self.failed(question, &reason),
            }
            is_hungry = true;
        }
        if let Some(keeper) = self.keeper.as_ref().filter(|_| is_hungry || self.scheduler.appetite() > 0) {
            keeper.refill();
        }
    }

    fn forget(&mut self, id: QuestionId) -> Option<Purpose> {
        self.asked.retain(|_, (question, _)| *question != id);
        self.purposes.remove(&id)
    }

    fn progress(&mut self, id: QuestionId, answer: Answer) {
        if let Some(Purpose::Analysis(watched)) = self.purposes.get_mut(&id) {
            watched.reported(answer);
        }
    }

    /// The analysis that a task belongs to, if it does.
    fn watched(&mut self, task: TaskId) -> Option<&mut Watched> {
        let (question, _) = self.asked.get(&task)?;
        match self.purposes.get_mut(question)? {
            Purpose::Analysis(watched) => Some(watched),
            Purpose::Build(_) => None,
        }
    }

    fn finished(&mut self, id: QuestionId, answer: Answer, nodes: u64) {
        match self.forget(id) {
            Some(Purpose::Analysis(watched)) => {
                watched.end(Ok((answer, nodes)));
                self.scheduler.settle(id);
            }
            Some(Purpose::Build(work)) => {
                if let Some(keeper) = &self.keeper {
                    keeper.finish(id, work, answer);
                }
            }
            None => self.scheduler.settle(id),
        }
    }

    fn failed(&mut self, id: QuestionId, reason: &str) {
        match self.forget(id) {
            Some(Purpose::Analysis(watched)) => watched.end(Err(reason.to_string())),
            Some(Purpose::Build(work)) => {
                tracing::warn!(position = %work.question.position, reason, "a position is set aside");
                if let Some(keeper) = &self.keeper {
                    keeper.set_aside(work, reason.to_string());
                }
            }
            None => {}
        }
    }
}

//! What a worker was told to do, what is at work, and what is done and not acknowledged.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kagetsu_game::Question;
use kagetsu_proto::v1;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_search::{Control, Progress};
use tokio::sync::Notify;

use crate::outcome;

/// The priority of a question that a person asks.
const WATCHED: u64 = 0;
/// Iterations of a search younger than this are not worth a message each.
const YOUNG: Duration = Duration::from_millis(200);

/// A task that is not begun.
#[derive(Debug)]
struct Waiting {
    task: u64,
    attempt: u32,
    question: Question,
}

/// A task at work.
#[derive(Debug)]
struct Running {
    attempt: u32,
    control: Control,
    /// Nobody wants its answer any more.
    is_revoked: bool,
    /// Somebody watches it.
    is_watched: bool,
    /// What its last iteration found, if that was not said yet.
    so_far: Option<v1::Answer>,
}

#[derive(Default)]
struct Papers {
    /// By priority, then in the order in which they came.
    waiting: BTreeMap<(u64, u64), Waiting>,
    running: BTreeMap<u64, Running>,
    /// What is done and not acknowledged, by task.
    done: BTreeMap<u64, (u32, Outcome)>,
    /// Tasks whose report is not sent on this connection.
    unsent: Vec<u64>,
    arrivals: u64,
    is_retired: bool,
    is_closed: bool,
}

/// The desk of a worker, between its connection and its slots.
pub(crate) struct Desk {
    slots: u32,
    papers: Mutex<Papers>,
    /// Rung for the slots: there is something to begin, or nothing ever more.
    work: Condvar,
    /// Rung for the connection: there is something to say.
    news: Notify,
}

impl Desk {
    pub(crate) fn new(slots: u32) -> Arc<Self> {
        let papers = Mutex::new(Papers::default());
        Arc::new(Self { slots, papers, work: Condvar::new(), news: Notify::new() })
    }

    fn lock(&self) -> MutexGuard<'_, Papers> {
        // The papers are in order between calls; a panic elsewhere does not disorder them.
        self.papers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) const fn slots(&self) -> u32 {
        self.slots
    }

    /// A task has come. One that is known already goes on under the newer attempt; one that is done is said again.
    pub(crate) fn take(&self, task: u64, attempt: u32, priority: u64, question: Question) {
        let mut papers = self.lock();
        let papers = &mut *papers;
        if let Some((known, _)) = papers.done.get_mut(&task) {
            *known = attempt;
            papers.unsent.push(task);
            self.news.notify_one();
        } else if let Some(running) = papers.running.get_mut(&task).filter(|running| !running.is_revoked) {
            running.attempt = attempt;
        } else if let Some(waiting) = papers.waiting.values_mut().find(|waiting| waiting.task == task) {
            waiting.attempt = attempt;
        } else if papers.is_retired {
            papers.report(task, attempt, Outcome::HandedBack(v1::HandedBack {}));
            self.news.notify_one();
        } else {
            papers.arrivals += 1;
            papers.waiting.insert((priority, papers.arrivals), Waiting { task, attempt, question });
            self.work.notify_one();
        }
    }

    /// A task that cannot be read.
    pub(crate) fn refuse(&self, task: u64, attempt: u32, reason: String) {
        self.lock().report(task, attempt, Outcome::Failed(reason));
        self.news.notify_one();
    }

    /// A task is no longer wanted; what is reported of it stays reported.
    pub(crate) fn revoke(&self, task: u64) {
        let mut papers = self.lock();
        papers.waiting.retain(|_, waiting| waiting.task != task);
        if let Some(running) = papers.running.get_mut(&task) {
            running.is_revoked = true;
            running.control.stop();
        }
    }

    /// A report is safe.
    pub(crate) fn acknowledge(&self, task: u64, attempt: u32) {
        let mut papers = self.lock();
        if papers.done.get(&task).is_some_and(|(known, _)| *known == attempt) {
            papers.done.remove(&task);
        }
        if papers.is_empty() {
            self.news.notify_one();
        }
    }

    /// For a slot: the next task, when there is one; `None` when the desk is closed.
    pub(crate) fn begin(&self) -> Option<(u64, Question, Control)> {
        let mut papers = self.lock();
        loop {
            if papers.is_closed {
                return None;
            }
            if let Some(((priority, _), Waiting { task, attempt, question })) = papers.waiting.pop_first() {
                let (control, is_watched) = (Control::new(), priority == WATCHED);
                let running =
                    Running { attempt, control: control.clone(), is_revoked: false, is_watched, so_far: None };
                papers.running.insert(task, running);
                return Some((task, question, control));
            }
            papers = self.work.wait(papers).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// For a slot: an iteration is done. What it found is said at once if the search is not young, else with the next
    /// heartbeat: the first iterations take no time.
    pub(crate) fn iterated(&self, task: u64, width: u16, progress: &Progress) {
        let mut papers = self.lock();
        if let Some(running) = papers.running.get_mut(&task).filter(|running| running.is_watched) {
            running.so_far = Some(outcome::so_far(&progress.answer, width));
            if progress.elapsed >= YOUNG {
                self.news.notify_one();
            }
        }
    }

    /// Whether an iteration is to be told of.
    pub(crate) fn has_iterated(&self) -> bool {
        self.lock().running.values().any(|running| running.so_far.is_some() && !running.is_revoked)
    }

    /// For a slot: a task is done, or was stopped.
    pub(crate) fn end(&self, task: u64, outcome: Outcome) {
        let mut papers = self.lock();
        let Some(Running { attempt, is_revoked, control, .. }) = papers.running.remove(&task) else { return };
        // Who stops a search without revoking it hands it back: half an answer is none.
        let outcome = match outcome {
            Outcome::Answer(_) if control.is_stopped() => Outcome::HandedBack(v1::HandedBack {}),
            outcome => outcome,
        };
        if !is_revoked {
            papers.report(task, attempt, outcome);
        }
        self.news.notify_one();
    }

    /// Everything that the worker still has, for a hello; all that is done will be said again.
    pub(crate) fn held(&self) -> Vec<v1::Held> {
        let mut papers = self.lock();
        papers.unsent = papers.done.keys().copied().collect();
        let running = papers.running.iter().filter(|(_, running)| !running.is_revoked);
        let running = running.map(|(&task, running)| v1::Held { task, attempt: running.attempt });
        let waiting = papers.waiting.values().map(|w| v1::Held { task: w.task, attempt: w.attempt });
        let done = papers.done.iter().map(|(&task, &(attempt, _))| v1::Held { task, attempt });
        running.chain(waiting).chain(done).collect()
    }

    /// Positions visited so far, by task at work, and what was found and not said before.
    pub(crate) fn progress(&self) -> Vec<v1::TaskProgress> {
        let mut papers = self.lock();
        let running = papers.running.iter_mut().filter(|(_, running)| !running.is_revoked);
        let progress = |(&task, running): (&u64, &mut Running)| v1::TaskProgress {
            task,
            nodes: running.control.nodes(),
            so_far: running.so_far.take(),
        };
        running.map(progress).collect()
    }

    /// Reports that are not sent yet.
    pub(crate) fn reports(&self) -> Vec<v1::Report> {
        let mut papers = self.lock();
        let unsent = std::mem::take(&mut papers.unsent);
        let report = |task| {
            let (attempt, outcome) = papers.done.get(&task)?;
            Some(v1::Report { task, attempt: *attempt, outcome: Some(outcome.clone()) })
        };
        unsent.into_iter().filter_map(report).collect()
    }

    /// Waits until there is something to say.
    pub(crate) async fn news(&self) {
        self.news.notified().await;
    }

    /// Begins nothing more, and gives back what is not begun.
    pub(crate) fn hand_back_waiting(&self) {
        let mut papers = self.lock();
        papers.is_retired = true;
        let waiting = std::mem::take(&mut papers.waiting);
        for Waiting { task, attempt, .. } in waiting.into_values() {
            papers.report(task, attempt, Outcome::HandedBack(v1::HandedBack {}));
        }
        self.news.notify_one();
    }

    /// Gives back what is at work, too.
    pub(crate) fn hand_back_all(&self) {
        self.lock().running.values().for_each(|running| running.control.stop());
    }

    /// Whether a worker that is to stop has nothing left to do or to say.
    pub(crate) fn is_empty_after_retiring(&self) -> bool {
        let papers = self.lock();
        papers.is_retired && papers.is_empty()
    }

    /// Stops all searches and ends the slots.
    pub(crate) fn close(&self) {
        let mut papers = self.lock();
        papers.is_closed = true;
        papers.waiting.clear();
        papers.running.values().for_each(|running| running.control.stop());
        self.work.notify_all();
    }
}

impl Papers {
    fn report(&mut self, task: u64, attempt: u32, outcome: Outcome) {
        self.done.insert(task, (attempt, outcome));
        self.unsent.push(task);
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.running.is_empty() && self.done.is_empty()
    }
}

//! What a worker was told to do, what is at work, and what is done and not acknowledged.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kagetsu_game::Question;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_proto::{FIRST_CALIBRATION_TASK, v1};
use kagetsu_search::{Control, Note, Progress};
use prost::Message;
use tokio::sync::Notify;

use crate::outcome;
use crate::spool::Spool;

/// The priority of a question that a person asks.
const WATCHED: u64 = 0;
/// Bytes of questions in a hello; what comes after is known by its number alone.
const MOST_ASKED: usize = 1 << 20;
/// Iterations of a search younger than this are not worth a message each.
const YOUNG: Duration = Duration::from_millis(200);
/// Between two looks for what the other members of a task should know.
const LEAST_PACE: Duration = Duration::from_millis(1);
const MOST_PACE: Duration = Duration::from_millis(10);

/// What the coordinator calls a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Name {
    /// The life of the coordinator that gave it.
    epoch: u64,
    task: u64,
    attempt: u32,
}

/// A task that is not begun.
#[derive(Debug)]
struct Waiting {
    name: Name,
    question: Question,
    role: Role,
    since: Instant,
}

/// What a task is to who asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A question of its own.
    Whole,
    /// All of a question that others search too.
    Member {
        /// Which of them, from 0.
        number: u32,
        /// How many there are.
        of: u32,
    },
}

/// For a slot: a task to begin.
#[derive(Debug)]
pub(crate) struct Job {
    /// By which the desk knows it.
    pub(crate) number: u64,
    pub(crate) question: Question,
    pub(crate) role: Role,
    pub(crate) control: Control,
}

/// A task at work.
#[derive(Debug)]
struct Running {
    name: Name,
    question: Question,
    role: Role,
    control: Control,
    since: Instant,
    /// Nobody wants its answer any more.
    is_revoked: bool,
    /// Somebody watches it.
    is_watched: bool,
    /// What its last iteration found, if that was not said yet.
    so_far: Option<v1::Answer>,
}

/// A task that is done and not acknowledged.
#[derive(Debug)]
struct Done {
    name: Name,
    /// What was asked, if there is an answer.
    question: Option<Question>,
    outcome: Outcome,
}

#[derive(Default)]
struct Papers {
    /// By priority, then in the order in which they came.
    waiting: BTreeMap<(u64, u64), Waiting>,
    /// By the number under which they came, as what is done.
    running: BTreeMap<u64, Running>,
    done: BTreeMap<u64, Done>,
    /// What is done and not sent on this connection.
    unsent: Vec<u64>,
    arrivals: u64,
    /// The life of the coordinator of this connection; `None` before its welcome.
    epoch: Option<u64>,
    is_retired: bool,
    is_closed: bool,
}

/// The desk of a worker, between its connection and its slots.
pub(crate) struct Desk {
    slots: u32,
    spool: Option<Spool>,
    papers: Mutex<Papers>,
    /// Rung for the slots: there is something to begin, or nothing ever more.
    work: Condvar,
    /// Rung for the connection: there is something to say.
    news: Notify,
}

impl Desk {
    /// With what an earlier worker left in the spool, by number.
    pub(crate) fn new(slots: u32, spool: Option<(Spool, Vec<(u64, v1::Spooled)>)>) -> Arc<Self> {
        let (spool, left) = spool.map_or((None, Vec::new()), |(spool, left)| (Some(spool), left));
        let mut papers = Papers::default();
        for (
            number,
            v1::Spooled {
                epoch,
                question,
                report,
            },
        ) in left
        {
            papers.arrivals = papers.arrivals.max(number);
            let question = question
                .as_ref()
                .and_then(|question| Question::try_from(question).ok());
            let Some(v1::Report {
                task,
                attempt,
                outcome: Some(outcome),
                ..
            }) = report
            else {
                continue;
            };
            papers.done.insert(
                number,
                Done {
                    name: Name {
                        epoch,
                        task,
                        attempt,
                    },
                    question,
                    outcome,
                },
            );
        }
        if !papers.done.is_empty() {
            tracing::info!(
                reports = papers.done.len(),
                "the spool has reports that were not acknowledged"
            );
        }
        Arc::new(Self {
            slots,
            spool,
            papers: Mutex::new(papers),
            work: Condvar::new(),
            news: Notify::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Papers> {
        // The papers are in order between calls; a panic elsewhere does not disorder them.
        self.papers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) const fn slots(&self) -> u32 {
        self.slots
    }

    /// The coordinator has said who it is: reports of tasks that it gave are sent from now on.
    pub(crate) fn welcomed(&self, epoch: u64) {
        self.lock().epoch = Some(epoch);
        self.news.notify_one();
    }

    /// A task has come. One that is known already goes on under the newer name, be it by its number or, after another life
    /// of the coordinator, by its question; one that is done is said again.
    pub(crate) fn take(
        &self,
        task: u64,
        attempt: u32,
        priority: u64,
        question: Question,
        role: Role,
    ) {
        let mut papers = self.lock();
        let papers = &mut *papers;
        let epoch = papers.epoch.unwrap_or_default();
        let now = Name {
            epoch,
            task,
            attempt,
        };
        let is_it = |name: Name, asked: Option<&Question>| {
            if name.epoch == epoch {
                name.task == task
            } else {
                asked == Some(&question)
            }
        };
        let known = papers
            .done
            .iter_mut()
            .find(|(_, done)| is_it(done.name, done.question.as_ref()));
        if let Some((&number, done)) = known {
            done.name = now;
            papers.unsent.push(number);
            self.news.notify_one();
            return;
        }
        let mut running = papers
            .running
            .values_mut()
            .filter(|running| !running.is_revoked);
        let mut waiting = papers.waiting.values_mut();
        if let Some(running) = running.find(|running| is_it(running.name, Some(&running.question)))
        {
            running.name = now;
        } else if let Some(waiting) =
            waiting.find(|waiting| is_it(waiting.name, Some(&waiting.question)))
        {
            waiting.name = now;
        } else if papers.is_retired && !papers.must_answer(now) {
            papers.report(now, Outcome::HandedBack(v1::HandedBack {}));
            self.news.notify_one();
        } else {
            papers.arrivals += 1;
            papers.waiting.insert(
                (priority, papers.arrivals),
                Waiting {
                    name: now,
                    question,
                    role,
                    since: Instant::now(),
                },
            );
            self.work.notify_one();
        }
    }

    /// A task that cannot be read.
    pub(crate) fn refuse(&self, task: u64, attempt: u32, reason: String) {
        let mut papers = self.lock();
        let epoch = papers.epoch.unwrap_or_default();
        papers.report(
            Name {
                epoch,
                task,
                attempt,
            },
            Outcome::Failed(reason),
        );
        self.news.notify_one();
    }

    /// A task is no longer wanted. What is reported of it stays reported, but for tasks of an earlier life of the
    /// coordinator: nobody waits for these.
    pub(crate) fn revoke(&self, task: u64) {
        let mut papers = self.lock();
        papers
            .waiting
            .retain(|_, waiting| waiting.name.task != task);
        if let Some(running) = papers
            .running
            .values_mut()
            .find(|running| running.name.task == task)
        {
            running.is_revoked = true;
            running.control.stop();
        }
        let epoch = papers.epoch.unwrap_or_default();
        self.forget(&mut papers, |name| name.task == task && name.epoch != epoch);
    }

    /// What another member of a task has found.
    pub(crate) fn hear(&self, task: u64, notes: &[Note]) {
        let papers = self.lock();
        let epoch = papers.epoch.unwrap_or_default();
        let is_it = |running: &&Running| running.name.task == task && running.name.epoch == epoch;
        if let Some(running) = papers.running.values().find(is_it) {
            running.control.receive(notes);
        }
    }

    /// How often to ask for [notes](Self::notes); `None` while there are no others for whom there could be some.
    pub(crate) fn pace(&self) -> Option<Duration> {
        let of = |running: &Running| match running.role {
            Role::Member { of, .. } if of > 1 && !running.is_revoked => Some(of),
            _ => None,
        };
        // The more there are the more a message costs, and the less each of them matters.
        let of = self.lock().running.values().filter_map(of).max()?;
        Some(Duration::from_micros(250 * u64::from(of)).clamp(LEAST_PACE, MOST_PACE))
    }

    /// What the other members of the tasks at work should know, and was not said before.
    pub(crate) fn notes(&self) -> Vec<(u64, Vec<Note>)> {
        let papers = self.lock();
        let epoch = papers.epoch.unwrap_or_default();
        let is_its = |running: &&Running| !running.is_revoked && running.name.epoch == epoch;
        let said = papers
            .running
            .values()
            .filter(is_its)
            .map(|running| (running.name.task, running.control.take_outgoing()));
        said.filter(|(_, notes)| !notes.is_empty()).collect()
    }

    /// A report is safe.
    pub(crate) fn acknowledge(&self, task: u64, attempt: u32) {
        let mut papers = self.lock();
        let safe = Name {
            epoch: papers.epoch.unwrap_or_default(),
            task,
            attempt,
        };
        self.forget(&mut papers, |name| name == safe);
    }

    fn forget(&self, papers: &mut Papers, is_over: impl Fn(Name) -> bool) {
        let over = papers
            .done
            .iter()
            .filter(|(_, done)| is_over(done.name))
            .map(|(number, _)| *number);
        for number in over.collect::<Vec<_>>() {
            papers.done.remove(&number);
            if let Some(spool) = &self.spool {
                spool.forget(number);
            }
        }
        if papers.is_empty() {
            self.news.notify_one();
        }
    }

    /// For a slot: the next task, when there is one; `None` when the desk is closed.
    pub(crate) fn begin(&self) -> Option<Job> {
        let mut papers = self.lock();
        loop {
            if papers.is_closed {
                return None;
            }
            if let Some((
                (priority, number),
                Waiting {
                    name,
                    question,
                    role,
                    since,
                },
            )) = papers.waiting.pop_first()
            {
                let is_watched =
                    priority == WATCHED && matches!(role, Role::Whole | Role::Member { .. });
                let control = Control::new();
                let running = Running {
                    name,
                    question: question.clone(),
                    role,
                    control: control.clone(),
                    since,
                    is_revoked: false,
                    is_watched,
                    so_far: None,
                };
                tracing::debug!(
                    task = running.name.task,
                    attempt = running.name.attempt,
                    "a task is begun"
                );
                papers.running.insert(number, running);
                if let Role::Member { .. } = role {
                    // From now on the connection asks for its notes.
                    self.news.notify_one();
                }
                return Some(Job {
                    number,
                    question,
                    role,
                    control,
                });
            }
            papers = self
                .work
                .wait(papers)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// For a slot: an iteration is done. What it found is said at once if the search is not young, else with the next
    /// heartbeat: the first iterations take no time.
    pub(crate) fn iterated(&self, number: u64, width: u16, progress: &Progress) {
        let mut papers = self.lock();
        if let Some(running) = papers
            .running
            .get_mut(&number)
            .filter(|running| running.is_watched)
        {
            running.so_far = Some(outcome::so_far(&progress.answer, width));
            if progress.elapsed >= YOUNG {
                self.news.notify_one();
            }
        }
    }

    /// Whether an iteration is to be told of.
    pub(crate) fn has_iterated(&self) -> bool {
        self.lock()
            .running
            .values()
            .any(|running| running.so_far.is_some() && !running.is_revoked)
    }

    /// For a slot: a task is done, or was stopped. With a spool, the answer is on disk before it is sent.
    /// A shared search is not spooled: a restarted coordinator has no use for its answer.
    pub(crate) fn end(&self, number: u64, outcome: Outcome) {
        let ended = {
            let papers = self.lock();
            let of = |running: &Running| {
                let (nodes, held) = (running.control.nodes(), running.since.elapsed());
                (
                    running.name,
                    running.is_revoked,
                    running.control.is_stopped(),
                    running.role,
                    nodes,
                    held,
                )
            };
            papers.running.get(&number).map(of)
        };
        let Some((name, is_revoked, is_stopped, role, nodes, held)) = ended else {
            return;
        };
        // Who stops a search without revoking it hands it back: half an answer is none.
        let outcome = match outcome {
            Outcome::Answer(_) if is_stopped => Outcome::HandedBack(v1::HandedBack {}),
            outcome => outcome,
        };
        let has_answer = matches!(outcome, Outcome::Answer(_));
        tracing::debug!(
            task = name.task,
            attempt = name.attempt,
            has_answer,
            is_revoked,
            nodes,
            ?held,
            "a task is ended"
        );
        let spool = self
            .spool
            .as_ref()
            .filter(|_| has_answer && !is_revoked && role == Role::Whole);
        if let Some(spool) = spool {
            let question = self
                .lock()
                .running
                .get(&number)
                .map(|running| (&running.question).into());
            let report = v1::Report {
                task: name.task,
                attempt: name.attempt,
                outcome: Some(outcome.clone()),
            };
            spool.keep(
                number,
                &v1::Spooled {
                    epoch: name.epoch,
                    question,
                    report: Some(report),
                },
            );
        }
        let mut papers = self.lock();
        let Some(Running {
            name,
            question,
            is_revoked,
            role,
            ..
        }) = papers.running.remove(&number)
        else {
            return;
        };
        // What is not an answer concerns only the life of the coordinator that gave the task.
        if !is_revoked && (has_answer || papers.epoch.is_none_or(|epoch| epoch == name.epoch)) {
            let question = (has_answer && role == Role::Whole).then_some(question);
            papers.done.insert(
                number,
                Done {
                    name,
                    question,
                    outcome,
                },
            );
            papers.unsent.push(number);
        } else if let Some(spool) = spool {
            spool.forget(number);
        }
        self.news.notify_one();
    }

    /// Everything that the worker still has, for a hello; all that is done will be said again, after the welcome.
    pub(crate) fn held(&self) -> Vec<v1::Held> {
        let mut papers = self.lock();
        let papers = &mut *papers;
        papers.unsent = papers.done.keys().copied().collect();
        papers.epoch = None;
        let mut room = MOST_ASKED;
        let mut held = |name: &Name, question: Option<&Question>| {
            let question = question.map(v1::Question::from).filter(|question| {
                let bytes = question.encoded_len();
                room = room.saturating_sub(bytes);
                room > 0
            });
            v1::Held {
                task: name.task,
                attempt: name.attempt,
                epoch: name.epoch,
                question,
            }
        };
        let running = papers
            .running
            .values()
            .filter(|running| !running.is_revoked);
        let mut all: Vec<_> = running
            .map(|running| held(&running.name, Some(&running.question)))
            .collect();
        all.extend(
            papers
                .waiting
                .values()
                .map(|waiting| held(&waiting.name, Some(&waiting.question))),
        );
        all.extend(
            papers
                .done
                .values()
                .map(|done| held(&done.name, done.question.as_ref())),
        );
        all
    }

    /// Positions visited so far, by task at work, and what was found and not said before.
    pub(crate) fn progress(&self) -> Vec<v1::TaskProgress> {
        let mut papers = self.lock();
        let epoch = papers.epoch.unwrap_or_default();
        let is_its = |running: &&mut Running| !running.is_revoked && running.name.epoch == epoch;
        let running = papers.running.values_mut().filter(is_its);
        let progress = |running: &mut Running| v1::TaskProgress {
            task: running.name.task,
            nodes: running.control.nodes(),
            so_far: running.so_far.take(),
        };
        running.map(progress).collect()
    }

    /// Reports of tasks of this coordinator that are not sent yet; none before its welcome.
    pub(crate) fn reports(&self) -> Vec<v1::Report> {
        let mut papers = self.lock();
        let Some(epoch) = papers.epoch else {
            return Vec::new();
        };
        let unsent = std::mem::take(&mut papers.unsent);
        let report = |number| {
            let Done { name, outcome, .. } = papers
                .done
                .get(&number)
                .filter(|done| done.name.epoch == epoch)?;
            Some(v1::Report {
                task: name.task,
                attempt: name.attempt,
                outcome: Some(outcome.clone()),
            })
        };
        unsent.into_iter().filter_map(report).collect()
    }

    /// Waits until there is something to say.
    pub(crate) async fn news(&self) {
        self.news.notified().await;
    }

    /// Begins nothing more but the exam, if that is needed for something to be heard, and gives back what is not begun.
    pub(crate) fn hand_back_waiting(&self) {
        let mut papers = self.lock();
        papers.is_retired = true;
        let waiting = std::mem::take(&mut papers.waiting);
        let (exam, waiting): (BTreeMap<_, _>, BTreeMap<_, _>) = waiting
            .into_iter()
            .partition(|(_, waiting)| papers.must_answer(waiting.name));
        papers.waiting = exam;
        for Waiting { name, .. } in waiting.into_values() {
            papers.report(name, Outcome::HandedBack(v1::HandedBack {}));
        }
        self.news.notify_one();
    }

    /// Gives back what is at work, too, but for the exam.
    pub(crate) fn hand_back_all(&self) {
        let papers = self.lock();
        let others = papers
            .running
            .values()
            .filter(|running| !papers.must_answer(running.name));
        others.for_each(|running| running.control.stop());
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
        papers
            .running
            .values()
            .for_each(|running| running.control.stop());
        self.work.notify_all();
    }
}

impl Papers {
    fn report(&mut self, name: Name, outcome: Outcome) {
        self.arrivals += 1;
        self.done.insert(
            self.arrivals,
            Done {
                name,
                question: None,
                outcome,
            },
        );
        self.unsent.push(self.arrivals);
    }

    /// Whether it is a question of the exam, without which something that is at work or done would not be heard.
    fn must_answer(&self, name: Name) -> bool {
        let mut others = self
            .running
            .values()
            .map(|running| running.name)
            .chain(self.done.values().map(|done| done.name));
        name.task >= FIRST_CALIBRATION_TASK
            && others.any(|other| other.task < FIRST_CALIBRATION_TASK)
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.running.is_empty() && self.done.is_empty()
    }
}

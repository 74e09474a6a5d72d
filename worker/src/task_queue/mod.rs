//! The tasks of a worker, shared by its connection and its slots: waiting, running, and reported
//! but not acknowledged.

mod state;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kagetsu_game::Question;
use kagetsu_proto::v1;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_search::{Control, Note, Progress};
use parking_lot::{Condvar, Mutex};
use prost::Message;
use tokio::sync::Notify;

use self::state::{QueueState, ReportedTask, RunningTask, TaskId, WaitingTask};
use crate::outcome::{self, TaskResult};
use crate::spool::Spool;

pub(crate) use self::state::SearchRole;

/// The priority of a question that a user watches.
const WATCHED_PRIORITY: u64 = 0;
/// Bytes of questions in a hello; further tasks are named by their numbers alone.
const MAX_HELLO_QUESTION_BYTES: usize = 1 << 20;
/// Searches younger than this report their iterations with the next heartbeat, older ones at once.
const MIN_AGE_FOR_PROGRESS: Duration = Duration::from_millis(200);
/// The time between two messages to the other members of a shared search, per member and its
/// bounds.
const NOTES_INTERVAL_PER_MEMBER: Duration = Duration::from_micros(250);
const MIN_NOTES_INTERVAL: Duration = Duration::from_millis(1);
const MAX_NOTES_INTERVAL: Duration = Duration::from_millis(10);

/// A task for a slot.
#[derive(Debug)]
pub(crate) struct SlotTask {
    /// Its number in the queue.
    pub(crate) number: u64,
    pub(crate) question: Question,
    pub(crate) role: SearchRole,
    pub(crate) control: Control,
    /// Whether the report shall have strategies.
    pub(crate) wants_strategies: bool,
    /// Most stones of end tables that may be used.
    pub(crate) end_tables: u8,
}

/// The queue between a worker's connection and its slots.
pub(crate) struct TaskQueue {
    slots: u32,
    spool: Option<Spool>,
    state: Mutex<QueueState>,
    /// Wakes slots: a task waits, or the queue is closed.
    slots_wake: Condvar,
    /// Wakes the connection: there is something to send.
    connection_wake: Notify,
}

impl TaskQueue {
    /// Creates a queue with the reports that an earlier worker left in the spool.
    pub(crate) fn new(slots: u32, spool: Option<(Spool, Vec<(u64, v1::Spooled)>)>) -> Arc<Self> {
        let (spool, entries) =
            spool.map_or((None, Vec::new()), |(spool, left)| (Some(spool), left));
        let state = QueueState::restored(entries);
        if !state.reported.is_empty() {
            tracing::info!(
                reports = state.reported.len(),
                "the spool has reports that were not acknowledged"
            );
        }
        Arc::new(Self {
            slots,
            spool,
            state: Mutex::new(state),
            slots_wake: Condvar::new(),
            connection_wake: Notify::new(),
        })
    }

    pub(crate) const fn slots(&self) -> u32 {
        self.slots
    }

    /// Begins to send reports: the coordinator has named its process.
    pub(crate) fn welcome(&self, welcome: &v1::Welcome) {
        let mut state = self.state.lock();
        state.epoch = Some(welcome.epoch);
        state.wants_strategies = welcome.wants_strategies;
        state.end_tables = u8::try_from(welcome.end_tables).unwrap_or(u8::MAX);
        drop(state);
        self.connection_wake.notify_one();
    }

    /// Adds a task. A known task continues under its new name, and a reported one is reported
    /// again.
    pub(crate) fn add(
        &self,
        task: u64,
        attempt: u32,
        priority: u64,
        question: Question,
        role: SearchRole,
    ) {
        let mut state = self.state.lock();
        let id = TaskId {
            epoch: state.epoch.unwrap_or_default(),
            task,
            attempt,
        };
        if state.reassign(id, &question) {
            self.connection_wake.notify_one();
        } else if state.is_retired && !state.must_answer(id) {
            state.report(id, Outcome::HandedBack(v1::HandedBack {}));
            self.connection_wake.notify_one();
        } else {
            state.arrivals += 1;
            let key = (priority, state.arrivals);
            let waiting = WaitingTask {
                id,
                question,
                role,
                arrived: Instant::now(),
            };
            state.waiting.insert(key, waiting);
            self.slots_wake.notify_one();
        }
    }

    /// Reports that a task cannot be read.
    pub(crate) fn reject(&self, task: u64, attempt: u32, reason: String) {
        let mut state = self.state.lock();
        let epoch = state.epoch.unwrap_or_default();
        let id = TaskId {
            epoch,
            task,
            attempt,
        };
        state.report(id, Outcome::Failed(reason));
        self.connection_wake.notify_one();
    }

    /// Drops a task that is no longer wanted. Its report stays, except for a task of an earlier
    /// coordinator process, which no longer waits for it.
    pub(crate) fn revoke(&self, task: u64) {
        let mut state = self.state.lock();
        state.waiting.retain(|_, waiting| waiting.id.task != task);
        let mut running = state.running.values_mut();
        if let Some(running) = running.find(|running| running.id.task == task) {
            running.is_revoked = true;
            running.control.stop();
        }
        let epoch = state.epoch.unwrap_or_default();
        self.forget(&mut state, |id| id.task == task && id.epoch != epoch);
    }

    /// Passes the notes of another member of a shared search on to its slot.
    pub(crate) fn receive_notes(&self, task: u64, notes: &[Note]) {
        let state = self.state.lock();
        let epoch = state.epoch.unwrap_or_default();
        let mut running = state.running.values();
        let running = running.find(|running| running.id.task == task && running.id.epoch == epoch);
        if let Some(running) = running {
            running.control.receive(notes);
        }
    }

    /// Returns how often to send [notes](Self::take_notes); `None` without a shared search. Larger
    /// groups send less often, because each message costs more and matters less.
    pub(crate) fn notes_interval(&self) -> Option<Duration> {
        let members = |running: &RunningTask| match running.role {
            SearchRole::Member { of, .. } if of > 1 && !running.is_revoked => Some(of),
            _ => None,
        };
        let members = self
            .state
            .lock()
            .running
            .values()
            .filter_map(members)
            .max()?;
        let interval = NOTES_INTERVAL_PER_MEMBER.saturating_mul(members);
        Some(interval.clamp(MIN_NOTES_INTERVAL, MAX_NOTES_INTERVAL))
    }

    /// Takes the new notes for the other members of the shared searches, by task.
    pub(crate) fn take_notes(&self) -> Vec<(u64, Vec<Note>)> {
        let state = self.state.lock();
        let notes = state
            .wanted()
            .map(|running| (running.id.task, running.control.take_outgoing()));
        notes.filter(|(_, notes)| !notes.is_empty()).collect()
    }

    /// Drops a report that the coordinator has stored.
    pub(crate) fn acknowledge(&self, task: u64, attempt: u32) {
        let mut state = self.state.lock();
        let stored = TaskId {
            epoch: state.epoch.unwrap_or_default(),
            task,
            attempt,
        };
        self.forget(&mut state, |id| id == stored);
    }

    fn forget(&self, state: &mut QueueState, is_over: impl Fn(TaskId) -> bool) {
        let over = state
            .reported
            .iter()
            .filter(|(_, reported)| is_over(reported.id));
        let over: Vec<u64> = over.map(|(number, _)| *number).collect();
        for number in over {
            state.reported.remove(&number);
            if let Some(spool) = &self.spool {
                spool.remove(number);
            }
        }
        if state.is_empty() {
            self.connection_wake.notify_one();
        }
    }

    /// Waits in a slot for the next task; `None` when the queue is closed.
    pub(crate) fn start_next(&self) -> Option<SlotTask> {
        let mut state = self.state.lock();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(((priority, number), waiting)) = state.waiting.pop_first() {
                let running = RunningTask {
                    id: waiting.id,
                    question: waiting.question,
                    role: waiting.role,
                    control: Control::new(),
                    arrived: waiting.arrived,
                    is_revoked: false,
                    is_watched: priority == WATCHED_PRIORITY,
                    unsent_progress: None,
                };
                let task = SlotTask {
                    number,
                    question: running.question.clone(),
                    role: running.role,
                    control: running.control.clone(),
                    wants_strategies: state.wants_strategies,
                    end_tables: state.end_tables,
                };
                let TaskId {
                    task: id, attempt, ..
                } = running.id;
                tracing::debug!(task = id, attempt, "a task starts");
                state.running.insert(number, running);
                if matches!(task.role, SearchRole::Member { .. }) {
                    // The connection sends its notes from now on.
                    self.connection_wake.notify_one();
                }
                return Some(task);
            }
            self.slots_wake.wait(&mut state);
        }
    }

    /// Records an iteration of a watched search. The first iterations take no time and wait for the
    /// next heartbeat.
    pub(crate) fn record_iteration(&self, number: u64, width: u16, progress: &Progress) {
        let mut state = self.state.lock();
        let running = state.running.get_mut(&number);
        if let Some(running) = running.filter(|running| running.is_watched) {
            running.unsent_progress = Some(outcome::so_far(&progress.answer, width));
            if progress.elapsed >= MIN_AGE_FOR_PROGRESS {
                self.connection_wake.notify_one();
            }
        }
    }

    /// Whether an iteration waits to be sent.
    pub(crate) fn has_unsent_progress(&self) -> bool {
        let state = self.state.lock();
        let mut running = state.running.values();
        running.any(|running| running.unsent_progress.is_some() && !running.is_revoked)
    }

    /// Records the end of a task. With a spool, an answer is on disk before it is sent. The answer
    /// of a shared search is not spooled, because a restarted coordinator cannot use it.
    pub(crate) fn finish(&self, number: u64, result: TaskResult) {
        let (result, spooled) = {
            let state = self.state.lock();
            let Some(running) = state.running.get(&number) else {
                return;
            };
            // A search that was stopped but not revoked has only half an answer.
            let result = match result.outcome {
                Outcome::Answer(_) if running.control.is_stopped() => {
                    Outcome::HandedBack(v1::HandedBack {}).into()
                }
                _ => result,
            };
            let has_answer = matches!(result.outcome, Outcome::Answer(_));
            tracing::debug!(
                task = running.id.task,
                attempt = running.id.attempt,
                has_answer,
                is_revoked = running.is_revoked,
                nodes = running.control.nodes(),
                held = ?running.arrived.elapsed(),
                "a task ends"
            );
            let is_spooled = has_answer && !running.is_revoked && running.role == SearchRole::Whole;
            let spooled = is_spooled.then(|| v1::Spooled {
                epoch: running.id.epoch,
                question: Some((&running.question).into()),
                report: Some(result.clone().report(running.id.task, running.id.attempt)),
            });
            (result, spooled)
        };
        // Without the lock: a slow disk holds up only this slot.
        let spool = self.spool.as_ref().zip(spooled).map(|(spool, entry)| {
            spool.keep(number, &entry);
            spool
        });
        let mut state = self.state.lock();
        let Some(running) = state.running.remove(&number) else {
            return;
        };
        let has_answer = matches!(result.outcome, Outcome::Answer(_));
        // A report without an answer concerns only the coordinator process that assigned the task.
        let is_current = state.epoch.is_none_or(|epoch| epoch == running.id.epoch);
        if !running.is_revoked && (has_answer || is_current) {
            let is_question_kept = has_answer && running.role == SearchRole::Whole;
            let reported = ReportedTask {
                id: running.id,
                question: is_question_kept.then_some(running.question),
                result,
            };
            state.reported.insert(number, reported);
            state.unsent.push(number);
        } else if let Some(spool) = spool {
            spool.remove(number);
        }
        self.connection_wake.notify_one();
    }

    /// Returns all tasks that the worker has, for a hello. All reports are sent again after the
    /// welcome.
    pub(crate) fn held(&self) -> Vec<v1::Held> {
        let mut state = self.state.lock();
        state.forget_calibration();
        state.unsent = state.reported.keys().copied().collect();
        state.epoch = None;
        let running = state.running.values().filter(|running| !running.is_revoked);
        let running = running.map(|running| (running.id, Some(&running.question)));
        let waiting = state
            .waiting
            .values()
            .map(|waiting| (waiting.id, Some(&waiting.question)));
        let reported = state.reported.values();
        let reported = reported.map(|reported| (reported.id, reported.question.as_ref()));
        let mut room = MAX_HELLO_QUESTION_BYTES;
        let mut held = |(id, question): (TaskId, Option<&Question>)| {
            let question = question.map(v1::Question::from).filter(|question| {
                room = room.saturating_sub(question.encoded_len());
                room > 0
            });
            v1::Held {
                task: id.task,
                attempt: id.attempt,
                epoch: id.epoch,
                question,
            }
        };
        running
            .chain(waiting)
            .chain(reported)
            .map(&mut held)
            .collect()
    }

    /// Takes the progress of the running tasks for a heartbeat.
    pub(crate) fn take_progress(&self) -> Vec<v1::TaskProgress> {
        let mut state = self.state.lock();
        let epoch = state.epoch.unwrap_or_default();
        let wanted = |running: &&mut RunningTask| !running.is_revoked && running.id.epoch == epoch;
        let progress = |running: &mut RunningTask| v1::TaskProgress {
            task: running.id.task,
            nodes: running.control.nodes(),
            so_far: running.unsent_progress.take(),
        };
        state
            .running
            .values_mut()
            .filter(wanted)
            .map(progress)
            .collect()
    }

    /// Takes the unsent reports to this coordinator process; before its welcome only those of
    /// calibration questions.
    pub(crate) fn take_reports(&self) -> Vec<v1::Report> {
        let mut state = self.state.lock();
        let Some(epoch) = state.epoch else {
            return state.take_calibration_reports();
        };
        let unsent = std::mem::take(&mut state.unsent);
        let reported = unsent
            .into_iter()
            .filter_map(|number| state.reported.get(&number));
        let current = reported.filter(|reported| reported.id.epoch == epoch);
        current.map(ReportedTask::report).collect()
    }

    /// Waits until there is something to send.
    pub(crate) async fn wait_for_news(&self) {
        self.connection_wake.notified().await;
    }

    /// Starts nothing more and hands back the waiting tasks. Calibration tasks stay where other
    /// reports depend on them.
    pub(crate) fn retire(&self) {
        let mut state = self.state.lock();
        state.is_retired = true;
        let waiting = std::mem::take(&mut state.waiting);
        let (kept, handed_back): (BTreeMap<_, _>, BTreeMap<_, _>) = waiting
            .into_iter()
            .partition(|(_, waiting)| state.must_answer(waiting.id));
        state.waiting = kept;
        for waiting in handed_back.into_values() {
            state.report(waiting.id, Outcome::HandedBack(v1::HandedBack {}));
        }
        self.connection_wake.notify_one();
    }

    /// Stops the running searches, so that they are handed back, except for calibration tasks on
    /// which reports depend.
    pub(crate) fn hand_back_running(&self) {
        let state = self.state.lock();
        let running = state
            .running
            .values()
            .filter(|running| !state.must_answer(running.id));
        running.for_each(|running| running.control.stop());
    }

    /// Whether a retired worker has nothing left to do or to send.
    pub(crate) fn is_drained(&self) -> bool {
        let state = self.state.lock();
        state.is_retired && state.is_empty()
    }

    /// Stops all searches and ends the slots.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        state.waiting.clear();
        state
            .running
            .values()
            .for_each(|running| running.control.stop());
        self.slots_wake.notify_all();
    }
}

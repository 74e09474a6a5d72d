//! The shared state of a coordinator: the lock, the timer, and what others ask of it.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use kagetsu_book::{JobId, Work};
use kagetsu_game::{Answer, Position, Question, Variant, quote};
use kagetsu_proto::v1;
use kagetsu_schedule::{
    Counts, Idle, Options, QuestionId, Report, Scheduler, Split, TaskId, WorkerId, WorkerStatus,
};
use kagetsu_verification::{Profile, QuarantinedWorker, Verification};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Notify, mpsc, watch};
use tonic::Status;

use super::analysis_progress::{AnalysisProgress, Update};
use super::applicant::HeldTasks;
use super::connections::{Outbound, WorkerView};
use super::dispatcher::{ANALYSIS_PRIORITY, Dispatcher, build_priority};
use super::purpose::{Analysis, Purpose};
use crate::book::handle::{BookHandle, Workforce};
use crate::telemetry::metrics::Metrics;
use crate::verification::calibration;
use crate::verification::claim_verifier::{ClaimVerifier, Finding};
use crate::verification::strategies::Strategies;

/// Bytes of table entries in one message.
const MAX_NOTES: usize = 16 * 4_096;
/// Days are counted in seconds of the Unix clock.
const SECONDS_PER_DAY: u64 = 86_400;

/// The shared state, and the bell that says that a deadline has come nearer.
pub(crate) struct Cluster {
    state: Mutex<Dispatcher>,
    bell: Notify,
    started: Instant,
    metrics: Arc<Metrics>,
    epoch: u64,
}

impl Cluster {
    /// Makes a cluster; `stall_timeout` is the scheduler's default if `None`.
    pub(crate) fn new(
        book: Option<BookHandle>,
        verification: Verification,
        stall_timeout: Option<Duration>,
    ) -> Arc<Self> {
        // Numbers above all that an earlier process used: late reports of its tasks are unknown.
        let epoch = SystemTime::UNIX_EPOCH
            .elapsed()
            .map_or(0, |since| since.as_micros() as u64)
            .max(1);
        let metrics = Arc::new(Metrics::default());
        let mut options = Options {
            first_id: epoch,
            ..Options::default()
        };
        if let Some(timeout) = stall_timeout {
            options.stall_timeout = timeout;
        }
        let scheduler = Scheduler::new(options);
        let state = Dispatcher::new(epoch, scheduler, book, verification, Arc::clone(&metrics));
        Arc::new(Self {
            state: Mutex::new(state),
            bell: Notify::new(),
            started: Instant::now(),
            metrics,
            epoch,
        })
    }

    /// Returns the number that tells this process of the coordinator from others; never 0.
    pub(crate) const fn epoch(&self) -> u64 {
        self.epoch
    }

    fn lock(&self) -> MutexGuard<'_, Dispatcher> {
        // The state is whole between calls; a panic elsewhere does not change that.
        self.state.lock()
    }

    /// Changes the state, then carries out what follows.
    fn with<T>(&self, change: impl FnOnce(&mut Dispatcher) -> T) -> T {
        let now = self.started.elapsed();
        let mut state = self.lock();
        state.now = now;
        let value = change(&mut state);
        state.carry_out();
        let is_nearer = state.has_nearer_deadline();
        drop(state);
        if is_nearer {
            self.bell.notify_one();
        }
        value
    }

    /// Drives the scheduler's deadlines; never ends.
    pub(crate) async fn run_timer(&self) {
        loop {
            let deadline = self.lock().await_deadline();
            let due = async {
                match deadline {
                    Some(at) => tokio::time::sleep_until((self.started + at).into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = due => self.with(Dispatcher::tick),
                () = self.bell.notified() => {}
            }
        }
    }

    /// Starts the thread that replays claims.
    ///
    /// # Errors
    /// If the system gives no thread or no memory.
    pub(crate) fn start_claim_verifier(self: &Arc<Self>) -> anyhow::Result<()> {
        let cluster = Arc::downgrade(self);
        let verifier = ClaimVerifier::start(Box::new(move |finding: Finding| {
            if let Some(cluster) = cluster.upgrade() {
                cluster.with(|state| state.found(finding));
            }
        }))?;
        self.lock().claim_verifier = Some(verifier);
        Ok(())
    }

    /// Stops the thread that replays claims, if there is one. Returns it, to be joined.
    pub(crate) fn stop_claim_verifier(&self) -> Option<JoinHandle<()>> {
        self.lock().claim_verifier.take().map(ClaimVerifier::stop)
    }

    /// Takes in the quarantined workers that another coordinator stored.
    pub(crate) fn restore_quarantine(&self, workers: Vec<QuarantinedWorker>) {
        self.lock().verification.restore(workers);
    }

    /// Hands out no more tasks.
    pub(crate) fn retire(&self) {
        self.with(|state| {
            state.is_retired = true;
            state.scheduler.stop_assigning();
        });
    }

    /// Whether everything that was handed out is reported, and on disk or waiting for a check. The
    /// workers keep the answers that wait, and report them to the next process.
    pub(crate) fn is_drained(&self) -> bool {
        let state = self.lock();
        let counts = state.scheduler.counts();
        let held = state.verification.held_answers();
        counts.leased_tasks == 0 && counts.unsettled_questions <= held
    }

    /// Ends all workers' streams.
    pub(crate) fn disconnect_all(&self) {
        self.lock().connections.clear();
    }
}

/// Workers' streams.
impl Cluster {
    /// Takes in a worker's introduction. Returns the number of its stream and the messages for it.
    ///
    /// # Errors
    /// `ALREADY_EXISTS` where a worker of its instance number is connected under another token:
    /// instance numbers can be learned. `FAILED_PRECONDITION` for a volunteer whose answers cannot
    /// be verified.
    pub(crate) fn connect(
        &self,
        worker: WorkerId,
        info: Profile,
        mut held: HeldTasks,
    ) -> Result<(u64, mpsc::Receiver<Outbound>), Status> {
        // Calibration questions belong to their connection.
        held.current
            .retain(|(task, _)| !calibration::is_question(*task));
        held.earlier
            .retain(|(task, _)| !calibration::is_question(*task));
        self.with(|state| {
            if state
                .connections
                .info(worker)
                .is_some_and(|known| known.token != info.token)
            {
                return Err(Status::already_exists(
                    "a worker of this number is connected under another token",
                ));
            }
            let stream = state.connections.add(worker, info.clone(), held);
            if let Err(refused) = state.apply(worker, &info) {
                let status = Status::failed_precondition(refused.to_string());
                state.connections.remove(worker, stream.0);
                return Err(status);
            }
            Ok(stream)
        })
    }

    /// A worker's stream has ended, with a goodbye or without.
    pub(crate) fn disconnect(&self, worker: WorkerId, stream: u64, goodbye: bool) {
        self.with(|state| {
            if state.connections.remove(worker, stream) {
                state.disconnect(worker, goodbye);
            }
        });
    }

    /// Ends a worker's stream with an error, if it is the current one.
    pub(crate) fn refuse(&self, worker: WorkerId, stream: u64, status: Status) {
        self.with(|state| {
            if state.connections.is_current(worker, stream) {
                state.connections.refuse(worker, status);
            }
        });
    }

    /// Takes in a worker's heartbeat. Clients see its intermediate results; the book does not.
    pub(crate) fn heartbeat(&self, worker: WorkerId, progress: &[v1::TaskProgress]) {
        let positions: Vec<Option<Position>> = {
            let state = self.lock();
            if !state.verification.is_admitted(worker) {
                return;
            }
            let position = |progress: &v1::TaskProgress| {
                progress.so_far.as_ref()?;
                let assignment = state.scheduler.assignment(worker, TaskId(progress.task));
                assignment.map(|(question, _)| question.position.clone())
            };
            progress.iter().map(position).collect()
        };
        // Results are held against the rules outside the lock, as answers are.
        let read = progress.iter().zip(positions).map(|(progress, position)| {
            let so_far = progress.so_far.as_ref().zip(position);
            let so_far = so_far.and_then(|(so_far, position)| so_far.about(&position).ok());
            (TaskId(progress.task), progress.nodes, so_far)
        });
        let progress = read.collect();
        self.with(|state| state.heartbeat(worker, progress));
    }

    /// Takes in what a worker's table has learned, for other workers.
    pub(crate) fn notes(&self, worker: WorkerId, notes: &v1::Notes) {
        if notes.notes.len() <= MAX_NOTES {
            let state = self.lock();
            if state.verification.is_admitted(worker) {
                state.relay(worker, TaskId(notes.task), &notes.notes);
            }
        }
    }

    /// Takes in a worker's report. An answer that is impossible or answers nothing is a failure.
    pub(crate) fn report(&self, worker: WorkerId, report: v1::Report) {
        let task = TaskId(report.task);
        if calibration::is_question(task) {
            return self.calibrated(worker, &report);
        }
        // Read outside the lock, as the answer is.
        let strategies =
            (!report.strategies.is_empty()).then(|| Strategies::read(&report.strategies));
        let outcome = match report.outcome {
            Some(v1::report::Outcome::Answer(answer)) => self.read_answer(worker, task, &answer),
            Some(v1::report::Outcome::Failed(reason)) => Report::Failed(quote(&reason).to_string()),
            Some(v1::report::Outcome::HandedBack(_)) => Report::HandedBack,
            None => Report::Failed("an empty report".into()),
        };
        self.with(|state| state.report(worker, task, report.attempt, outcome, strategies));
    }

    /// Reads an answer outside the lock: holding it against the rules takes a while.
    fn read_answer(&self, worker: WorkerId, task: TaskId, answer: &v1::Answer) -> Report {
        let day = SystemTime::UNIX_EPOCH
            .elapsed()
            .map_or(0, |since| since.as_secs() / SECONDS_PER_DAY);
        let day = u32::try_from(day).unwrap_or(u32::MAX);
        let now = self.started.elapsed();
        let expectation = self.lock().expectation(worker, task, now, day);
        // The scheduler drops the answer to an unknown task.
        expectation.map_or_else(
            || Report::Done(Answer::new()),
            |expectation| expectation.read(answer),
        )
    }

    /// A worker has answered a calibration question.
    fn calibrated(&self, worker: WorkerId, report: &v1::Report) {
        let Some(info) = self.lock().connections.info(worker).cloned() else {
            return;
        };
        let (task, attempt) = (TaskId(report.task), report.attempt);
        if matches!(report.outcome, Some(v1::report::Outcome::HandedBack(_))) {
            // It is about to stop, and has answered nothing wrongly.
            return self.with(|state| state.acknowledge(worker, task, attempt));
        }
        let result = calibration::check(&info, report);
        self.with(|state| state.calibrated(worker, task, attempt, result));
    }
}

/// Clients' questions, and lists.
impl Cluster {
    /// Whether there is a book for answers.
    pub(crate) fn has_book(&self) -> bool {
        self.lock().book.is_some()
    }

    /// Asks a client's question. Its answer grows in the receiver; an answer that `is_kept` ends
    /// when it is on disk.
    pub(crate) fn analyze(
        &self,
        question: Question,
        candidates: Answer,
        split: Split,
        is_kept: bool,
    ) -> (QuestionId, watch::Receiver<Update>) {
        self.with(|state| {
            let (progress, updates) = AnalysisProgress::new(split == Split::Shared);
            let kept = is_kept.then(|| question.clone());
            let purpose = Purpose::Analysis(Analysis::new(progress, kept));
            let (now, priority) = (state.now, ANALYSIS_PRIORITY);
            let id = state
                .scheduler
                .submit(now, question, candidates, split, priority, purpose);
            (id, updates)
        })
    }

    /// Drops a question whose client has gone. Harmless for one that has ended.
    pub(crate) fn cancel(&self, id: QuestionId) {
        self.with(|state| {
            if state.scheduler.is_open(id) {
                state.scheduler.cancel(state.now, id);
            }
        });
    }

    /// Returns how many connected workers play the variant.
    pub(crate) fn worker_count(&self, variant: Variant) -> u32 {
        self.lock().connections.count(variant)
    }

    /// Returns all connected workers.
    pub(crate) fn workers(&self) -> Vec<WorkerView> {
        let state = self.lock();
        let mut statuses: std::collections::BTreeMap<WorkerId, WorkerStatus> = state
            .scheduler
            .workers()
            .map(|status| (status.id, status))
            .collect();
        let view = |(worker, info): (WorkerId, &Profile)| {
            let trust = state.verification.trust(worker);
            let idle = if trust.quarantine.is_some() {
                Idle::Quarantined
            } else {
                Idle::Qualifying
            };
            let status = statuses.remove(&worker).unwrap_or(WorkerStatus {
                id: worker,
                slots: info.slots,
                tasks: Vec::new(),
                done: trust.done,
                speed: 0,
                last_seen: state.now,
                idle: Some(idle),
            });
            WorkerView {
                info: info.clone(),
                status,
                trust,
            }
        };
        state.connections.iter().map(view).collect()
    }

    /// Returns the quarantined workers of whose name no worker is connected.
    pub(crate) fn absent(&self) -> Vec<QuarantinedWorker> {
        let state = self.lock();
        state
            .verification
            .quarantined()
            .into_iter()
            .filter(|quarantined| {
                let mut connected = state.connections.iter();
                !connected.any(|(_, info)| info.name == quarantined.name)
            })
            .collect()
    }

    /// Ends the quarantine of all workers of a name. Returns how many were quarantined.
    pub(crate) fn release(&self, name: &str) -> usize {
        self.with(|state| state.release(name))
    }

    /// Explains why no worker gets tasks of the variant; `None` if one does.
    pub(crate) fn waits_for(&self, variant: Variant) -> Option<String> {
        let state = self.lock();
        (!state.scheduler.has_worker_for(variant)).then(|| {
            let are_calibrating = state.verification.is_calibrating(variant);
            state.connections.explain_lack(variant, are_calibrating)
        })
    }

    /// Returns the number of quarantines since the start.
    pub(crate) fn quarantines(&self) -> u64 {
        self.lock().verification.quarantines()
    }

    pub(crate) const fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Returns the scheduler's counts.
    pub(crate) fn counts(&self) -> Counts {
        self.lock().scheduler.counts()
    }
}

/// The workers as the book writer sees them.
impl Workforce for Cluster {
    fn appetite(&self, variant: Variant) -> usize {
        usize::try_from(self.lock().scheduler.spare_capacity_for(variant)).unwrap_or(usize::MAX)
    }

    fn ask(&self, work: Work, candidates: Answer, may_split: bool) {
        self.with(|state| {
            let split = if may_split {
                Split::Seeded
            } else {
                Split::Never
            };
            let (question, priority) = (work.question.clone(), build_priority(&work));
            let (now, purpose) = (state.now, Purpose::Build(work, Vec::new()));
            state
                .scheduler
                .submit(now, question, candidates, split, priority, purpose);
        });
    }

    fn resume(&self, worker: WorkerId, work: Work) {
        self.with(|state| {
            let (question, priority) = (work.question.clone(), build_priority(&work));
            let purpose = Purpose::Build(work, Vec::new());
            state
                .scheduler
                .resume(state.now, question, priority, worker, purpose);
        });
    }

    fn share(&self, worker: WorkerId, task: TaskId, question: &Question) {
        self.with(|state| {
            let id = state.open_builds(|work| work.question == *question).next();
            if !id.is_some_and(|id| state.scheduler.also_assign(state.now, id, worker)) {
                state.revoke(worker, task);
            }
        });
    }

    fn revoke(&self, worker: WorkerId, task: TaskId) {
        self.with(|state| state.revoke(worker, task));
    }

    fn withdraw(&self, job: JobId) -> Vec<Work> {
        self.with(|state| {
            state.verification.stop_job(job.0);
            let is_its = |work: &Work| work.job == job;
            let ids: Vec<_> = state.open_builds(is_its).collect();
            let cancelled = ids
                .into_iter()
                .filter_map(|id| state.scheduler.cancel(state.now, id));
            let works = cancelled.filter_map(|purpose| match purpose {
                Purpose::Build(work, _) => Some(work),
                _ => None,
            });
            works.collect()
        })
    }

    fn settle(&self, questions: &[QuestionId]) {
        self.with(|state| {
            questions
                .iter()
                .for_each(|&question| state.scheduler.settle(question));
        });
    }

    fn count_conflict(&self) {
        self.metrics.merge_conflicts.inc();
    }
}

#[cfg(test)]
mod tests {
    use kagetsu_verification::{Class, VerificationOptions};
    use tonic::Code;

    use super::*;

    #[test]
    fn number_of_another_tokens_worker_is_taken() {
        let options = VerificationOptions {
            trusts_all: true,
            ..VerificationOptions::new(2.0, 1, "e")
        };
        let cluster = Cluster::new(None, Verification::new(options), None);
        let connect = |token: &str| {
            let info = Profile {
                name: token.into(),
                engine: "e".into(),
                slots: 1,
                threads: 1,
                plays: Arc::default(),
                token: Some(token.into()),
                class: Class::Operator,
            };
            cluster.connect(WorkerId(7), info, HeldTasks::default())
        };
        let (stream, mut messages) = connect("one").expect("the number is free");
        assert_eq!(
            connect("stranger").expect_err("another's").code(),
            Code::AlreadyExists
        );
        assert!(messages.try_recv().is_ok(), "it is welcome");
        assert!(
            messages
                .try_recv()
                .is_err_and(|error| error == mpsc::error::TryRecvError::Empty),
            "its stream goes on"
        );
        cluster.disconnect(WorkerId(7), stream, true);
        assert!(connect("stranger").is_ok(), "the number is free");
    }
}

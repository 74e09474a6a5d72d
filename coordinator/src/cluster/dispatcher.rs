use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use kagetsu_book::Work;
use kagetsu_game::Answer;
use kagetsu_proto::v1;
use kagetsu_proto::v1::to_worker::Message;
use kagetsu_schedule::{Effect, QuestionId, Scheduler, TaskId, WorkerId};
use kagetsu_verification::{CheckId, Class, Ticket, Verification};

use super::connections::WorkerConnections;
use super::purpose::Purpose;
use crate::book::handle::{BookHandle, Command};
use crate::telemetry::metrics::Metrics;
use crate::verification::claim_verifier::ClaimVerifier;

/// Priority of an analysis that a client waits for: before every position of a build.
pub(crate) const ANALYSIS_PRIORITY: u64 = 0;

/// Everything behind the lock: the scheduler and the verification, and what ties their effects to
/// connections and the book.
pub(crate) struct Dispatcher {
    pub(crate) scheduler: Scheduler<Purpose>,
    pub(crate) verification: Verification,
    /// Time of the last change since the start of the process.
    pub(crate) now: Duration,
    /// Unix time of the start of the process.
    started: Duration,
    /// The scheduler deadline for which the timer waits, if it waits for one.
    awaited: Option<Duration>,
    /// The coordinator is about to stop.
    pub(crate) is_retired: bool,
    /// Number of this process of the coordinator.
    pub(crate) epoch: u64,
    pub(crate) claim_verifier: Option<ClaimVerifier>,
    pub(crate) connections: WorkerConnections,
    /// The open question of each check that a worker answers.
    pub(crate) checks: BTreeMap<CheckId, QuestionId>,
    pub(crate) book: Option<BookHandle>,
    pub(crate) metrics: Arc<Metrics>,
}

impl Dispatcher {
    pub(crate) fn new(
        epoch: u64,
        scheduler: Scheduler<Purpose>,
        book: Option<BookHandle>,
        verification: Verification,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self {
            scheduler,
            verification,
            now: Duration::ZERO,
            started: SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default(),
            awaited: None,
            is_retired: false,
            epoch,
            claim_verifier: None,
            connections: WorkerConnections::default(),
            checks: BTreeMap::new(),
            book,
            metrics,
        }
    }

    /// Returns the Unix time of the last change, which never runs backwards.
    pub(crate) fn clock(&self) -> Duration {
        self.started + self.now
    }

    /// Returns the scheduler's deadline, for which the timer is to wait.
    pub(crate) fn await_deadline(&mut self) -> Option<Duration> {
        self.awaited = self.scheduler.deadline();
        self.awaited
    }

    /// Whether the timer would fire too late. After a deadline has moved away it fires too early,
    /// which does no harm.
    pub(crate) fn has_nearer_deadline(&self) -> bool {
        let deadline = self.scheduler.deadline();
        deadline.is_some_and(|deadline| self.awaited.is_none_or(|awaited| deadline < awaited))
    }

    /// Handles the deadline for which the timer waited.
    pub(crate) fn tick(&mut self) {
        self.scheduler.tick(self.now);
        let now = self.clock();
        self.verification.tick(now);
    }

    pub(crate) fn revoke(&mut self, worker: WorkerId, task: TaskId) {
        self.connections
            .send(worker, Message::Revoke(v1::Revoke { task: task.0 }));
    }

    pub(crate) fn acknowledge(&mut self, worker: WorkerId, task: TaskId, attempt: u32) {
        let held = v1::Held {
            task: task.0,
            attempt,
            ..Default::default()
        };
        self.connections.send(worker, Message::Acknowledge(held));
    }

    pub(crate) fn name(&self, worker: WorkerId) -> &str {
        self.connections
            .info(worker)
            .map_or("unknown", |info| &info.name)
    }

    /// Carries out the effects of the scheduler and the verification until none is left.
    pub(crate) fn carry_out(&mut self) {
        let mut has_changed = false;
        loop {
            if let Some(effect) = self.scheduler.poll() {
                self.dispatch(effect);
            } else if let Some(effect) = self.verification.poll() {
                self.follow_verdict(effect);
            } else {
                break;
            }
            has_changed = true;
        }
        if self.is_retired {
            return;
        }
        // Without room for a task the book writer would only be woken.
        if let Some(book) = &self.book
            && self.scheduler.has_room()
            && (has_changed || self.scheduler.spare_capacity() > 0)
        {
            book.refill();
        }
    }

    fn dispatch(&mut self, effect: Effect<Purpose>) {
        match effect {
            Effect::Assign { worker, task } => self.assign(worker, task),
            Effect::Revoke { worker, task } => self.revoke(worker, task),
            Effect::Acknowledge {
                worker,
                task,
                attempt,
            } => self.acknowledge(worker, task, attempt),
            Effect::Progress { question, answer } => {
                if let Some(Purpose::Analysis(analysis)) = self.scheduler.payload_mut(question) {
                    analysis.progress.reported(answer);
                }
            }
            Effect::Finished {
                question,
                answer,
                nodes,
                by,
            } => self.finished(question, answer, nodes, by),
            Effect::Behind { worker } => {
                let now = self.clock();
                self.verification.fell_behind(now, worker);
            }
            Effect::Failed {
                payload, reason, ..
            } => self.failed(payload, &reason),
        }
    }

    /// Passes the answer of a question to the verification, or ends its analysis.
    fn finished(&mut self, id: QuestionId, answer: Answer, nodes: u64, by: Vec<WorkerId>) {
        let now = self.clock();
        match self.scheduler.payload_mut(id) {
            Some(Purpose::Analysis(analysis)) => {
                let kept = analysis.kept.clone().filter(|_| !answer.is_empty());
                let (answer, by) = analysis.progress.deepest(answer, by);
                let Some(question) = kept else {
                    return self.end_analysis(id, Ok((answer, nodes)));
                };
                let is_operators =
                    |worker: &WorkerId| self.verification.class(*worker) == Class::Operator;
                analysis.given = by.iter().all(is_operators).then(|| answer.clone());
                analysis.nodes = nodes;
                let ticket = Ticket {
                    id,
                    question,
                    job: None,
                    priority: ANALYSIS_PRIORITY,
                };
                self.verification.answered(now, ticket, answer, by);
            }
            Some(Purpose::Build(work, _)) => {
                let ticket = Ticket {
                    id,
                    question: work.question.clone(),
                    job: Some(work.job.0),
                    priority: build_priority(work),
                };
                self.verification.answered(now, ticket, answer, by);
            }
            Some(&mut Purpose::Check(check)) => {
                self.scheduler.settle(id);
                self.checks.remove(&check);
                self.verification.second_opinion(now, check, answer, by);
            }
            None => self.scheduler.settle(id),
        }
    }

    /// Returns the unanswered questions of builds whose work is as wanted.
    pub(crate) fn open_builds(
        &self,
        is_wanted: impl Fn(&Work) -> bool,
    ) -> impl Iterator<Item = QuestionId> {
        let open = self.scheduler.open_payloads();
        open.filter(
            move |(_, purpose)| matches!(purpose, Purpose::Build(work, _) if is_wanted(work)),
        )
        .map(|(id, _)| id)
    }

    /// Ends an analysis whose answer does not go into the book.
    pub(crate) fn end_analysis(&mut self, id: QuestionId, end: Result<(Answer, u64), String>) {
        if let Some(Purpose::Analysis(analysis)) = self.scheduler.take_payload(id) {
            analysis.progress.end(end);
        }
        self.scheduler.settle(id);
    }

    /// Ends a question that failed too often.
    fn failed(&mut self, purpose: Option<Purpose>, reason: &str) {
        match purpose {
            Some(Purpose::Analysis(analysis)) => analysis.progress.end(Err(reason.to_string())),
            Some(Purpose::Build(work, _)) => {
                let position = &work.question.position;
                tracing::warn!(%position, reason, "a position is set aside");
                if let Some(book) = &self.book {
                    book.send(Command::SetAside(Box::new(work), reason.to_string()));
                }
            }
            Some(Purpose::Check(check)) => {
                self.checks.remove(&check);
                self.verification.unanswered(check);
            }
            None => {}
        }
    }
}

/// Returns a position's priority among all questions: by the priority of its job, then by its own;
/// less is sooner.
pub(crate) fn build_priority(work: &Work) -> u64 {
    /// Number of distinct priorities within a job.
    const PRIORITIES_PER_JOB: u64 = 1 << 56;
    let job = u64::from(work.turn.abs_diff(i8::MAX));
    ANALYSIS_PRIORITY + 1 + job * PRIORITIES_PER_JOB + work.priority.min(PRIORITIES_PER_JOB - 2)
}

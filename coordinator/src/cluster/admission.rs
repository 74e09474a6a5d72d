//! The handshake: a worker exists for the scheduler from its admission to its quarantine.

use std::sync::Arc;
use std::time::Duration;

use kagetsu_proto::v1::to_worker::Message;
use kagetsu_proto::{PROTOCOL, v1};
use kagetsu_schedule::{Capacity, TaskId, WorkerId};
use kagetsu_verification::{Admission, Class, Profile};
use tonic::Status;

use super::applicant::{Applicant, HeldTasks};
use super::dispatcher::Dispatcher;
use crate::book::handle::Command;
use crate::verification::calibration::{self, CalibrationFault};

/// Time between two heartbeats of a worker.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(2);

impl Dispatcher {
    /// Takes in a worker's introduction.
    ///
    /// # Errors
    /// For a worker whose answers cannot be verified.
    pub(crate) fn apply(&mut self, worker: WorkerId, info: &Profile) -> Result<(), String> {
        let now = self.clock();
        match self.verification.connect(now, worker, info.clone())? {
            Admission::Admitted => {
                if let Some(plays) = self.verification.plays(worker) {
                    self.connections.set_plays(worker, Arc::clone(plays));
                }
                self.admit(worker);
            }
            Admission::Calibrating => self.calibrate(worker),
            Admission::Quarantined => tracing::warn!(
                worker = info.name,
                "this worker is in quarantine: `kagetsu workers release NAME` ends it"
            ),
        }
        Ok(())
    }

    /// Sends the calibration questions.
    fn calibrate(&mut self, worker: WorkerId) {
        let Some(info) = self.connections.info(worker) else {
            return;
        };
        let tasks = calibration::tasks(info);
        if let Some(applicant) = self.connections.applicant(worker) {
            let applicant = applicant.get_or_insert_default();
            applicant.open = tasks.iter().map(|task| TaskId(task.task)).collect();
            (applicant.unable, applicant.differs) = Default::default();
        }
        for task in tasks {
            self.connections.send(worker, Message::Task(task));
        }
    }

    /// A worker has answered a calibration question, correctly or not.
    pub(crate) fn calibrated(
        &mut self,
        worker: WorkerId,
        task: TaskId,
        attempt: u32,
        result: Result<bool, CalibrationFault>,
    ) {
        self.acknowledge(worker, task, attempt);
        let Some(Some(applicant)) = self.connections.applicant(worker) else {
            return;
        };
        let is_last = applicant.open.remove(&task) && applicant.open.is_empty();
        let fault = match result {
            Ok(is_exact) => {
                applicant.differs |= !is_exact;
                None
            }
            Err(CalibrationFault::Unable(variant, reason)) => {
                applicant.unable.insert(variant);
                Some(reason)
            }
            Err(CalibrationFault::Wrong(fault)) => return self.fail(worker, fault),
        };
        if is_last {
            self.pass(worker, fault);
        }
    }

    /// Admits a worker to the variants in which it answered. `fault` is its last one.
    fn pass(&mut self, worker: WorkerId, fault: Option<String>) {
        let Some(info) = self.connections.info(worker).cloned() else {
            return;
        };
        let Some(Some(applicant)) = self.connections.applicant(worker) else {
            return;
        };
        let mut plays = Arc::clone(&info.plays);
        if !applicant.unable.is_empty() {
            plays = Arc::new(&*plays - &applicant.unable);
            let (name, unable) = (&info.name, &applicant.unable);
            tracing::warn!(
                worker = name,
                ?unable,
                "a worker cannot answer in some variants"
            );
        }
        if plays.is_empty() {
            return self.fail(worker, fault.unwrap_or_default());
        }
        let is_exact = !applicant.differs;
        if self
            .verification
            .pass_calibration(worker, Arc::clone(&plays), is_exact)
        {
            self.connections.set_plays(worker, plays);
            self.admit(worker);
        }
    }

    fn fail(&mut self, worker: WorkerId, fault: String) {
        let status = format!("this worker gives wrong answers: {fault}");
        let now = self.clock();
        self.verification.fail_calibration(now, worker, fault);
        self.connections
            .refuse(worker, Status::failed_precondition(status));
    }

    /// Lets the scheduler know the worker, and the worker that it is welcome.
    fn admit(&mut self, worker: WorkerId) {
        let Some(info) = self.connections.info(worker) else {
            return;
        };
        let capacity = Capacity {
            slots: info.slots,
            plays: Some(Arc::clone(&info.plays)),
            is_trusted: info.class == Class::Operator,
        };
        let applicant = self.connections.applicant(worker).and_then(Option::take);
        let HeldTasks { current, earlier } = applicant.unwrap_or_default().held;
        let welcome = v1::Welcome {
            protocol: PROTOCOL,
            heartbeat_ms: HEARTBEAT_INTERVAL.as_millis() as u32,
            epoch: self.epoch,
            wants_strategies: !self.verification.trusts_all(),
            end_tables: kagetsu_search::end_table_pieces().into(),
        };
        self.connections.welcome(worker, welcome);
        self.scheduler.join(self.now, worker, capacity, &current);
        // The book writer hears of these tasks before it hears of free slots.
        match &self.book {
            Some(book) if !earlier.is_empty() => book.send(Command::Reclaim(worker, earlier)),
            _ => earlier
                .into_iter()
                .for_each(|(task, _)| self.revoke(worker, task)),
        }
    }

    /// Takes all tasks from a worker; it exists no more for the scheduler.
    pub(crate) fn expel(&mut self, worker: WorkerId) {
        let trust = self.verification.trust(worker);
        let token = self
            .connections
            .info(worker)
            .and_then(|info| info.token.as_deref());
        let reason = trust.quarantine.unwrap_or_default();
        tracing::error!(
            worker = self.name(worker),
            token,
            reason,
            "a worker is in quarantine; `kagetsu workers release NAME` ends it"
        );
        for task in self.scheduler.tasks_of(worker) {
            self.revoke(worker, task);
        }
        self.scheduler.leave(self.now, worker, true);
        if let Some(applicant) = self.connections.applicant(worker) {
            *applicant = Some(Applicant::default());
        }
    }

    /// Ends the quarantine of all workers of a name. Returns how many were quarantined. The
    /// connected ones are calibrated anew.
    pub(crate) fn release(&mut self, name: &str) -> usize {
        let now = self.clock();
        let released = self.verification.release(now, name);
        if !released.is_empty() {
            tracing::info!(name, "the quarantine is ended");
        }
        for &worker in &released {
            self.calibrate(worker);
        }
        released.len()
    }

    /// A worker's stream has ended.
    pub(crate) fn disconnect(&mut self, worker: WorkerId, goodbye: bool) {
        self.scheduler.leave(self.now, worker, goodbye);
        let now = self.clock();
        self.verification.disconnect(now, worker);
    }
}

use kagetsu_proto::v1;
use serde::Serialize;

/// A worker.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Worker))]
pub struct WorkerJson {
    /// Its name.
    pub name: String,
    /// Its engine and version.
    pub engine: String,
    /// The number of tasks that it works on at the same time.
    pub slots: u32,
    /// Threads of each task.
    pub threads: u32,
    /// Tasks that it works on now.
    pub tasks: u32,
    /// Tasks that it has answered.
    pub done: u64,
    /// Nodes a second.
    pub speed: u64,
    /// Why a slot is idle, if one is.
    pub idle: Option<String>,
    /// Why workers of this name get no tasks until the name is released. A worker that only failed
    /// its exam may also retake it after a restart.
    pub quarantine: Option<String>,
    /// Answers that another worker confirmed.
    pub confirmed: u64,
    /// Answers that proved wrong.
    pub refuted: u64,
    /// Tasks that it failed.
    pub failed: u64,
    /// How far its answers are trusted: `operator`, `volunteer`, `calibrating` or `quarantined`.
    pub trust: String,
    /// The class of its token: `operator` or `volunteer`.
    pub class: String,
    /// Whether it is connected; a worker in quarantine is listed while it is not.
    pub is_connected: bool,
    /// The name of its token, where the coordinator requires one.
    pub token: Option<String>,
}

impl From<v1::Worker> for WorkerJson {
    fn from(worker: v1::Worker) -> Self {
        Self {
            name: worker.name,
            engine: worker.engine,
            slots: worker.slots,
            threads: worker.threads,
            tasks: worker.tasks,
            done: worker.done,
            speed: worker.speed,
            idle: (!worker.idle.is_empty()).then_some(worker.idle),
            quarantine: (!worker.quarantine.is_empty()).then_some(worker.quarantine),
            confirmed: worker.confirmed,
            refuted: worker.refuted,
            failed: worker.failed,
            trust: worker.trust,
            class: worker.class,
            is_connected: !worker.is_absent,
            token: (!worker.token.is_empty()).then_some(worker.token),
        }
    }
}

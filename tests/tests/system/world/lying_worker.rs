//! A worker that passes its calibration and lies about everything else, twice each time.

use kagetsu_proto::{Connector, FIRST_CALIBRATION_TASK, v1};

use super::scripted_worker::{Conversation, WorkerThread, report_of};

/// The worker disconnects on drop.
pub(crate) struct LyingWorker {
    name: String,
    _thread: WorkerThread,
}

impl LyingWorker {
    /// Starts a worker for the coordinator at `url` that claims to be Kagetsu's engine; it
    /// reconnects after every loss of the connection.
    pub(crate) fn start(url: &str, seed: u64) -> Self {
        let connector = Connector::to_url(url).expect("an address");
        let name = format!("liar-{seed}");
        let work = async move |mut conversation| while answer(&mut conversation).await.is_some() {};
        let thread = WorkerThread::start(connector, &name, seed + 1, work);
        Self {
            name,
            _thread: thread,
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// Answers one task; `None` when the coordinator has disconnected.
async fn answer(conversation: &mut Conversation) -> Option<()> {
    let task = conversation.task().await?;
    let is_calibration = task.task >= FIRST_CALIBRATION_TASK;
    let (_, answer) = conversation.search(&task);
    let mut answer = v1::Answer::from(&answer);
    if !is_calibration {
        spoil(&mut answer);
    }
    for _ in 0..2 {
        conversation
            .report(report_of(&task, answer.clone()))
            .await?;
    }
    Some(())
}

/// Gives the worst move the best value by far.
fn spoil(answer: &mut v1::Answer) {
    let scores = answer.verdicts.iter().map(|verdict| verdict.score);
    let best = scores.max().unwrap_or_default();
    if let Some(worst) = answer.verdicts.last_mut() {
        (worst.score, worst.line) = ((best + 900).min(29_000), vec![worst.r#move]);
        worst.proof = None;
        worst.set_bound(v1::Bound::Exact);
    }
}

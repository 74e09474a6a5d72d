//! A worker that passes its calibration and lies about everything else, twice each time.

use kagetsu_proto::{Connector, FIRST_CALIBRATION_TASK, v1};

use super::scripted_worker::{Conversation, WorkerThread, report_of};

/// The fault of a lying worker's answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    /// The worst move has the best value by far.
    FavourTheWorst,
    /// Every move has this value.
    Decided(i32),
    /// Every move is proven to win.
    Proven,
    /// It sends heartbeats and no answer.
    Silence,
}

/// The worker disconnects on drop.
pub(crate) struct LyingWorker {
    name: String,
    _thread: WorkerThread,
}

impl LyingWorker {
    /// Starts a worker for the coordinator at `url` that claims to be Kagetsu's engine; it
    /// reconnects after every loss of the connection.
    pub(crate) fn start(url: &str, seed: u64, lie: Lie) -> Self {
        let connector = Connector::to_url(url).expect("an address");
        let name = format!("liar-{seed}");
        let work =
            async move |mut conversation| while answer(&mut conversation, lie).await.is_some() {};
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
async fn answer(conversation: &mut Conversation, lie: Lie) -> Option<()> {
    let task = conversation.task().await?;
    let is_calibration = task.task >= FIRST_CALIBRATION_TASK;
    if lie == Lie::Silence && !is_calibration {
        return Some(());
    }
    let (_, answer) = conversation.search(&task);
    let mut answer = v1::Answer::from(&answer);
    if !is_calibration {
        spoil(&mut answer, lie);
    }
    for _ in 0..2 {
        conversation
            .report(report_of(&task, answer.clone()))
            .await?;
    }
    Some(())
}

fn spoil(answer: &mut v1::Answer, lie: Lie) {
    let scores = answer.verdicts.iter().map(|verdict| verdict.score);
    let best = scores.max().unwrap_or_default();
    let (from, score, plies) = match lie {
        Lie::FavourTheWorst => (answer.verdicts.len() - 1, (best + 900).min(29_000), None),
        Lie::Decided(score) => (0, score, None),
        Lie::Proven => (0, 31_991, Some(9)),
        Lie::Silence => return,
    };
    for verdict in &mut answer.verdicts[from..] {
        (verdict.score, verdict.line) = (score, vec![verdict.r#move]);
        verdict.proof = plies.map(|plies| v1::Proof {
            claim: v1::Claim::Win.into(),
            kind: v1::ProofKind::Vct.into(),
            plies,
        });
        verdict.set_bound(v1::Bound::Exact);
    }
}

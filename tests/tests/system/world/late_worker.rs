//! An honest worker that sends every report late and twice, and repeats earlier reports.

use std::collections::VecDeque;
use std::time::Duration;

use kagetsu_proto::{Connector, v1};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::scripted_worker::{Conversation, WorkerThread, report_of};

/// Number of earlier reports that it repeats.
const REPEATED_REPORTS: usize = 8;

/// The worker disconnects on drop.
pub(crate) struct LateWorker {
    _thread: WorkerThread,
}

impl LateWorker {
    /// Starts a worker for the coordinator at `url`; it reconnects after every loss of the
    /// connection.
    pub(crate) fn start(url: &str, seed: u64) -> Self {
        let connector = Connector::to_url(url).expect("an address");
        let mut reports = LateReports {
            chance: StdRng::seed_from_u64(!seed),
            sent: VecDeque::new(),
        };
        let work = async move |mut conversation| {
            while reports.answer(&mut conversation).await.is_some() {}
        };
        Self {
            _thread: WorkerThread::start(connector, "laggard", !seed, work),
        }
    }
}

struct LateReports {
    chance: StdRng,
    /// Reports of this and earlier connections.
    sent: VecDeque<v1::Report>,
}

impl LateReports {
    /// Answers one task; `None` when the coordinator has disconnected.
    async fn answer(&mut self, conversation: &mut Conversation) -> Option<()> {
        let task = conversation.task().await?;
        let (_, answer) = conversation.search(&task);
        let new = report_of(&task, (&answer).into());
        self.sent.push_back(new.clone());
        if self.sent.len() > REPEATED_REPORTS {
            self.sent.pop_front();
        }
        tokio::time::sleep(Duration::from_millis(self.chance.random_range(0..300))).await;
        let old = self.sent[self.chance.random_range(0..self.sent.len())].clone();
        for report in [old, new.clone(), new] {
            conversation.report(report).await?;
        }
        Some(())
    }
}

//! A worker that passes its calibration and lies about everything else, twice each time.

use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use kagetsu_game::Question;
use kagetsu_proto::v1::from_worker::Message as Said;
use kagetsu_proto::v1::report::Outcome;
use kagetsu_proto::v1::to_worker::Message as Heard;
use kagetsu_proto::v1::workers_client::WorkersClient;
use kagetsu_proto::{Connector, PROTOCOL, v1};
use kagetsu_search::{Control, Engine, EngineOptions};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;

/// Interval of heartbeats of a worker without other messages; the coordinator drops a silent
/// worker.
pub(crate) const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);

/// The worker disconnects on drop.
pub(crate) struct LyingWorker {
    name: String,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl LyingWorker {
    /// Starts a worker for the coordinator at `url` that claims to be Kagetsu's engine; it
    /// reconnects after every loss of the connection.
    pub(crate) fn start(url: &str, seed: u64) -> Self {
        let (name, stop) = (format!("liar-{seed}"), CancellationToken::new());
        let hello = v1::Hello {
            protocol: PROTOCOL,
            name: name.clone(),
            instance: seed + 1,
            engine: Engine::NAME.into(),
            slots: 1,
            threads: 1,
            ..v1::Hello::default()
        };
        let (connector, ends) = (Connector::to_url(url).expect("an address"), stop.clone());
        let thread = spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                let lies = async {
                    loop {
                        lie(&connector, &hello).await;
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                };
                tokio::select! {
                    () = lies => {}
                    () = ends.cancelled() => {}
                }
            });
        });
        Self {
            name,
            stop,
            thread: Some(thread),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for LyingWorker {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            // The coordinator's state shows what went wrong in the thread.
            let _ = thread.join();
        }
    }
}

/// Works until the coordinator disconnects.
async fn lie(connector: &Connector, hello: &v1::Hello) {
    let Ok(caller) = connector.connect().await else {
        return;
    };
    let mut client = WorkersClient::new(caller);
    let (out, messages) = mpsc::channel(64);
    let say = async |message| {
        out.send(v1::FromWorker {
            message: Some(message),
        })
        .await
        .is_ok()
    };
    say(Said::Hello(hello.clone())).await;
    let Ok(heard) = client.work(ReceiverStream::new(messages)).await else {
        return;
    };
    let mut heard = heard.into_inner();
    let options = EngineOptions {
        table_bytes: 1 << 20,
        ..EngineOptions::default()
    };
    let mut engine = Engine::new(options).expect("an engine");
    loop {
        let Ok(message) = timeout(HEARTBEAT_INTERVAL, heard.message()).await else {
            say(Said::Heartbeat(v1::Heartbeat::default())).await;
            continue;
        };
        let Ok(Some(message)) = message else { return };
        let Some(Heard::Task(v1::Task {
            task,
            attempt,
            question,
            ..
        })) = message.message
        else {
            continue;
        };
        let question =
            Question::try_from(question.as_ref().expect("a question")).expect("a good one");
        let answer = engine
            .answer(&question, &Control::new(), &mut |_| {})
            .expect("an answer");
        let mut answer = v1::Answer::from(&answer);
        if task < 1 << 63 {
            spoil(&mut answer);
        }
        let report = v1::Report {
            task,
            attempt,
            outcome: Some(Outcome::Answer(answer)),
        };
        for _ in 0..2 {
            if !say(Said::Report(report.clone())).await {
                return;
            }
        }
    }
}

/// Gives the worst move the best value by far.
fn spoil(answer: &mut v1::Answer) {
    let best = answer
        .verdicts
        .iter()
        .map(|verdict| verdict.score)
        .max()
        .unwrap_or_default();
    if let Some(worst) = answer.verdicts.last_mut() {
        (worst.score, worst.proof, worst.line) =
            ((best + 900).min(29_000), None, vec![worst.r#move]);
        worst.set_bound(v1::Bound::Exact);
    }
}

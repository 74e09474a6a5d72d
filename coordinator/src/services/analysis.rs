//! The service that analyses one position.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kagetsu_game::{Answer, Effort, Question, Variant};
use kagetsu_proto::v1::analysis_server::Analysis;
use kagetsu_proto::{invalid, v1};
use kagetsu_schedule::{QuestionId, Split};
use tokio::sync::{mpsc, watch};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};

use crate::auth::{Permission, Principal};
use crate::candidates::candidates;
use crate::cluster::analysis_progress::Update;
use crate::cluster::analysis_progress::deeper;
use crate::cluster::shared::Cluster;
use crate::services::concurrency::ConcurrencyLimit;

/// Longest interval between two updates for a client.
const UPDATE_INTERVAL: Duration = Duration::from_secs(1);

pub(crate) struct AnalysisService {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) shutdown: CancellationToken,
    pub(crate) limit: ConcurrencyLimit,
}

#[tonic::async_trait]
impl Analysis for AnalysisService {
    type AnalyzeStream = Pin<Box<dyn Stream<Item = Result<v1::AnalyzeUpdate, Status>> + Send>>;

    async fn analyze(
        &self,
        request: Request<v1::AnalyzeRequest>,
    ) -> Result<Response<Self::AnalyzeStream>, Status> {
        let principal = request.extensions().get::<Principal>().cloned();
        let request = request.into_inner();
        let split = v1::Split::try_from(request.split).map_err(|_| {
            let split = request.split;
            Status::invalid_argument(format!("split {split} is none that this coordinator knows"))
        })?;
        if request.keep {
            principal
                .map_or(Ok(()), |principal| principal.require(Permission::Build))
                .map_err(|refusal| refusal.status())?;
            if !self.cluster.has_book() {
                let no_book =
                    "this coordinator has no book to keep the answer in; start it with --book DIR";
                return Err(Status::failed_precondition(no_book));
            }
        }
        let question = request
            .question
            .ok_or_else(|| Status::invalid_argument("the question is missing"))?;
        let question = Question::try_from(&question).map_err(invalid)?;
        if question.effort == Effort::default() {
            return Err(Status::invalid_argument(
                "an effort is needed: depth, nodes or time",
            ));
        }
        let place = self.limit.take()?;
        let looked = tokio::task::spawn_blocking(move || look(question));
        let (question, shallow) = looked
            .await
            .map_err(|_| Status::internal("the 2-ply search failed"))??;
        let variant = question.position.variant();
        let split = match split {
            // Only our own engine's 2-ply search orders the moves of a division.
            _ if shallow.is_empty() => Split::Never,
            v1::Split::Unspecified | v1::Split::Shared => Split::Shared,
            v1::Split::Seeded => Split::Seeded,
        };
        let (id, updates) = self
            .cluster
            .analyze(question, shallow.clone(), split, request.keep);
        let (sender, stream) = mpsc::channel(4);
        let analysis = AwaitedQuestion {
            cluster: Arc::clone(&self.cluster),
            id,
            variant,
            shallow,
            begun: Instant::now(),
        };
        let shutdown = self.shutdown.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = analysis.tell(updates, &sender) => {}
                () = sender.closed() => {}
                () = shutdown.cancelled() => {}
            }
            drop(analysis);
            drop(place);
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(stream))))
    }
}

/// The question with its 2-ply answer, if its moves can be made.
fn look(question: Question) -> Result<(Question, Answer), Status> {
    let legal = question.position.legal_moves();
    if let Some(m) = question.moves.iter().find(|m| !legal.contains(m)) {
        let (position, code) = (&question.position, m.code());
        return Err(Status::invalid_argument(format!(
            "the move with code {code} cannot be made in {position}"
        )));
    }
    let shallow = candidates(&question.position).map_err(invalid)?;
    Ok((question, shallow))
}

/// A question that a client waits for; dropping it cancels the question.
struct AwaitedQuestion {
    cluster: Arc<Cluster>,
    id: QuestionId,
    variant: Variant,
    /// The answer for the client until a deeper one is there.
    shallow: Answer,
    begun: Instant,
}

impl AwaitedQuestion {
    async fn tell(
        &self,
        mut updates: watch::Receiver<Update>,
        out: &mpsc::Sender<Result<v1::AnalyzeUpdate, Status>>,
    ) {
        loop {
            let update = updates.borrow_and_update().clone();
            let message = match &update.end {
                Some(Err(reason)) => Err(Status::internal(reason.clone())),
                end => Ok(self.message(&update, end.is_some())),
            };
            // `closed` ends this future when the client goes away.
            if out.send(message).await.is_err() || update.end.is_some() {
                return;
            }
            // A time-out is no news, but says that the question is still at work.
            let _ = tokio::time::timeout(UPDATE_INTERVAL, updates.changed()).await;
        }
    }

    fn message(&self, update: &Update, is_final: bool) -> v1::AnalyzeUpdate {
        let answer = if is_final {
            &update.answer
        } else {
            deeper(&self.shallow, &update.answer)
        };
        v1::AnalyzeUpdate {
            answer: Some(answer.into()),
            nodes: update.nodes,
            time_ms: self.begun.elapsed().as_millis() as u64,
            workers: self.cluster.worker_count(self.variant),
            is_final,
            waits_for: if is_final {
                None
            } else {
                self.cluster.waits_for(self.variant)
            }
            .unwrap_or_default(),
        }
    }
}

impl Drop for AwaitedQuestion {
    fn drop(&mut self) {
        self.cluster.cancel(self.id);
    }
}

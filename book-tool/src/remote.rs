//! Talking to a coordinator.

use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use kagetsu_game::{Answer, Question};
use kagetsu_proto::v1::Split;
use kagetsu_proto::v1::analysis_client::AnalysisClient;
use kagetsu_proto::v1::books_client::BooksClient;
use kagetsu_proto::v1::builds_client::BuildsClient;
use kagetsu_proto::v1::workers_client::WorkersClient;
use kagetsu_proto::{Caller, Connector, explain, pushback, v1};

use crate::live::{Live, Shown};

/// Has a question answered by a cluster, and kept in its book if that is asked for. Ctrl-C ends it with what is known by then, and the
/// cluster stops thinking. With the answer comes whether it is the last word, and so whether it was kept.
///
/// # Errors
/// If the coordinator is not there, or refuses.
pub(crate) async fn analyze(
    connector: &Connector,
    question: &Question,
    split: Split,
    keep: bool,
    live: &mut Live<'_>,
) -> Result<(Answer, bool)> {
    let mut client = AnalysisClient::new(connector.connect().await?);
    let url = connector.name();
    let request = v1::AnalyzeRequest { question: Some(question.into()), split: split.into(), keep };
    let refused = |status| anyhow!(explain(url, &status));
    let mut updates = loop {
        match client.analyze(request.clone()).await {
            Ok(updates) => break updates.into_inner(),
            // It is busy, and says when to come again.
            Err(status) => match pushback(&status) {
                Some(wait) => {
                    eprintln!("{}", explain(url, &status));
                    tokio::time::sleep(wait).await;
                }
                None => return Err(refused(status)),
            },
        }
    };
    let mut last = Answer::new();
    // One listener for the whole time: a signal between two updates must not be missed.
    let interrupted = tokio::signal::ctrl_c();
    tokio::pin!(interrupted);
    loop {
        let update = tokio::select! {
            biased;
            _ = &mut interrupted => return Ok((last, false)),
            update = updates.message() => update.map_err(refused)?,
        };
        let Some(update) = update else { bail!("the coordinator at {url} ended without an answer; see its log") };
        let answer = update.answer.unwrap_or_default().about(&question.position)?;
        let time = Duration::from_millis(update.time_ms);
        let who = match update.workers {
            _ if !update.waits_for.is_empty() => Err(update.waits_for),
            0 => Err("no worker is connected".into()),
            1 => Ok("1 worker".into()),
            workers => Ok(format!("{workers} workers")),
        };
        live.show(&Shown { answer: answer.clone(), nodes: update.nodes, time, who })?;
        if update.is_final {
            return Ok((answer, true));
        }
        last = answer;
    }
}

/// The workers of a cluster.
///
/// # Errors
/// If the coordinator is not there, or refuses.
pub(crate) async fn workers(connector: &Connector) -> Result<Vec<v1::Worker>> {
    let mut client = WorkersClient::new(connector.connect().await?);
    let listed = client
        .list(v1::ListWorkersRequest { with_absent: true })
        .await
        .map_err(|status| anyhow!(explain(connector.name(), &status)))?;
    Ok(listed.into_inner().workers)
}

/// Ends the quarantine of all workers of a name; how many were in one.
///
/// # Errors
/// If the coordinator is not there, or refuses.
pub(crate) async fn release(connector: &Connector, name: &str) -> Result<u32> {
    let mut client = WorkersClient::new(connector.connect().await?);
    let released = client.release(v1::ReleaseRequest { name: name.into() }).await;
    Ok(released.map_err(|status| anyhow!(explain(connector.name(), &status)))?.into_inner().released)
}

/// What the book of a coordinator knows of up to 1,024 positions, the `top` best moves of each; 0: all moves.
///
/// # Errors
/// If the coordinator is not there, or refuses.
pub(crate) async fn lookup(connector: &Connector, positions: &[v1::Position], top: u32) -> Result<Vec<v1::Found>> {
    let mut client = BooksClient::new(connector.connect().await?);
    let found = client.lookup_many(v1::LookupManyRequest { positions: positions.to_vec(), top }).await;
    Ok(found.map_err(|status| anyhow!(explain(connector.name(), &status)))?.into_inner().found)
}

/// The build jobs of a coordinator.
pub(crate) struct Builds {
    name: String,
    client: BuildsClient<Caller>,
}

impl Builds {
    /// # Errors
    /// If the coordinator is not there.
    pub(crate) async fn connect(connector: &Connector) -> Result<Self> {
        let client = BuildsClient::new(connector.connect().await?);
        Ok(Self { name: connector.name().to_string(), client })
    }

    fn refused(&self) -> impl Fn(tonic::Status) -> anyhow::Error + use<> {
        let name = self.name.clone();
        move |status| anyhow!(explain(&name, &status))
    }

    /// Starts or resumes a job.
    ///
    /// # Errors
    /// If the coordinator refuses.
    pub(crate) async fn start(&mut self, request: v1::StartRequest) -> Result<v1::Job> {
        let refused = self.refused();
        Ok(self.client.start(request).await.map_err(refused)?.into_inner())
    }

    /// # Errors
    /// If the coordinator refuses.
    pub(crate) async fn list(&mut self) -> Result<Vec<v1::Job>> {
        let refused = self.refused();
        Ok(self.client.list(v1::ListJobsRequest {}).await.map_err(refused)?.into_inner().jobs)
    }

    /// # Errors
    /// If there is no such job.
    pub(crate) async fn get(&mut self, name: &str) -> Result<v1::Job> {
        let refused = self.refused();
        Ok(self.client.get(v1::JobName { name: name.into() }).await.map_err(refused)?.into_inner())
    }

    /// Shows a job whenever it has moved on; how it stands at the end.
    ///
    /// # Errors
    /// If there is no such job, or the coordinator goes away.
    pub(crate) async fn watch(&mut self, name: &str, mut shown: impl FnMut(&v1::Job)) -> Result<v1::Job> {
        let refused = self.refused();
        let name = v1::JobName { name: name.into() };
        let mut jobs = self.client.watch(name).await.map_err(&refused)?.into_inner();
        let mut last = None;
        while let Some(job) = jobs.message().await.map_err(&refused)? {
            shown(&job);
            last = Some(job);
        }
        let is_over = |job: &v1::Job| !matches!(job.state(), v1::JobState::Running | v1::JobState::Paused);
        last.filter(is_over).ok_or_else(|| anyhow!("{} stopped before the job was done; see its log", self.name))
    }

    /// # Errors
    /// If there is no such job.
    pub(crate) async fn pause(&mut self, name: &str) -> Result<v1::Job> {
        let refused = self.refused();
        Ok(self.client.pause(v1::JobName { name: name.into() }).await.map_err(refused)?.into_inner())
    }

    /// # Errors
    /// If there is no such job.
    pub(crate) async fn resume(&mut self, name: &str) -> Result<v1::Job> {
        let refused = self.refused();
        Ok(self.client.resume(v1::JobName { name: name.into() }).await.map_err(refused)?.into_inner())
    }

    /// # Errors
    /// If there is no such job.
    pub(crate) async fn retry(&mut self, name: &str) -> Result<v1::Job> {
        let refused = self.refused();
        Ok(self.client.retry(v1::JobName { name: name.into() }).await.map_err(refused)?.into_inner())
    }

    /// # Errors
    /// If there is no such job, or no such priority.
    pub(crate) async fn prioritize(&mut self, name: &str, priority: i8) -> Result<v1::Job> {
        let refused = self.refused();
        let request = v1::PrioritizeRequest { name: name.into(), priority: priority.into() };
        Ok(self.client.prioritize(request).await.map_err(refused)?.into_inner())
    }

    /// # Errors
    /// If there is no such job.
    pub(crate) async fn cancel(&mut self, name: &str) -> Result<v1::Job> {
        let refused = self.refused();
        Ok(self.client.cancel(v1::JobName { name: name.into() }).await.map_err(refused)?.into_inner())
    }
}

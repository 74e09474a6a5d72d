//! Calls to a coordinator.

pub(crate) mod embedded;

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail, ensure};
use kagetsu_book::JobChange;
use kagetsu_game::{Answer, Question};
use kagetsu_proto::v1::Split;
use kagetsu_proto::v1::analysis_client::AnalysisClient;
use kagetsu_proto::v1::books_client::BooksClient;
use kagetsu_proto::v1::builds_client::BuildsClient;
use kagetsu_proto::v1::workers_client::WorkersClient;
use kagetsu_proto::{
    AuthenticatedChannel, ConnectError, Connector, IN_PROCESS, explain, is_transient, retry_after,
    v1,
};
use tonic::{Response, Status};

use crate::output::progress::{AnalysisState, LiveProgress};

/// The longest absence of a coordinator that a command waits out.
const MAX_ABSENCE: Duration = Duration::from_secs(600);
/// The first and the longest pause between attempts to reconnect.
const RECONNECT_PAUSE: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(10));

/// How an analysis on a cluster ended.
pub(crate) enum AnalysisEnd {
    /// The coordinator sent its final answer.
    Final,
    /// Ctrl-C ended it.
    Stopped,
    /// The time ran out while the coordinator waited for the given reason.
    Waited(String),
}

/// Lets a cluster answer a question and, with `keep`, store the answer in its book. Ctrl-C ends the
/// analysis with the answer so far and cancels the search. The question's time ends it too if no
/// worker searches; the answer is empty if none has searched.
///
/// # Errors
/// If the coordinator cannot be reached, or rejects the request.
pub(crate) async fn analyze(
    connector: &Connector,
    question: &Question,
    split: Split,
    keep: bool,
    live: &mut LiveProgress<'_>,
) -> Result<(Answer, AnalysisEnd)> {
    let begun = Instant::now();
    let is_late = || {
        question
            .effort
            .time
            .is_some_and(|time| begun.elapsed() >= time)
    };
    let mut client = AnalysisClient::new(connector.connect().await?);
    let url = connector.name();
    let request = v1::AnalyzeRequest {
        question: Some(question.into()),
        split: split.into(),
        keep,
    };
    let refused = |status| anyhow!(explain(url, &status));
    let mut updates = loop {
        match client.analyze(request.clone()).await {
            Ok(updates) => break updates.into_inner(),
            // The coordinator is overloaded and says when to retry.
            Err(status) => match retry_after(&status) {
                Some(_) if is_late() => {
                    return Ok((Answer::new(), AnalysisEnd::Waited(explain(url, &status))));
                }
                Some(wait) => {
                    eprintln!("{}", explain(url, &status));
                    tokio::time::sleep(wait).await;
                }
                None => return Err(refused(status)),
            },
        }
    };
    let (mut last, mut is_begun) = (Answer::new(), false);
    // One listener for the whole call, so that no signal between two updates is missed.
    let interrupted = tokio::signal::ctrl_c();
    tokio::pin!(interrupted);
    loop {
        let update = tokio::select! {
            biased;
            _ = &mut interrupted => return Ok((last, AnalysisEnd::Stopped)),
            update = updates.message() => update.map_err(refused)?,
        };
        let Some(update) = update else {
            bail!("the coordinator at {url} ended without an answer; see its log")
        };
        let answer = update
            .answer
            .unwrap_or_default()
            .about(&question.position)?;
        let time = Duration::from_millis(update.time_ms);
        let searchers = match update.workers {
            _ if !update.waits_for.is_empty() => Err(update.waits_for),
            0 => Err("no worker is connected".into()),
            1 => Ok("1 worker".into()),
            workers => Ok(format!("{workers} workers")),
        };
        is_begun |= searchers.is_ok();
        let waits_for = searchers.clone().err();
        live.show(&AnalysisState {
            answer: answer.clone(),
            nodes: update.nodes,
            time,
            searchers,
        })?;
        if update.is_final {
            return Ok((answer, AnalysisEnd::Final));
        }
        if let Some(why) = waits_for.filter(|_| is_late()) {
            // Before any worker has searched, the answer is only a 2-ply search, which is not
            // wanted here.
            let found = if is_begun { answer } else { Answer::new() };
            return Ok((found, AnalysisEnd::Waited(why)));
        }
        last = answer;
    }
}

/// Returns the result of a call to the server of this name.
///
/// # Errors
/// If it rejects the request.
async fn called<T>(
    name: &str,
    response: impl Future<Output = Result<Response<T>, Status>>,
) -> Result<T> {
    let response = response.await;
    let response = response.map_err(|status| anyhow!(explain(name, &status)))?;
    Ok(response.into_inner())
}

/// Lists the workers of a cluster.
///
/// # Errors
/// If the coordinator cannot be reached, or rejects the request.
pub(crate) async fn workers(connector: &Connector) -> Result<Vec<v1::Worker>> {
    let mut client = WorkersClient::new(connector.connect().await?);
    let request = v1::ListWorkersRequest { with_absent: true };
    Ok(called(connector.name(), client.list(request))
        .await?
        .workers)
}

/// Says which of several coordinators leads.
pub(crate) fn tell_leader(leader: Option<String>) {
    if let Some(leader) = leader {
        eprintln!("the coordinator at {leader} leads");
    }
}

/// Ends the quarantine of all workers of a name. Returns how many were in quarantine.
///
/// # Errors
/// If the coordinator cannot be reached, or rejects the request.
pub(crate) async fn release(connector: &Connector, name: &str) -> Result<u32> {
    let mut client = WorkersClient::new(connector.connect().await?);
    let request = v1::ReleaseRequest { name: name.into() };
    let released = called(connector.name(), client.release(request)).await?;
    Ok(released.released)
}

/// Looks up at most 1,024 positions in the coordinator's book, with the `top` best moves of each
/// (0: all moves).
///
/// # Errors
/// If the coordinator cannot be reached, or rejects the request.
pub(crate) async fn lookup(
    connector: &Connector,
    positions: &[v1::Position],
    top: u32,
) -> Result<Vec<v1::Found>> {
    let mut client = BooksClient::new(connector.connect().await?);
    let request = v1::LookupManyRequest {
        positions: positions.to_vec(),
        top,
    };
    Ok(called(connector.name(), client.lookup_many(request))
        .await?
        .found)
}

/// The build jobs of a coordinator.
pub(crate) struct Builds {
    name: String,
    client: BuildsClient<AuthenticatedChannel>,
}

impl Builds {
    /// Connects to a coordinator.
    ///
    /// # Errors
    /// If the coordinator cannot be reached.
    pub(crate) async fn connect(connector: &Connector) -> Result<Self> {
        let client = BuildsClient::new(connector.connect().await?);
        Ok(Self {
            name: connector.name().to_string(),
            client,
        })
    }

    /// Starts or resumes a job. If the connection is lost before the coordinator confirms, it
    /// reports that, waits for the coordinator to return, and asks once more; starting a job twice
    /// is harmless.
    ///
    /// # Errors
    /// If the coordinator rejects the job, stays away, or is lost again.
    pub(crate) async fn start(
        &mut self,
        connector: &Connector,
        request: v1::StartRequest,
        mut tell: impl FnMut(String),
    ) -> Result<v1::Job> {
        let lost = match self.client.start(request.clone()).await {
            Ok(job) => return Ok(job.into_inner()),
            Err(status) => self.unless_refused(&status)?,
        };
        *self = Self::wait_for_return(connector, &request.name, &lost, &mut tell).await?;
        called(&self.name, self.client.start(request)).await
    }

    /// Lists the jobs.
    ///
    /// # Errors
    /// If the coordinator rejects the request.
    pub(crate) async fn list(&mut self) -> Result<Vec<v1::Job>> {
        let listed = called(&self.name, self.client.list(v1::ListJobsRequest {})).await?;
        Ok(listed.jobs)
    }

    /// Returns one job.
    ///
    /// # Errors
    /// If there is no such job.
    pub(crate) async fn get(&mut self, name: &str) -> Result<v1::Job> {
        called(&self.name, self.client.get(job(name))).await
    }

    /// Calls `shown` at each change of a job until it is over or the connection is lost; the inner
    /// error says how it was lost.
    ///
    /// # Errors
    /// If the coordinator rejects the request.
    async fn attend(
        &mut self,
        name: &str,
        mut shown: impl FnMut(&v1::Job),
    ) -> Result<Result<v1::Job, String>> {
        let mut jobs = match self.client.watch(job(name)).await {
            Ok(jobs) => jobs.into_inner(),
            Err(status) => return self.unless_refused(&status).map(Err),
        };
        let mut last = None;
        loop {
            match jobs.message().await {
                Ok(Some(job)) => {
                    shown(&job);
                    last = Some(job);
                }
                Ok(None) => break,
                Err(status) => return self.unless_refused(&status).map(Err),
            }
        }
        let is_over =
            |job: &v1::Job| !matches!(job.state(), v1::JobState::Running | v1::JobState::Paused);
        Ok(last
            .filter(is_over)
            .ok_or_else(|| format!("{} stopped before the job was done; see its log", self.name)))
    }

    /// Returns why the connection was lost.
    ///
    /// # Errors
    /// If the error is permanent: a rejected job. Errors of the coordinator or the connection are
    /// transient.
    fn unless_refused(&self, status: &Status) -> Result<String> {
        let reason = explain(&self.name, status);
        if is_transient(status) || retry_after(status).is_some() {
            Ok(reason)
        } else {
            Err(anyhow!(reason))
        }
    }

    /// Calls `shown` at each change of a job until it is over, and returns its last state. It
    /// reports a lost connection and waits for the coordinator to return, unless that is in this
    /// process.
    ///
    /// # Errors
    /// If there is no such job any more, or the coordinator stays away.
    pub(crate) async fn follow(
        mut self,
        connector: &Connector,
        name: &str,
        mut shown: impl FnMut(&v1::Job),
        mut tell: impl FnMut(String),
    ) -> Result<v1::Job> {
        loop {
            let lost = match self.attend(name, &mut shown).await? {
                Ok(job) => return Ok(job),
                Err(lost) => lost,
            };
            self = Self::wait_for_return(connector, name, &lost, &mut tell).await?;
        }
    }

    /// Waits for a lost coordinator, and reports both the loss and the return.
    ///
    /// # Errors
    /// If the coordinator stays away.
    async fn wait_for_return(
        connector: &Connector,
        name: &str,
        lost: &str,
        tell: &mut impl FnMut(String),
    ) -> Result<Self> {
        let (at, absence) = (connector.name(), humantime::format_duration(MAX_ABSENCE));
        ensure!(at != IN_PROCESS, "{lost}");
        tell(format!(
            "{lost}; waiting for it to come back, up to {absence}"
        ));
        let Ok(back) = tokio::time::timeout(MAX_ABSENCE, Self::reconnect(connector)).await else {
            bail!(
                "the coordinator at {at} did not come back within {absence}; its book has the job, which goes on when it is \
                 started again: `kagetsu jobs watch {name} --coordinator {at}` shows it"
            )
        };
        let builds = back?;
        tell(format!("the coordinator at {at} is back"));
        Ok(builds)
    }

    /// Reconnects as soon as the coordinator is back.
    async fn reconnect(connector: &Connector) -> Result<Self> {
        let (mut wait, longest) = RECONNECT_PAUSE;
        loop {
            tokio::time::sleep(wait).await;
            match Self::connect(connector).await {
                Err(error) if is_transient_error(&error) => wait = (wait * 2).min(longest),
                connected => return connected,
            }
        }
    }

    /// Changes a job.
    ///
    /// # Errors
    /// If there is no such job, or callers do not make this change.
    pub(crate) async fn change(&mut self, name: &str, change: JobChange) -> Result<v1::Job> {
        let client = &mut self.client;
        match change {
            JobChange::Pause => called(&self.name, client.pause(job(name))).await,
            JobChange::Resume => called(&self.name, client.resume(job(name))).await,
            JobChange::Retry => called(&self.name, client.retry(job(name))).await,
            JobChange::Cancel => called(&self.name, client.cancel(job(name))).await,
            JobChange::Priority(priority) => {
                let request = v1::PrioritizeRequest {
                    name: name.into(),
                    priority: priority.into(),
                };
                called(&self.name, client.prioritize(request)).await
            }
            change => bail!("no rpc makes the change {change:?} of a job"),
        }
    }
}

fn job(name: &str) -> v1::JobName {
    v1::JobName { name: name.into() }
}

/// Whether a connection error may be temporary.
fn is_transient_error(error: &anyhow::Error) -> bool {
    error
        .downcast_ref()
        .is_some_and(|error: &ConnectError| !error.is_permanent())
}

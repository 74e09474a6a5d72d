//! The service of build jobs.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use kagetsu_api::{job_message, settings};
use kagetsu_book::{Aside, BuildField, BuildSpec, JobChange, JobError, JobSpec, JobState};
use kagetsu_game::Position;
use kagetsu_proto::v1::builds_server::Builds;
use kagetsu_proto::{MAX_ROOTS, check_name, invalid, v1};
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};

use crate::book::handle::{BookHandle, JobView};
use crate::cluster::shared::Cluster;
use crate::services::concurrency::ConcurrencyLimit;

/// Shortest interval between two messages of a watch.
const WATCH_INTERVAL: Duration = Duration::from_millis(100);
/// Roots that are looked up at a time.
const MAX_ROOTS_PER_LOOKUP: usize = 1_024;
/// Interval at which a watch looks whether there are workers.
const WORKER_POLL_INTERVAL: Duration = Duration::from_secs(1);

pub(crate) struct BuildsService {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) book: Option<BookHandle>,
    pub(crate) shutdown: CancellationToken,
    pub(crate) limit: ConcurrencyLimit,
}

type Jobs = Pin<Box<dyn Stream<Item = Result<v1::Job, Status>> + Send>>;

#[tonic::async_trait]
impl Builds for BuildsService {
    async fn start(&self, request: Request<v1::StartRequest>) -> Result<Response<v1::Job>, Status> {
        let request = request.into_inner();
        let spec = tokio::task::spawn_blocking(move || spec(&request));
        let spec = spec
            .await
            .map_err(|_| Status::internal("the settings could not be read"))??;
        let name = spec.name.clone();
        if spec.build.deepen.is_some() {
            self.has_one_of(&spec.roots).await?;
        }
        self.book()?.start(spec).await?;
        tracing::info!(job = name, "a build is started or resumed");
        self.find(&name).map(Response::new)
    }

    async fn list(
        &self,
        _: Request<v1::ListJobsRequest>,
    ) -> Result<Response<v1::ListJobsResponse>, Status> {
        let views = self.book()?.jobs().borrow().clone();
        Ok(Response::new(v1::ListJobsResponse {
            jobs: views.iter().map(|view| self.message(view)).collect(),
        }))
    }

    async fn get(&self, request: Request<v1::JobName>) -> Result<Response<v1::Job>, Status> {
        let name = request.into_inner().name;
        let views = self.book()?.jobs().borrow().clone();
        let view = view(&views, &name)?;
        Ok(Response::new(v1::Job {
            settings: Some(settings(&view.job.spec)),
            ..self.message(view)
        }))
    }

    type WatchStream = Jobs;

    async fn watch(&self, request: Request<v1::JobName>) -> Result<Response<Jobs>, Status> {
        let name = request.into_inner().name;
        let place = self.limit.take()?;
        let first = self.find(&name)?;
        let mut views = self.book()?.jobs();
        let (sender, stream) = mpsc::channel(2);
        let (cluster, shutdown) = (Arc::clone(&self.cluster), self.shutdown.clone());
        let updates = async move {
            let mut job = first;
            loop {
                let is_over = !matches!(job.state(), v1::JobState::Running | v1::JobState::Paused);
                if sender.send(Ok(job.clone())).await.is_err() || is_over {
                    return;
                }
                tokio::time::sleep(WATCH_INTERVAL).await;
                job = loop {
                    // Jobs change and never disappear; the book ends with the coordinator.
                    let has_changed =
                        match tokio::time::timeout(WORKER_POLL_INTERVAL, views.changed()).await {
                            Ok(Err(_)) => return,
                            changed => changed.is_ok(),
                        };
                    let views = views.borrow();
                    let found = views
                        .iter()
                        .find(|view| view.job.spec.name == name)
                        .map(|v| message(v, &cluster));
                    let Some(found) = found else { return };
                    // Workers come and go without a change of the job.
                    if has_changed || found != job {
                        break found;
                    }
                };
            }
        };
        tokio::spawn(async move {
            tokio::select! {
                () = updates => {}
                () = shutdown.cancelled() => {}
            }
            drop(place);
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(stream))))
    }

    async fn pause(&self, request: Request<v1::JobName>) -> Result<Response<v1::Job>, Status> {
        self.change(request, JobChange::Pause).await
    }

    async fn resume(&self, request: Request<v1::JobName>) -> Result<Response<v1::Job>, Status> {
        self.change(request, JobChange::Resume).await
    }

    async fn retry(&self, request: Request<v1::JobName>) -> Result<Response<v1::Job>, Status> {
        self.change(request, JobChange::Retry).await
    }

    async fn prioritize(
        &self,
        request: Request<v1::PrioritizeRequest>,
    ) -> Result<Response<v1::Job>, Status> {
        let v1::PrioritizeRequest { name, priority } = request.into_inner();
        let change = JobChange::Priority(self::priority(priority)?);
        self.change(Request::new(v1::JobName { name }), change)
            .await
    }

    async fn cancel(&self, request: Request<v1::JobName>) -> Result<Response<v1::Job>, Status> {
        self.change(request, JobChange::Cancel).await
    }
}

impl BuildsService {
    /// Refuses roots of which the book holds none: a job that deepens enters only positions of the
    /// book, and would be done at once.
    async fn has_one_of(&self, roots: &[Position]) -> Result<(), Status> {
        for some in roots.chunks(MAX_ROOTS_PER_LOOKUP) {
            let found = self.book()?.lookup(some.to_vec()).await?;
            if found.iter().any(Option::is_some) {
                return Ok(());
            }
        }
        let first = roots.first().map_or_else(String::new, ToString::to_string);
        let others = if roots.len() > 1 {
            format!(", nor any of the other roots ({})", roots.len() - 1)
        } else {
            String::new()
        };
        Err(Status::failed_precondition(format!(
            "the book does not hold the root {first}{others}, and a job that deepens searches anew \
             what it has; build from it first, or name roots that it holds"
        )))
    }

    fn book(&self) -> Result<&BookHandle, Status> {
        let no_book = "this coordinator has no book; start it with --book DIR";
        self.book
            .as_ref()
            .ok_or_else(|| Status::failed_precondition(no_book))
    }

    fn find(&self, name: &str) -> Result<v1::Job, Status> {
        let views = self.book()?.jobs().borrow().clone();
        view(&views, name).map(|view| self.message(view))
    }

    async fn change(
        &self,
        name: Request<v1::JobName>,
        change: JobChange,
    ) -> Result<Response<v1::Job>, Status> {
        let name = name.into_inner().name;
        self.book()?.change(name.clone(), change).await?;
        self.find(&name).map(Response::new)
    }

    fn message(&self, view: &JobView) -> v1::Job {
        message(view, &self.cluster)
    }
}

fn view<'a>(views: &'a [Arc<JobView>], name: &str) -> Result<&'a JobView, Status> {
    let unknown = || Status::not_found(JobError::Unknown(name.to_string()).to_string());
    views
        .iter()
        .find(|view| view.job.spec.name == name)
        .map(|view| &**view)
        .ok_or_else(unknown)
}

fn aside(aside: &Aside) -> v1::Aside {
    v1::Aside {
        position: Some((&aside.position).into()),
        reason: aside.reason.clone(),
    }
}

fn message(view: &JobView, cluster: &Cluster) -> v1::Job {
    let variant = view.job.spec.variant;
    let waits = (view.job.state == JobState::Running)
        .then(|| cluster.waits_for(variant))
        .flatten();
    v1::Job {
        rate: view.rate_now(),
        workers: cluster.worker_count(variant),
        asides: view.asides.iter().map(aside).collect(),
        waits_for: waits.unwrap_or_default(),
        ..job_message(&view.job)
    }
}

/// Reads a priority as the setting of a build.
fn priority(number: i32) -> Result<i8, Status> {
    let field = BuildField::named("priority").expect("every build has a priority");
    field.check(&number.into()).map_err(invalid)?;
    i8::try_from(number).map_err(|_| Status::invalid_argument("the priority is too large"))
}

/// Reads the request that starts a job.
fn spec(request: &v1::StartRequest) -> Result<JobSpec, Status> {
    check_name("the job's name", &request.name).map_err(invalid)?;
    let roots = positions("roots", &request.roots)?;
    let exclude = positions("excluded positions", &request.exclude)?;
    let first = roots.first();
    let variant = first
        .ok_or_else(|| Status::invalid_argument("a build needs a root"))?
        .variant();
    let build = BuildSpec::from_json_text(&request.settings).map_err(invalid)?;
    Ok(JobSpec {
        name: request.name.clone(),
        variant,
        roots: roots.into(),
        exclude: exclude.into(),
        build,
    })
}

fn positions(what: &str, messages: &[v1::Position]) -> Result<Vec<Position>, Status> {
    if messages.len() > MAX_ROOTS {
        let count = messages.len();
        let problem = format!("{count} {what} are more than {MAX_ROOTS}: start several builds");
        return Err(Status::invalid_argument(problem));
    }
    // Equal ones cost time and memory, and add nothing.
    let mut read = HashSet::new();
    let mut keys = HashSet::new();
    let mut different = Vec::new();
    for message in messages.iter().filter(|message| read.insert(*message)) {
        let position = Position::try_from(message).map_err(invalid)?;
        if keys.insert(position.key()) {
            different.push(position);
        }
    }
    Ok(different)
}

#[cfg(test)]
mod tests {
    use kagetsu_game::Variant;

    use super::*;

    #[test]
    fn equal_roots_are_read_once() {
        let message = |line: &str| {
            let position = Position::from_line(Variant::FREESTYLE_15, line);
            v1::Position::from(&position.expect("a line"))
        };
        // The same position, by other moves, and turned.
        let lines = ["h8 i9 j8", "j8 i9 h8", "h8 g9 f8", "h8 i9 k8"];
        let all: Vec<_> = (0..MAX_ROOTS).map(|n| message(lines[n % 4])).collect();
        let read = positions("roots", &all).expect("legal");
        let names: Vec<_> = read.iter().map(ToString::to_string).collect();
        assert_eq!(read.len(), 2, "{names:?}");
        let many = vec![all[0].clone(); MAX_ROOTS + 1];
        let status = positions("roots", &many).expect_err("too many");
        assert!(status.message().contains("more than 20000"), "{status}");
    }
}

use kagetsu_proto::v1;
use kagetsu_proto::v1::analysis_server::Analysis;
use kagetsu_proto::v1::builds_server::Builds;
use kagetsu_proto::v1::workers_server::Workers;
use tokio_stream::Empty;
use tonic::{Request, Response, Status, Streaming};

/// Stands where a server has nobody who analyses, builds or works: lists are empty, all else is refused.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unimplemented;

fn refused<T>(what: &str) -> Result<T, Status> {
    Err(Status::failed_precondition(format!(
        "this server only reads its book: {what} is for a coordinator"
    )))
}

#[tonic::async_trait]
impl Analysis for Unimplemented {
    type AnalyzeStream = Empty<Result<v1::AnalyzeUpdate, Status>>;

    async fn analyze(
        &self,
        _: Request<v1::AnalyzeRequest>,
    ) -> Result<Response<Self::AnalyzeStream>, Status> {
        refused("an analysis")
    }
}

#[tonic::async_trait]
impl Builds for Unimplemented {
    type WatchStream = Empty<Result<v1::Job, Status>>;

    async fn start(&self, _: Request<v1::StartRequest>) -> Result<Response<v1::Job>, Status> {
        refused("a build")
    }

    async fn list(
        &self,
        _: Request<v1::ListJobsRequest>,
    ) -> Result<Response<v1::ListJobsResponse>, Status> {
        Ok(Response::new(v1::ListJobsResponse::default()))
    }

    async fn get(&self, _: Request<v1::JobName>) -> Result<Response<v1::Job>, Status> {
        refused("a build")
    }

    async fn watch(&self, _: Request<v1::JobName>) -> Result<Response<Self::WatchStream>, Status> {
        refused("a build")
    }

    async fn pause(&self, _: Request<v1::JobName>) -> Result<Response<v1::Job>, Status> {
        refused("a build")
    }

    async fn resume(&self, _: Request<v1::JobName>) -> Result<Response<v1::Job>, Status> {
        refused("a build")
    }

    async fn retry(&self, _: Request<v1::JobName>) -> Result<Response<v1::Job>, Status> {
        refused("a build")
    }

    async fn prioritize(
        &self,
        _: Request<v1::PrioritizeRequest>,
    ) -> Result<Response<v1::Job>, Status> {
        refused("a build")
    }

    async fn cancel(&self, _: Request<v1::JobName>) -> Result<Response<v1::Job>, Status> {
        refused("a build")
    }
}

#[tonic::async_trait]
impl Workers for Unimplemented {
    type WorkStream = Empty<Result<v1::ToWorker, Status>>;

    async fn work(
        &self,
        _: Request<Streaming<v1::FromWorker>>,
    ) -> Result<Response<Self::WorkStream>, Status> {
        refused("a worker")
    }

    async fn beat(
        &self,
        _: Request<Streaming<v1::Beat>>,
    ) -> Result<Response<v1::BeatResponse>, Status> {
        refused("a worker")
    }

    async fn list(
        &self,
        _: Request<v1::ListWorkersRequest>,
    ) -> Result<Response<v1::ListWorkersResponse>, Status> {
        Ok(Response::new(v1::ListWorkersResponse::default()))
    }

    async fn release(
        &self,
        _: Request<v1::ReleaseRequest>,
    ) -> Result<Response<v1::ReleaseResponse>, Status> {
        refused("a worker")
    }
}

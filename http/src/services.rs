use std::time::Duration;

use kagetsu_proto::v1::analysis_server::Analysis;
use kagetsu_proto::v1::books_server::Books;
use kagetsu_proto::v1::builds_server::Builds;
use kagetsu_proto::v1::workers_server::Workers;

/// What stands behind the door: the services of the wire, called as functions.
pub trait Services: Send + Sync + 'static {
    /// Analyses positions.
    type Analysis: Analysis;
    /// Reads the book.
    type Books: Books;
    /// Grows the book.
    type Builds: Builds;
    /// Knows who works.
    type Workers: Workers;

    /// Who analyses positions.
    fn analysis(&self) -> &Self::Analysis;
    /// Who reads the book.
    fn books(&self) -> &Self::Books;
    /// Who grows the book.
    fn builds(&self) -> &Self::Builds;
    /// Who knows the workers.
    fn workers(&self) -> &Self::Workers;
    /// The book's epoch: another number after every change of the book. `None` where there is no book.
    fn epoch(&self) -> Option<u64>;
    /// Positions of the book.
    fn positions(&self) -> u64;
    /// Whether this server can think and build at all.
    fn is_cluster(&self) -> bool;
    /// A request had the head of its answer after so long; for those who measure that.
    fn answered(&self, _method: &str, _route: &'static str, _time: Duration) {}
}

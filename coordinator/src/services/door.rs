use std::sync::Arc;
use std::time::Duration;

use kagetsu_http::Services;
use tokio_util::sync::CancellationToken;

use crate::book::desk::KeeperDesk;
use crate::book::library::Library;
use crate::cluster::hub::Hub;
use crate::services::analysis::AnalysisService;
use crate::services::books::BooksService;
use crate::services::builds::BuildsService;
use crate::services::busy::Limits;
use crate::services::workers::WorkersService;

/// The coordinator's services, as its HTTP door calls them.
pub(crate) struct Door {
    analysis: AnalysisService,
    books: BooksService,
    builds: BuildsService,
    workers: WorkersService,
    keeper: Option<KeeperDesk>,
}

impl Door {
    pub(crate) fn new(
        hub: &Arc<Hub>,
        keeper: Option<&KeeperDesk>,
        shutdown: &CancellationToken,
        limits: Limits,
    ) -> Self {
        let (hub, keeper, shutdown) = (|| Arc::clone(hub), keeper.cloned(), || shutdown.clone());
        Self {
            analysis: AnalysisService {
                hub: hub(),
                shutdown: shutdown(),
                places: limits.analyses,
            },
            books: BooksService {
                library: keeper.clone().map_or(Library::None, Library::Keeper),
                shutdown: shutdown(),
                places: limits.exports,
                lookups: limits.lookups,
            },
            builds: BuildsService {
                hub: hub(),
                keeper: keeper.clone(),
                shutdown: shutdown(),
                places: limits.watches,
            },
            workers: WorkersService {
                hub: hub(),
                keeper: keeper.clone(),
                shutdown: shutdown(),
                places: limits.workers,
                beats: limits.beats,
                refusals: Arc::default(),
            },
            keeper,
        }
    }
}

impl Services for Door {
    type Analysis = AnalysisService;
    type Books = BooksService;
    type Builds = BuildsService;
    type Workers = WorkersService;

    fn analysis(&self) -> &AnalysisService {
        &self.analysis
    }

    fn books(&self) -> &BooksService {
        &self.books
    }

    fn builds(&self) -> &BuildsService {
        &self.builds
    }

    fn workers(&self) -> &WorkersService {
        &self.workers
    }

    fn epoch(&self) -> Option<u64> {
        self.keeper.as_ref().map(|keeper| keeper.extent().entries())
    }

    fn positions(&self) -> u64 {
        self.keeper
            .as_ref()
            .map_or(0, |keeper| keeper.extent().positions())
    }

    fn is_cluster(&self) -> bool {
        true
    }

    fn answered(&self, method: &str, route: &'static str, time: Duration) {
        self.workers
            .hub
            .metrics()
            .answered_http(method, route, time);
    }
}

//! Runs the views of a book, few at a time.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::Arc;
use std::thread;

use kagetsu_book::BookError;
use kagetsu_game::Position;
use kagetsu_reader::{BookClosed, RegisteredView, Source, VIEWS, ViewError};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tonic::Status;

use super::recent::Recent;
use crate::book::status;

/// The most views that run at once. Further ones wait, and everything else goes before them.
const MAX_VIEWS: usize = 4;

/// Runs views on threads for blocking work, at most one for two cores.
#[derive(Clone, Debug)]
pub(crate) struct ViewRunner {
    permits: Arc<Semaphore>,
    /// The last results of the views that may be given again.
    recent: Arc<BTreeMap<&'static str, Recent<String>>>,
}

impl Default for ViewRunner {
    fn default() -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let lasting = VIEWS.iter().filter(|view| !view.lasts.is_zero());
        let recent = lasting.map(|view| (view.name, Recent::new(view.lasts)));
        Self {
            permits: Arc::new(Semaphore::new((cores / 2).clamp(1, MAX_VIEWS))),
            recent: Arc::new(recent.collect()),
        }
    }
}

impl ViewRunner {
    /// Returns the JSON of a view. `epoch` changes with the book.
    ///
    /// # Errors
    /// The status of the [`ViewError`].
    pub(crate) async fn read(
        &self,
        view: &'static RegisteredView,
        source: Arc<Source>,
        epoch: u64,
        at: Option<Position>,
        options: String,
    ) -> Result<String, Status> {
        let usual = at.is_none() && matches!(&*options, "" | "{}");
        let recent = self.recent.get(view.name).filter(|_| usual);
        let run = async || self.run(view, source, at, options).await;
        match recent {
            Some(recent) => recent.get(Some(epoch), run).await,
            None => run().await,
        }
    }

    async fn run(
        &self,
        view: &'static RegisteredView,
        source: Arc<Source>,
        at: Option<Position>,
        options: String,
    ) -> Result<String, Status> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|_| Status::unavailable("the server is ending"))?;
        let read = move || {
            // A caller that has gone does not end the view.
            let _permit = permit;
            view.read(&source, at.as_ref(), &options)
        };
        blocking(read).await
    }
}

/// Reads a book on a thread for blocking work.
///
/// # Errors
/// The status of the [`ViewError`].
pub(crate) async fn blocking<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, ViewError> + Send + 'static,
) -> Result<T, Status> {
    let done = spawn_blocking(read).await;
    let done = done.map_err(|error| Status::internal(error.to_string()))?;
    done.map_err(|error| view_status(&error))
}

/// Returns the status of a view that has no result.
pub(crate) fn view_status(error: &ViewError) -> Status {
    let ViewError::Failed(cause) = error else {
        return error.into();
    };
    if let Some(error) = cause.downcast_ref::<BookError>() {
        status(error)
    } else if cause.is::<BookClosed>() {
        Status::unavailable(cause.to_string())
    } else {
        error.into()
    }
}

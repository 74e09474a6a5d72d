use kagetsu_game::Position;

use crate::base::id::Id;
use crate::base::links::Stage;
use crate::{Book, BookError};

/// How a job sees a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The job's name.
    pub job: String,
    /// Millionths of a ply from the nearest root: plies, and the losses of moves on the way
    /// weighted by the job's setting alpha. Positions with less are searched earlier.
    pub priority: u64,
    /// The job's treatment of the position.
    pub state: StandingState,
}

/// The treatment of a position by a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandingState {
    /// It has been searched.
    Searched,
    /// It waits to be searched, or to be searched anew.
    Waiting,
    /// The job goes on without it, because it could not be searched.
    SetAside,
}

impl Book {
    /// Returns how each job that comes to a position sees it; empty if none comes there.
    ///
    /// # Errors
    /// If a record is damaged.
    pub fn standings(&self, position: &Position) -> Result<Vec<Standing>, BookError> {
        let id = Id::of(position.variant().code(), &position.canonical());
        let mut index = self.index();
        let reach = index.reach(id)?;
        let mut standings = Vec::new();
        for job in reach.jobs() {
            let Some(priority) = reach.priority(job) else {
                continue;
            };
            let state = if reach.is_aside(job) {
                StandingState::SetAside
            } else if index.waiting(job, id, &reach)?.is_some() || reach.stage == Stage::Unknown {
                StandingState::Waiting
            } else {
                StandingState::Searched
            };
            let name = self.jobs.spec(crate::JobId(job))?.name.clone();
            standings.push(Standing {
                job: name,
                priority,
                state,
            });
        }
        Ok(standings)
    }
}

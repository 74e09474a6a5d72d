use kagetsu_book::{Standing, StandingState};
use kagetsu_proto::v1;
use serde::Serialize;

use crate::answer::ValueJson;

/// Why a position is in the book, or waits for it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Priorities))]
pub struct PrioritiesJson {
    /// The positions of the line, from the first position on.
    pub line: Vec<StepJson>,
    /// The moves from the position that jobs come to, the most urgent first.
    pub moves: Vec<StepJson>,
}

/// A move, and how the jobs see the position after it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = PriorityStep))]
pub struct StepJson {
    /// The move; null for the first position of a line.
    pub r#move: Option<String>,
    /// Centi-units that the move is worse than the best one, where the book has both values.
    pub loss: Option<u32>,
    /// Whether the book holds the position after the move.
    pub is_held: bool,
    /// The value of the position after the move, from the view of the side to move there; absent
    /// where the book has none.
    #[serde(flatten)]
    pub value: Option<ValueJson>,
    /// The jobs that come there.
    pub jobs: Vec<StandingJson>,
}

/// How a job sees a position.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Standing))]
pub struct StandingJson {
    /// The job's name.
    pub job: String,
    /// Plies from the nearest root, with the losses of moves on the way weighted by the job's
    /// alpha; positions with less are searched earlier.
    pub priority: f64,
    /// `searched`, `waiting` or `set-aside`.
    pub state: String,
}

impl From<&v1::Standing> for StandingJson {
    fn from(standing: &v1::Standing) -> Self {
        let state = match standing.state() {
            v1::StandingState::Waiting => "waiting",
            v1::StandingState::SetAside => "set-aside",
            v1::StandingState::Searched | v1::StandingState::Unspecified => "searched",
        };
        Self {
            job: standing.job.clone(),
            priority: standing.priority as f64 / 1e6,
            state: state.into(),
        }
    }
}

/// Returns how jobs see a position as a message.
#[must_use]
pub fn standings_message(standings: &[Standing]) -> v1::PositionStandings {
    let standing = |standing: &Standing| v1::Standing {
        job: standing.job.clone(),
        priority: standing.priority,
        state: match standing.state {
            StandingState::Searched => v1::StandingState::Searched,
            StandingState::Waiting => v1::StandingState::Waiting,
            StandingState::SetAside => v1::StandingState::SetAside,
        }
        .into(),
    };
    v1::PositionStandings {
        standings: standings.iter().map(standing).collect(),
    }
}

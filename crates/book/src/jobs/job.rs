use std::sync::Arc;

use kagetsu_game::{Answer, Effort, Position, Question, Side, Variant};
use serde::{Deserialize, Serialize};

use crate::graph::id::Id;

/// Names a job of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobId(pub u32);

/// Which position comes next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Policy {
    /// Drop-out expansion (Lincke: "Strategies for the automatic construction of opening books", 2000): a position's
    /// priority is its parent's, plus one for the ply, plus `alpha` for every hundred centi-units that its move is worse
    /// than the best. The least is next.
    DropOut {
        /// Plies that a loss of a hundred centi-units weighs, 0 to 1,000.
        alpha: f64,
    },
    /// A repertoire: as [`Policy::DropOut`], but of one side only the best move is followed, and of the other all that lose
    /// no more than [`Bounds::margin`].
    OneSide {
        /// Whose.
        side: Side,
        /// As in [`Policy::DropOut`].
        alpha: f64,
    },
    /// Proof-number order: the position next that helps most to prove that one side wins.
    Prove {
        /// Which side.
        attacker: Side,
    },
}

impl Policy {
    /// What a loss of value weighs in the order of what waits.
    pub(crate) fn alpha(self) -> f64 {
        match self {
            Self::DropOut { alpha } | Self::OneSide { alpha, .. } => alpha,
            Self::Prove { .. } => 0.0,
        }
    }
}

/// What a job leaves out, in what order it takes what is alike, and when it ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds {
    /// Moves that lose more than this, in centi-units against the best, are not followed.
    pub margin: Option<u16>,
    /// Up to so many plies, by chance, are added to the priority of each position, so that there are fewer holes: 0 to 100.
    pub noise: f64,
    /// Makes the chance the same every time.
    pub seed: u64,
    /// Positions that are never entered, by whatever moves.
    pub exclude: Arc<[Position]>,
    /// Searches anew what the book has, and adds nothing to it.
    pub deepen: Option<Deepen>,
    /// Ends when its answers have visited so many positions in searching, counted from when that was first asked for. Works
    /// at hand by then are finished.
    pub nodes: Option<u64>,
    /// Ends when so many positions were added in a row while at every root the best move stayed, and the value within 10
    /// centi-units.
    pub stable: Option<u64>,
    /// Of the jobs of a book those with more go first: -100 to 100.
    pub priority: i8,
}

/// Which positions are searched anew: those whose best move was searched with less than this. What is proven is left alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deepen {
    /// Plies.
    pub depth: u8,
    /// Positions visited for all moves together.
    pub nodes: u64,
    /// Days since 1970-01-01 of the search.
    pub day: u32,
    /// By another engine than this, name and version.
    pub engine: Option<String>,
}

impl Deepen {
    /// Whether an answer falls short.
    pub(crate) fn wants(&self, answer: &Answer) -> bool {
        let Some((_, best)) = answer.best().filter(|(_, best)| best.proof.is_none()) else {
            return false;
        };
        let is_other = self
            .engine
            .as_ref()
            .is_some_and(|engine| **engine != *best.by.engine);
        best.depth < self.depth || best.by.day < self.day || is_other || answer.nodes() < self.nodes
    }
}

/// What is to be built.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSpec {
    /// Its name in this book.
    pub name: String,
    /// What is played.
    pub variant: Variant,
    /// Where it begins; many, and shared by all copies.
    pub roots: Arc<[Position]>,
    /// Which position comes next.
    pub policy: Policy,
    /// What is left out.
    pub bounds: Bounds,
    /// How hard to think about each.
    pub effort: Effort,
    /// How many best moves of each get an exact value, and are followed.
    pub width: u16,
    /// Stones or plies beyond the root with the most, after which nothing is followed.
    pub max_ply: Option<u16>,
    /// How many positions to add to the book; `u64::MAX` for no end.
    pub target: u64,
    /// Whether one position may be divided among workers; then the answers depend on how.
    pub split: bool,
}

/// How a job stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobState {
    /// Its positions are handed out.
    Running,
    /// It waits to be resumed.
    Paused,
    /// It has its positions, or nothing is left to search.
    Done,
    /// It was given up.
    Cancelled,
    /// It cannot go on, and why.
    Failed(String),
}

impl std::fmt::Display for JobState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Failed(_) => "failed",
        })
    }
}

/// A job and how far it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its number.
    pub id: JobId,
    /// What is to be built.
    pub spec: JobSpec,
    /// How it stands.
    pub state: JobState,
    /// Positions that it has added to the book.
    pub positions: u64,
    /// Positions set aside because they could not be searched.
    pub set_aside: u64,
    /// Positions that wait.
    pub frontier: u64,
    /// Positions visited in searching, since the job has a limit of them.
    pub nodes: u64,
}

/// What can be done to a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobChange {
    /// No new work until it is resumed.
    Pause,
    /// Go on.
    Resume,
    /// Give it up; the book keeps what it has. A job that is done stays done.
    Cancel,
    /// It cannot go on, and why.
    Fail(String),
    /// Another number of positions to add; a job that was done goes on if it is greater.
    Target(u64),
    /// What was set aside waits again; a job that was done goes on.
    Retry,
    /// Other limits than its target, as [`Bounds::nodes`] and [`Bounds::stable`]; a job that was done goes on if they allow.
    Limit(Option<u64>, Option<u64>),
    /// Its turn among the others, as [`Bounds::priority`].
    Priority(i8),
    /// It is done, whatever waits for it: a shorter journal says so of a job that was done before all of that waited.
    Finish,
    /// It has added so many positions: a shorter journal says so where they cannot be counted as they were.
    Count(u64),
}

/// A position that a job goes on without.
#[derive(Clone, Debug, PartialEq)]
pub struct Aside {
    /// Which, in canonical orientation.
    pub position: Position,
    /// What went wrong the last time.
    pub reason: String,
}

/// One position to search for a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// Names it among the works at hand.
    pub id: u64,
    /// For which job.
    pub job: JobId,
    /// What to answer.
    pub question: Question,
    /// Its urgency in the job; less is sooner.
    pub priority: u64,
    /// The job's priority among others, when this was handed out.
    pub turn: i8,
    pub(crate) at: Id,
}

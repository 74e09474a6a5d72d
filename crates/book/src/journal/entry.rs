//! The entries of the journal.

use std::sync::Arc;

use kagetsu_game::{Answer, Move, Packed, Position, Variant};
use serde::{Deserialize, Serialize};

use crate::base::annotations::AnnotationBody;
use crate::base::id::Id;
use crate::base::id::unpack;
use crate::base::record::{self, Group};
use crate::error::{BookError, JournalError};
use crate::journal::log::Sequence;
use crate::settings::job::{JobChange, JobSpec};

/// An event in the life of a book. New kinds come after the last, because their order is the
/// encoding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum LogEntry {
    /// A position was searched.
    Answer(AnswerBody),
    /// A job was made.
    Job(JobEntry),
    /// A job was changed.
    Change(u32, JobChange),
    /// A job skips a position that could not be searched.
    SetAside {
        job: u32,
        variant: u32,
        packed: Vec<u8>,
        reason: String,
    },
    /// A job expands known positions that it has reached, at most `steps` of them.
    Walk { job: u32, steps: u32 },
    /// The record of a position is invalid, and the job that searched it has one position less.
    Distrust {
        job: Option<u32>,
        variant: u32,
        packed: Vec<u8>,
    },
    /// People wrote annotations about a position, or took some back.
    Annotate {
        variant: u32,
        packed: Vec<u8>,
        bodies: Vec<AnnotationBody>,
    },
}

impl LogEntry {
    /// Decodes an entry of the journal.
    ///
    /// # Errors
    /// If this program does not understand it.
    pub(crate) fn decode(number: Sequence, bytes: &[u8]) -> Result<Self, JournalError> {
        postcard::from_bytes(bytes).map_err(|_| JournalError::Unreadable(number.0))
    }

    /// Encodes the entry as the journal has it.
    pub(crate) fn encode(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("plain data, and memory grows")
    }

    /// Returns the variant and the packed position of an entry about one position; `None` for an
    /// entry about a job.
    pub(crate) fn packed(&self) -> Option<(u32, &[u8])> {
        match self {
            Self::Answer(AnswerBody {
                variant, packed, ..
            })
            | Self::SetAside {
                variant, packed, ..
            }
            | Self::Distrust {
                variant, packed, ..
            }
            | Self::Annotate {
                variant, packed, ..
            } => Some((*variant, packed)),
            Self::Job(_) | Self::Change(..) | Self::Walk { .. } => None,
        }
    }

    /// Returns the position of an entry about one position.
    pub(crate) fn about(&self) -> Result<Option<Id>, BookError> {
        let Some((variant, packed)) = self.packed() else {
            return Ok(None);
        };
        Ok(Some(Id::of(variant, &unpack(variant, packed)?.canonical())))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AnswerBody {
    /// The job that asked, if any.
    pub(crate) job: Option<u32>,
    /// Whether the question was only about moves without a value.
    pub(crate) is_widening: bool,
    pub(crate) variant: u32,
    /// The canonical position.
    pub(crate) packed: Vec<u8>,
    /// The engines, which the groups refer to by index.
    pub(crate) engines: Vec<String>,
    pub(crate) groups: Vec<Group>,
}

impl AnswerBody {
    /// Reads the position and the facts.
    pub(crate) fn meaning(&self) -> Result<AnswerMeaning, BookError> {
        let position = unpack(self.variant, &self.packed)?;
        let names: Vec<Arc<str>> = self.engines.iter().map(|name| (&**name).into()).collect();
        let facts = record::read(&self.groups, |number| names.get(number as usize).cloned());
        Ok(AnswerMeaning {
            id: Id::of(self.variant, &position.canonical()),
            facts: facts.ok_or(BookError::Entry("an answer in the journal"))?,
        })
    }
}

/// The position and the facts of an answer's entry. A book that has just made the entry need not
/// read them back.
pub(crate) struct AnswerMeaning {
    pub(crate) id: Id,
    /// In canonical orientation.
    pub(crate) facts: Answer,
}

/// The definition of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct JobEntry {
    name: String,
    variant: u32,
    /// First position and moves of each root.
    roots: Vec<(Option<Vec<u8>>, Vec<u16>)>,
    /// The positions that are never entered, in canonical orientation.
    exclude: Vec<Vec<u8>>,
    /// A [`BuildSpec`](crate::settings::build_spec::BuildSpec) as JSON: it describes itself, so a
    /// setting that this program does not know is kept.
    settings: String,
}

impl From<&JobSpec> for JobEntry {
    fn from(spec: &JobSpec) -> Self {
        let root = |root: &Position| {
            (
                root.setup().map(|packed| packed.0.clone()),
                root.moves().iter().map(|m| m.code()).collect(),
            )
        };
        let excluded = |position: &Position| position.canonical().packed.0;
        Self {
            name: spec.name.clone(),
            variant: spec.variant.code(),
            roots: spec.roots.iter().map(root).collect(),
            exclude: spec.exclude.iter().map(excluded).collect(),
            settings: serde_json::Value::Object(spec.build.to_json()).to_string(),
        }
    }
}

impl JobEntry {
    /// Returns what the job was made with; `None` if its bytes do not describe a job.
    pub(crate) fn spec(&self) -> Option<JobSpec> {
        let variant = Variant::from_code(self.variant).ok()?;
        let root = |(setup, moves): &(Option<Vec<u8>>, Vec<u16>)| {
            let moves: Vec<_> = moves.iter().map(|&code| Move::new(code)).collect();
            Position::new(variant, setup.clone().map(Packed), &moves).ok()
        };
        let excluded = |packed: &Vec<u8>| Position::unpack(variant, Packed(packed.clone())).ok();
        Some(JobSpec {
            name: self.name.clone(),
            variant,
            roots: self.roots.iter().map(root).collect::<Option<_>>()?,
            exclude: self.exclude.iter().map(excluded).collect::<Option<_>>()?,
            build: serde_json::from_str(&self.settings).ok()?,
        })
    }
}

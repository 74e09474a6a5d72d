//! The entries of the journal.

use std::time::Duration;

use kagetsu_game::{Effort, Packed, Position, Side, Variant};
use serde::{Deserialize, Serialize};

use crate::BookError;
use crate::graph::id::Id;
use crate::graph::id::unpack;
use crate::jobs::job::{Bounds, Deepen, JobChange, JobSpec, Policy};
use crate::journal::record::Group;

/// One thing that happened to a book. Only grows: new kinds come after the last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum LogEntry {
    /// A position was searched.
    Answer(AnswerBody),
    /// A job was made.
    Job(SpecBody),
    /// A job was changed.
    Change(u32, JobChange),
    /// A position of a job could not be searched, and why.
    SetAside {
        job: u32,
        variant: u32,
        packed: Vec<u8>,
        reason: String,
    },
    /// A job goes on from known positions that it has come to.
    Walk { job: u32, steps: u32 },
    /// What was learned of a position, for a job or for none, is not to be believed.
    Distrust {
        job: Option<u32>,
        variant: u32,
        packed: Vec<u8>,
    },
    /// A job was made, with settings beyond those that every job has.
    JobWith(SpecBody, Vec<Setting>),
}

fn side(number: u8) -> Option<Side> {
    [Side::First, Side::Second]
        .get(usize::from(number))
        .copied()
}

impl LogEntry {
    /// The variant and the position of which it speaks; `None` where it speaks of a job, and so perhaps of many.
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
            } => Some((*variant, packed)),
            Self::Job(_) | Self::JobWith(..) | Self::Change(..) | Self::Walk { .. } => None,
        }
    }

    /// The position of which it speaks, if it speaks of one.
    pub(crate) fn about(&self) -> Result<Option<Id>, BookError> {
        let Some((variant, packed)) = self.packed() else {
            return Ok(None);
        };
        Ok(Some(Id::of(variant, &unpack(variant, packed)?.canonical())))
    }
}

/// What a job was told beyond its [`SpecBody`]. Only grows: new kinds come after the last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Setting {
    /// It looks for a proof that a side wins; 0 is the first.
    Prove(u8),
    /// Of a side only the best move is followed; 0 is the first.
    OneSide(u8),
    /// Moves that lose more, in centi-units, are not followed.
    Margin(u16),
    /// Thousandths of a ply that chance may add to a priority, and what makes it the same every time.
    Noise(u32, u64),
    /// A canonical position that is not entered.
    Exclude(Vec<u8>),
    /// What is known is searched anew, where it falls short of this.
    Deepen(Deepen),
}

impl Setting {
    /// The settings of a job that its [`SpecBody`] has no place for.
    pub(crate) fn of(spec: &JobSpec) -> Vec<Self> {
        let mut settings = match spec.policy {
            Policy::DropOut { .. } => Vec::new(),
            Policy::Prove { attacker } => vec![Self::Prove(attacker as u8)],
            Policy::OneSide { side, .. } => vec![Self::OneSide(side as u8)],
        };
        let Bounds {
            margin,
            noise,
            seed,
            exclude,
            deepen,
            ..
        } = &spec.bounds;
        settings.extend(margin.map(Self::Margin));
        let millis = (noise * 1e3).round() as u32;
        settings.extend((millis > 0).then_some(Self::Noise(millis, *seed)));
        settings.extend(
            exclude
                .iter()
                .map(|position| Self::Exclude(position.canonical().packed.0)),
        );
        settings.extend(deepen.clone().map(Self::Deepen));
        settings
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AnswerBody {
    /// For which job, if for one.
    pub(crate) job: Option<u32>,
    /// Whether only moves were asked about that had no value.
    pub(crate) is_widening: bool,
    pub(crate) variant: u32,
    /// The canonical position.
    pub(crate) packed: Vec<u8>,
    /// The engines that the groups number.
    pub(crate) engines: Vec<String>,
    pub(crate) groups: Vec<Group>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SpecBody {
    name: String,
    pub(crate) variant: u32,
    /// First position and moves of each.
    roots: Vec<(Option<Vec<u8>>, Vec<u16>)>,
    pub(crate) alpha_millis: u32,
    depth: Option<u8>,
    nodes: Option<u64>,
    time_ms: Option<u64>,
    width: u16,
    max_ply: Option<u16>,
    /// Stones beyond which nothing is followed.
    pub(crate) most_stones: u16,
    pub(crate) target: u64,
    split: bool,
}

impl From<&JobSpec> for SpecBody {
    fn from(spec: &JobSpec) -> Self {
        let root = |root: &Position| {
            (
                root.setup().map(|packed| packed.0.clone()),
                root.moves().iter().map(|m| m.code()).collect(),
            )
        };
        let deepest = spec
            .roots
            .iter()
            .map(|root| root.canonical().stones)
            .max()
            .unwrap_or(0);
        Self {
            name: spec.name.clone(),
            variant: spec.variant.code(),
            roots: spec.roots.iter().map(root).collect(),
            alpha_millis: (spec.policy.alpha() * 1e3).round() as u32,
            depth: spec.effort.depth,
            nodes: spec.effort.nodes,
            time_ms: spec.effort.time.map(|time| time.as_millis() as u64),
            width: spec.width,
            max_ply: spec.max_ply,
            most_stones: spec
                .max_ply
                .map_or(u16::MAX, |ply| deepest.saturating_add(ply)),
            target: spec.target,
            split: spec.split,
        }
    }
}

impl SpecBody {
    /// The spec again, with the settings beyond it; `None` for one that cannot be.
    pub(crate) fn spec(&self, settings: &[Setting]) -> Option<JobSpec> {
        let variant = Variant::from_code(self.variant).ok()?;
        let alpha = f64::from(self.alpha_millis) / 1e3;
        let (mut policy, mut bounds, mut exclude) =
            (Policy::DropOut { alpha }, Bounds::default(), Vec::new());
        for setting in settings {
            match setting {
                Setting::Prove(number) => {
                    policy = Policy::Prove {
                        attacker: side(*number)?,
                    }
                }
                Setting::OneSide(number) => {
                    policy = Policy::OneSide {
                        side: side(*number)?,
                        alpha,
                    }
                }
                Setting::Margin(margin) => bounds.margin = Some(*margin),
                Setting::Noise(millis, seed) => {
                    (bounds.noise, bounds.seed) = (f64::from(*millis) / 1e3, *seed)
                }
                Setting::Deepen(deepen) => bounds.deepen = Some(deepen.clone()),
                Setting::Exclude(packed) => {
                    exclude.push(Position::unpack(variant, Packed(packed.clone())).ok()?)
                }
            }
        }
        bounds.exclude = exclude.into();
        let root = |(setup, moves): &(Option<Vec<u8>>, Vec<u16>)| {
            let moves: Vec<_> = moves
                .iter()
                .map(|&code| kagetsu_game::Move::new(code))
                .collect();
            Position::new(variant, setup.clone().map(Packed), &moves).ok()
        };
        Some(JobSpec {
            name: self.name.clone(),
            variant,
            roots: self.roots.iter().map(root).collect::<Option<_>>()?,
            policy,
            bounds,
            effort: Effort {
                depth: self.depth,
                nodes: self.nodes,
                time: self.time_ms.map(Duration::from_millis),
            },
            width: self.width,
            max_ply: self.max_ply,
            target: self.target,
            split: self.split,
        })
    }

    /// In what it differs from another, but for the target.
    pub(crate) fn difference(&self, other: &Self) -> Option<&'static str> {
        let differs = [
            (self.variant != other.variant, "the variant"),
            (self.roots != other.roots, "the roots"),
            (self.alpha_millis != other.alpha_millis, "alpha"),
            (
                (self.depth, self.nodes, self.time_ms) != (other.depth, other.nodes, other.time_ms),
                "the effort (depth, nodes or time)",
            ),
            (self.width != other.width, "the number of moves (--top)"),
            (self.max_ply != other.max_ply, "the greatest ply"),
            (self.split != other.split, "splitting"),
        ];
        differs
            .into_iter()
            .find(|(differs, _)| *differs)
            .map(|(_, what)| what)
    }
}

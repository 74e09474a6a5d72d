//! What a job was started with.

use kagetsu_book::{Bounds, Deepen, JobSpec, Policy};
use kagetsu_game::{Position, Side};
use kagetsu_proto::v1;
use serde::Serialize;

use crate::date::date;

/// Roots, and excluded positions, that are told.
const TOLD: usize = 100;

/// The settings of a job, in the words by which it is started.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Settings))]
pub struct SettingsJson {
    /// Where it begins: the first of them, as moves or FEN.
    pub roots: Vec<String>,
    /// How many they are.
    pub root_count: u64,
    /// `drop-out`, `one-side` or `prove`.
    pub policy: String,
    /// Whose win is to be proven, or whose best moves alone are followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// Plies that a loss of a hundred centi-units weighs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Plies of each search.
    pub depth: Option<u32>,
    /// Positions of each search.
    pub nodes: Option<u64>,
    /// Wall-clock time of each search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// How many best moves of each position are followed.
    pub top: u32,
    /// Plies beyond the deepest root after which nothing is followed.
    pub max_ply: Option<u32>,
    /// Centi-units that a move may lose.
    pub margin: Option<u32>,
    /// Plies that chance adds.
    pub noise: f64,
    /// Makes the noise the same every time.
    pub seed: u64,
    /// Positions that are never entered: the first of them, as moves or FEN.
    pub exclude: Vec<String>,
    /// How many they are.
    pub exclude_count: u64,
    /// What is searched anew, if that is what it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deepen: Option<DeepenJson>,
    /// Whether one position may be divided among workers.
    pub split: bool,
}

/// What is searched anew.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Deepening))]
pub struct DeepenJson {
    /// Searched with fewer plies than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// With fewer positions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Before this day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// By another engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
}

/// The settings as they go over the wire, with the first roots and excluded positions alone.
#[must_use]
pub fn settings(spec: &JobSpec) -> v1::Settings {
    let JobSpec {
        name,
        roots,
        policy,
        bounds,
        effort,
        width,
        max_ply,
        target,
        split,
        ..
    } = spec;
    let Bounds {
        margin,
        noise,
        seed,
        exclude,
        deepen,
        nodes,
        stable,
        priority,
    } = bounds;
    let (kind, side, alpha) = match *policy {
        Policy::DropOut { alpha } => (v1::Policy::DropOut, Side::First, alpha),
        Policy::OneSide { side, alpha } => (v1::Policy::OneSide, side, alpha),
        Policy::Prove { attacker } => (v1::Policy::Prove, attacker, 0.0),
    };
    let first = |positions: &[Position]| positions.iter().take(TOLD).map(Into::into).collect();
    let deepen = deepen.as_ref().map(
        |Deepen {
             depth,
             nodes,
             day,
             engine,
         }| v1::Deepen {
            depth: (*depth).into(),
            nodes: *nodes,
            day: *day,
            engine: engine.clone().unwrap_or_default(),
        },
    );
    let request = v1::StartRequest {
        name: name.clone(),
        roots: first(roots),
        alpha,
        effort: Some((*effort).into()),
        width: (*width).into(),
        max_ply: max_ply.map(Into::into),
        target: (*target != u64::MAX).then_some(*target),
        split: *split,
        policy: kind.into(),
        side: (if side == Side::First {
            v1::Side::First
        } else {
            v1::Side::Second
        })
        .into(),
        margin: margin.map(Into::into),
        noise: *noise,
        seed: *seed,
        exclude: first(exclude),
        deepen,
        total_nodes: *nodes,
        until_stable: *stable,
        priority: (*priority).into(),
    };
    v1::Settings {
        request: Some(request),
        roots: roots.len() as u64,
        exclude: exclude.len() as u64,
    }
}

/// Moves or FEN. A later coordinator may have positions that this program does not know.
fn named(position: &v1::Position) -> Option<String> {
    let position = Position::try_from(position).ok()?;
    if let Some(line) = position.line() {
        return Some(
            line.iter()
                .map(|&m| position.write_move(m))
                .collect::<Vec<_>>()
                .join(" "),
        );
    }
    Some(position.fen().unwrap_or_else(|_| position.to_string()))
}

impl From<&v1::Settings> for SettingsJson {
    fn from(settings: &v1::Settings) -> Self {
        let request = settings.request.clone().unwrap_or_default();
        let effort = request.effort.unwrap_or_default();
        let side = if request.side() == v1::Side::Second {
            Side::Second
        } else {
            Side::First
        };
        let (policy, has_side) = match request.policy() {
            v1::Policy::Unspecified | v1::Policy::DropOut => ("drop-out", false),
            v1::Policy::OneSide => ("one-side", true),
            v1::Policy::Prove => ("prove", true),
        };
        Self {
            roots: request.roots.iter().filter_map(named).collect(),
            root_count: settings.roots,
            policy: policy.into(),
            side: has_side.then(|| side.to_string()),
            alpha: (policy != "prove").then_some(request.alpha),
            depth: effort.depth,
            nodes: effort.nodes,
            time_ms: effort.time_ms,
            top: request.width,
            max_ply: request.max_ply,
            margin: request.margin,
            noise: request.noise,
            seed: request.seed,
            exclude: request.exclude.iter().filter_map(named).collect(),
            exclude_count: settings.exclude,
            deepen: request.deepen.as_ref().map(Into::into),
            split: request.split,
        }
    }
}

impl From<&v1::Deepen> for DeepenJson {
    fn from(
        v1::Deepen {
            depth,
            nodes,
            day,
            engine,
        }: &v1::Deepen,
    ) -> Self {
        Self {
            depth: (*depth > 0).then_some(*depth),
            nodes: (*nodes > 0).then_some(*nodes),
            before: (*day > 0).then(|| date(*day)),
            engine: (!engine.is_empty()).then(|| engine.clone()),
        }
    }
}

//! The positions of a book whose values are most doubtful.

use kagetsu_book::{Doubt, Suspect};
use kagetsu_game::{Move, Notation, Position};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::ViewError;
use crate::print::TextBlock;
use crate::ranged::Ranged;
use crate::source::Source;
use crate::view::View;

/// Ranks the positions whose value is most doubtful
///
/// A value is doubtful if its search was shallow, if the positions behind the moves say something
/// else than the search, if they prefer another move, or if an older engine searched it. Positions
/// near the given one, on lines without losses, count more.
///
/// The command prints one line of moves for each, with the doubt behind `#`, as `kagetsu build
/// --deepen --roots` reads them to search them again. The exit code is 1 if the book does not hold
/// the position.
///
/// Example: kagetsu suspects --book h8.book --variant freestyle-15 --moves h8 > roots.txt
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct SuspectsView {
    /// Number of positions to list
    #[arg(long, default_value_t, value_name = "K")]
    #[schema(inline)]
    top: Ranged<20, 1, 1_000>,
    /// Number of positions to look at, the most important first
    #[arg(long, default_value_t, value_name = "N")]
    #[schema(inline)]
    most: Ranged<3_000, 1, 100_000>,
}

/// The most doubtful positions from one on.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Suspects)]
pub struct SuspectsJson {
    /// The positions, the most doubtful first.
    pub suspects: Vec<SuspectJson>,
}

/// A position whose value is doubtful.
#[derive(Debug, Default, Deserialize, Serialize, ToSchema)]
#[schema(as = Suspect)]
pub struct SuspectJson {
    /// The moves from the start of the game, or from the position that the question was about
    /// where that was a FEN.
    pub moves: Vec<String>,
    /// How doubtful the value is, in missing plies; less for positions far from the first one.
    pub doubt: f64,
    /// Plies of the search that valued it.
    pub depth: u8,
    /// Why the value is doubtful, in English.
    pub reasons: Vec<String>,
    /// The search was this many plies less deep than half of the book.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_plies: Option<u8>,
    /// The value of the search in centi-units, where the positions behind the moves give another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub searched_score: Option<i16>,
    /// The value of the positions behind the moves, in centi-units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind_score: Option<i16>,
    /// The best move of the search, where the positions behind the moves prefer another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub searched_best: Option<String>,
    /// The best move by the positions behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind_best: Option<String>,
    /// The engine that searched it, where another searched the newest position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_engine: Option<String>,
}

impl From<&Suspect> for SuspectJson {
    fn from(suspect: &Suspect) -> Self {
        let position = &suspect.position;
        let name = |m: Move| position.write_move(m);
        let mut json = Self {
            moves: position.moves().iter().map(|&m| name(m)).collect(),
            doubt: suspect.doubt,
            depth: suspect.depth,
            reasons: suspect
                .reasons
                .iter()
                .map(|reason| words(reason, position))
                .collect(),
            ..Self::default()
        };
        for reason in &suspect.reasons {
            match reason {
                Doubt::Shallow(missing) => json.missing_plies = Some(*missing),
                Doubt::OtherValue { searched, behind } => {
                    json.searched_score = Some(searched.raw());
                    json.behind_score = Some(behind.raw());
                }
                Doubt::OtherBest { searched, behind } => {
                    json.searched_best = Some(name(*searched));
                    json.behind_best = Some(name(*behind));
                }
                Doubt::OtherEngine(engine) => json.other_engine = Some(engine.clone()),
            }
        }
        json
    }
}

/// Says a reason in words.
fn words(reason: &Doubt, position: &Position) -> String {
    match reason {
        Doubt::Shallow(missing) => {
            format!("searched {missing} plies less deeply than half of the book")
        }
        Doubt::OtherValue { searched, behind } => {
            format!("the search says {searched}, the positions behind {behind}")
        }
        Doubt::OtherBest { searched, behind } => format!(
            "the search prefers {}, the positions behind {}",
            position.write_move(*searched),
            position.write_move(*behind)
        ),
        Doubt::OtherEngine(engine) => format!("searched by {engine}"),
    }
}

impl View for SuspectsView {
    const NAME: &'static str = "suspects";
    type At = Position;
    type Result = SuspectsJson;

    fn read(
        source: &Source,
        at: &Position,
        options: SuspectsView,
    ) -> Result<SuspectsJson, ViewError> {
        let found = source.inspect(|book| book.suspects(at, options.most.count()))?;
        let found = found.ok_or_else(|| {
            let reason = "this book does not keep what its searches said; give its folder, or the \
                          URL of its coordinator";
            ViewError::Unsupported(reason.into())
        })?;
        let found = found.ok_or_else(|| source.not_held(at))?;
        let listed = found.iter().take(options.top.count());
        Ok(SuspectsJson {
            suspects: listed.map(SuspectJson::from).collect(),
        })
    }

    fn print(result: &SuspectsJson, _: &Position, _: Notation) -> Vec<TextBlock> {
        if result.suspects.is_empty() {
            return vec![TextBlock::Note("nothing is doubtful".into())];
        }
        let line = |suspect: &SuspectJson| {
            let (moves, reasons) = (suspect.moves.join(" "), suspect.reasons.join("; "));
            let (doubt, depth) = (suspect.doubt, suspect.depth);
            TextBlock::Line(format!(
                "{moves}  # doubt {doubt:.2}, depth {depth}: {reasons}"
            ))
        };
        result.suspects.iter().map(line).collect()
    }
}

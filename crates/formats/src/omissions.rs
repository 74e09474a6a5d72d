//! Counts of what an import or export cannot carry over.

use std::collections::BTreeMap;
use std::io::Write;

use kagetsu_game::{Position, Variant, Verdict};

/// Counts of what could not be carried over, by kind. A count of zero stays where the kind was
/// looked for.
pub type Omissions = BTreeMap<&'static str, u64>;

/// A file without its end; everything before that is read.
pub(crate) const TRUNCATED_FILES: &str = "files_that_end_in_the_middle";
/// A win or a loss without a distance: the distance is taken as the most that the board allows.
pub(crate) const MISSING_DISTANCES: &str = "distances_of_wins_and_losses";
/// A win or a loss at a ply of the other side, or at one that the game cannot reach.
pub(crate) const IMPOSSIBLE_ENDS: &str = "wins_and_losses_that_cannot_be";
/// A value outside the range of evaluations.
pub(crate) const VALUES_OUT_OF_RANGE: &str = "values_beyond_all_bounds";

/// Writes one line with all counts above zero.
///
/// # Errors
/// If `out` fails.
pub fn write_omissions(omissions: &Omissions, out: &mut dyn Write) -> std::io::Result<()> {
    let counts: Vec<String> = omissions
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(kind, count)| format!("{count} {}", kind.replace('_', " ")))
        .collect();
    if counts.is_empty() {
        return Ok(());
    }
    writeln!(out, "not carried over: {}", counts.join(", "))
}

/// Adds to the count of a kind.
pub fn omit(omissions: &mut Omissions, kind: &'static str, count: u64) {
    *omissions.entry(kind).or_default() += count;
}

/// A property of a searched move beside its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MoveDetail {
    Depth,
    Nodes,
    Line,
    Engine,
    Date,
    ProofKind,
}

/// Counts the details of a move for which a format has no room. A move without a value has none.
pub(crate) fn omit_details(omissions: &mut Omissions, verdict: &Verdict, details: &[MoveDetail]) {
    for detail in details.iter().filter(|_| !verdict.is_silent()) {
        let (kind, is_present) = match detail {
            MoveDetail::Depth => ("depths", verdict.depth > 0),
            // A value without a search is the share of the games that were won.
            MoveDetail::Nodes if verdict.depth == 0 && verdict.proof.is_none() => {
                ("numbers_of_games", verdict.nodes > 0)
            }
            MoveDetail::Nodes => ("node_counts", verdict.nodes > 0),
            // The first move of a line is the move itself.
            MoveDetail::Line => ("lines", verdict.line.len() > 1),
            MoveDetail::Engine => ("names_of_engines", !verdict.by.engine.is_empty()),
            MoveDetail::Date => ("dates", verdict.by.day > 0),
            MoveDetail::ProofKind => ("kinds_of_proofs", verdict.proof.is_some()),
        };
        omit(omissions, kind, is_present.into());
    }
}

/// Returns whether a position is of the exported game, and counts it as omitted otherwise.
pub(crate) fn is_exported(
    position: &Position,
    variant: Option<Variant>,
    omissions: &mut Omissions,
) -> bool {
    let is_exported = variant.is_none_or(|variant| variant == position.variant());
    if !is_exported {
        omit(omissions, "positions_of_other_games", 1);
    }
    is_exported
}

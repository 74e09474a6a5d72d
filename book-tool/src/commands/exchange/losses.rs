//! What could not be carried over.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use kagetsu_game::Verdict;

/// What could not be carried over, by what it is, and how much of it.
pub(super) type Losses = BTreeMap<&'static str, u64>;

/// A file whose rest is missing; what stands before that is read.
pub(super) const CUT_SHORT: &str = "files_that_end_in_the_middle";
/// A win or a loss of which a file does not say when: it is read as one that may take as long as the board has room.
pub(super) const NO_DISTANCE: &str = "distances_of_wins_and_losses";

/// A win or a loss of which the ply is the other side's, or one that the game cannot reach.
pub(super) const NO_SUCH_END: &str = "wins_and_losses_that_cannot_be";
/// A number greater than any opinion.
pub(super) const BEYOND: &str = "values_beyond_all_bounds";

/// Counts a loss; one of nothing is told too where it was looked for.
pub(super) fn lose(losses: &mut Losses, what: &'static str, count: u64) {
    *losses.entry(what).or_default() += count;
}

/// What a search says of a move beside its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    Depth,
    Nodes,
    Line,
    Engine,
    Date,
    ProofKind,
}

/// Counts what a format has no place for, of a move that it carries; a move that was only made has nothing of that.
pub(super) fn lose_details(losses: &mut Losses, verdict: &Verdict, details: &[Detail]) {
    for detail in details.iter().filter(|_| !verdict.is_silent()) {
        let (what, is_there) = match detail {
            Detail::Depth => ("depths", verdict.depth > 0),
            // A value without a search is the share of the games that were won.
            Detail::Nodes if verdict.depth == 0 && verdict.proof.is_none() => {
                ("numbers_of_games", verdict.nodes > 0)
            }
            Detail::Nodes => ("node_counts", verdict.nodes > 0),
            // The first move of a line is the move itself.
            Detail::Line => ("lines", verdict.line.len() > 1),
            Detail::Engine => ("names_of_engines", !verdict.by.engine.is_empty()),
            Detail::Date => ("dates", verdict.by.day > 0),
            Detail::ProofKind => ("kinds_of_proofs", verdict.proof.is_some()),
        };
        lose(losses, what, is_there.into());
    }
}

/// Tells what was lost on the way.
///
/// # Errors
/// If nobody reads it.
pub(super) fn tell(losses: &Losses, out: &mut dyn Write) -> Result<()> {
    let told: Vec<String> = losses
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(what, count)| format!("{count} {}", what.replace('_', " ")))
        .collect();
    if !told.is_empty() {
        writeln!(out, "not carried over: {}", told.join(", "))?;
    }
    Ok(())
}

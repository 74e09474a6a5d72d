//! Counts of what an import or export cannot carry over.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::{Deref, DerefMut};

use serde::{Serialize, Serializer};

use kagetsu_game::{Position, Variant, Verdict, quote_line};

/// Counts of what could not be carried over, by kind. A count of zero stays where the kind was
/// looked for. Two are equal if their counts are.
#[derive(Clone, Debug, Default)]
pub struct Omissions {
    counts: BTreeMap<&'static str, u64>,
    /// The first text that could not be read, with its place, for kinds that have one.
    first: BTreeMap<&'static str, String>,
}

impl Omissions {
    /// Returns no counts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the first text of each kind that could not be read, with its place.
    #[must_use]
    pub fn first(&self) -> &BTreeMap<&'static str, String> {
        &self.first
    }

    /// Adds to the count of a kind.
    pub fn omit(&mut self, kind: &'static str, count: u64) {
        *self.entry(kind).or_default() += count;
    }

    /// Counts a text that cannot be read in a line of the file.
    pub(crate) fn omit_at(&mut self, kind: &'static str, line: usize, text: &str) {
        self.omit_text(kind, &format!("line {line}: "), text);
    }

    /// Counts a text that cannot be read, at a place in the file.
    pub(crate) fn omit_text(&mut self, kind: &'static str, place: &str, text: &str) {
        self.omit(kind, 1);
        let is_control = |c: char| if c.is_control() { ' ' } else { c };
        let shown = || {
            let letters = text.chars().take(MAX_SHOWN_LETTERS);
            let mut shown: String = letters.map(is_control).collect();
            if shown.len() < text.len() {
                shown.push('…');
            }
            format!("{place}'{shown}'")
        };
        self.first.entry(kind).or_insert_with(shown);
    }

    /// Counts the details of a move for which a format has no room. A move without a value has
    /// none.
    pub(crate) fn omit_details(&mut self, verdict: &Verdict, details: &[MoveDetail]) {
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
            self.omit(kind, is_present.into());
        }
    }

    /// Adds the counts of a file, whose name then stands before the places.
    pub(crate) fn join(&mut self, other: Self, file: &str) {
        for (kind, count) in other.counts {
            self.omit(kind, count);
        }
        for (kind, text) in other.first {
            let place = || match file {
                "" => text,
                file => format!("{}, {text}", quote_line(file)),
            };
            self.first.entry(kind).or_insert_with(place);
        }
    }
}

impl Deref for Omissions {
    type Target = BTreeMap<&'static str, u64>;

    fn deref(&self) -> &Self::Target {
        &self.counts
    }
}

impl DerefMut for Omissions {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.counts
    }
}

impl PartialEq for Omissions {
    fn eq(&self, other: &Self) -> bool {
        self.counts == other.counts
    }
}

impl Serialize for Omissions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.counts.serialize(serializer)
    }
}

impl<const N: usize> From<[(&'static str, u64); N]> for Omissions {
    fn from(counts: [(&'static str, u64); N]) -> Self {
        Self {
            counts: counts.into(),
            first: BTreeMap::new(),
        }
    }
}

/// A file without its end; everything before that is read.
pub(crate) const TRUNCATED_FILES: &str = "files_that_end_in_the_middle";
/// A game on another board than that of the variant, or of another game.
pub(crate) const OTHER_GAMES: &str = "games_that_are_not_of_this_variant";
/// A win or a loss without a distance: the distance is taken as the most that the board allows.
pub(crate) const MISSING_DISTANCES: &str = "distances_of_wins_and_losses";
/// A win or a loss at a ply of the other side, or at one that the game cannot reach.
pub(crate) const IMPOSSIBLE_ENDS: &str = "wins_and_losses_that_cannot_be";
/// A value outside the range of evaluations.
pub(crate) const VALUES_OUT_OF_RANGE: &str = "values_beyond_all_bounds";
/// A result in words that say none.
pub(crate) const UNREAD_RESULTS: &str = "results_in_unknown_words";
/// Letters of a text that a message shows.
const MAX_SHOWN_LETTERS: usize = 60;

/// Writes one line for each kind with a count above zero.
///
/// # Errors
/// If `out` fails.
pub fn write_omissions(omissions: &Omissions, out: &mut dyn Write) -> std::io::Result<()> {
    for (kind, count) in omissions.iter().filter(|(_, count)| **count > 0) {
        write!(out, "not carried over: {count} {}", kind.replace('_', " "))?;
        match omissions.first.get(kind) {
            Some(first) => writeln!(out, "; the first: {first}")?,
            None => writeln!(out)?,
        }
    }
    Ok(())
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

impl MoveDetail {
    /// All details: first the depth, last the kind of a proof.
    pub(crate) const ALL: [Self; 6] = [
        Self::Depth,
        Self::Nodes,
        Self::Line,
        Self::Engine,
        Self::Date,
        Self::ProofKind,
    ];
}

/// Returns whether a position is of the exported game, and counts it as omitted otherwise.
pub(crate) fn is_exported(
    position: &Position,
    variant: Option<Variant>,
    omissions: &mut Omissions,
) -> bool {
    let is_exported = variant.is_none_or(|variant| variant == position.variant());
    if !is_exported {
        omissions.omit("positions_of_other_games", 1);
    }
    is_exported
}

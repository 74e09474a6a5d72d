//! The content of a book in short.

use std::time::Duration;

use kagetsu_api::{OverviewJson, ValueJson};
use kagetsu_game::{Notation, Position};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::ViewError;
use crate::print::TextBlock;
use crate::source::Source;
use crate::view::{View, WholeBook};

/// The most roots of a variant that a terminal shows.
const MAX_SHOWN_ROOTS: usize = 10;

/// Lists the games of a book and the positions where it begins
///
/// Each root has the number of positions behind it, its best move and its value from the view of
/// the side to move.
///
/// Example: kagetsu contents --book h8.book
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct BooksView {}

impl View for BooksView {
    const NAME: &'static str = "books";
    const COMMAND: &'static str = "contents";
    const LASTS: Duration = Duration::from_secs(10);
    type At = WholeBook;
    type Result = OverviewJson;

    fn read(source: &Source, _: &WholeBook, _: BooksView) -> Result<OverviewJson, ViewError> {
        Ok(overview(source)?)
    }

    fn print(result: &OverviewJson, _: &WholeBook, _: Notation) -> Vec<TextBlock> {
        print_overview(result)
    }
}

/// Returns the variants of a book with their roots and the values of these.
pub(super) fn overview(source: &Source) -> anyhow::Result<OverviewJson> {
    let overview = source.overview()?;
    let mut json = OverviewJson::from(&overview);
    let roots = overview.variants.iter().flat_map(|held| &held.roots);
    let roots: Vec<Position> = roots.map(|root| root.position.clone()).collect();
    let found = source.find_all(&roots)?;
    let listed = json.variants.iter_mut().flat_map(|held| &mut held.roots);
    for ((root, position), found) in listed.zip(&roots).zip(found) {
        let answer = found.map(|found| found.answer).unwrap_or_default();
        let mut verdicts = answer.verdicts().iter();
        if let Some((m, verdict)) = verdicts.find(|(_, verdict)| verdict.is_exact()) {
            root.best = Some(position.write_move(*m));
            root.value = ValueJson::of(verdict);
        }
    }
    Ok(json)
}

/// Writes the variants of a book, each with its roots.
pub(super) fn print_overview(overview: &OverviewJson) -> Vec<TextBlock> {
    let mut blocks = Vec::new();
    for held in &overview.variants {
        let line = format!("\n{}: {} positions", held.variant, held.positions);
        blocks.push(TextBlock::Line(line));
        for root in held.roots.iter().take(MAX_SHOWN_ROOTS) {
            let more = if root.is_more { "more than " } else { "" };
            let from = root.text(&held.variant);
            blocks.push(TextBlock::Line(format!(
                "  begins at {from}, {more}{} positions behind it",
                root.positions
            )));
        }
        let shown = held.roots.len().min(MAX_SHOWN_ROOTS) as u64;
        let rest = held.all_roots.saturating_sub(shown);
        if rest > 0 {
            blocks.push(TextBlock::Line(format!("  and at {rest} more")));
        }
    }
    blocks
}

//! The best lines of a book as a tree.

use anyhow::{Context, Result};
use kagetsu_api::ValueJson;
use kagetsu_game::{Answer, Bound, Move, Notation, Position, Verdict};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::ViewError;
use crate::print::TextBlock;
use crate::ranged::Ranged;
use crate::source::Source;
use crate::view::View;

/// The look-ups that one tree may make.
const MAX_LOOKUPS: usize = 10_000;
/// The most moves of a position with only an upper bound that are looked up.
const MAX_BOUNDED: usize = 16;

/// Prints the best lines of a book as a tree
///
/// Each row shows a move, its value from the view of the side that makes it, and its depth. Moves
/// without a value follow: the number of times that they were played, or their upper bound if they
/// lead into the book. The exit code is 1 if the book does not hold the position.
///
/// Example: kagetsu tree --book h8.book --variant freestyle-15 --moves h8 --plies 4
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct TreeView {
    /// Depth of the tree, in plies
    #[arg(long, default_value_t, value_name = "N")]
    #[schema(inline)]
    plies: Ranged<4, 1, 100>,
    /// Number of moves to show in each position
    #[arg(long, default_value_t, value_name = "K")]
    #[schema(inline)]
    top: Ranged<3, 1, 400>,
}

/// The best lines of the book.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Tree)]
pub struct TreeJson {
    /// The game.
    variant: String,
    /// The moves to the root of the tree.
    moves: Vec<String>,
    /// The moves from the root, best first.
    branches: Vec<BranchJson>,
    /// Whether the tree was cut because it needed too many look-ups.
    is_cut: bool,
}

/// A move of a [`TreeJson`].
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Branch)]
pub struct BranchJson {
    /// The move.
    r#move: String,
    /// Its value, from the view of the side that makes it.
    #[serde(flatten)]
    value: ValueJson,
    /// `exact`, `lower` or `upper`: how the true value compares with the score.
    bound: String,
    /// Plies of the search that valued it.
    depth: u8,
    /// Games that made the move, where no search has valued it.
    #[serde(skip_serializing_if = "Option::is_none")]
    played: Option<u64>,
    /// The replies in the book, best first; empty where the book or the tree ends.
    #[schema(no_recursion)]
    branches: Vec<BranchJson>,
}

impl View for TreeView {
    const NAME: &'static str = "tree";
    type At = Position;
    type Result = TreeJson;

    fn read(source: &Source, at: &Position, options: TreeView) -> Result<TreeJson, ViewError> {
        let mut grower = TreeGrower {
            source,
            top: options.top.count(),
            lookups_left: MAX_LOOKUPS,
            is_cut: false,
        };
        let branches = grower.branches(at, options.plies.get())?;
        let branches = branches.ok_or_else(|| source.not_held(at))?;
        Ok(TreeJson {
            variant: at.variant().to_string(),
            moves: at.write_line_in(at.moves(), Notation::Engine),
            branches,
            is_cut: grower.is_cut,
        })
    }

    fn print(result: &TreeJson, at: &Position, notation: Notation) -> Vec<TextBlock> {
        let mut blocks = vec![TextBlock::line(at.to_string())];
        print_branches(&result.branches, at, notation, 1, &mut blocks);
        if result.is_cut {
            blocks.push(TextBlock::Note(format!(
                "the tree ends after {MAX_LOOKUPS} look-ups; give fewer --plies or a smaller --top"
            )));
        }
        blocks
    }
}

fn print_branches(
    branches: &[BranchJson],
    at: &Position,
    notation: Notation,
    indent: usize,
    blocks: &mut Vec<TextBlock>,
) {
    for branch in branches {
        let Ok(m) = at.parse_move(&branch.r#move) else {
            continue;
        };
        let (name, rest) = (at.write_move_in(m, notation), branch.worth());
        blocks.push(TextBlock::Line(format!(
            "{}{name}  {rest}",
            "  ".repeat(indent)
        )));
        if let Ok(next) = at.play(m) {
            print_branches(&branch.branches, &next, notation, indent + 1, blocks);
        }
    }
}

impl BranchJson {
    /// Writes value, depth and proof, as in `+0.31  depth 8`, `at most -1.20  depth 6` or `made 12
    /// times`.
    fn worth(&self) -> String {
        let value = match self.played {
            Some(0) => return "made".into(),
            Some(1) => return "made once".into(),
            Some(times) => return format!("made {times} times"),
            None => self.value.to_string(),
        };
        let bound = match &*self.bound {
            _ if self.value.is_proven() => "",
            "upper" => "at most ",
            "lower" => "at least ",
            _ => "",
        };
        let proof = self.value.proof_text();
        let proof = proof.map_or_else(String::new, |proof| format!("  {proof}"));
        format!("{bound}{value}  depth {}{proof}", self.depth)
    }
}

/// Grows the tree of the best moves.
struct TreeGrower<'a> {
    source: &'a Source,
    top: usize,
    lookups_left: usize,
    is_cut: bool,
}

impl TreeGrower<'_> {
    /// Returns the best moves of a position with the replies to them; `None` if the book does not
    /// hold the position.
    fn branches(&mut self, position: &Position, plies: u32) -> Result<Option<Vec<BranchJson>>> {
        if self.lookups_left == 0 {
            self.is_cut = true;
            return Ok(None);
        }
        self.lookups_left -= 1;
        let Some(answer) = self.source.lookup(position)? else {
            return Ok(None);
        };
        let mut branches = Vec::new();
        for (m, verdict) in moves_of(self.source, position, &answer, self.top)? {
            let name = position.write_move(m);
            let mut replies = None;
            if plies > 1 {
                let next = position.play(m);
                let next = next.with_context(|| {
                    format!("the book has the illegal move {name} in {position}")
                })?;
                replies = self.branches(&next, plies - 1)?;
            }
            branches.push(BranchJson {
                r#move: name,
                value: ValueJson::of(&verdict),
                bound: verdict.bound.to_string(),
                depth: verdict.depth,
                played: verdict.is_silent().then_some(verdict.nodes),
                branches: replies.unwrap_or_default(),
            });
        }
        Ok(Some(branches))
    }
}

/// Returns at most `most` moves to follow: first those with a value, best first; then those that
/// were only played, most frequent first; then those with only an upper bound that lead into the
/// book.
fn moves_of(
    source: &Source,
    position: &Position,
    answer: &Answer,
    most: usize,
) -> Result<Vec<(Move, Verdict)>> {
    let is_upper = |verdict: &Verdict| verdict.bound == Bound::Upper && verdict.proof.is_none();
    let (upper, known): (Vec<_>, Vec<_>) = answer
        .verdicts()
        .iter()
        .cloned()
        .partition(|(_, v)| is_upper(v));
    let (mut made, mut shown): (Vec<_>, Vec<_>) =
        known.into_iter().partition(|(_, v)| v.is_silent());
    made.sort_by_key(|(_, verdict)| std::cmp::Reverse(verdict.nodes));
    shown.extend(made);
    for (m, verdict) in upper.into_iter().take(MAX_BOUNDED) {
        if shown.len() >= most {
            break;
        }
        let Ok(next) = position.play(m) else { continue };
        if source.lookup(&next)?.is_some() {
            shown.push((m, verdict));
        }
    }
    shown.truncate(most);
    Ok(shown)
}

//! The fewest leaves of a book that decide a choice.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use kagetsu_game::{Answer, Bound, Key, Move, Notation, Position, Score};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::ViewError;
use crate::print::TextBlock;
use crate::source::Source;
use crate::view::View;

/// The look-ups that one search may make.
const MAX_LOOKUPS: usize = 100_000;

/// Finds the fewest leaves of a book that decide the choice of a move
///
/// The choice changes when the best move falls below the second, or another move rises above it.
/// The command prints the positions at the edge of the book that could cause this, one line of
/// moves each, as `kagetsu build --roots` reads them. Searching these further tells most about the
/// choice.
///
/// The exit code is 1 if the book does not hold the position, or nothing could change its choice.
///
/// Example: kagetsu bottlenecks --book h8.book --variant freestyle-15 --moves h8 > roots.txt
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct BottlenecksView {}

/// The fewest leaves that decide the choice of a move.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[schema(as = Bottlenecks)]
pub struct BottlenecksJson {
    /// The move that is chosen.
    best: String,
    /// The move that would be chosen instead.
    instead: String,
    /// The leaves that have to change, each as moves from the start.
    leaves: Vec<Vec<String>>,
}

impl View for BottlenecksView {
    const NAME: &'static str = "bottlenecks";
    type At = Position;
    type Result = BottlenecksJson;

    fn read(
        source: &Source,
        at: &Position,
        _: BottlenecksView,
    ) -> Result<BottlenecksJson, ViewError> {
        let mut left = MAX_LOOKUPS;
        let mut lookup = |position: &Position| {
            anyhow::ensure!(
                left > 0,
                "the book behind {at} is too large: the choice depends on more than \
                 {MAX_LOOKUPS} positions"
            );
            left -= 1;
            source.lookup(position)
        };
        if lookup(at)?.is_none() {
            return Err(source.not_held(at));
        }
        let Some(found) = MoveFlip::new(&mut lookup).flip(at)? else {
            return Err(ViewError::Nothing(format!(
                "nothing that the book holds of {at} could flip its choice"
            )));
        };
        let names = |leaf: &Position| leaf.moves().iter().map(|&m| leaf.write_move(m)).collect();
        Ok(BottlenecksJson {
            best: at.write_move(found.best),
            instead: at.write_move(found.instead),
            leaves: found.leaves.iter().map(names).collect(),
        })
    }

    fn print(result: &BottlenecksJson, _: &Position, _: Notation) -> Vec<TextBlock> {
        let (best, instead) = (&result.best, &result.instead);
        let count = match result.leaves.len() {
            1 => "1 leaf".into(),
            count => format!("{count} leaves"),
        };
        let note = format!("{best} or {instead}: it depends on {count}");
        let mut blocks = vec![TextBlock::Note(note)];
        blocks.extend(
            result
                .leaves
                .iter()
                .map(|leaf| TextBlock::Line(leaf.join(" "))),
        );
        blocks
    }
}

/// A change that would alter the choice.
#[derive(Debug)]
struct Flip {
    best: Move,
    instead: Move,
    leaves: Vec<Position>,
}

/// Positions at the edge of the book that have to change, by key.
type Leaves = BTreeMap<Key, Position>;

type Lookup<'a> = dyn FnMut(&Position) -> Result<Option<Answer>> + 'a;

/// Searches for the smallest set of leaves, as proof-number search does, with the threshold of the
/// choice in place of a win.
struct MoveFlip<'a> {
    lookup: &'a mut Lookup<'a>,
    /// Results by position, direction (whether its value must rise) and threshold.
    known: BTreeMap<(Key, bool, Score), Option<Leaves>>,
    /// The positions on the current line, for detecting repetition.
    way: BTreeSet<Key>,
}

impl<'a> MoveFlip<'a> {
    fn new(lookup: &'a mut Lookup<'a>) -> Self {
        Self {
            lookup,
            known: BTreeMap::new(),
            way: BTreeSet::new(),
        }
    }

    fn flip(&mut self, position: &Position) -> Result<Option<Flip>> {
        let Some(answer) = (self.lookup)(position)? else {
            return Ok(None);
        };
        let valued = valued(&answer);
        let [(best, value), others @ ..] = &valued[..] else {
            return Ok(None);
        };
        // The best move falls below the second, or another one rises above it.
        let mut found = Vec::new();
        if let Some((second, its)) = others.first() {
            found.push((*second, self.after(position, *best, true, *its)?));
        }
        for (other, _) in others {
            found.push((*other, self.after(position, *other, false, *value)?));
        }
        let found = found.into_iter();
        let found = found.filter_map(|(instead, leaves)| Some((instead, leaves?)));
        let least = found.min_by_key(|(_, leaves)| leaves.len());
        Ok(least.map(|(instead, leaves)| Flip {
            best: *best,
            instead,
            leaves: leaves.into_values().collect(),
        }))
    }

    /// Returns the leaves that must change so that the move is worth less than the threshold, or
    /// more where the position behind it falls; `None` if no leaf can do that. The threshold is
    /// from the view of the side that makes the move.
    fn after(
        &mut self,
        position: &Position,
        m: Move,
        rises: bool,
        threshold: Score,
    ) -> Result<Option<Leaves>> {
        let next = position.play(m)?;
        let (key, threshold) = (next.key(), -threshold);
        if let Some(known) = self.known.get(&(key, rises, threshold)) {
            return Ok(known.clone());
        }
        if next.outcome().is_some() || !self.way.insert(key) {
            return Ok(None);
        }
        let leaves = match (self.lookup)(&next)? {
            None => Some(Leaves::from([(key, next)])),
            Some(answer) if rises => self.any(&next, &answer, threshold)?,
            Some(answer) => self.all(&next, &answer, threshold)?,
        };
        self.way.remove(&key);
        self.known.insert((key, rises, threshold), leaves.clone());
        Ok(leaves)
    }

    /// Returns the cheapest way to raise one move above the threshold.
    fn any(
        &mut self,
        position: &Position,
        answer: &Answer,
        above: Score,
    ) -> Result<Option<Leaves>> {
        let mut least: Option<Leaves> = None;
        for (m, value) in valued(answer) {
            let leaves = if value > above {
                Some(Leaves::new())
            } else {
                self.after(position, m, false, above)?
            };
            let known = least.as_ref().map_or(usize::MAX, Leaves::len);
            least = leaves.filter(|leaves| leaves.len() < known).or(least);
        }
        Ok(least)
    }

    /// Returns the leaves for lowering all moves below the threshold.
    fn all(
        &mut self,
        position: &Position,
        answer: &Answer,
        below: Score,
    ) -> Result<Option<Leaves>> {
        let mut all = Leaves::new();
        for (m, _) in valued(answer)
            .into_iter()
            .filter(|(_, value)| *value >= below)
        {
            let Some(leaves) = self.after(position, m, true, below)? else {
                return Ok(None);
            };
            all.extend(leaves);
        }
        Ok(Some(all))
    }
}

/// Returns the moves whose value may change, best first: those with a value and no proof. The list
/// is empty after a proven win, which leaves no choice.
fn valued(answer: &Answer) -> Vec<(Move, Score)> {
    let known = answer
        .verdicts()
        .iter()
        .filter(|(_, verdict)| verdict.bound != Bound::Upper);
    if known
        .clone()
        .any(|(_, verdict)| verdict.score.win_plies().is_some())
    {
        return Vec::new();
    }
    known
        .filter(|(_, verdict)| verdict.proof.is_none())
        .map(|(m, verdict)| (*m, verdict.score))
        .collect()
}

#[cfg(test)]
mod tests {
    use kagetsu_game::Variant;

    use super::*;

    /// A made-up book: lines, and the values of their moves.
    fn lookup(position: &Position) -> Result<Option<Answer>> {
        let rows: [(&str, &[(&str, i32)]); 6] = [
            ("h8", &[("i9", 30), ("h9", 20), ("g7", 10)]),
            // The other side can refute i9 in two ways, with one leaf each.
            ("h8 i9", &[("j9", -30), ("j8", -40)]),
            // h9 rises only if both of these fall.
            ("h8 h9", &[("i8", -20), ("g8", -25)]),
            ("h8 g7", &[("a1", -10)]),
            ("h8 g7 a1", &[("b1", 10), ("c1", 5)]),
            ("h8 g7 a1 b1", &[("d1", -10)]),
        ];
        let found = rows.iter().find(|(line, _)| {
            Position::from_line(Variant::FREESTYLE_15, line).as_ref() == Ok(position)
        });
        let verdict = |(name, centi): &(&str, i32)| {
            kagetsu_builders::opinion(position.parse_move(name).expect("legal"), *centi)
        };
        Ok(found.map(|(_, moves)| moves.iter().map(verdict).collect()))
    }

    fn flip(line: &str) -> Option<(String, Vec<String>)> {
        let position = Position::from_line(Variant::FREESTYLE_15, line).expect("a line");
        let mut lookup = lookup;
        let flip = MoveFlip::new(&mut lookup).flip(&position).expect("paper")?;
        let leaves = flip.leaves.iter().map(|leaf| leaf.to_string()).collect();
        Some((position.write_move(flip.instead), leaves))
    }

    #[test]
    fn the_fewest_leaves_that_flip_a_choice() {
        // One leaf lowers i9. h9 would need two; g7 needs one that is deeper and found later.
        assert_eq!(
            flip("h8"),
            Some(("h9".into(), vec!["freestyle-15 h8 i9 j9".into()]))
        );
        assert_eq!(
            flip("h8 h9"),
            Some(("g8".into(), vec!["freestyle-15 h8 h9 i8".into()]))
        );
        // A single move leaves no choice, and neither does a position outside the book.
        assert_eq!(flip("h8 g7"), None);
        assert_eq!(flip("a1"), None);
    }
}

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use anyhow::Result;
use kagetsu_game::{Answer, Bound, Key, Move, Position, Score};
use kagetsu_program::Exit;
use serde::Serialize;

use crate::books::Asked;
use crate::output::json::write_json;

/// Names the fewest leaves of a book whose change would flip the choice in a position
///
/// The choice flips when the best move falls below the second, or another rises above it. Printed are the positions at the
/// book's edge that decide this, one line of moves each, as `kagetsu build --roots` takes them: to search them further says
/// most about the choice. What is proven does not change. Exit code 1 if the book does not hold the position, or nothing
/// could flip its choice.
///
/// Example: kagetsu bottlenecks --book h8.book --variant freestyle-15 --moves h8 > roots.txt
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    asked: Asked,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct BottlenecksJson {
    best: String,
    /// The move that would be chosen instead.
    instead: String,
    /// What must change, each the moves from the start.
    leaves: Vec<Vec<String>>,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let (position, mut source) = args.asked.open()?;
    let mut lookup = |position: &Position| source.lookup(position, false);
    let Some(found) = Choice::new(&mut lookup).flip(&position)? else {
        writeln!(
            std::io::stderr(),
            "nothing that the book holds of {position} could flip its choice"
        )?;
        return Ok(Exit::No);
    };
    let names = |leaf: &Position| leaf.moves().iter().map(|&m| leaf.write_move(m)).collect();
    let leaves: Vec<Vec<String>> = found.leaves.iter().map(names).collect();
    let json = BottlenecksJson {
        best: position.write_move(found.best),
        instead: position.write_move(found.instead),
        leaves,
    };
    if args.json {
        write_json(out, &json)?;
        return Ok(Exit::Done);
    }
    let BottlenecksJson {
        best,
        instead,
        leaves,
    } = &json;
    let count = if let [_] = &leaves[..] {
        "1 leaf".into()
    } else {
        format!("{} leaves", leaves.len())
    };
    writeln!(
        std::io::stderr(),
        "{best} or {instead}: it depends on {count}"
    )?;
    for leaf in leaves {
        writeln!(out, "{}", leaf.join(" "))?;
    }
    Ok(Exit::Done)
}

/// What would flip a choice.
#[derive(Debug)]
struct Flip {
    best: Move,
    instead: Move,
    leaves: Vec<Position>,
}

/// Positions at the edge of the book that must change, by key.
type Leaves = BTreeMap<Key, Position>;

type Lookup<'a> = dyn FnMut(&Position) -> Result<Option<Answer>> + 'a;

/// Looks for the fewest leaves; the same as proof numbers, with the threshold of the choice in place of a win.
struct Choice<'a> {
    lookup: &'a mut Lookup<'a>,
    /// By position, whether its value must rise, and the threshold.
    known: BTreeMap<(Key, bool, Score), Option<Leaves>>,
    /// Positions on the way, to which a game may come back.
    way: BTreeSet<Key>,
}

impl<'a> Choice<'a> {
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
        let mut found: Option<Flip> = None;
        let mut offer = |instead: Move, leaves: Option<Leaves>| {
            let Some(leaves) = leaves else { return };
            if found
                .as_ref()
                .is_none_or(|found| leaves.len() < found.leaves.len())
            {
                found = Some(Flip {
                    best: *best,
                    instead,
                    leaves: leaves.into_values().collect(),
                });
            }
        };
        if let Some((second, its)) = others.first() {
            offer(*second, self.fall(position, *best, *its)?);
        }
        for (other, _) in others {
            offer(*other, self.rise(position, *other, *value)?);
        }
        Ok(found)
    }

    /// What must change so that a move is worth less than `below`; `None` where nothing can.
    fn fall(&mut self, position: &Position, m: Move, below: Score) -> Result<Option<Leaves>> {
        self.after(position, m, true, below)
    }

    /// What must change so that a move is worth more than `above`.
    fn rise(&mut self, position: &Position, m: Move, above: Score) -> Result<Option<Leaves>> {
        self.after(position, m, false, above)
    }

    /// The position after a move must rise above the threshold, or fall below it; both as its own side sees it.
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

    /// One move must become worth more than the threshold.
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
                self.rise(position, m, above)?
            };
            let is_less = |leaves: &Leaves| {
                least
                    .as_ref()
                    .is_none_or(|least| leaves.len() < least.len())
            };
            if let Some(leaves) = leaves.filter(is_less) {
                least = Some(leaves);
            }
        }
        Ok(least)
    }

    /// All moves must become worth less than the threshold.
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
            let Some(leaves) = self.fall(position, m, below)? else {
                return Ok(None);
            };
            all.extend(leaves);
        }
        Ok(Some(all))
    }
}

/// The moves whose value may change: known, and not proven; the best first. One that is proven won leaves no choice.
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
    use kagetsu_game::{Provenance, Variant, Verdict};

    use super::*;

    /// A book on paper: lines, and what their moves are worth.
    fn lookup(position: &Position) -> Result<Option<Answer>> {
        let rows: [(&str, &[(&str, i32)]); 6] = [
            ("h8", &[("i9", 30), ("h9", 20), ("g7", 10)]),
            // The other side has two ways to hold i9 down: one leaf each.
            ("h8 i9", &[("j9", -30), ("j8", -40)]),
            // For h9 to rise, both of these must fall.
            ("h8 h9", &[("i8", -20), ("g8", -25)]),
            ("h8 g7", &[("a1", -10)]),
            ("h8 g7 a1", &[("b1", 10), ("c1", 5)]),
            ("h8 g7 a1 b1", &[("d1", -10)]),
        ];
        let found = rows.iter().find(|(line, _)| {
            Position::from_line(Variant::FREESTYLE_15, line).as_ref() == Ok(position)
        });
        let verdict = |(name, centi): &(&str, i32)| {
            let by = Provenance {
                engine: "paper".into(),
                day: 0,
            };
            let m = position.parse_move(name).expect("legal");
            let (score, bound) = (Score::opinion(*centi), Bound::Exact);
            (
                m,
                Verdict {
                    score,
                    bound,
                    depth: 1,
                    nodes: 1,
                    line: vec![m],
                    proof: None,
                    by,
                },
            )
        };
        Ok(found.map(|(_, moves)| moves.iter().map(verdict).collect()))
    }

    fn flip(line: &str) -> Option<(String, Vec<String>)> {
        let position = Position::from_line(Variant::FREESTYLE_15, line).expect("a line");
        let mut lookup = lookup;
        let flip = Choice::new(&mut lookup).flip(&position).expect("paper")?;
        let leaves = flip.leaves.iter().map(|leaf| leaf.to_string()).collect();
        Some((position.write_move(flip.instead), leaves))
    }

    #[test]
    fn the_fewest_leaves_that_flip_a_choice() {
        // One leaf brings i9 down; h9 would need two, g7 one that lies deeper but is found later.
        assert_eq!(
            flip("h8"),
            Some(("h9".into(), vec!["freestyle-15 h8 i9 j9".into()]))
        );
        assert_eq!(
            flip("h8 h9"),
            Some(("g8".into(), vec!["freestyle-15 h8 h9 i8".into()]))
        );
        // One move is no choice, and what the book does not have is none.
        assert_eq!(flip("h8 g7"), None);
        assert_eq!(flip("a1"), None);
    }
}

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::io::Write;

use anyhow::Result;
use kagetsu_book::{Book, Entry};
use kagetsu_game::{Key, Position, Score, Verdict};
use kagetsu_program::Exit;
use serde::Serialize;

use crate::arguments::query::PositionQuery;
use kagetsu_reader::not_held;
use kagetsu_terminal::json::write_json;
use kagetsu_terminal::table;

/// The loss along a line, in centi-units, that makes a position as unimportant as one ply more.
const LOSS_PER_PLY: u32 = 25;
/// The doubt of a value that changed by a whole unit: as much as that of ten missing plies.
const DOUBT_PER_UNIT: f64 = 10.0;
/// The doubt where the search and the positions behind prefer different moves.
const DOUBT_OF_OTHER_BEST: f64 = 3.0;
/// The doubt of a best move by another version of the engine than the newest of the book.
const DOUBT_OF_OLD_ENGINE: f64 = 1.0;

/// Ranks the positions whose value is most doubtful
///
/// A value is doubtful if its search was shallow, if the positions behind the moves say something
/// else than the search, if they prefer another move, or if an older engine searched it. Positions
/// near the given one, on lines without losses, count more. `kagetsu build --deepen --roots`
/// searches them again.
///
/// The exit code is 1 if the book does not hold the position, or nothing is doubtful.
///
/// Example: kagetsu suspects --book h8.book --variant freestyle-15 --moves h8 --lines > roots.txt
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    asked: PositionQuery,
    /// Number of positions to list
    #[arg(long, default_value_t = 20, value_name = "K", value_parser = clap::value_parser!(u16).range(1..))]
    top: u16,
    /// Number of positions to look at, the most important first
    #[arg(long, default_value_t = 100_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    most: u32,
    /// Prints only the lines of moves, as `kagetsu build --roots` reads them
    #[arg(long, conflicts_with = "json")]
    lines: bool,
    /// Prints one JSON array
    #[arg(long)]
    json: bool,
}

/// A doubtful position.
#[derive(Debug, Serialize)]
struct SuspectJson {
    /// The moves from the first position.
    moves: Vec<String>,
    doubt: f64,
    depth: u8,
    reasons: Vec<String>,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let (position, mut reader) = args.asked.open()?;
    let found = important(reader.contents(&mut |_| {})?, &position, args.most)?;
    if found.is_empty() {
        writeln!(std::io::stderr(), "{}", not_held(&mut *reader, &position)?)?;
        return Ok(Exit::No);
    }
    let standard = Standard::of(&found);
    let mut suspects: Vec<SuspectJson> = found
        .iter()
        .filter_map(|seen| standard.judge(seen))
        .collect();
    suspects.sort_by(|one, other| other.doubt.total_cmp(&one.doubt));
    suspects.truncate(args.top.into());
    if args.json {
        write_json(out, &suspects)?;
    } else if args.lines {
        for suspect in &suspects {
            writeln!(out, "{}", suspect.moves.join(" "))?;
        }
    } else {
        write_table(out, &suspects)?;
    }
    if suspects.is_empty() {
        writeln!(std::io::stderr(), "nothing below {position} is doubtful")?;
        return Ok(Exit::No);
    }
    Ok(Exit::Done)
}

fn write_table(out: &mut dyn Write, suspects: &[SuspectJson]) -> Result<()> {
    let mut rows = table::plain(&["doubt", "depth", "moves", "reasons"]);
    for suspect in suspects {
        let cells = [
            format!("{:.2}", suspect.doubt),
            suspect.depth.to_string(),
            suspect.moves.join(" "),
            suspect.reasons.join("; "),
        ];
        table::add(&mut rows, cells);
    }
    table::align_right(&mut rows, &[0, 1]);
    table::write(out, &rows)
}

/// A position of the book with the way to it.
struct Seen {
    entry: Entry,
    /// Plies from the first position, with those that its losses count for.
    distance: u32,
}

/// Returns the positions of the book below `root`, the most important first.
fn important(book: &Book, root: &Position, most: u32) -> Result<Vec<Seen>> {
    let mut seen: BTreeSet<Key> = BTreeSet::from([root.key()]);
    let mut found = Vec::new();
    let mut lines = vec![root.clone()];
    let mut open = BinaryHeap::from([Reverse((0, 0))]);
    while let Some(Reverse((distance, index))) = open.pop() {
        let position = lines[index].clone();
        let Some(entry) = book.lookup(&position)? else {
            continue;
        };
        let best = entry.answer.best().map(|(_, verdict)| verdict.score);
        for (m, verdict) in entry.answer.verdicts() {
            let Ok(next) = position.play(*m) else {
                continue;
            };
            if seen.insert(next.key()) {
                let loss = best.map_or(0, |best| loss(best, verdict.score));
                open.push(Reverse((distance + 1 + loss / LOSS_PER_PLY, lines.len())));
                lines.push(next);
            }
        }
        found.push(Seen { entry, distance });
        if found.len() >= most as usize {
            break;
        }
    }
    Ok(found)
}

/// Returns the loss of a move against the best, in centi-units.
fn loss(best: Score, score: Score) -> u32 {
    let [best, score] = [best, score].map(centi);
    u32::try_from(best - score).unwrap_or(0)
}

/// Returns a score in centi-units; a win or loss counts as 100 units.
fn centi(score: Score) -> i32 {
    const DECIDED: i32 = 10_000;
    i32::from(score.raw()).clamp(-DECIDED, DECIDED)
}

/// The usual search of a book, against which its positions are judged.
struct Standard {
    /// The depth that half of the positions have.
    depth: u8,
    /// The engine of the latest search.
    engine: String,
}

impl Standard {
    fn of(found: &[Seen]) -> Self {
        let best = |seen: &Seen| seen.entry.facts.best().map(|(_, verdict)| verdict.clone());
        let searched: Vec<Verdict> = found.iter().filter_map(best).collect();
        let mut depths: Vec<u8> = searched.iter().map(|verdict| verdict.depth).collect();
        depths.sort_unstable();
        let latest = searched.iter().max_by_key(|verdict| verdict.by.day);
        Self {
            depth: depths.get(depths.len() / 2).copied().unwrap_or(0),
            engine: latest.map_or_else(String::new, |verdict| verdict.by.engine.to_string()),
        }
    }

    /// Returns the doubt about a position; `None` without any.
    fn judge(&self, seen: &Seen) -> Option<SuspectJson> {
        let Seen { entry, distance } = seen;
        let (searched_best, searched) = entry.facts.best()?;
        if entry.derived.proof.is_some() || searched.proof.is_some() {
            return None;
        }
        let (mut doubt, mut reasons) = (0.0, Vec::new());
        if searched.depth < self.depth {
            let missing = self.depth - searched.depth;
            doubt += f64::from(missing);
            reasons.push(format!(
                "searched {missing} plies less deeply than half of the book"
            ));
        }
        let change = (centi(entry.derived.score) - centi(searched.score)).abs();
        if change >= LOSS_PER_PLY as i32 {
            doubt += f64::from(change.min(1_000)) / 100.0 * DOUBT_PER_UNIT;
            reasons.push(format!(
                "the search says {}, the positions behind {}",
                searched.score, entry.derived.score
            ));
        }
        let name = |m| entry.position.write_move(m);
        if let Some(best) = entry.derived.best.filter(|best| *best != searched_best) {
            doubt += DOUBT_OF_OTHER_BEST;
            reasons.push(format!(
                "the search prefers {}, the positions behind {}",
                name(searched_best),
                name(best)
            ));
        }
        if *searched.by.engine != *self.engine {
            doubt += DOUBT_OF_OLD_ENGINE;
            reasons.push(format!("searched by {}", searched.by.engine));
        }
        (doubt > 0.0).then(|| SuspectJson {
            moves: entry.position.moves().iter().map(|&m| name(m)).collect(),
            doubt: doubt / (1.0 + f64::from(*distance) / 4.0),
            depth: searched.depth,
            reasons,
        })
    }
}

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use kagetsu_book::Overview;
use kagetsu_formats::Importer;
use kagetsu_game::{Effort, Position, Question, Variant};
use kagetsu_reader::views::statistics::StatisticsView;
use kagetsu_reader::{Source, View, WholeBook};
use kagetsu_search::{Control, EngineOptions};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde::Serialize;
use serde_json::Value;

use super::Args;
use super::gain::{self, GainJson};
use super::regret::{self, PlyGradeJson, WorstMoveJson};
use super::walks::{Walks, units};
use crate::matches::player::{Player, PlayerEngine, PlayerSettings};
use crate::report;

/// Effort of the judge, in efforts of an entry.
const JUDGE_FACTOR: u64 = 16;
/// Units of regret above which a move counts as bad.
const MAX_GOOD: f64 = 0.5;
/// Moves with the greatest regret that are listed.
const MAX_WORST: usize = 20;
/// Plies at which the coverage is counted.
const COVERAGE_PLIES: [usize; 4] = [4, 6, 8, 10];

/// The figures of a book.
#[derive(Serialize)]
struct BookPageJson {
    book: String,
    variant: String,
    roots: usize,
    positions: u64,
    bytes_each: Option<f64>,
    /// Nodes of one entry's search.
    entry_nodes: u64,
    /// Hours of one core for the searches, at this machine's speed.
    core_hours: f64,
    engines: Vec<String>,
    /// The first and the last day of the searches; null for a compiled book.
    days: Option<[String; 2]>,
    coverage: Vec<CoverageJson>,
    /// Positions where games left the book, in units from the view of the book's side.
    exits: usize,
    exit_mean: f64,
    exit_5th_percentile: f64,
    exits_lost: f64,
    judged: usize,
    regret_mean: f64,
    regret_95th_percentile: f64,
    /// Share of the judged moves with a regret above half a unit.
    regret_above_half: f64,
    /// Share of the judged moves that are the judge's best.
    stable: f64,
    gain: Vec<GainJson>,
    break_even: Option<f64>,
    grades: Vec<PlyGradeJson>,
    /// Share of the good replies that lead out of the book.
    holes: f64,
    lookup_us: f64,
    open_ms: f64,
    worst: Vec<WorstMoveJson>,
}

/// The share of positions at one ply that the book knows.
#[derive(Serialize)]
struct CoverageJson {
    /// Where the positions come from.
    games: String,
    ply: usize,
    positions: u64,
    known: f64,
}

/// Measures a book and prints its page.
///
/// # Errors
/// If the book, a file of games or a judge fails.
pub(crate) fn run(args: &Args, is_json: bool, out: &mut dyn Write) -> Result<()> {
    let name = &*args.book;
    let begun = Instant::now();
    let book = kagetsu_reader::open_files(Path::new(name))?;
    let open_ms = begun.elapsed().as_secs_f64() * 1e3;
    if let Source::Certificate(_) = book {
        bail!("{name} is a certificate: all of its moves are proven; `kagetsu verify` checks them");
    }
    let overview = book.overview()?;
    let (variant, roots) = beginnings(&overview, args.variant)
        .with_context(|| format!("{name} has no position where it begins"))?;
    let counted = counts(&book)?;
    let number = |field: &str| counted[field].as_u64();
    let positions = number("positions").unwrap_or(0);
    let mean = number("nodes").map(|nodes| nodes / positions.max(1));
    let Some(entry_nodes) = args.nodes.or(mean).filter(|nodes| *nodes >= JUDGE_FACTOR) else {
        bail!("{name} does not say how long its entries were searched; give --nodes");
    };
    let own = |nodes| PlayerSettings {
        engine: PlayerEngine::Own(EngineOptions::default()),
        effort: Effort::nodes(nodes),
        book: None,
    };
    let judge = own(entry_nodes.saturating_mul(JUDGE_FACTOR));

    let mut dice = StdRng::seed_from_u64(args.seed);
    let walks = Walks::through(&book, &roots, args.moves, &mut dice)?;
    let drawn = walks.draw(args.moves, &mut dice);
    ensure!(
        !drawn.is_empty(),
        "{name} has no move with a value in its roots"
    );
    let lookup_us = lookup_time(&book, drawn.iter().map(|visit| &visit.position))?;
    eprintln!(
        "{} moves are judged, {} nodes each",
        drawn.len(),
        entry_nodes * JUDGE_FACTOR
    );
    let begun = Instant::now();
    let judged = regret::judge(drawn, &judge)?;
    let another = args.judge.as_ref().map(|address| PlayerSettings {
        engine: PlayerEngine::External(address.clone()),
        ..own(entry_nodes * JUDGE_FACTOR)
    });
    let worst = regret::worst(&judged, MAX_WORST, another.as_ref())?;
    eprintln!(
        "{:.0} s; {} pairs of games for each effort",
        begun.elapsed().as_secs_f64(),
        args.pairs
    );
    let work = (args.pairs, entry_nodes, args.seed);
    let games = gain::play((name, &book), variant, &roots, work)?;
    let exits = games.asked.iter().filter_map(|asked| {
        let (left, _) = asked.iter().find(|(_, is_known)| !is_known)?;
        Some(left.clone())
    });
    eprintln!(
        "{:.0} s; the positions where games left the book",
        begun.elapsed().as_secs_f64()
    );
    let exits = regret::values(exits.collect(), &judge)?;
    let lost = exits
        .iter()
        .filter(|value| value.loss_plies().is_some())
        .count();
    let exit_units = sorted(exits.iter().map(|value| units(*value)));
    let regrets = sorted(judged.iter().map(|judged| judged.regret));
    let share = |count: usize, all: usize| count as f64 / all.max(1) as f64;
    let mut coverage = coverage_of_games(&games.asked);
    for path in &args.games {
        coverage.extend(coverage_of_file(&book, path, variant)?);
    }
    let days = counted["by_day"].as_object();
    let page = BookPageJson {
        book: name.into(),
        variant: variant.to_string(),
        roots: roots.len(),
        positions,
        bytes_each: book
            .bytes()?
            .map(|bytes| bytes as f64 / positions.max(1) as f64),
        entry_nodes,
        core_hours: entry_nodes as f64 * positions as f64 / own_speed(&roots[0], &judge)? / 3_600.0,
        engines: counted["engines"]
            .as_object()
            .into_iter()
            .flat_map(|all| all.keys().cloned())
            .collect(),
        days: days.and_then(|days| {
            Some([
                days.keys().next()?.clone(),
                days.keys().next_back()?.clone(),
            ])
        }),
        coverage,
        exits: exits.len(),
        exit_mean: mean_of(&exit_units),
        exit_5th_percentile: percentile(&exit_units, 0.05),
        exits_lost: share(lost, exits.len()),
        judged: judged.len(),
        regret_mean: mean_of(&regrets),
        regret_95th_percentile: percentile(&regrets, 0.95),
        regret_above_half: share(
            regrets.iter().filter(|regret| **regret > MAX_GOOD).count(),
            judged.len(),
        ),
        stable: share(
            judged.iter().filter(|judged| judged.is_stable).count(),
            judged.len(),
        ),
        gain: games.rows,
        break_even: games.break_even,
        grades: regret::grades(&judged),
        holes: walks.holes as f64 / walks.replies.max(1) as f64,
        lookup_us,
        open_ms,
        worst,
    };
    report::write(out, is_json, &method(args, entry_nodes), &page)
}

fn method(args: &Args, entry_nodes: u64) -> String {
    format!(
        "Values in units from the view of the book's side, within 10; seed {}. An entry's search \
         takes {entry_nodes} nodes, the judge's {JUDGE_FACTOR} times as many. Moves are drawn by \
         walks from the roots, in which the opponent's replies are e times less likely for each \
         half unit. Regret: the value of the judge's best move less that of the book's. Exits: where \
         the games with the effort of an entry left the book, because it has no move, or because its \
         searches behind the move visited fewer nodes than a move's search. Gain: the share of the points with the \
         book against the same search without it, with the 95 % interval; break_even: the effort at \
         which it falls to a half, '-' beyond those played. Holes: replies within half a unit of the \
         best that the book does not hold. The look-up is the mean of all judged positions.",
        args.seed
    )
}

/// Returns the variant with most positions, or a given one, and the roots of it.
fn beginnings(overview: &Overview, variant: Option<Variant>) -> Option<(Variant, Vec<Position>)> {
    let held = match variant {
        Some(variant) => overview.variant(variant)?,
        None => overview.variants.iter().max_by_key(|held| held.positions)?,
    };
    let roots = held.roots.iter().filter(|root| root.positions > 0);
    let roots: Vec<_> = roots.map(|root| root.position.clone()).collect();
    (!roots.is_empty()).then_some((held.variant, roots))
}

/// Returns the statistics as JSON.
fn counts(book: &Source) -> Result<Value> {
    let read = StatisticsView::read(book, &WholeBook, StatisticsView::default())?;
    Ok(serde_json::to_value(read)?)
}

/// Returns the mean microseconds of a look-up with all values.
fn lookup_time<'a>(
    book: &Source,
    positions: impl Iterator<Item = &'a Position> + Clone,
) -> Result<f64> {
    let mut count = 0;
    let begun = Instant::now();
    for position in positions {
        std::hint::black_box(book.lookup(position)?);
        count += 1;
    }
    Ok(begun.elapsed().as_secs_f64() * 1e6 / f64::from(count.max(1)))
}

/// Returns nodes a second of one core.
fn own_speed(root: &Position, judge: &PlayerSettings) -> Result<f64> {
    let mut nodes = 0;
    let mut player = Player::start(judge, &Control::new())?;
    let question = Question::new(root.clone(), judge.effort);
    let begun = Instant::now();
    player.answer(&question, &Control::new(), &mut |progress| {
        nodes = progress.nodes
    })?;
    Ok(nodes.max(1) as f64 / begun.elapsed().as_secs_f64())
}

/// Counts the positions in which the book was asked, by ply; a game that left it counts on.
fn coverage_of_games(asked: &[Vec<(Position, bool)>]) -> Vec<CoverageJson> {
    let mut plies: BTreeMap<usize, [u64; 2]> = BTreeMap::new();
    for (position, is_known) in asked.iter().flatten() {
        let count = plies.entry(position.moves().len()).or_default();
        count[usize::from(*is_known)] += 1;
    }
    let games =
        |(ply, [not, known]): (usize, [u64; 2])| coverage("own games", ply, not + known, known);
    let counted = plies
        .into_iter()
        .filter(|(ply, _)| COVERAGE_PLIES.contains(ply));
    counted.map(games).collect()
}

/// Counts the positions of the games of a file that the book holds, by ply.
fn coverage_of_file(book: &Source, path: &Path, variant: Variant) -> Result<Vec<CoverageJson>> {
    let about = || path.display().to_string();
    let bytes = std::fs::read(path).with_context(about)?;
    let (games, _) = Importer::new(None, Some(variant))
        .read_trees(&bytes)
        .with_context(about)?;
    let mut rows = Vec::new();
    for ply in COVERAGE_PLIES {
        let (mut all, mut known) = (0, 0);
        for game in &games {
            let line = game.main_line();
            if let Some(at) = line.get(ply) {
                all += 1;
                known += u64::from(book.lookup(&game.moves[*at].before)?.is_some());
            }
        }
        rows.push(coverage(&about(), ply, all, known));
    }
    Ok(rows)
}

fn coverage(games: &str, ply: usize, positions: u64, known: u64) -> CoverageJson {
    CoverageJson {
        games: games.into(),
        ply,
        positions,
        known: known as f64 / positions.max(1) as f64,
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Returns the value below which a share of the sorted values lies; 0 without values.
fn percentile(values: &[f64], share: f64) -> f64 {
    let at = (share * values.len() as f64) as usize;
    values
        .get(at.min(values.len().saturating_sub(1)))
        .copied()
        .unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use kagetsu_book::{Book, BookOptions};
    use kagetsu_search::Engine;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn page_judges_a_bad_move_and_counts_its_games() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut book, _) =
            Book::open(folder.path(), &BookOptions::creating()).expect("a new book");
        let mut engine = Engine::new("table=1MiB".parse().expect("options")).expect("an engine");
        let root = Position::from_line(Variant::FREESTYLE_15, "h8 i9 g7").expect("legal");
        let question = Question::new(root.clone(), Effort::nodes(500));
        let answer = engine.answer(&question, &Control::new(), &mut |_| {});
        book.learn(&root, &answer.expect("a move")).expect("room");
        // The opponent's open four is left alone.
        let lost = root.variant();
        let lost = Position::from_line(lost, "h8 a1 h9 c1 h10 e1 i8 g1 i9 a3 i10").expect("legal");
        let bad = lost.parse_move("o15").expect("legal");
        let answer = [kagetsu_builders::opinion(bad, 300)].into_iter().collect();
        book.learn(&lost, &answer).expect("room");
        book.close().expect("room");
        let name = folder.path().to_str().expect("a plain name");
        let line = ["", name, "--nodes", "100", "--pairs", "2", "--moves", "9"];
        let args = Line::parse_from(line).args;
        let mut out = Vec::new();
        run(&args, true, &mut out).expect("a page");
        let page: Value = serde_json::from_slice(&out).expect("JSON");
        assert_eq!(page["positions"], 2, "{page:#}");
        let judged = page["judged"].as_u64().expect("a number");
        assert!((1..=2).contains(&judged), "{page:#}");
        assert_eq!(page["gain"].as_array().map(Vec::len), Some(6));
        let worst = &page["worst"][0];
        assert_eq!(worst["regret"], 20.0, "won and lost: {page:#}");
        assert_ne!(worst["book"], worst["judge"], "{page:#}");
    }
}

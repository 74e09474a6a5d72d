//! `kagetsu annotate`: values and best moves in games.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::builder::NonEmptyStringValueParser;
use kagetsu_files::read_file;
use kagetsu_formats::{GameTree, Importer, MoveNote, write_game, write_omissions};
use kagetsu_game::{Answer, Effort, Move, Notation, Position, Question, Score, Variant, Verdict};
use kagetsu_program::{Exit, Readers, shown, write_whole};
use kagetsu_proto::Access;
use kagetsu_reader::Source;
use kagetsu_search::{Control, Engine, EngineOptions};
use kagetsu_terminal::arguments::effort::EffortArgs;
use kagetsu_terminal::json::write_json;
use serde::Serialize;

use super::departures::{self, DepartureJson, Departures};
use crate::commands::verdict_on;

/// The greatest loss of one move, in centi-units: a lost win counts no more.
const MAX_LOSS: u32 = 1_000;
/// Moves of the best line in a comment.
const MAX_LINE_MOVES: usize = 6;

/// Writes the values and best moves into games
///
/// Each game file gets a copy in the folder --out, as SGF for games of gomoku and as PGN for
/// xiangqi, with its variations and comments. A comment at each move says its value, and the best
/// move where another was made. SGF has the value also as the property V, from Black's view.
///
/// The values come from --book. --depth or --nodes searches positions that the book does not hold,
/// in this process. A list says at which move each side left the book, what the book would have
/// played, and what it cost; of many games it is a table by player and opening.
///
/// Example: kagetsu annotate --book cannon.book --nodes 100000 --out annotated games/*.pgn
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A book folder, a compiled book, or the URL of a coordinator
    #[arg(long, value_name = "BOOK", value_parser = NonEmptyStringValueParser::new())]
    book: Option<String>,
    #[command(flatten)]
    access: Access,
    /// The game that was played, if neither the files nor the book say it
    #[arg(long, value_name = "VARIANT")]
    variant: Option<Variant>,
    #[command(flatten)]
    effort: EffortArgs,
    /// Memory for the transposition table, in MiB
    #[arg(long, default_value_t = 128, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    table_mib: u64,
    /// Notation of xiangqi moves: engine (h2e2, ICCS), wxf (C2=5) or chinese (炮二平五)
    #[arg(long, default_value_t, value_name = "NOTATION")]
    notation: Notation,
    /// The folder for the annotated games, which is created if missing
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Prints one JSON array, with an object for each file
    #[arg(long)]
    json: bool,
    /// Games in SGF, PGN, XQF, PSQ or RIF, by the end of their names
    #[arg(value_name = "GAME", required = true)]
    games: Vec<PathBuf>,
}

/// The annotation of one file.
#[derive(Default, Serialize)]
struct AnnotatedJson {
    file: String,
    written: String,
    games: usize,
    /// Moves of the main lines, which the next three are about.
    moves: usize,
    /// Moves that have a value.
    valued: usize,
    /// Moves that are as good as the best one.
    best: usize,
    /// The mean loss of the valued moves against the best ones, in centi-units.
    mean_loss: f64,
    /// Moves in variations.
    variations: usize,
    /// Moves in variations that have a value.
    valued_variations: usize,
    /// Where the sides left the book.
    departures: Vec<DepartureJson>,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    let effort = args.effort.effort();
    let searches = effort != Effort::default();
    if args.book.is_none() && !searches {
        bail!("no value is known without a book or a search: give --book BOOK, --depth or --nodes");
    }
    let book = args.book.as_ref();
    let book = book.map(|book| kagetsu_reader::open(book, &args.access));
    let book = book.transpose()?;
    let overview = book.as_ref().map(Source::overview).transpose()?;
    let held = overview.as_ref().map_or(&[][..], |book| &book.variants);
    let variant = match (args.variant, held) {
        (None, [only]) => Some(only.variant),
        (given, _) => given,
    };
    // Wrong files are reported before a long search.
    let mut files = Vec::new();
    for path in &args.games {
        let games = read(path, variant)?;
        let target = target(args, path, &games)?;
        ensure!(
            files.iter().all(|(_, other, _)| *other != target),
            "{} would be written for two files; name one, or another folder by --out",
            target.display()
        );
        files.push((path, target, games));
    }
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("cannot make the folder {}", args.out.display()))?;
    let mut judge = GameJudge {
        book,
        effort: searches.then_some(effort),
        table_bytes: usize::try_from(args.table_mib << 20)?,
        engine: None,
        notation: args.notation,
    };
    let mut all = Vec::new();
    for (path, target, games) in files {
        let mut done = AnnotatedJson {
            file: path.display().to_string(),
            written: target.display().to_string(),
            games: games.len(),
            ..AnnotatedJson::default()
        };
        let (mut text, mut loss) = (String::new(), 0);
        for (number, game) in (1..).zip(&games) {
            let notes = judge.notes(game, number, &mut done, &mut loss)?;
            let written = write_game(game, &notes, judge.notation);
            text += &written.with_context(|| {
                let variant = game.start.variant();
                format!(
                    "{}: neither SGF nor PGN holds games of {variant}",
                    path.display()
                )
            })?;
            text.push('\n');
        }
        done.mean_loss = f64::from(loss) / done.valued.max(1) as f64;
        write_whole(&target, &text, Readers::Usual)
            .with_context(|| format!("cannot write {}", target.display()))?;
        if !args.json {
            write_report(out, &done)?;
        }
        all.push(done);
    }
    if args.json {
        write_json(out, &all)?;
    } else {
        let mut departures = Vec::new();
        for done in &all {
            departures.extend(done.departures.iter().map(|left| (&*done.file, left)));
        }
        departures::write(out, &departures)?;
    }
    Ok(Exit::Done)
}

fn write_report(out: &mut dyn Write, done: &AnnotatedJson) -> Result<()> {
    writeln!(
        out,
        "{}: {} of {} moves valued, {} as good as the best, mean loss {:.2}{}",
        done.written,
        done.valued,
        done.moves,
        done.best,
        done.mean_loss / 100.0,
        match done.variations {
            0 => String::new(),
            moves => format!(
                "; {} of {moves} moves in variations valued",
                done.valued_variations
            ),
        }
    )?;
    Ok(())
}

/// Returns the file to write, which must not exist yet.
fn target(args: &Args, path: &Path, games: &[GameTree]) -> Result<PathBuf> {
    let is_xiangqi = |game: &GameTree| matches!(game.start.variant(), Variant::Xiangqi { .. });
    let end = if games.iter().any(is_xiangqi) {
        "pgn"
    } else {
        "sgf"
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let target = args.out.join(format!("{stem}.annotated.{end}"));
    ensure!(
        !target.exists(),
        "{} is there already; remove it, or name another folder by --out",
        target.display()
    );
    Ok(target)
}

/// Reads the games of a file, and says on stderr what of it has no place in a game.
fn read(path: &Path, variant: Option<Variant>) -> Result<Vec<GameTree>> {
    let name = shown(path);
    let bytes = read_file(path).with_context(|| format!("cannot read {name}"))?;
    let mut importer = Importer::new(None, variant);
    importer.set_source(&path.to_string_lossy());
    let (games, omissions) = importer
        .read_trees(&bytes)
        .with_context(|| name.to_string())?;
    let games: Vec<GameTree> = games
        .into_iter()
        .filter(|game| !game.moves.is_empty())
        .collect();
    ensure!(!games.is_empty(), "{name}: it has no move to annotate");
    if omissions.values().any(|count| *count > 0) {
        let mut notice = std::io::stderr();
        writeln!(notice, "{name}:")?;
        write_omissions(&omissions, &mut notice)?;
    }
    Ok(games)
}

/// Knows the values of positions.
struct GameJudge {
    book: Option<Source>,
    /// The limits of a search where the book ends; `None` searches nothing.
    effort: Option<Effort>,
    table_bytes: usize,
    engine: Option<Engine>,
    notation: Notation,
}

impl GameJudge {
    /// Returns the notes on the moves of a game, and counts them.
    fn notes(
        &mut self,
        game: &GameTree,
        number: usize,
        done: &mut AnnotatedJson,
        loss: &mut u32,
    ) -> Result<Vec<MoveNote>> {
        let mut departures = Departures::new(game, number, self.notation);
        let children = game.children();
        let mut is_main = vec![false; game.moves.len()];
        for at in game.main_line() {
            is_main[at] = true;
        }
        let mut notes = vec![MoveNote::default(); game.moves.len()];
        // The moves from one position share its answer.
        for moves in children.iter().filter(|moves| !moves.is_empty()) {
            let before = &game.moves[moves[0]].before;
            let (held, answer) = self.answer(before)?;
            for &at in moves {
                let (note, lost) = self.note(before, game.moves[at].at, &answer)?;
                notes[at] = note;
                if !is_main[at] {
                    done.variations += 1;
                    done.valued_variations += usize::from(lost.is_some());
                    continue;
                }
                done.moves += 1;
                if let Some(held) = &held {
                    departures.note(at, held, lost);
                }
                if let Some(lost) = lost {
                    done.valued += 1;
                    done.best += usize::from(lost == 0);
                    *loss += lost;
                }
            }
        }
        done.departures.extend(departures.end());
        Ok(notes)
    }

    /// Returns what the book holds of a position, and the values of its moves: those of the book,
    /// or of a search where it has none; empty where they are not known.
    fn answer(&mut self, position: &Position) -> Result<(Option<Answer>, Answer)> {
        let held = self.book.as_ref().map(|book| book.lookup(position));
        let held = held.transpose()?.flatten();
        let valued = |held: &&Answer| held.verdicts().iter().any(|(_, v)| !v.is_silent());
        let answer = match held.as_ref().filter(valued) {
            Some(held) => held.clone(),
            None => self.search(position, Vec::new())?,
        };
        Ok((held, answer))
    }

    /// Searches a position, or some of its moves.
    fn search(&mut self, position: &Position, moves: Vec<Move>) -> Result<Answer> {
        let Some(effort) = self.effort.filter(|_| position.outcome().is_none()) else {
            return Ok(Answer::default());
        };
        let engine = match &mut self.engine {
            Some(engine) => engine,
            None => self.engine.insert(Engine::new(EngineOptions {
                table_bytes: self.table_bytes,
                ..EngineOptions::default()
            })?),
        };
        let question = Question {
            moves,
            ..Question::new(position.clone(), effort)
        };
        Ok(engine.answer(&question, &Control::new(), &mut |_| {})?)
    }

    /// Returns the note on a move, and what the move loses in centi-units, if both are known.
    fn note(
        &mut self,
        before: &Position,
        m: Move,
        answer: &Answer,
    ) -> Result<(MoveNote, Option<u32>)> {
        let Some((best, best_verdict)) = answer.best().filter(|(_, best)| !best.is_silent()) else {
            return Ok((MoveNote::default(), None));
        };
        let mut made = valued(before, answer, m).cloned();
        if made.is_none() {
            made = valued(before, &self.search(before, vec![m])?, m).cloned();
        }
        let says = |verdict: &Verdict| format!("{} (depth {})", verdict.score, verdict.depth);
        let mut text = made.as_ref().map_or_else(String::new, says);
        let lost = made
            .as_ref()
            .map(|made| loss(best_verdict.score, made.score));
        if best != m && lost != Some(0) {
            let line = &best_verdict.line[..best_verdict.line.len().min(MAX_LINE_MOVES)];
            let line = if line.is_empty() { &[best][..] } else { line };
            let line = before.write_line_in(line, self.notation).join(" ");
            if !text.is_empty() {
                text.push_str("; ");
            }
            text += &format!("best {line} {}", says(best_verdict));
        }
        let value = made.map(|made| made.score);
        Ok((MoveNote { value, text }, lost))
    }
}

/// Returns the verdict on a move, if it gives a value.
fn valued<'a>(before: &Position, answer: &'a Answer, m: Move) -> Option<&'a Verdict> {
    verdict_on(before, answer, m).filter(|verdict| verdict.is_exact())
}

/// Returns the loss of a move against the best, in centi-units.
fn loss(best: Score, made: Score) -> u32 {
    let lost = i32::from(best.raw()) - i32::from(made.raw());
    lost.max(0).unsigned_abs().min(MAX_LOSS)
}

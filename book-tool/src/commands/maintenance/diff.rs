use std::cmp::Ordering;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use kagetsu_book::{Annotation, AnnotationKind, Book, Entry, Place};
use kagetsu_game::{Move, Position, Score};
use kagetsu_program::{Exit, shown};
use serde::Serialize;

use crate::arguments::path::is_same;
use crate::output::OutputArgs;
use kagetsu_reader::read_book;
use kagetsu_terminal::table::one_line;

/// Lists the differences between two books
///
/// There is one line for each position that only one book has, or whose best move or value differs,
/// and for each annotation that only one has, by its words. The exit code is 1 if there is any.
///
/// Example: kagetsu diff h8.book copy.book
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A book folder
    a: PathBuf,
    /// Another book folder
    b: PathBuf,
    /// Maximum number of lines to print
    #[arg(long, default_value_t = 50, value_name = "N")]
    top: usize,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Default, Serialize)]
struct DiffJson {
    same: u64,
    only_a: u64,
    only_b: u64,
    different: u64,
    /// Annotations that only the first book has, and those that only the second has.
    annotations_a: u64,
    annotations_b: u64,
    lines: Vec<String>,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit> {
    if is_same(&args.a, &args.b) {
        bail!(
            "{} and {} are the same book; give two books",
            args.a.display(),
            args.b.display()
        );
    }
    let (a, b) = (read_book(&args.a)?, read_book(&args.b)?);
    let (mut left, mut right) = (a.positions().peekable(), b.positions().peekable());
    let mut found = DiffJson::default();
    loop {
        // Both iterators are in key order.
        let order = match (left.peek(), right.peek()) {
            (None, None) => break,
            (Some(Ok(one)), Some(Ok(other))) => {
                Place::of(&one.position).cmp(&Place::of(&other.position))
            }
            (Some(_), None) | (Some(Err(_)), _) => Ordering::Less,
            (None, Some(_)) | (_, Some(Err(_))) => Ordering::Greater,
        };
        let one = if order.is_le() {
            left.next().transpose()?
        } else {
            None
        };
        let other = if order.is_ge() {
            right.next().transpose()?
        } else {
            None
        };
        let line = match (one, other) {
            (Some(one), None) => {
                found.only_a += 1;
                format!("{}: only in {}", named(&one.position), shown(&args.a))
            }
            (None, Some(other)) => {
                found.only_b += 1;
                format!("{}: only in {}", named(&other.position), shown(&args.b))
            }
            (Some(one), Some(other)) if believes(&one) == believes(&other) => {
                found.same += 1;
                continue;
            }
            (Some(one), Some(other)) => {
                found.different += 1;
                let name = named(&one.position);
                format!("{name}: {} against {}", say(&one), say(&other))
            }
            (None, None) => continue,
        };
        if found.lines.len() < args.top {
            found.lines.push(line);
        }
    }
    let mut only_in = |one: &Book, other: &Book, place: &Path| -> Result<u64> {
        let mut count = 0;
        for known in one.annotated() {
            let (position, mut notes) = known?;
            let others = other.annotations(&position)?;
            notes.retain(|note| !others.iter().any(|other| words(other) == words(note)));
            for note in &notes {
                count += 1;
                if found.lines.len() < args.top {
                    let (at, kind) = (named(&position), note.kind);
                    let point = note.at.map(|m| format!(" on {}", position.write_move(m)));
                    let (point, text) = (point.unwrap_or_default(), one_line(&note.text));
                    let place = shown(place);
                    found
                        .lines
                        .push(format!("{at}: a {kind}{point} only in {place}: {text:.60}"));
                }
            }
        }
        Ok(count)
    };
    let annotations = (only_in(&a, &b, &args.a)?, only_in(&b, &a, &args.b)?);
    (found.annotations_a, found.annotations_b) = annotations;
    let differences =
        found.only_a + found.only_b + found.different + found.annotations_a + found.annotations_b;
    let exit = Exit::passed(differences == 0);
    let out = &mut args.output.report(out, &found)?;
    for line in &found.lines {
        writeln!(out, "{line}")?;
    }
    if differences > found.lines.len() as u64 {
        writeln!(
            out,
            "and {} more; --top shows more",
            differences - found.lines.len() as u64
        )?;
    }
    writeln!(
        out,
        "{} positions alike, {} different, {} only in the first, {} only in the second",
        found.same, found.different, found.only_a, found.only_b
    )?;
    if annotations != (0, 0) {
        let (a, b) = annotations;
        writeln!(
            out,
            "{a} annotations only in the first, {b} only in the second"
        )?;
    }
    Ok(exit)
}

/// Returns what an annotation says, without its author and file.
fn words(note: &Annotation) -> (Option<Move>, AnnotationKind, &str) {
    let (at, kind, text, ..) = note.identity();
    (at, kind, text)
}

fn named(position: &Position) -> String {
    format!("{} {}", position.variant(), position.notation())
}

fn believes(entry: &Entry) -> (Option<Move>, Score, u16) {
    let derived = &entry.derived;
    (derived.best, derived.score, derived.depth)
}

fn say(entry: &Entry) -> String {
    let best = entry
        .derived
        .best
        .map_or_else(|| "no move".into(), |m| entry.position.write_move(m));
    format!(
        "{best} {} at depth {}",
        entry.derived.score, entry.derived.depth
    )
}

//! Answers as tables.

use std::cmp::Reverse;
use std::io::Write;

use anyhow::Result;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use kagetsu_api::{Day, is_unknown};
use kagetsu_game::{Answer, Bound, Move, Notation, Position, Proof, Verdict, is_visible};

use crate::colours::Colours;

/// Returns the table that [`write`] writes.
fn plain<R: IntoIterator<Item = String>>(
    header: &[&str],
    right: &[usize],
    rows: impl IntoIterator<Item = R>,
) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(header.to_vec())
        .set_content_arrangement(ContentArrangement::Disabled);
    for row in rows {
        table.add_row(row.into_iter().map(|cell| one_line(&cell)));
    }
    for &column in right {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Escapes line ends, escape sequences, marks of direction and other characters that cannot be
/// seen, as in `\n`.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_visible(letter) {
            line.push(letter)
        } else {
            line.extend(letter.escape_default())
        }
    }
    line
}

/// Writes a table without rulings and without blanks at line ends. The columns of the numbers in
/// `right` are aligned to the right. Characters in a cell that cannot be seen are escaped.
///
/// # Errors
/// If `out` is closed.
pub fn write<R: IntoIterator<Item = String>>(
    out: &mut dyn Write,
    header: &[&str],
    right: &[usize],
    rows: impl IntoIterator<Item = R>,
) -> Result<()> {
    for line in plain(header, right, rows).lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Returns the moves in the order in which tables show them: those with a value, best first, then
/// those that were made in games, the most frequent first, then those that are only known to be no
/// better than a bound.
#[must_use]
pub fn ordered(answer: &Answer) -> Vec<&(Move, Verdict)> {
    let (bounded, valued): (Vec<_>, Vec<_>) = answer
        .verdicts()
        .iter()
        .partition(|(_, verdict)| is_only_bounded(verdict));
    let (mut made, valued): (Vec<_>, Vec<_>) = valued
        .into_iter()
        .partition(|(_, verdict)| verdict.is_silent());
    made.sort_by_key(|(_, verdict)| Reverse(verdict.nodes));
    valued.into_iter().chain(made).chain(bounded).collect()
}

/// Whether only an upper bound of the value is known.
#[must_use]
pub fn is_only_bounded(verdict: &Verdict) -> bool {
    verdict.bound == Bound::Upper && verdict.proof.is_none()
}

/// Writes a row for each of the first `top` moves of [`ordered`], and the number of moves left out.
///
/// # Errors
/// If `out` is closed.
pub fn write_answer(
    out: &mut dyn Write,
    position: &Position,
    answer: &Answer,
    top: usize,
    notation: Notation,
) -> Result<()> {
    let header = [
        "move", "value", "bound", "depth", "nodes", "proof", "line", "engine", "date",
    ];
    let rows = ordered(answer);
    let shown = rows.iter().take(top);
    let shown = shown.map(|(m, verdict)| row(position, *m, verdict, notation));
    write(out, &header, &[1, 3, 4], shown)?;
    let left = rows.get(top..).unwrap_or_default();
    let bounded = left
        .iter()
        .filter(|(_, verdict)| is_only_bounded(verdict))
        .count();
    if !left.is_empty() {
        let rest = left.len();
        let moves = if rest == 1 { "move" } else { "moves" };
        let with_bound = match bounded {
            0 => String::new(),
            _ if bounded == rest => " with only an upper bound".into(),
            _ => format!(", {bounded} of them with only an upper bound"),
        };
        writeln!(out, "and {rest} more {moves}{with_bound}; --top shows more")?;
    }
    Ok(())
}

/// Writes the `top` best moves of one search with their ranks, and a line about the others.
///
/// # Errors
/// If `out` is closed.
pub fn write_ranked(
    out: &mut dyn Write,
    paint: Colours,
    position: &Position,
    answer: &Answer,
    top: usize,
    notation: Notation,
) -> Result<()> {
    let header = [
        "#", "move", "value", "bound", "depth", "nodes", "proof", "line",
    ];
    let rows = answer.verdicts().iter().take(top).zip(1..);
    let rows = rows.map(|((m, verdict), rank)| {
        let mut cells = row(position, *m, verdict, notation);
        cells.truncate(7);
        cells.insert(0, rank.to_string());
        cells
    });
    let table = plain(&header, &[0, 2, 4, 5], rows);
    for (line, verdict) in table
        .lines()
        .zip(std::iter::once(None).chain(answer.verdicts().iter().map(Some)))
    {
        match verdict {
            None => writeln!(out, "{}", paint.dim(line.trim_end()))?,
            Some((_, verdict)) => {
                writeln!(out, "{}", paint.valued(verdict.score, line.trim_end()))?
            }
        }
    }
    let rest = answer.len().saturating_sub(top);
    if rest > 0 {
        let moves = if rest == 1 { "move is" } else { "moves are" };
        writeln!(
            out,
            "{rest} more {moves} no better; --top gives more of them exact values"
        )?;
    }
    Ok(())
}

fn row(position: &Position, m: Move, verdict: &Verdict, notation: Notation) -> Vec<String> {
    vec![
        position.write_move_in(m, notation),
        value(verdict),
        if is_unknown(verdict) {
            "-".into()
        } else {
            verdict.bound.to_string()
        },
        verdict.depth.to_string(),
        verdict.nodes.to_string(),
        verdict.proof.map_or_else(String::new, proof),
        line(position, &verdict.line, notation),
        verdict.by.engine.to_string(),
        Day(verdict.by.day).to_string(),
    ]
}

/// Writes a score, or `unknown` where the search has found no value.
pub fn value(verdict: &Verdict) -> String {
    if is_unknown(verdict) {
        "unknown".into()
    } else {
        verdict.score.to_string()
    }
}

/// Writes a proof as `win (vcf)`.
pub fn proof(proof: Proof) -> String {
    format!("{} ({})", proof.claim, proof.kind)
}

/// Writes the first moves of a line from a position.
pub fn line(position: &Position, line: &[Move], notation: Notation) -> String {
    const MAX_SHOWN_MOVES: usize = 10;
    let shown = &line[..line.len().min(MAX_SHOWN_MOVES)];
    let mut names = position.write_line_in(shown, notation);
    if line.len() > MAX_SHOWN_MOVES {
        names.push("..".into());
    }
    names.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kagetsu_game::Variant;

    #[test]
    fn bounded_moves_stand_behind_all_others() {
        let position = Position::start(Variant::XIANGQI);
        let verdict = |(name, score, bound): (&str, i32, Bound)| {
            let m = position.parse_move(name).expect("legal");
            let (m, verdict) = kagetsu_builders::opinion(m, score);
            (m, Verdict { bound, ..verdict })
        };
        let answer: Answer = [
            ("h2e2", -26, Bound::Exact),
            ("b2e2", -30, Bound::Upper),
            ("h0g2", -40, Bound::Exact),
            ("g3g4", -40, Bound::Lower),
            ("a0a1", -30, Bound::Upper),
        ]
        .map(verdict)
        .into_iter()
        .collect();
        let mut out = Vec::new();
        write_answer(&mut out, &position, &answer, 4, Notation::Engine).expect("room");
        let text = String::from_utf8(out).expect("text");
        let rows: Vec<&str> = text.lines().skip(1).collect();
        let exact: Vec<bool> = rows.iter().map(|row| row.contains("exact")).collect();
        assert_eq!(rows.len(), 5, "{text}");
        assert_eq!(
            exact.iter().filter(|is_exact| **is_exact).count(),
            2,
            "{text}"
        );
        assert!(rows[0].contains("h2e2") && exact[0], "{text}");
        assert!(rows[3].contains("upper"), "{text}");
        assert!(
            rows[4].starts_with("and 1 more move with only an upper bound"),
            "{text}"
        );
    }

    #[test]
    fn a_row_stays_on_its_line() {
        let row = ["x\ny \u{1b}[2J", "象棋 \"7\""].map(String::from);
        let mut out = Vec::new();
        write(&mut out, &["name", "state"], &[], [row]).expect("room");
        let lines = String::from_utf8(out).expect("text");
        assert_eq!(lines.lines().count(), 2, "{lines}");
        assert!(lines.contains(r#"x\ny \u{1b}[2J  象棋 "7""#), "{lines}");
    }
}

//! Games and trees of moves in the Smart Game Format (SGF), as programs for gomoku and renju write it.

use anyhow::{Result, bail};
use kagetsu_game::{Move, Position, Side, Variant};

use super::games::{Ending, Games};
use super::{Losses, lose};

/// Properties of a node: names, and values of each as they stand in the file.
type Node = Vec<(String, Vec<Vec<u8>>)>;

/// A step through a file.
enum Step {
    Open,
    Close,
    Node(Node),
}

/// All games of a file.
///
/// # Errors
/// If it is none, or one was played on another board.
pub(super) fn read(bytes: &[u8], variant: Variant) -> Result<(Games, u64, Losses)> {
    let Variant::Gomoku { size, .. } = variant else { bail!("this reads games of gomoku, not of {variant}") };
    let (mut games, mut losses, mut count) = (Games::default(), Losses::new(), 0);
    let mut at: Option<Position> = None;
    let mut left: Vec<Option<Position>> = Vec::new();
    // What a game says of its end counts where it has no branches: then it is what was played.
    let mut line: Vec<Move> = Vec::new();
    let (mut start, mut ending, mut has_branches) = (Position::start(variant), Ending::Unknown, false);
    let mut tree: Vec<(Position, Move)> = Vec::new();
    let steps = steps(bytes)?;
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Open if left.is_empty() => {
                (at, start, ending, has_branches) =
                    (Some(Position::start(variant)), Position::start(variant), Ending::Unknown, false);
                line.clear();
                left.push(None);
            }
            Step::Open => {
                has_branches |= number > 0 && matches!(steps[number - 1], Step::Close);
                left.push(at.clone());
            }
            Step::Close => {
                at = left.pop().flatten();
                if left.is_empty() {
                    count += 1;
                    if has_branches {
                        tree.drain(..).for_each(|(position, m)| games.add(&position, m, Ending::Unknown, 1));
                    } else {
                        tree.clear();
                        games.play(&start, &line, ending);
                    }
                }
            }
            Step::Node(node) => {
                for (name, values) in node {
                    let value = values.first().map(Vec::as_slice).unwrap_or_default();
                    match name.as_str() {
                        "SZ" => is_size(value, size, variant)?,
                        "RE" => ending = result(value),
                        "AB" | "AW" => match at.take().filter(|at| at.moves().is_empty() && line.is_empty()) {
                            Some(before) => {
                                at = setup(&before, name == "AB", values, size);
                                start = at.clone().unwrap_or(start);
                                lose(&mut losses, "set_up_positions", u64::from(at.is_none()));
                            }
                            None => lose(&mut losses, "set_up_positions", 1),
                        },
                        "B" | "W" => {
                            let Some(before) = at.take() else {
                                lose(&mut losses, "nodes_beyond_these", 1);
                                continue;
                            };
                            let is_turn = (name == "B") == (before.side() == Side::First);
                            let m = point(value, size).filter(|_| is_turn);
                            match m.and_then(|m| Some((m, before.play(m).ok()?))) {
                                Some((m, after)) => {
                                    tree.push((before, m));
                                    line.push(m);
                                    at = Some(after);
                                }
                                None if value.is_empty() => lose(&mut losses, "passes", 1),
                                None => lose(&mut losses, "moves_that_cannot_be_made", 1),
                            }
                        }
                        "C" | "N" => lose(&mut losses, "comments", 1),
                        "LB" | "TR" | "MA" | "CR" | "SQ" => lose(&mut losses, "board_texts", values.len() as u64),
                        _ => {}
                    }
                }
            }
        }
    }
    Ok((games, count, losses))
}

fn is_size(value: &[u8], size: u8, variant: Variant) -> Result<()> {
    let text = String::from_utf8_lossy(value);
    if text.trim() == size.to_string() {
        Ok(())
    } else {
        bail!("a game is on a board of size {text}, not of {variant}")
    }
}

fn result(value: &[u8]) -> Ending {
    match value {
        [b'B', b'+', ..] => Ending::Won(Side::First),
        [b'W', b'+', ..] => Ending::Won(Side::Second),
        b"0" | b"Draw" | b"draw" => Ending::Drawn,
        _ => Ending::Unknown,
    }
}

/// Columns and rows are letters, rows from the top.
fn point(value: &[u8], size: u8) -> Option<Move> {
    let &[column, row] = value else { return None };
    let place = |letter: u8| letter.checked_sub(b'a').filter(|place| *place < size).map(u16::from);
    let (column, row) = (place(column)?, place(row)?);
    let size = u16::from(size);
    Some(Move::new((size - 1 - row) * size + column))
}

/// A position with more stones of a side.
fn setup(before: &Position, is_first: bool, points: &[Vec<u8>], size: u8) -> Option<Position> {
    let drawing = before.draw();
    let is_point = |c: &char| matches!(c, 'X' | 'O' | '.');
    let mut rows: Vec<Vec<char>> =
        drawing.lines().take(size.into()).map(|row| row.chars().filter(is_point).collect()).collect();
    for value in points {
        let m = point(value, size)?;
        let (row, column) = (usize::from(m.code()) / usize::from(size), usize::from(m.code()) % usize::from(size));
        *rows.get_mut(usize::from(size) - 1 - row)?.get_mut(column)? = if is_first { 'X' } else { 'O' };
    }
    let count = |stone: char| rows.iter().flatten().filter(|c| **c == stone).count();
    // Whose turn it is while only one side has its stones shows when the other has them.
    let side = if count('X') > count('O') { Side::Second } else { Side::First };
    let text: Vec<String> = rows.into_iter().map(|row| row.into_iter().collect()).collect();
    Position::from_board(before.variant(), &text.join("\n"), Some(side)).ok()
}

/// The parts of a file one after the other; what stands before the first game is passed over, and what is not closed is closed
/// at the end.
fn steps(bytes: &[u8]) -> Result<Vec<Step>> {
    // In Chinese and Japanese encodings a letter's second byte may look like a bracket.
    let is_two_bytes = std::str::from_utf8(bytes).is_err();
    let (mut steps, mut depth, mut at) = (Vec::new(), 0_usize, 0);
    let Some(begin) = bytes.iter().position(|byte| *byte == b'(') else { bail!("it has no game of SGF") };
    at += begin;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'(' => {
                depth += 1;
                steps.push(Step::Open);
            }
            b')' if depth > 0 => {
                depth -= 1;
                steps.push(Step::Close);
            }
            b';' if depth > 0 => {
                let (node, end) = node(bytes, at, is_two_bytes);
                steps.push(Step::Node(node));
                at = end;
            }
            _ => {}
        }
    }
    steps.extend((0..depth).map(|_| Step::Close));
    Ok(steps)
}

/// A node from behind its semicolon on, and where it ends.
fn node(bytes: &[u8], mut at: usize, is_two_bytes: bool) -> (Node, usize) {
    let mut node: Node = Vec::new();
    let mut name = String::new();
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'(' | b')' | b';' => break,
            b'[' => {
                let (value, end) = value(bytes, at + 1, is_two_bytes);
                if !name.is_empty() {
                    node.push((std::mem::take(&mut name), Vec::new()));
                }
                if let Some((_, values)) = node.last_mut() {
                    values.push(value);
                }
                at = end;
                continue;
            }
            byte if byte.is_ascii_uppercase() => name.push(char::from(byte)),
            _ => {}
        }
        at += 1;
    }
    (node, at)
}

/// What stands in brackets, and where it ends.
fn value(bytes: &[u8], mut at: usize, is_two_bytes: bool) -> (Vec<u8>, usize) {
    let mut value = Vec::new();
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b']' => break,
            b'\\' => {
                value.extend(bytes.get(at));
                at += 1;
            }
            byte => {
                value.push(byte);
                if is_two_bytes && byte > 0x80 {
                    value.extend(bytes.get(at));
                    at += 1;
                }
            }
        }
    }
    (value, at)
}

//! Games and trees of moves in SGF (Smart Game Format), as gomoku and renju programs write it.

use std::borrow::Cow;

use anyhow::{Result, bail};
use encoding_rs::{Encoding, GB18030, WINDOWS_1252};
use kagetsu_game::{Move, Position, Side, Variant};
use kagetsu_games::GameTags;

use crate::game_tree::{GameTree, TreePlace};
use crate::games::{GameResult, Games};
use crate::omissions::{Omissions, TRUNCATED_FILES, omit};

/// The properties of a node: names, with their values as stored.
type Node = Vec<(String, Vec<Vec<u8>>)>;

/// A syntactic element of a file.
enum SgfStep {
    Open,
    Close,
    Node(Node),
}

/// Reads all games of a file, and counts them.
///
/// # Errors
/// If the file is no SGF, or a game has another board.
pub(crate) fn read(bytes: &[u8], variant: Variant) -> Result<(Games, u64, Omissions)> {
    let (mut games, mut count) = (Games::default(), 0);
    let omissions = read_trees(bytes, variant, &mut |tree| {
        count += 1;
        games.play_tree(tree);
    })?;
    Ok((games, count, omissions))
}

/// Reads all games of a file as trees. The omissions count the comments, too, which trees have.
///
/// # Errors
/// If the file is no SGF, or a game has another board.
pub(crate) fn read_trees(
    bytes: &[u8],
    variant: Variant,
    take: &mut dyn FnMut(GameTree),
) -> Result<Omissions> {
    let Some((_, size)) = variant.gomoku() else {
        bail!("this reads games of gomoku, not of {variant}")
    };
    let mut omissions = Omissions::new();
    let mut tree = GameTree::from_start(Position::start(variant));
    let mut at = TreePlace::default();
    let mut left: Vec<TreePlace> = Vec::new();
    let (steps, is_cut) = steps(&text(bytes))?;
    omit(&mut omissions, TRUNCATED_FILES, u64::from(is_cut));
    for step in &steps {
        match step {
            SgfStep::Open if left.is_empty() => {
                tree = GameTree::from_start(Position::start(variant));
                at = TreePlace {
                    position: Some(tree.start.clone()),
                    last: None,
                };
                left.push(TreePlace::default());
            }
            SgfStep::Open => left.push(at.clone()),
            SgfStep::Close => {
                at = left.pop().unwrap_or_default();
                if left.is_empty() {
                    let next = GameTree::from_start(Position::start(variant));
                    take(std::mem::replace(&mut tree, next));
                }
            }
            SgfStep::Node(node) => add_node(&mut tree, &mut at, node, size, &mut omissions)?,
        }
    }
    Ok(omissions)
}

/// Adds a node's move and names to a tree.
fn add_node(
    tree: &mut GameTree,
    at: &mut TreePlace,
    node: &Node,
    size: u8,
    omissions: &mut Omissions,
) -> Result<()> {
    let variant = tree.start.variant();
    if node.iter().any(|(name, _)| SETUP.contains(&name.as_str())) {
        // A setup after the first move has no place in a game.
        let before = at.position.take().filter(|_| tree.moves.is_empty());
        at.position = before.and_then(|before| setup(&before, node, size));
        if let Some(position) = &at.position {
            tree.start.clone_from(position);
        }
        omit(
            omissions,
            "set_up_positions",
            u64::from(at.position.is_none()),
        );
    }
    // A comment is about the move of its node, wherever it stands in it.
    let mut comments = Vec::new();
    for (name, values) in node {
        let value = values.first().map(Vec::as_slice).unwrap_or_default();
        match name.as_str() {
            "SZ" => is_size(value, size, variant)?,
            "RE" => tree.result = result(value),
            "PB" => tree.tags.first = words(value),
            "PW" => tree.tags.second = words(value),
            "EV" => tree.tags.event = words(value),
            "RO" => tree.tags.round = words(value),
            "DT" => tree.tags.date = GameTags::date_of(&words(value)),
            "B" | "W" => {
                let Some(before) = at.position.take() else {
                    omit(omissions, "nodes_beyond_these", 1);
                    continue;
                };
                let is_turn = (name == "B") == (before.side() == Side::First);
                let m = point(value, size).filter(|_| is_turn);
                match m.and_then(|m| Some((m, before.play(m).ok()?))) {
                    Some((m, after)) => {
                        at.last = Some(tree.push(at.last, before, m));
                        at.position = Some(after);
                    }
                    None if value.is_empty() => omit(omissions, "passes", 1),
                    None => omit(omissions, "moves_that_cannot_be_made", 1),
                }
            }
            "C" => comments.push(words(value)),
            "N" => omit(omissions, "comments", 1),
            "LB" | "TR" | "MA" | "CR" | "SQ" => omit(omissions, "board_texts", values.len() as u64),
            _ => {}
        }
    }
    omit(omissions, "comments", comments.len() as u64);
    // The moves behind an impossible move are dropped, with their comments.
    if at.position.is_some() {
        for comment in comments {
            tree.remark(at.last, &comment);
        }
    }
    Ok(())
}

fn is_size(value: &[u8], size: u8, variant: Variant) -> Result<()> {
    let text = String::from_utf8_lossy(value);
    if text.trim() == size.to_string() {
        Ok(())
    } else {
        bail!("a game is on a board of size {text}, not of {variant}")
    }
}

/// Reads a short text.
fn words(value: &[u8]) -> String {
    String::from_utf8_lossy(value).trim().into()
}

fn result(value: &[u8]) -> GameResult {
    match value {
        [b'B', b'+', ..] => GameResult::Won(Side::First),
        [b'W', b'+', ..] => GameResult::Won(Side::Second),
        b"0" | b"Draw" | b"draw" => GameResult::Drawn,
        _ => GameResult::Unknown,
    }
}

/// Reads a point: letters for column and row, rows from the top.
fn point(value: &[u8], size: u8) -> Option<Move> {
    let &[column, row] = value else { return None };
    let place = |letter: u8| {
        letter
            .checked_sub(b'a')
            .filter(|place| *place < size)
            .map(u16::from)
    };
    let (column, row) = (place(column)?, place(row)?);
    let size = u16::from(size);
    Some(Move::new((size - 1 - row) * size + column))
}

/// Reads a point, or a rectangle given by two corners with a colon between them.
fn points(value: &[u8], size: u8) -> Option<Vec<Move>> {
    let (from, to) = match value.iter().position(|byte| *byte == b':') {
        Some(at) => (point(&value[..at], size)?, point(&value[at + 1..], size)?),
        None => (point(value, size)?, point(value, size)?),
    };
    let size = u16::from(size);
    let span = |one: u16, other: u16| one.min(other)..=one.max(other);
    let rows = span(from.code() / size, to.code() / size);
    Some(
        rows.flat_map(|row| {
            span(from.code() % size, to.code() % size)
                .map(move |column| Move::new(row * size + column))
        })
        .collect(),
    )
}

/// Setup properties: black stones, white stones, empty points, side to move.
const SETUP: [&str; 4] = ["AB", "AW", "AE", "PL"];

/// Returns the position with the stones that a node sets up.
fn setup(before: &Position, node: &Node, size: u8) -> Option<Position> {
    let drawing = before.draw();
    let is_point = |c: &char| matches!(c, 'X' | 'O' | '.');
    let mut rows: Vec<Vec<char>> = drawing
        .lines()
        .take(size.into())
        .map(|row| row.chars().filter(is_point).collect())
        .collect();
    let mut stated_side = None;
    for (name, values) in node {
        let stone = match name.as_str() {
            "AB" => 'X',
            "AW" => 'O',
            "AE" => '.',
            "PL" => {
                // Some programs write the colour in full.
                stated_side = match values.first()?.trim_ascii().first()? {
                    b'B' | b'b' | b'1' => Some(Side::First),
                    b'W' | b'w' | b'2' => Some(Side::Second),
                    _ => return None,
                };
                continue;
            }
            _ => continue,
        };
        for value in values {
            for m in points(value, size)? {
                let (row, column) = (
                    usize::from(m.code()) / usize::from(size),
                    usize::from(m.code()) % usize::from(size),
                );
                *rows.get_mut(usize::from(size) - 1 - row)?.get_mut(column)? = stone;
            }
        }
    }
    let count = |stone: char| rows.iter().flatten().filter(|c| **c == stone).count();
    let by_count = if count('X') > count('O') {
        Side::Second
    } else {
        Side::First
    };
    let text: Vec<String> = rows.iter().map(|row| row.iter().collect()).collect();
    Position::from_board(
        before.variant(),
        &text.join("\n"),
        Some(stated_side.unwrap_or(by_count)),
    )
    .ok()
}

/// Decodes a file by its byte order mark or the encoding that it names. If it names none, both
/// GB18030 and Windows-1252 are tried, and the one that yields more moves wins: the second byte of
/// a Chinese character may look like a bracket.
fn text(bytes: &[u8]) -> Cow<'_, [u8]> {
    if std::str::from_utf8(bytes).is_ok() {
        return bytes.into();
    }
    let decoded = |encoding: &'static Encoding| {
        encoding
            .decode_without_bom_handling(bytes)
            .0
            .into_owned()
            .into_bytes()
    };
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return encoding
            .decode_without_bom_handling(&bytes[mark..])
            .0
            .into_owned()
            .into_bytes()
            .into();
    }
    let named = bytes
        .windows(3)
        .position(|part| part == b"CA[")
        .map(|at| &bytes[at + 3..]);
    let label = named.and_then(|rest| rest.split(|byte| *byte == b']').next());
    if let Some(encoding) = label.and_then(Encoding::for_label) {
        return decoded(encoding).into();
    }
    let moves = |text: &[u8]| {
        let is_move = |name: &str| matches!(name, "B" | "W");
        let moves = |step: &SgfStep| {
            if let SgfStep::Node(node) = step {
                node.iter().filter(|(name, _)| is_move(name)).count()
            } else {
                0
            }
        };
        steps(text).map_or(0, |(steps, _)| steps.iter().map(moves).sum::<usize>())
    };
    let (china, europe) = (decoded(GB18030), decoded(WINDOWS_1252));
    if moves(&europe) > moves(&china) {
        europe.into()
    } else {
        china.into()
    }
}

/// Splits a file into its elements, from the first game on. Branches left open are closed at the
/// end, and the result says so.
fn steps(bytes: &[u8]) -> Result<(Vec<SgfStep>, bool)> {
    let (mut steps, mut depth, mut at) = (Vec::new(), 0_usize, 0);
    let Some(begin) = bytes.iter().position(|byte| *byte == b'(') else {
        bail!("it has no game of SGF")
    };
    at += begin;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'(' => {
                depth += 1;
                steps.push(SgfStep::Open);
            }
            b')' if depth > 0 => {
                depth -= 1;
                steps.push(SgfStep::Close);
            }
            b';' if depth > 0 => {
                let (node, end) = node(bytes, at);
                steps.push(SgfStep::Node(node));
                at = end;
            }
            _ => {}
        }
    }
    steps.extend((0..depth).map(|_| SgfStep::Close));
    Ok((steps, depth > 0))
}

/// Reads a node after its semicolon. Returns the node and its end.
fn node(bytes: &[u8], mut at: usize) -> (Node, usize) {
    let mut node: Node = Vec::new();
    let mut name = String::new();
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'(' | b')' | b';' => break,
            b'[' => {
                // A truncated value may have another meaning than the whole one.
                let Some((value, end)) = value(bytes, at + 1) else {
                    return (node, bytes.len());
                };
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

/// Reads a value in brackets. Returns the value and its end, or `None` if the bracket stays open.
fn value(bytes: &[u8], mut at: usize) -> Option<(Vec<u8>, usize)> {
    let mut value = Vec::new();
    loop {
        let byte = *bytes.get(at)?;
        at += 1;
        match byte {
            b']' => return Some((value, at)),
            b'\\' => {
                value.push(*bytes.get(at)?);
                at += 1;
            }
            byte => value.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns each position with a move, its moves, and the omissions.
    fn read_moves(bytes: &[u8]) -> (Vec<String>, Omissions) {
        let (games, _, mut omissions) = read(bytes, Variant::FREESTYLE_15).expect("SGF");
        omissions.retain(|what, lost| *lost > 0 && *what != "comments");
        let moves = |(position, answer): &(Position, kagetsu_game::Answer)| {
            let moves: Vec<String> = answer
                .verdicts()
                .iter()
                .map(|(m, _)| position.write_move(*m))
                .collect();
            format!("{} {}", position.canonical().stones, moves.join(" "))
        };
        (games.answers("sgf").iter().map(moves).collect(), omissions)
    }

    #[test]
    fn letters_of_any_encoding_hide_no_moves() {
        let (whole, lost) = read_moves("(;SZ[15];B[hh]C[caf\u{e9}];W[ih];B[hi])".as_bytes());
        assert_eq!((whole.len(), lost), (3, Omissions::new()));
        for head in ["", "CA[windows-1252]", "CA[ISO-8859-1]", "CA[unknown]"] {
            let latin = [
                format!("(;SZ[15]{head};B[hh]C[caf").as_bytes(),
                b"\xe9];W[ih];B[hi])",
            ]
            .concat();
            assert_eq!(read_moves(&latin).0, whole, "{head}");
        }
        for (head, letter) in [
            ("", &b"\x83\x5d"[..]),
            ("CA[gb2312]", b"\x83\x5d"),
            ("CA[Shift_JIS]", b"\x83\x5c"),
        ] {
            let far = [
                format!("(;SZ[15]{head};B[hh]C[").as_bytes(),
                letter,
                b"];W[ih];B[hi])",
            ]
            .concat();
            assert_eq!(read_moves(&far).0, whole, "{head}");
        }
        let wide: Vec<u8> = "\u{feff}(;SZ[15];B[hh]C[caf\u{e9}];W[ih];B[hi])"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(read_moves(&wide).0, whole);
    }

    #[test]
    fn setup_sets_stones_and_side_to_move() {
        for (text, expected) in [
            ("(;SZ[15]AB[hh]AW[ih];B[hi])", "2 "),
            // These cases have rectangles, a point cleared again, and White to move with equal
            // stones.
            ("(;SZ[15]PL[W]AB[hh:ih]AW[hi:ii];W[aa])", "4 "),
            ("(;SZ[15]AB[ih:hi]AE[ii];W[aa])", "3 "),
            ("(;SZ[15]AW[hh]AB[ih][hi]PL[black];B[aa])", "3 "),
        ] {
            let (moves, lost) = read_moves(text.as_bytes());
            assert_eq!((moves.len(), lost), (1, Omissions::new()), "{text}");
            assert!(moves[0].starts_with(expected), "{text}: {moves:?}");
        }
        let wrong = read_moves(b"(;SZ[15]AB[zz];W[aa])").1;
        assert_eq!(
            wrong,
            [("set_up_positions", 1), ("nodes_beyond_these", 1)].into()
        );
    }

    #[test]
    fn truncated_file_is_counted() {
        let whole = "(;SZ[15];B[hh];W[ih];B[hi])";
        for (end, moves) in [(26, 3), (25, 2), (24, 2), (20, 2), (19, 1), (9, 0)] {
            let (found, lost) = read_moves(&whole.as_bytes()[..end]);
            assert_eq!(
                (found.len(), lost),
                (moves, [(TRUNCATED_FILES, 1)].into()),
                "{}",
                &whole[..end]
            );
        }
        assert_eq!(read_moves(whole.as_bytes()).1, Omissions::new());
    }
}

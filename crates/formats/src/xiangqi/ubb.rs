//! Games of xiangqi as Chinese forums show them (UBB, DhtmlXQ): names and values in brackets, moves
//! as four digits each.
//!
//! A square is its column and its row, both from 0, rows from the top. `binit` has a square for
//! each of the 32 pieces, 99 for none. `move_0_5_2` is the second branch: it leaves branch 0, the
//! main line, in place of its fifth move.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use kagetsu_game::{Position, Variant};
use kagetsu_games::{GameResult, GameTags, after, read_move};

use crate::games::tree::GameTree;
use crate::games::words::result_of;
use crate::input::encoding::decode_entries;
use crate::omissions::{Omissions, UNREAD_RESULTS};
use crate::xiangqi::check_variant;
use crate::xiangqi::pieces::{PieceRow, fen};

/// How each name begins.
const PREFIX: &str = "DhtmlXQ_";

/// Reads all games of a text. The omissions count comments, too, which trees have.
///
/// # Errors
/// If the text has none.
pub(crate) fn read_trees(
    bytes: &[u8],
    variant: Variant,
    take: &mut dyn FnMut(GameTree),
) -> Result<Omissions> {
    check_variant(variant)?;
    let text = decode_entries(bytes);
    let (mut omissions, mut count) = (Omissions::new(), 0);
    for part in text.split("[/DhtmlXQ]") {
        let fields = fields(part);
        if !fields
            .keys()
            .any(|name| name.starts_with("move") || *name == "binit")
        {
            continue;
        }
        count += 1;
        if let Some(tree) = tree(&fields, variant, &mut omissions) {
            take(tree);
        }
    }
    if count == 0 {
        bail!("it has no [DhtmlXQ_movelist] and no [DhtmlXQ_binit], as games of DhtmlXQ have");
    }
    Ok(omissions)
}

/// Returns the values by their names.
fn fields(text: &str) -> BTreeMap<&str, &str> {
    let mut fields = BTreeMap::new();
    for part in text.split(&format!("[{PREFIX}")).skip(1) {
        let Some((name, rest)) = part.split_once(']') else {
            continue;
        };
        let end = format!("[/{PREFIX}{name}]");
        let value = rest.split_once(&*end).map_or(rest, |(value, _)| value);
        fields.insert(name, value.trim());
    }
    fields
}

fn tree(
    fields: &BTreeMap<&str, &str>,
    variant: Variant,
    omissions: &mut Omissions,
) -> Option<GameTree> {
    let field = |name: &str| fields.get(name).copied().unwrap_or_default();
    let main = digits(field("movelist"));
    let start = match start(field("binit"), &main, variant) {
        Ok(start) => start,
        Err(text) => {
            omissions.omit_text("games_from_impossible_positions", "binit: ", &text);
            return None;
        }
    };
    let mut tree = GameTree::from_start(start);
    let result = field("result");
    tree.result = result_of(result, variant).unwrap_or_else(|| {
        omissions.omit_text(UNREAD_RESULTS, "result: ", result);
        GameResult::Unknown
    });
    let event = [field("event"), field("title")];
    tree.tags = GameTags {
        first: field("red").into(),
        second: field("black").into(),
        event: event
            .into_iter()
            .find(|text| !text.is_empty())
            .unwrap_or_default()
            .into(),
        date: GameTags::date_of(field("date")),
        round: field("round").into(),
        source: String::new(),
    };
    tree.remark(None, &text(field("comment0")));
    // The numbers of the moves of each branch, from its first one, and where it begins.
    let mut branches: BTreeMap<u32, (usize, Vec<usize>)> = BTreeMap::new();
    let line = add(&mut tree, None, &main, "movelist", omissions);
    branches.insert(0, (1, line));
    let mut others: Vec<([u32; 3], &str)> = fields
        .iter()
        .filter_map(|(name, moves)| {
            let numbers = name
                .strip_prefix("move_")?
                .split('_')
                .map(|part| part.parse().ok());
            let numbers = <[u32; 3]>::try_from(numbers.collect::<Option<Vec<u32>>>()?).ok()?;
            Some((numbers, *moves))
        })
        .collect();
    // A branch hangs on one with a smaller number.
    others.sort_by_key(|([_, _, own], _)| *own);
    for ([from, ply, own], moves) in others {
        let name = format!("move_{from}_{ply}_{own}");
        let hung = branches.get(&from).and_then(|(first, line)| {
            let at = (ply as usize).checked_sub(*first)?;
            let parent = match at.checked_sub(1) {
                Some(before) => Some(*line.get(before)?),
                None => tree.moves[*line.first()?].parent,
            };
            Some(parent)
        });
        match hung {
            Some(parent) => {
                let line = add(&mut tree, parent, &digits(moves), &name, omissions);
                branches.insert(own, (ply as usize, line));
            }
            None => omissions.omit_text("variations_without_a_place", "", &name),
        }
    }
    for (name, comment) in fields.iter().filter(|(_, comment)| !comment.is_empty()) {
        let Some(place) = name.strip_prefix("comment") else {
            continue;
        };
        let (branch, ply) = place.split_once('_').unwrap_or(("0", place));
        let at = branch.parse().ok().and_then(|branch: u32| {
            let (first, line) = branches.get(&branch)?;
            line.get(ply.parse::<usize>().ok()?.checked_sub(*first)?)
        });
        if let Some(at) = at {
            tree.remark(Some(*at), &text(comment));
        }
    }
    omissions.omit("games_without_moves", tree.moves.is_empty().into());
    Some(tree)
}

/// Adds a line of moves behind a move; returns their numbers.
fn add(
    tree: &mut GameTree,
    parent: Option<usize>,
    moves: &[u8],
    name: &str,
    omissions: &mut Omissions,
) -> Vec<usize> {
    let mut at = match parent {
        None => Some(tree.start.clone()),
        Some(parent) => after(&tree.moves[parent].before, tree.moves[parent].at),
    };
    let (mut last, mut line) = (parent, Vec::new());
    for written in moves.chunks(4) {
        let Some(before) = at.take() else { break };
        let square = |column: u8, row: u8| format!("{}{}", char::from(b'a' + column), 9 - row);
        let made = match written {
            [a, b, c, d] if *a < 9 && *c < 9 => {
                read_move(&before, &(square(*a, *b) + &square(*c, *d)))
            }
            _ => None,
        };
        let Some((m, next)) = made.and_then(|m| Some((m, after(&before, m)?))) else {
            let text: String = written.iter().map(u8::to_string).collect();
            let place = format!("{name}, move {}: ", line.len() + 1);
            omissions.omit_text("games_cut_short", &place, &text);
            break;
        };
        let number = tree.push(last, before, m);
        line.push(number);
        (last, at) = (Some(number), Some(next));
    }
    line
}

/// Returns the first position, in which the side of the first move is to move.
fn start(squares: &str, moves: &[u8], variant: Variant) -> Result<Position, String> {
    if squares.is_empty() {
        return Ok(Position::start(variant));
    }
    let numbers = digits(squares);
    let mut board = [['.'; 9]; 10];
    for (pair, piece) in numbers.chunks_exact(2).zip(PieceRow::STANDARD) {
        if let [column, row] = pair
            && *column < 9
        {
            board[usize::from(*row)][usize::from(*column)] = char::from(*piece);
        }
    }
    let is_black = match moves {
        [column, row, ..] if *column < 9 => {
            board[usize::from(*row)][usize::from(*column)].is_ascii_lowercase()
        }
        _ => false,
    };
    let fen = fen(&board, is_black);
    Position::from_fen(variant, &fen).map_err(|error| format!("{squares}: {error}"))
}

fn digits(text: &str) -> Vec<u8> {
    let digits = text.bytes().filter(u8::is_ascii_digit);
    digits.map(|digit| digit - b'0').collect()
}

/// Reads a text, whose lines end with two bars.
fn text(text: &str) -> String {
    text.replace("||", "\n").trim().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trees(text: &str) -> (Vec<GameTree>, Omissions) {
        let mut trees = Vec::new();
        let read = read_trees(text.as_bytes(), Variant::XIANGQI, &mut |tree| {
            trees.push(tree)
        });
        let mut omissions = read.expect("a game");
        omissions.retain(|_, count| *count > 0);
        (trees, omissions)
    }

    fn names(tree: &GameTree) -> Vec<(Option<usize>, String)> {
        let name = |m: &crate::GameMove| (m.parent, m.before.write_move(m.at));
        tree.moves.iter().map(name).collect()
    }

    #[test]
    fn game_with_branches_and_comments_is_read() {
        let (trees, omissions) = trees(
            "x [DhtmlXQ]\n[DhtmlXQ_title]杯[/DhtmlXQ_title]\n[DhtmlXQ_red]胡荣华[/DhtmlXQ_red]\n\
             [DhtmlXQ_black]柳大华[/DhtmlXQ_black]\n[DhtmlXQ_result]红胜[/DhtmlXQ_result]\n\
             [DhtmlXQ_date]1982年12月11日[/DhtmlXQ_date]\n\
             [DhtmlXQ_movelist]774770627967[/DhtmlXQ_movelist]\n\
             [DhtmlXQ_move_0_2_1]10228988[/DhtmlXQ_move_0_2_1]\n\
             [DhtmlXQ_move_1_3_2]1927[/DhtmlXQ_move_1_3_2]\n\
             [DhtmlXQ_comment0]start[/DhtmlXQ_comment0]\n\
             [DhtmlXQ_comment1]one||two[/DhtmlXQ_comment1]\n\
             [DhtmlXQ_comment1_2]aside[/DhtmlXQ_comment1_2]\n[/DhtmlXQ]\n\
             [DhtmlXQ][DhtmlXQ_movelist]7747[/DhtmlXQ_movelist][/DhtmlXQ]",
        );
        assert_eq!((trees.len(), omissions), (2, Omissions::new()));
        let tree = &trees[0];
        let expected = [
            (None, "h2e2"),
            (Some(0), "h9g7"),
            (Some(1), "h0g2"),
            (Some(0), "b9c7"),
            (Some(3), "i0i1"),
            (Some(3), "b0c2"),
        ];
        assert_eq!(
            names(tree),
            expected.map(|(at, name)| (at, name.to_string()))
        );
        assert_eq!(tree.result.text(), "1-0");
        assert_eq!(
            (&*tree.tags.first, &*tree.tags.date),
            ("胡荣华", "1982-12-11")
        );
        let comments = [0, 3].map(|at| &*tree.moves[at].comment);
        assert_eq!((&*tree.comment, comments), ("start", ["one\ntwo", "aside"]));
    }

    #[test]
    fn set_up_pieces_and_wrong_moves_are_read() {
        // The general and a rook of each side; Black moves first.
        let mut squares = ["99"; 32];
        (squares[4], squares[16], squares[20]) = ("49", "00", "30");
        let squares = squares.concat();
        let text = format!(
            "[DhtmlXQ_binit]{squares}[/DhtmlXQ_binit][DhtmlXQ_movelist]00010149[/DhtmlXQ_movelist]"
        );
        let (found, omissions) = trees(&text);
        assert_eq!(
            found[0].start.fen().as_deref(),
            Ok("r2k5/9/9/9/9/9/9/9/9/4K4 b - - 0 1")
        );
        assert_eq!(names(&found[0]), [(None, "a9a8".to_string())]);
        assert_eq!(
            omissions.first()["games_cut_short"],
            "movelist, move 2: '0149'"
        );
        let wrong = read_trees(b"[DhtmlXQ][/DhtmlXQ]", Variant::XIANGQI, &mut |_| {});
        assert!(wrong.is_err_and(|error| error.to_string().contains("DhtmlXQ_movelist")));
    }
}

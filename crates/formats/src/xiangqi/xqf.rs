//! Games and trees of XQF, the format of XQStudio (象棋演播室), versions 1.0 to 1.8.
//!
//! A header of 1,024 bytes holds the pieces and the names, then comes the tree of moves: 4 bytes a
//! move, and the length and text of its comment. From version 1.1 on the pieces, the squares of the
//! moves and the whole tree are shifted by keys that the header holds.

use std::collections::HashSet;

use anyhow::{Result, bail, ensure};
use encoding_rs::GB18030;
use kagetsu_book::{Annotation, Book, Entry};
use kagetsu_game::{Move, Position, Side, Variant};
use kagetsu_games::{GameTags, after, read_move};

use crate::games::book_tree::BookTree;
use crate::games::tally::GameResult;
use crate::games::tree::GameTree;
use crate::omissions::{Omissions, TRUNCATED_FILES};
use crate::xiangqi::check_variant;
use crate::xiangqi::pieces::{PieceRow, fen};

/// Length of the header, in bytes.
const HEADER_BYTES: usize = 0x400;
/// The last version without keys.
const LAST_PLAIN_VERSION: u8 = 10;
/// The first version whose pieces stand in another order in the header.
const FIRST_MIXED_VERSION: u8 = 12;
/// The text that the keys of the tree are cut from.
const KEY_TEXT: &[u8; 32] = b"[(C) Copyright Mr. Dong Shiwei.]";
/// Squares of the board, ten for each file.
const SQUARES: u8 = 90;
/// Bytes after which a comment is no comment.
const MAX_COMMENT_BYTES: usize = 1 << 20;

/// The keys of a file; all zero where it has none.
#[derive(Default)]
struct Keys {
    pieces: u8,
    from: u8,
    to: u8,
    comment: u32,
    tree: [u8; 32],
}

impl Keys {
    fn of(header: &[u8; HEADER_BYTES]) -> Self {
        let [mask, sum, pieces, from, to] = [3, 12, 13, 14, 15].map(|at| header[at]);
        if header[2] <= LAST_PLAIN_VERSION {
            return Self::default();
        }
        let hash = |byte: u8, by: u8| {
            let byte = u32::from(byte);
            let hash = (((byte * byte * 3 + 9) * 3 + 8) * 2 + 1) * 3 + 8;
            hash.wrapping_mul(by.into()) as u8
        };
        let key_of_pieces = hash(pieces, pieces);
        let key_of_from = hash(from, key_of_pieces);
        let key_of_to = hash(to, key_of_from);
        let masks = [(sum, 8), (pieces, 9), (from, 10), (to, 11)]
            .map(|(byte, at)| (byte & mask) | header[at]);
        let mut tree = *KEY_TEXT;
        for (byte, mask) in tree.iter_mut().zip(masks.iter().cycle()) {
            *byte &= mask;
        }
        Self {
            pieces: key_of_pieces,
            from: key_of_from,
            to: key_of_to,
            comment: (u32::from(sum) * 256 + u32::from(pieces)) % 32_000 + 767,
            tree,
        }
    }
}

/// Reads the game or tree of a file.
///
/// # Errors
/// If the file is no XQF, or its pieces are no position.
pub(crate) fn read_tree(bytes: &[u8], variant: Variant) -> Result<(GameTree, Omissions)> {
    check_variant(variant)?;
    ensure!(
        bytes.starts_with(b"XQ"),
        "it is no XQF: such a file begins with the letters XQ"
    );
    let Some((header, coded)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        bail!("it ends in the middle of its header, which has {HEADER_BYTES} bytes");
    };
    let read = tree_of(header, coded, variant)?;
    // Some programs leave the side to move of a set-up position at Red.
    let mut other = *header;
    other[50] = u8::from(header[50] != 1);
    if read.0.moves.is_empty()
        && let Ok(other) = tree_of(&other, coded, variant)
        && !other.0.moves.is_empty()
    {
        return Ok(other);
    }
    Ok(read)
}

/// Reads the game or tree behind a header.
fn tree_of(
    header: &[u8; HEADER_BYTES],
    coded: &[u8],
    variant: Variant,
) -> Result<(GameTree, Omissions)> {
    let keys = Keys::of(header);
    let mut tree = GameTree::from_start(start(header, &keys, variant)?);
    tree.result = match header[51] {
        1 => GameResult::Won(Side::First),
        2 => GameResult::Won(Side::Second),
        3 => GameResult::Drawn,
        _ => GameResult::Unknown,
    };
    tree.tags = tags(header);
    let coded: Vec<u8> = coded
        .iter()
        .zip(keys.tree.iter().cycle())
        .map(|(byte, key)| byte.wrapping_sub(*key))
        .collect();
    let mut reader = TreeReader {
        is_plain: header[2] <= LAST_PLAIN_VERSION,
        keys,
        tree: &coded,
        omissions: Omissions::new(),
    };
    reader.moves(&mut tree);
    let mut omissions = reader.omissions;
    let is_empty = tree.moves.is_empty();
    omissions.omit("games_without_moves", is_empty.into());
    Ok((tree, omissions))
}

/// Writes the positions behind one of a book, as a tree of version 1.0. The first position is the
/// root or the start where the book holds it, else one that no move of the book leads to.
///
/// # Errors
/// If a record is damaged.
pub(crate) fn write(
    book: &Book,
    variant: Variant,
    root: Option<&Position>,
) -> Result<(Vec<u8>, u64, Omissions)> {
    check_variant(variant)?;
    let mut start = root.map_or_else(|| Position::start(variant), Position::clone);
    if book.lookup(&start)?.is_none() {
        let (mut positions, mut behind) = (Vec::new(), HashSet::new());
        for entry in book.positions() {
            let Entry {
                position, facts, ..
            } = entry?;
            if position.variant() == variant {
                let moves: Vec<Move> = facts.verdicts().iter().map(|(m, _)| *m).collect();
                behind.extend(position.children(&moves).into_iter().map(|child| child.key));
                positions.push(position);
            }
        }
        let root = positions
            .into_iter()
            .find(|position| !behind.contains(&position.key()));
        start = root.unwrap_or(start);
    }
    let mut omissions = Omissions::new();
    let tree = BookTree::grow(book, &start, &[], &mut omissions)?;
    let mut bytes = vec![0; HEADER_BYTES];
    bytes[..3].copy_from_slice(b"XQ\x0a");
    bytes[16..48].copy_from_slice(&squares(&start.fen()?));
    bytes[50] = u8::from(start.side() == Side::Second);
    // In the file the next move of a move comes first, then the variations of the move.
    let mut left = vec![(0, false)];
    while let Some((at, has_variation)) = left.pop() {
        let node = &tree.nodes[at];
        let m = node.at.map(|m| usize::from(m.code()));
        let squares = usize::from(SQUARES);
        let [from, to] = m.map_or([0; 2], |m| [m / squares, m % squares].map(square));
        let flag = |mark: u8, is_set: bool| if is_set { mark } else { 0 };
        let marks = flag(0xf0, !node.children.is_empty()) | flag(0x0f, has_variation);
        bytes.extend([from + 24, to + 32, marks, 0]);
        let comment = tree.comment(at, "").replace('\n', "\r\n");
        let (comment, ..) = GB18030.encode(&comment);
        bytes.extend((comment.len() as u32).to_le_bytes());
        bytes.extend(&*comment);
        let last = node.children.last();
        let children = node.children.iter().rev();
        left.extend(children.map(|child| (*child, Some(child) != last)));
        for (kind, is_lost) in [
            (
                "values",
                node.verdict
                    .as_ref()
                    .is_some_and(|verdict| !verdict.is_silent()),
            ),
            (
                "texts_on_points",
                node.notes.iter().any(Annotation::is_on_board),
            ),
        ] {
            omissions.omit(kind, is_lost.into());
        }
    }
    Ok((bytes, tree.seen.len() as u64, omissions))
}

/// Returns the number of a square in the file.
fn square(square: usize) -> u8 {
    (square % 9 * 10 + square / 9) as u8
}

/// Returns the squares of the pieces, in their order; those of pieces that are not there are off
/// the board.
fn squares(fen: &str) -> [u8; 32] {
    let mut all = [0xff; 32];
    let board = fen.split(' ').next().unwrap_or_default();
    for (rank, row) in board.split('/').rev().enumerate() {
        let mut file = 0;
        for letter in row.bytes() {
            let mut places = PieceRow::STANDARD.iter().zip(&mut all);
            if let Some((_, place)) =
                places.find(|(piece, place)| **piece == letter && **place == 0xff)
            {
                *place = square(rank * 9 + file);
            }
            let is_gap = letter.is_ascii_digit();
            file += if is_gap {
                usize::from(letter - b'0')
            } else {
                1
            };
        }
    }
    all
}

/// Returns the position of the pieces in the header.
fn start(header: &[u8; HEADER_BYTES], keys: &Keys, variant: Variant) -> Result<Position> {
    let mut board = [['.'; 9]; 10];
    for (at, &written) in header[16..48].iter().enumerate() {
        let piece = if header[2] >= FIRST_MIXED_VERSION {
            (at + usize::from(keys.pieces) + 1) % PieceRow::STANDARD.len()
        } else {
            at
        };
        let square = written.wrapping_sub(keys.pieces);
        if square < SQUARES {
            board[9 - usize::from(square % 10)][usize::from(square / 10)] =
                char::from(PieceRow::STANDARD[piece]);
        }
    }
    let fen = fen(&board, header[50] == 1);
    Ok(Position::from_fen(variant, &fen)?)
}

/// Reads the names of the header.
fn tags(header: &[u8; HEADER_BYTES]) -> GameTags {
    let text = |at: usize, bytes: usize| {
        let length = usize::from(header[at]).min(bytes - 1);
        words(&header[at + 1..at + 1 + length])
    };
    let event = Some(text(208, 64)).filter(|event| !event.is_empty());
    GameTags {
        first: text(304, 16),
        second: text(320, 16),
        event: event.unwrap_or_else(|| text(80, 64)),
        date: GameTags::date_of(&text(272, 16)),
        ..GameTags::default()
    }
}

/// Reads the tree of moves.
struct TreeReader<'a> {
    is_plain: bool,
    keys: Keys,
    tree: &'a [u8],
    omissions: Omissions,
}

/// A node of the tree.
struct Node {
    from: u8,
    to: u8,
    has_next: bool,
    has_variation: bool,
    comment: String,
}

impl TreeReader<'_> {
    /// Adds the moves to the tree. In the file the next move of a move comes first, then the
    /// variations of the move.
    fn moves(&mut self, tree: &mut GameTree) {
        // The first node has no move; it holds the comment on the start.
        let Some(root) = self.node() else {
            self.omissions.omit(TRUNCATED_FILES, 1);
            return;
        };
        tree.remark(None, &root.comment);
        // Positions whose next node follows, with the number of the move that led there; `None`
        // behind a move that cannot be made.
        let mut open: Vec<Option<(Option<usize>, Position)>> = Vec::new();
        if root.has_next {
            open.push(Some((None, tree.start.clone())));
        }
        while let Some(before) = open.pop() {
            let Some(node) = self.node() else {
                self.omissions.omit(TRUNCATED_FILES, 1);
                break;
            };
            let made = before.as_ref().and_then(|(_, before)| {
                let m = read_move(before, &node.text()?)?;
                Some((m, after(before, m)?))
            });
            if before.is_some() && made.is_none() {
                let text = node
                    .text()
                    .unwrap_or_else(|| format!("{} {}", node.from, node.to));
                let place = format!("behind move {}: ", tree.moves.len());
                self.omissions
                    .omit_text("moves_that_cannot_be_made", &place, &text);
            }
            if node.has_variation {
                open.push(before.clone());
            }
            let Some(((parent, before), (m, next))) = before.zip(made) else {
                if node.has_next {
                    open.push(None);
                }
                continue;
            };
            let number = Some(tree.push(parent, before, m));
            tree.remark(number, &node.comment);
            if node.has_next {
                open.push(Some((number, next)));
            }
        }
    }

    /// Reads one node with its comment; `None` at the end of the file.
    fn node(&mut self) -> Option<Node> {
        let (&[from, to, marks, _], rest) = self.tree.split_first_chunk()?;
        self.tree = rest;
        let [next, variation] = if self.is_plain {
            [0xf0, 0x0f]
        } else {
            [0x80, 0x40]
        };
        let mut comment = String::new();
        if self.is_plain || marks & 0x20 != 0 {
            let (length, rest) = self.tree.split_first_chunk()?;
            let length = u32::from_le_bytes(*length).wrapping_sub(self.keys.comment) as usize;
            if length > MAX_COMMENT_BYTES {
                return None;
            }
            let (text, rest) = rest.split_at_checked(length)?;
            self.tree = rest;
            comment = words(text);
        }
        Some(Node {
            from: from.wrapping_sub(24).wrapping_sub(self.keys.from),
            to: to.wrapping_sub(32).wrapping_sub(self.keys.to),
            has_next: marks & next != 0,
            has_variation: marks & variation != 0,
            comment,
        })
    }
}

/// Reads a text in the encoding of the format.
fn words(text: &[u8]) -> String {
    let (text, _) = GB18030.decode_without_bom_handling(text);
    text.trim_matches(['\0', ' ', '\r', '\n'])
        .replace("\r\n", "\n")
}

impl Node {
    /// Writes the move in the program's notation; `None` off the board.
    fn text(&self) -> Option<String> {
        let square = |square: u8| {
            let file = char::from(b'a' + square / 10);
            (square < SQUARES).then(|| format!("{file}{}", square % 10))
        };
        Some(square(self.from)? + &square(self.to)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::tally::Games;

    /// Writes a file of version 1.0: a header, and nodes of squares, marks and a comment.
    fn file(nodes: &[(u8, u8, u8, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[..3].copy_from_slice(b"XQ\x0a");
        let start: [u8; 32] = [
            0, 10, 20, 30, 40, 50, 60, 70, 80, 12, 72, 3, 23, 43, 63, 83, 9, 19, 29, 39, 49, 59,
            69, 79, 89, 17, 77, 6, 26, 46, 66, 86,
        ];
        bytes[16..48].copy_from_slice(&start);
        bytes[51] = 2;
        bytes[304..309].copy_from_slice(b"\x04Anne");
        for (from, to, marks, comment) in nodes {
            bytes.extend([from + 24, to + 32, *marks, 0]);
            bytes.extend((comment.len() as u32).to_le_bytes());
            bytes.extend(*comment);
        }
        bytes
    }

    #[test]
    fn line_has_its_players_and_result() {
        let bytes = file(&[
            (0, 0, 0xf0, b"on the start"),
            (72, 42, 0xf0, b""),
            (79, 67, 0, b"!"),
        ]);
        let mut games = Games::default();
        games.play_tree(read_tree(&bytes, Variant::XIANGQI).expect("a game").0);
        assert_eq!(games.take_notes().len(), 2);
        let records = games.records();
        assert_eq!(records.len(), 1);
        let names = records[0].played.moves().iter();
        let start = Position::start(Variant::XIANGQI);
        let first = names.clone().next().map(|m| start.write_move(*m));
        assert_eq!((names.len(), first.as_deref()), (2, Some("h2e2")));
        assert_eq!(records[0].result, GameResult::Won(Side::Second));
        assert_eq!(records[0].tags.first, "Anne");
    }

    #[test]
    fn variations_are_moves_of_one_tree() {
        let nodes: [(u8, u8, u8, &[u8]); 4] = [
            (0, 0, 0xf0, b""),
            (72, 42, 0xff, b""),
            (79, 67, 0, b""),
            (12, 42, 0, b""),
        ];
        let (tree, _) = read_tree(&file(&nodes), Variant::XIANGQI).expect("a tree");
        let parents: Vec<_> = tree.moves.iter().map(|m| m.parent).collect();
        assert_eq!(parents, [None, Some(0), None]);
        let mut games = Games::default();
        games.play_tree(tree);
        assert!(
            games.records().is_empty() && games.titles == 1,
            "a tree is no game"
        );
        assert_eq!(games.answers("xqf").len(), 2, "the start, and after h2e2");
        // The header says that Red moves, and the first move is Black's.
        let black = file(&[(0, 0, 0xf0, b""), (79, 67, 0, b"")]);
        let (tree, omissions) = read_tree(&black, Variant::XIANGQI).expect("a tree");
        assert_eq!((tree.moves.len(), tree.start.side()), (1, Side::Second));
        assert_eq!(omissions.values().sum::<u64>(), 0);
    }

    #[test]
    fn other_bytes_are_refused() {
        for bytes in [&b""[..], b"XQ", b"[Event \"x\"]", &[0; 2_000]] {
            assert!(read_tree(bytes, Variant::XIANGQI).is_err());
        }
        let whole = file(&[(0, 0, 0xf0, b""), (72, 42, 0, b"")]);
        for length in 0..whole.len() {
            let _ = read_tree(&whole[..length], Variant::XIANGQI);
        }
        let cut = read_tree(&whole[..whole.len() - 3], Variant::XIANGQI).expect("a header");
        assert_eq!(cut.1.get(TRUNCATED_FILES), Some(&1));
    }
}

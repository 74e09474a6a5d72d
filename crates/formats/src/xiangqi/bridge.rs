//! Games of CCBridge (象棋桥): `.cbr` holds one game, `.cbl` a library of them.
//!
//! A record has fields of fixed length in UTF-16, the board, and then the moves with their
//! comments. In a library records begin at multiples of 4,096 bytes behind its index. Records of
//! version 1 lack the script's name before the title, and two names behind the players.
//!
//! A library of CCBridge 2.1 is packed behind its header. Each text in it has its length before it.
//! A game has the squares of the pieces, the moves of all lines, and then their comments.

use anyhow::{Context, Result, bail, ensure};
use encoding_rs::{GB18030, UTF_16LE};
use flate2::read::ZlibDecoder;
use kagetsu_game::{Position, Side, Variant};
use kagetsu_games::{GameResult, GameTags, after, read_move};

use crate::games::tree::GameTree;
use crate::input::archive::{MAX_UNPACKED_BYTES, unpacked};
use crate::omissions::{Omissions, TRUNCATED_FILES};
use crate::xiangqi::check_variant;
use crate::xiangqi::pieces::fen;

const RECORD: &[u8] = b"CCBridge Record\0";
const LIBRARY: &[u8] = b"CCBridgeLibrary\0";
/// How a library of CCBridge 2.1 begins, and the bytes of its header.
const OLD_LIBRARY: &[u8] = b"CCBridge\x15\0\0\0";
const OLD_HEADER_BYTES: usize = 20;
/// Bytes of two times, and of a move, in such a library.
const OLD_TIMES_BYTES: usize = 38;
const OLD_MOVE_BYTES: usize = 6;
/// Bytes of a record before its moves.
const RECORD_BYTES: usize = 2_214;
/// Bytes that a record of version 1 lacks before the title, and as many behind the players.
const LACKING_BYTES: usize = 128;
/// Bytes of a library before its index, and of each entry of the index.
const INDEX_BEGIN: usize = 66_624;
const INDEX_ENTRY: usize = 276;
/// Records of a library begin at multiples of this.
const SLOT: usize = 4_096;
/// Flags of a move: the line ends with it; another move stands beside it later; a comment follows.
const LAST: u8 = 1;
const BESIDE: u8 = 2;
const COMMENT: u8 = 4;

/// Reads all games of a file. The omissions count comments, too, which trees have.
///
/// # Errors
/// If the file is no such file.
pub(crate) fn read_trees(
    bytes: &[u8],
    variant: Variant,
    take: &mut dyn FnMut(GameTree),
) -> Result<Omissions> {
    check_variant(variant)?;
    let mut omissions = Omissions::new();
    let mut records: Vec<&[u8]> = Vec::new();
    if bytes.starts_with(LIBRARY) {
        ensure!(
            bytes.len() > INDEX_BEGIN,
            "it ends in the middle of its header"
        );
        let slots = u32::from_le_bytes([bytes[60], bytes[61], bytes[62], bytes[63]]);
        let begin = usize::try_from(slots)
            .ok()
            .and_then(|slots| slots.checked_mul(INDEX_ENTRY));
        let begin = begin.and_then(|index| bytes.get(INDEX_BEGIN.checked_add(index)?..));
        let mut rest = begin.context("it ends in the middle of its index")?;
        while !rest.is_empty() {
            if rest.starts_with(RECORD) {
                records.push(rest);
            }
            rest = rest.get(SLOT..).unwrap_or_default();
        }
        ensure!(!records.is_empty(), "the library has no game");
    } else if bytes.starts_with(RECORD) {
        records.push(bytes);
    } else if bytes.starts_with(OLD_LIBRARY) {
        let content = bytes.get(OLD_HEADER_BYTES..).unwrap_or_default();
        let is_packed = bytes.get(OLD_LIBRARY.len()) > Some(&0);
        let unpack = || unpacked(ZlibDecoder::new(content), &mut { MAX_UNPACKED_BYTES });
        let unpacked = is_packed.then(unpack).transpose()?;
        let mut fields = OldFields(unpacked.as_deref().unwrap_or(content));
        let end = read_old(&mut fields, variant, &mut omissions, take);
        omissions.omit(TRUNCATED_FILES, end.is_none().into());
        return Ok(omissions);
    } else {
        bail!("it does not begin as a file of CCBridge does");
    }
    for (number, record) in (1..).zip(records) {
        let is_first = record.get(19) == Some(&1);
        let lacking = if is_first { LACKING_BYTES } else { 0 };
        match record.split_at_checked(RECORD_BYTES - 2 * lacking) {
            Some((header, moves)) => {
                if let Some(tree) = tree(header, moves, lacking, variant, number, &mut omissions) {
                    take(tree);
                }
            }
            None => omissions.omit(TRUNCATED_FILES, 1),
        }
    }
    Ok(omissions)
}

fn tree(
    header: &[u8],
    moves: &[u8],
    lacking: usize,
    variant: Variant,
    number: usize,
    omissions: &mut Omissions,
) -> Option<GameTree> {
    let text = |at: usize, bytes: usize| words(&header[at - lacking..at - lacking + bytes]);
    let behind = &header[2_076 - 2 * lacking..];
    let fen = board(&behind[44..134], behind[36] == 2);
    let mut tree = begun(&fen, behind[0].into(), variant, number, omissions)?;
    let event = [text(692, 64), text(180, 128)];
    tree.tags = GameTags {
        first: text(1_076, 64),
        second: text(1_300, 64),
        event: event
            .into_iter()
            .find(|text| !text.is_empty())
            .unwrap_or_default(),
        date: GameTags::date_of(&text(884, 64)),
        round: text(756, 64),
        source: String::new(),
    };
    let mut reader = MoveReader {
        rest: moves,
        omissions,
        number,
        is_first: lacking > 0,
    };
    if !reader.moves(&mut tree) {
        omissions.omit(TRUNCATED_FILES, 1);
    }
    omissions.omit("games_without_moves", tree.moves.is_empty().into());
    Some(tree)
}

/// Returns the tree of a game without moves.
fn begun(
    fen: &str,
    result: usize,
    variant: Variant,
    number: usize,
    omissions: &mut Omissions,
) -> Option<GameTree> {
    let start = match Position::from_fen(variant, fen) {
        Ok(start) => start,
        Err(error) => {
            let place = format!("game {number}: ");
            let text = format!("{fen}: {error}");
            omissions.omit_text("games_from_impossible_positions", &place, &text);
            return None;
        }
    };
    let mut tree = GameTree::from_start(start);
    tree.result = match result {
        1 => GameResult::Won(Side::First),
        2 => GameResult::Won(Side::Second),
        3 => GameResult::Drawn,
        _ => GameResult::Unknown,
    };
    Some(tree)
}

/// Reads the games of a library of CCBridge 2.1; `None` if it ends too early.
fn read_old(
    fields: &mut OldFields,
    variant: Variant,
    omissions: &mut Omissions,
    take: &mut dyn FnMut(GameTree),
) -> Option<()> {
    let _names: [String; 5] = fields.texts()?;
    fields.bytes(OLD_TIMES_BYTES)?;
    let games = fields.number()?;
    let _remark: [String; 1] = fields.texts()?;
    for number in 1..=games {
        let length = fields.number()?.checked_sub(4)?;
        let mut record = OldFields(fields.bytes(length)?);
        if let Some(tree) = old_tree(&mut record, variant, number, omissions)? {
            take(tree);
        }
    }
    Some(())
}

/// Reads a game of such a library; `None` if it ends too early.
fn old_tree(
    record: &mut OldFields,
    variant: Variant,
    number: usize,
    omissions: &mut Omissions,
) -> Option<Option<GameTree>> {
    let squares = record.bytes(32)?;
    record.number()?;
    let [event] = record.texts()?;
    record.number()?;
    let [title, _, _, _, date, first, second] = record.texts()?;
    let result = record.number()?;
    let [_, _, _, _, comment] = record.texts()?;
    let is_black = record.bytes(1)? != [1];
    record.bytes(OLD_TIMES_BYTES)?;
    let mut board = [['.'; 9]; 10];
    for (square, piece) in squares.iter().zip(b"RNBAKABNRCCPPPPPrnbakabnrccppppp") {
        let row = usize::from(square & 15).checked_sub(1);
        let row = row.and_then(|row| board.get_mut(row));
        let file = usize::from(square >> 4).checked_sub(1);
        if let Some(place) = row.and_then(|row| row.get_mut(file?)) {
            *place = char::from(*piece);
        }
    }
    let tree = begun(&fen(&board, is_black), result, variant, number, omissions);
    let Some(mut tree) = tree else {
        return Some(None);
    };
    tree.tags = GameTags {
        first,
        second,
        event: if event.is_empty() { title } else { event },
        date: GameTags::date_of(&date),
        ..GameTags::default()
    };
    tree.remark(None, &comment);
    let moves = record.number()?.checked_mul(OLD_MOVE_BYTES)?;
    let moves = record.bytes(moves)?;
    let mut rest = record.0;
    // A move stands behind the last one before it that has a lower number.
    let mut line: Vec<(u16, Place)> = Vec::new();
    for bytes in moves.chunks_exact(OLD_MOVE_BYTES) {
        let end = rest.windows(2).position(|pair| pair == b"\r\n");
        let (comment, behind) = rest.split_at(end.unwrap_or(rest.len()));
        rest = behind.get(2..).unwrap_or_default();
        let ply = u16::from_le_bytes([bytes[0], bytes[1]]);
        line.truncate(line.iter().take_while(|(before, _)| *before < ply).count());
        let start = || Some((None, tree.start.clone()));
        let at = line.last().map_or_else(start, |(_, place)| place.clone());
        let squares = [bytes[2], bytes[3]].map(hex_square);
        let at = at.and_then(|at| {
            step(
                &mut tree,
                at,
                squares,
                &old_text(comment),
                number,
                omissions,
            )
        });
        line.push((ply, at));
    }
    omissions.omit("games_without_moves", tree.moves.is_empty().into());
    Some(Some(tree))
}

/// The fields of a library of CCBridge 2.1.
struct OldFields<'a>(&'a [u8]);

impl<'a> OldFields<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<usize> {
        let bytes = self.bytes(4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    }

    /// Reads texts, each behind its length.
    fn texts<const COUNT: usize>(&mut self) -> Option<[String; COUNT]> {
        let mut text = || {
            let length = self.number()?;
            Some(old_text(self.bytes(length)?))
        };
        let texts: Vec<String> = (0..COUNT).map_while(|_| text()).collect();
        texts.try_into().ok()
    }
}

/// Decodes a text of CCBridge 2.1, where || ends a line.
fn old_text(bytes: &[u8]) -> String {
    let (text, _) = GB18030.decode_without_bom_handling(bytes);
    text.replace("||", "\n").trim_matches(['\0', ' ']).into()
}

/// Returns the number of a square that is given by its file and its rank from the top.
fn hex_square(code: u8) -> u8 {
    (code & 15) * 9 + (code >> 4)
}

/// Where a move is added to a tree: behind a move, in a position; `None` behind an impossible one.
type Place = Option<(Option<usize>, Position)>;

/// Adds a move to a tree, and returns the place behind it.
fn step(
    tree: &mut GameTree,
    (parent, before): (Option<usize>, Position),
    [from, to]: [u8; 2],
    comment: &str,
    game: usize,
    omissions: &mut Omissions,
) -> Place {
    let square = |code: u8| format!("{}{}", char::from(b'a' + code % 9), 9 - code / 9);
    let is_on_board = from < 90 && to < 90;
    let text = if is_on_board {
        square(from) + &square(to)
    } else {
        String::new()
    };
    let m = read_move(&before, &text);
    if let Some((m, next)) = m.and_then(|m| Some((m, after(&before, m)?))) {
        let number = Some(tree.push(parent, before, m));
        tree.remark(number, comment);
        return Some((number, next));
    }
    let place = format!("game {game}: ");
    let text = if is_on_board {
        text
    } else {
        format!("{from} {to}")
    };
    omissions.omit_text("moves_that_cannot_be_made", &place, &text);
    None
}

/// Writes the board, a byte for each square from the top left: colour and kind.
fn board(squares: &[u8], is_black: bool) -> String {
    const PIECES: &[u8; 7] = b"RNBAKCP";
    let mut board = [['.'; 9]; 10];
    for (at, square) in squares.iter().enumerate() {
        let kind = usize::from(square & 15).checked_sub(1);
        let Some(&piece) = kind.and_then(|kind| PIECES.get(kind)) else {
            continue;
        };
        let piece = match square >> 4 {
            1 => piece,
            2 => piece.to_ascii_lowercase(),
            _ => continue,
        };
        board[at / 9][at % 9] = char::from(piece);
    }
    fen(&board, is_black)
}

/// Reads the moves of a record.
struct MoveReader<'a, 'b> {
    rest: &'a [u8],
    omissions: &'b mut Omissions,
    /// The number of the record.
    number: usize,
    /// Whether the record is of version 1, where a square is its file and rank in half a byte each.
    is_first: bool,
}

impl MoveReader<'_, '_> {
    /// Adds the moves to a tree. Returns whether they are whole.
    fn moves(&mut self, tree: &mut GameTree) -> bool {
        // The first record is no move; it holds the comment on the start.
        let Some((flags, _, comment)) = self.node() else {
            return false;
        };
        tree.remark(None, &comment);
        if flags & LAST != 0 {
            return true;
        }
        // Where the moves stand beside which others follow.
        let mut waiting: Vec<Place> = Vec::new();
        let mut at = Some((None, tree.start.clone()));
        while let Some((flags, squares, comment)) = self.node() {
            if flags & BESIDE != 0 {
                waiting.push(at.clone());
            }
            at = at.and_then(|at| step(tree, at, squares, &comment, self.number, self.omissions));
            if flags & LAST != 0 {
                match waiting.pop() {
                    Some(place) => at = place,
                    None => return true,
                }
            }
        }
        false
    }

    /// Reads the flags, the squares and the comment of a move.
    fn node(&mut self) -> Option<(u8, [u8; 2], String)> {
        let (&[flags, _, from, to], rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        let square = if self.is_first {
            hex_square
        } else {
            |code| code
        };
        let mut comment = String::new();
        if flags & COMMENT != 0 {
            let (length, rest) = rest.split_first_chunk()?;
            let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
            let (text, rest) = rest.split_at_checked(length)?;
            self.rest = rest;
            comment = words(text);
        }
        Some((flags, [from, to].map(square), comment))
    }
}

/// Reads a text up to its end, or to a zero.
fn words(text: &[u8]) -> String {
    let (text, _) = UTF_16LE.decode_without_bom_handling(text);
    text.split('\0').next().unwrap_or_default().trim().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a record of nodes: flags, squares, and a comment.
    fn record(nodes: &[(u8, u8, u8, &str)]) -> Vec<u8> {
        let mut bytes = vec![0; RECORD_BYTES];
        bytes[..16].copy_from_slice(RECORD);
        let mut put = |at: usize, text: &str| {
            let text: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            bytes[at..at + text.len()].copy_from_slice(&text);
        };
        put(1_076, "王一");
        put(692, "杯");
        bytes[2_076] = 2;
        bytes[2_112] = 1;
        let back: [u8; 9] = [1, 2, 3, 4, 5, 4, 3, 2, 1];
        for (file, kind) in back.into_iter().enumerate() {
            bytes[2_120 + file] = 0x20 + kind;
            bytes[2_120 + 81 + file] = 0x10 + kind;
        }
        bytes[2_120 + 70] = 0x16;
        for (flags, from, to, comment) in nodes {
            bytes.extend([*flags, 0, *from, *to]);
            let text: Vec<u8> = comment.encode_utf16().flat_map(u16::to_le_bytes).collect();
            if !text.is_empty() {
                bytes.extend((text.len() as u32).to_le_bytes());
                bytes.extend(text);
            }
        }
        bytes
    }

    fn trees(bytes: &[u8]) -> Result<(Vec<GameTree>, Omissions)> {
        let mut trees = Vec::new();
        let mut omissions = read_trees(bytes, Variant::XIANGQI, &mut |tree| trees.push(tree))?;
        omissions.retain(|_, count| *count > 0);
        Ok((trees, omissions))
    }

    #[test]
    fn record_and_library_are_read() {
        // h2e2, and behind it i9i8 or a9a8.
        let nodes = [
            (COMMENT, 0, 0, "start"),
            (COMMENT, 70, 67, "best"),
            (BESIDE | LAST, 8, 17, ""),
            (LAST, 0, 9, ""),
        ];
        let one = record(&nodes);
        let (found, omissions) = trees(&one).expect("a game");
        let moves: Vec<_> = found[0]
            .moves
            .iter()
            .map(|m| (m.parent, m.before.write_move(m.at), &*m.comment))
            .collect();
        let expected = [
            (None, "h2e2".to_string(), "best"),
            (Some(0), "i9i8".to_string(), ""),
            (Some(0), "a9a8".to_string(), ""),
        ];
        assert_eq!((moves, omissions), (expected.to_vec(), Omissions::new()));
        assert_eq!(
            (&*found[0].tags.first, found[0].result.text()),
            ("王一", "0-1")
        );
        let mut first = record(&[(0, 0, 0, ""), (LAST, 0x77, 0x47, "")]);
        first.drain(1_524..1_652);
        first.drain(52..180);
        first[19] = 1;
        let (found, _) = trees(&first).expect("a game of version 1");
        let m = &found[0].moves[0];
        let read = (&*found[0].tags.first, m.before.write_move(m.at));
        assert_eq!(read, ("王一", "h2e2".into()));
        let mut library = vec![0; INDEX_BEGIN + 3 * INDEX_ENTRY];
        library[..16].copy_from_slice(LIBRARY);
        library[60] = 3;
        let cut = trees(&library[..INDEX_BEGIN + 1]).expect_err("no whole index");
        assert_eq!(cut.to_string(), "it ends in the middle of its index");
        for _ in 0..2 {
            library.extend(&one);
            library.resize(library.len().next_multiple_of(4) + 4, 0);
            let records = library.len() - INDEX_BEGIN - 3 * INDEX_ENTRY;
            library.resize(library.len() - records + records.next_multiple_of(SLOT), 0);
        }
        assert_eq!(trees(&library).expect("a library").0.len(), 2);
    }

    #[test]
    fn older_library_is_read_with_its_lines() {
        // A game with a cannon, packed: h2e2 d9d8, or d9e9 as the second; or h2h3.
        let library =
            b"CCBridge\x15\0\0\0\x03\0\0\0\x03\x01\0\0x\xdac`\xc0\x04\x06D\x01F\xa8\xea\x83P:\nD\
             t LqD2\x11\xa4\x96\t\x887\xaeed\xc0\x0eX\x80\xf8\xec\xd7K\xbbA\xf4\x81w\xdb\xfe1aQ\
             \xc3\x06\xc4{\xae\xd7\xd4\\\xba\xc4H\x9c\x13Y\xc0V\x97\xbb\x83,70\x04\x93\x0e`\x91\
             2\x06\x06^\xae\xfcl^.\x10\x04\0w\xfa 5";
        let (found, _) = trees(library).expect("a game");
        let moves = found[0].moves.iter();
        let moves = moves.map(|m| (m.parent, m.before.write_move(m.at), &*m.comment));
        let expected = [
            (None, "h2e2".into(), ""),
            (Some(0), "d9d8".into(), "ok"),
            (Some(0), "d9e9".into(), ""),
            (None, "h2h3".into(), ""),
        ];
        assert_eq!(moves.collect::<Vec<_>>(), expected);
        let read = [
            &found[0].comment,
            &found[0].tags.event,
            &found[0].tags.second,
        ];
        assert_eq!(read, ["甲\n乙", "杯", "李二"]);
        assert_eq!(found[0].result.text(), "0-1");
        assert!(trees(&library[..60]).is_err(), "it is cut");
    }

    #[test]
    fn cut_or_wrong_bytes_are_told() {
        let whole = record(&[(0, 0, 0, ""), (0, 70, 67, ""), (LAST, 0, 90, "")]);
        let (_, omissions) = trees(&whole).expect("a game");
        assert_eq!(
            omissions.first()["moves_that_cannot_be_made"],
            "game 1: '0 90'"
        );
        for length in 0..whole.len() {
            let _ = trees(&whole[..length]);
        }
        let (_, omissions) = trees(&whole[..whole.len() - 2]).expect("a part of it");
        assert_eq!(omissions[TRUNCATED_FILES], 1);
        for bytes in [&b""[..], b"CCBridge", LIBRARY, b"[Event]"] {
            assert!(trees(bytes).is_err(), "{bytes:?}");
        }
    }
}

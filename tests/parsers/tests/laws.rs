//! The laws with random input: any text and bytes, and input that is valid but for a few places.

use kagetsu_game::{Effort, Position, Question, Variant};
use kagetsu_parsers as law;
use kagetsu_proto::v1;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use prost::Message;

/// Valid input of the parsers of text.
const TEXTS: [&str; 14] = [
    "h8 i9 h9 h10 i8 g8 j8",
    "7,7 8,8 7,8",
    "h8i9h9",
    "freestyle-15",
    "xiangqi-chase",
    "0123456789abcdef0123456789abcdef",
    "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1",
    "h2e2 h9g7 h0g2",
    "xxxxxx/xxxxxx/6/6/oooooo/oooooo x 0",
    ". . . . .\n. X . . .\n. . O . .\n. . . . .\n. . . . .",
    "info depth 3 multipv 1 score cp 12 nodes 99 pv h2e2 h9g7",
    "setoption name Threads value 2",
    "MESSAGE depth 3-7 ev 12 n 99 tm 5 pv h8 i9",
    "INFO timeout_turn 500",
];
/// Valid files, without the two bytes that choose the format and the game.
const FILES: [&str; 5] = [
    "(;GM[4]SZ[15];B[hh];W[ih](;B[hi])(;B[ii]))",
    "Piskvorky 15x15, 11:11, 0\n8,8,0\n9,9,0\n-1\n",
    "h8 i9 h9 1-0\n",
    "[Event \"x\"]\n[Result \"1-0\"]\n\n1. C2.5 H8+7 1-0\n",
    "{\"variant\":\"freestyle-15\",\"moves\":\"h8\",\"candidates\":[]}\n",
];

/// Replaces, inserts and deletes bytes.
fn edited(mut bytes: Vec<u8>, edits: &[(Index, u8, u8)]) -> Vec<u8> {
    for (place, kind, byte) in edits {
        let at = place.index(bytes.len() + 1);
        match kind % 3 {
            0 => bytes.insert(at, *byte),
            1 if at < bytes.len() => bytes[at] = *byte,
            _ if at < bytes.len() => drop(bytes.remove(at)),
            _ => {}
        }
    }
    bytes
}

fn edits() -> impl Strategy<Value = Vec<(Index, u8, u8)>> {
    prop::collection::vec((any::<Index>(), any::<u8>(), any::<u8>()), 0..4)
}

fn text() -> impl Strategy<Value = String> {
    let nearly = (select(&TEXTS[..]), edits()).prop_map(|(text, edits)| {
        String::from_utf8_lossy(&edited(text.into(), &edits)).into_owned()
    });
    prop_oneof![any::<String>(), "[a-o0-9 ,./-]{0,40}", nearly]
}

fn file() -> impl Strategy<Value = Vec<u8>> {
    let nearly =
        (select(&FILES[..]), edits()).prop_map(|(text, edits)| edited(text.into(), &edits));
    let content = prop_oneof![prop::collection::vec(any::<u8>(), 0..200), nearly];
    (any::<[u8; 2]>(), content).prop_map(|(choice, content)| [&choice[..], &content].concat())
}

fn message() -> impl Strategy<Value = Vec<u8>> {
    let position = Position::from_line(Variant::FREESTYLE_15, "h8 i9 h9").expect("a line");
    let question = Question::new(position.clone(), Effort::depth(3));
    let (position, question) = (v1::Position::from(&position), v1::Question::from(&question));
    let valid = vec![position.encode_to_vec(), question.encode_to_vec()];
    let nearly = (select(valid), edits()).prop_map(|(bytes, edits)| edited(bytes, &edits));
    prop_oneof![prop::collection::vec(any::<u8>(), 0..100), nearly]
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..80)
}

proptest! {
    #[test]
    fn texts_keep_the_laws(
        text in text(), rule: u8, size: u8, code: u32, side: Option<bool>
    ) {
        law::engine_lines(&text);
        law::fen((rule, &text));
        law::gomoku_board((rule, size, side, &text));
        law::gomoku_line((rule, size, &text));
        law::names((code, &text));
        law::piece_line((rule, &text));
    }

    #[test]
    fn bytes_keep_the_laws(
        bytes in bytes(), message in message(), file in file(), rule: u8, size: u8
    ) {
        law::gomoku_packed((rule, size, &bytes));
        law::piece_packed((rule, &bytes));
        law::wire_messages(&message);
        law::formats(&file);
    }

    #[test]
    fn requests_keep_the_law(
        method: u8, path in 0u8..15, text in text(), is_field: bool, body in file()
    ) {
        let query = if is_field { format!("?moves={text}") } else { text };
        law::http_request((method, path, &query, &body[2..]));
    }
}

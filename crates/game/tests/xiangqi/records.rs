//! Published games.

use kagetsu_game::xiangqi::Xiangqi;
use kagetsu_game::{Game, Position, Side, Variant};

use crate::data;

/// Players go on after a repetition or 120 quiet plies; their moves are legal on the board.
#[test]
fn published_games_are_legal() {
    let Some(folder) = data::folder("xiangqi/games") else {
        return;
    };
    let (mut games, mut moves) = (0, 0);
    for row in data::json_lines(&folder.join("ccpd_1024_converted.jsonl")) {
        let fen = row["fen"].as_str().expect("a FEN");
        if row["complete"] != true {
            continue;
        }
        let position = Position::from_fen(Variant::XIANGQI, fen)
            .unwrap_or_else(|error| panic!("{fen}: {error}"));
        let mut game: Xiangqi = position.game();
        for text in data::strings(&row["moves"]) {
            let m = game
                .parse_move(text)
                .unwrap_or_else(|error| panic!("{}: {error}", row["path"]));
            let mut legal = Vec::new();
            game.moves_on_board(&mut legal);
            assert!(
                legal.contains(&m),
                "{}: {text}\n{}",
                row["path"],
                game.draw()
            );
            game.play(m);
            moves += 1;
        }
        games += 1;
    }
    println!("{games} games, {moves} moves");
    assert!(games > 1000);
}

/// Every entry of a WXF record is what we write for exactly one legal move.
#[test]
fn wxf_entries_name_one_move() {
    let Some(folder) = data::folder("xiangqi/pgn") else {
        return;
    };
    let text = data::text(&folder.join("wukong_bulk_games_wxf.pgn"));
    let (mut game, mut entries, mut games) = (Xiangqi::start(Variant::XIANGQI), 0, 0);
    for line in text.lines() {
        if line.starts_with('[') {
            if !game.history().is_empty() {
                game = Xiangqi::start(Variant::XIANGQI);
                games += 1;
            }
            continue;
        }
        for word in line
            .split_whitespace()
            .map(half_width)
            .filter(|word| is_entry(word))
        {
            let mut legal = Vec::new();
            game.moves_on_board(&mut legal);
            let named: Vec<_> = legal.iter().filter(|&&m| game.wxf(m) == word).collect();
            let [&m] = named[..] else {
                panic!(
                    "{word} names {} moves in\n{}{line}",
                    named.len(),
                    game.draw()
                )
            };
            game.play(m);
            entries += 1;
        }
    }
    println!("{games} games, {entries} entries");
    assert!(entries > 1000);
}

fn half_width(word: &str) -> String {
    let narrow = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from((c as u32 - 0xff01 + 0x21) as u8),
        '\u{2212}' => '-',
        c => c,
    };
    word.chars().map(narrow).collect()
}

fn is_entry(word: &str) -> bool {
    word.len() == 4
        && word.bytes().any(|byte| byte.is_ascii_uppercase())
        && word.ends_with(|c: char| c.is_ascii_digit())
}

/// The sides are swapped where needed: in a book Red is always to move, and a mirrored game is the
/// same.
#[test]
fn canonical_positions_have_red_on_move() {
    let mut position = Position::start(Variant::XIANGQI);
    for text in "h2e2 h9g7 h0g2 i9h9 i0h0 g6g5 h0h6 b9c7".split(' ') {
        position = position.play_line(text).expect("a legal move");
        let canonical = position.canonical();
        let stored = Position::unpack(Variant::XIANGQI, canonical.packed).expect("a position");
        assert_eq!((stored.side(), stored.key()), (Side::First, canonical.key));
    }
}

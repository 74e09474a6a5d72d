//! Games of xiangqi in PGN, with moves in coordinates (ICCS), in WXF's notation or in Chinese.

use std::collections::HashMap;

use anyhow::{Result, bail};
use kagetsu_game::xiangqi::Xiangqi;
use kagetsu_game::{Move, Position, Side, Variant};

use super::games::{Ending, Games, after, bare};
use super::{Losses, lose};

/// All games of a file.
///
/// # Errors
/// If it has none.
pub(super) fn read(bytes: &[u8], variant: Variant) -> Result<(Games, u64, Losses)> {
    if !matches!(variant, Variant::Xiangqi { .. }) {
        bail!("this reads games of xiangqi, not of {variant}");
    }
    let text = String::from_utf8_lossy(bytes);
    let (mut games, mut losses, mut count) = (Games::default(), Losses::new(), 0);
    let (mut start, mut ending, mut body) = (Position::start(variant), Ending::Unknown, String::new());
    let mut has_start = true;
    let mut end = |start: &Position, has_start: bool, ending: Ending, body: &mut String| {
        if body.trim().is_empty() {
            return;
        }
        count += 1;
        if has_start {
            play(start, body, ending, &mut games, &mut losses);
        } else {
            lose(&mut losses, "games_from_impossible_positions", 1);
        }
        body.clear();
    };
    let mut was_tag = false;
    for line in text.lines() {
        let line = line.trim();
        let tag = line.strip_prefix('[').and_then(|tag| tag.strip_suffix(']')).and_then(|tag| tag.split_once(' '));
        let Some((name, value)) = tag else {
            body += line;
            body.push('\n');
            was_tag = false;
            continue;
        };
        if !was_tag {
            end(&start, has_start, ending, &mut body);
            (start, ending, has_start) = (Position::start(variant), Ending::Unknown, true);
        }
        was_tag = true;
        let value = value.trim().trim_matches('"');
        match name {
            "FEN" if !value.is_empty() => match Position::from_fen(variant, value) {
                Ok(position) => start = position,
                Err(_) => has_start = false,
            },
            "Result" => ending = result(value),
            _ => {}
        }
    }
    end(&start, has_start, ending, &mut body);
    if count == 0 {
        bail!("it has no games of PGN");
    }
    // Moves in Latin letters are read all the same.
    if losses.get("games_without_moves") == Some(&count) && std::str::from_utf8(bytes).is_err() {
        bail!("it is no text in UTF-8; `iconv -f GB18030 -t UTF-8`, or `-f BIG5`, makes it one");
    }
    Ok((games, count, losses))
}

fn result(text: &str) -> Ending {
    match text {
        "1-0" => Ending::Won(Side::First),
        "0-1" => Ending::Won(Side::Second),
        "1/2-1/2" => Ending::Drawn,
        _ => Ending::Unknown,
    }
}

fn play(start: &Position, body: &str, mut ending: Ending, games: &mut Games, losses: &mut Losses) {
    let (mut at, mut moves) = (start.clone(), Vec::new());
    let mut depth = 0_u32;
    let mut plain = String::with_capacity(body.len());
    for letter in body.chars() {
        match letter {
            '{' | '(' => depth += 1,
            '}' | ')' => {
                depth = depth.saturating_sub(1);
                lose(losses, "comments_and_variations", u64::from(depth == 0));
            }
            letter if depth == 0 => plain.push(ascii(letter)),
            _ => {}
        }
    }
    for word in plain.split_whitespace() {
        // A number may stand close to its move: 1.h2e2
        let word = word.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix('.').unwrap_or(word);
        let word = word.trim_start_matches('.');
        if word.is_empty() || word == "*" || word.starts_with('$') || word.starts_with("==") {
            continue;
        }
        if let told @ (Ending::Won(_) | Ending::Drawn) = result(word) {
            ending = told;
            break;
        }
        match read_move(&at, word).and_then(|m| Some((m, after(&at, m)?))) {
            Some((m, next)) => {
                moves.push(m);
                at = next;
            }
            None => {
                lose(losses, "games_cut_short", 1);
                break;
            }
        }
    }
    lose(losses, "games_without_moves", u64::from(moves.is_empty()));
    games.play(start, &moves, ending);
}

/// Full-width letters as plain ones.
fn ascii(letter: char) -> char {
    match u32::from(letter) {
        code @ 0xff01..=0xff5e => char::from_u32(code - 0xfee0).unwrap_or(letter),
        0x3000 => ' ',
        _ => letter,
    }
}

/// A move of a position, in any of the notations.
fn read_move(position: &Position, word: &str) -> Option<Move> {
    let bare = bare(position).filter(|_| position.outcome().is_some());
    let position = bare.as_ref().unwrap_or(position);
    if let Ok(m) = position.parse_move(&word.to_ascii_lowercase()) {
        return Some(m);
    }
    let game: Xiangqi = position.game();
    let wanted = plain(word);
    let mut named: HashMap<String, Move> = HashMap::new();
    for m in position.legal_moves() {
        named.insert(plain(&game.wxf(m)), m);
        named.insert(plain(&game.chinese(m)), m);
    }
    named.get(&wanted).copied()
}

/// One spelling of many: of letters that stand for one piece, of signs, and of characters old and new.
fn plain(word: &str) -> String {
    word.chars()
        .map(|letter| match letter.to_ascii_uppercase() {
            'N' => 'H',
            'B' => 'E',
            '.' => '=',
            '馬' | '傌' => '马',
            '車' | '俥' => '车',
            '砲' | '包' => '炮',
            '帥' => '帅',
            '將' => '将',
            '進' => '进',
            '後' => '后',
            '１'..='９' => ascii(letter),
            other => other,
        })
        .collect()
}

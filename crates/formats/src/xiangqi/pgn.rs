//! Xiangqi games in PGN, with moves in coordinates (ICCS), WXF or Chinese notation.

use anyhow::{Result, bail};
use kagetsu_game::{Move, Position, Side, Variant};
use kagetsu_games::GameTags;

use crate::games::{GameResult, Games, after, bare};
use crate::omissions::{Omissions, omit};

/// Reads all games of a file.
///
/// # Errors
/// If the file has none.
pub(crate) fn read(bytes: &[u8], variant: Variant) -> Result<(Games, u64, Omissions)> {
    if !matches!(variant, Variant::Xiangqi { .. }) {
        bail!("this reads games of xiangqi, not of {variant}");
    }
    let text = String::from_utf8_lossy(bytes);
    let (mut games, mut omissions, mut count, mut has_tags) =
        (Games::default(), Omissions::new(), 0, false);
    for game in split(&text, &mut omissions) {
        count += 1;
        has_tags |= !game.tags.is_empty();
        let tag = |wanted: &str| {
            game.tags
                .iter()
                .rfind(|(name, _)| *name == wanted)
                .map(|(_, value)| *value)
        };
        let ending = tag("Result").map_or(GameResult::Unknown, result);
        let start = match tag("FEN").filter(|fen| !fen.is_empty()) {
            Some(fen) => Position::from_fen(variant, fen).ok(),
            None => Some(Position::start(variant)),
        };
        match start {
            Some(start) => {
                let text = |name: &str| tag(name).filter(|text| *text != "?").unwrap_or_default();
                let tags = GameTags {
                    first: text("Red").into(),
                    second: text("Black").into(),
                    event: text("Event").into(),
                    date: GameTags::date_of(text("Date")),
                    round: text("Round").into(),
                    source: String::new(),
                };
                play(
                    &start,
                    &game.moves,
                    (ending, tags),
                    &mut games,
                    &mut omissions,
                );
            }
            None => omit(&mut omissions, "games_from_impossible_positions", 1),
        }
    }
    let has_moves = omissions.get("games_without_moves") != Some(&count);
    // Moves in Latin letters are readable in any encoding.
    if count > 0 && !has_moves && std::str::from_utf8(bytes).is_err() {
        bail!("it is no text in UTF-8; `iconv -f GB18030 -t UTF-8`, or `-f BIG5`, makes it one");
    }
    if count == 0 || !(has_tags || has_moves) {
        bail!("it has no games of PGN");
    }
    Ok((games, count, omissions))
}

/// The text of a game.
#[derive(Default)]
struct PgnGame<'a> {
    tags: Vec<(&'a str, &'a str)>,
    /// The moves without comments and variations.
    moves: String,
}

/// Splits a text into games: tags, one a line, and then moves.
fn split<'a>(text: &'a str, omissions: &mut Omissions) -> Vec<PgnGame<'a>> {
    let (mut games, mut game) = (Vec::new(), PgnGame::default());
    let (mut is_comment, mut depth) = (false, 0_u32);
    for line in text.lines() {
        let is_told = is_comment || depth > 0;
        if !is_told && line.starts_with('%') {
            continue;
        }
        if let Some(tag) = tag(line.trim()).filter(|_| !is_told) {
            if !game.moves.trim().is_empty() {
                games.push(std::mem::take(&mut game));
            }
            game.tags.push(tag);
            continue;
        }
        for letter in line.chars() {
            match letter {
                '}' if is_comment => {
                    is_comment = false;
                    omit(omissions, "comments_and_variations", u64::from(depth == 0));
                }
                _ if is_comment => {}
                '{' => is_comment = true,
                ';' => {
                    omit(omissions, "comments_and_variations", u64::from(depth == 0));
                    break;
                }
                '(' => depth += 1,
                ')' if depth > 0 => {
                    depth -= 1;
                    omit(omissions, "comments_and_variations", u64::from(depth == 0));
                }
                letter if depth == 0 => game.moves.push(ascii(letter)),
                _ => {}
            }
        }
        game.moves.push('\n');
    }
    omit(
        omissions,
        "comments_and_variations_without_an_end",
        u64::from(is_comment || depth > 0),
    );
    if !game.moves.trim().is_empty() {
        games.push(game);
    }
    games
}

/// Reads the name and value of a tag: `[Result "1-0"]`.
fn tag(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix('[')?.strip_suffix(']')?.split_once(' ')?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic());
    is_name.then(|| (name, value.trim().trim_matches('"').trim()))
}

fn result(text: &str) -> GameResult {
    match text {
        "1-0" => GameResult::Won(Side::First),
        "0-1" => GameResult::Won(Side::Second),
        "1/2-1/2" => GameResult::Drawn,
        _ => GameResult::Unknown,
    }
}

fn play(
    start: &Position,
    text: &str,
    (mut ending, tags): (GameResult, GameTags),
    games: &mut Games,
    omissions: &mut Omissions,
) {
    let (mut at, mut moves) = (start.clone(), Vec::new());
    for word in text.split_whitespace() {
        // A number may touch its move: 1.h2e2
        let word = word
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .strip_prefix('.')
            .unwrap_or(word);
        let word = word.trim_start_matches('.');
        if word.is_empty() || word == "*" || word.starts_with('$') || word.starts_with("==") {
            continue;
        }
        if let told @ (GameResult::Won(_) | GameResult::Drawn) = result(word) {
            ending = told;
            break;
        }
        match read_move(&at, word).and_then(|m| Some((m, after(&at, m)?))) {
            Some((m, next)) => {
                moves.push(m);
                at = next;
            }
            None => {
                omit(omissions, "games_cut_short", 1);
                break;
            }
        }
    }
    omit(
        omissions,
        "games_without_moves",
        u64::from(moves.is_empty()),
    );
    games.play_named(start, &moves, ending, tags);
}

/// Replaces full-width letters by ASCII.
fn ascii(letter: char) -> char {
    match u32::from(letter) {
        code @ 0xff01..=0xff5e => char::from_u32(code - 0xfee0).unwrap_or(letter),
        0x3000 => ' ',
        _ => letter,
    }
}

/// Reads a move in any of the notations, without annotation marks.
fn read_move(position: &Position, word: &str) -> Option<Move> {
    let bare = bare(position).filter(|_| position.outcome().is_some());
    let position = bare.as_ref().unwrap_or(position);
    let word = word.trim_end_matches(['!', '?', '#']);
    let coordinates = word.trim_end_matches('+').to_ascii_lowercase();
    if let Ok(m) = position.parse_move(&coordinates) {
        return Some(m);
    }
    position.parse_move(word).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Result<(u64, Vec<usize>, Omissions), String> {
        let (games, count, mut omissions) =
            read(text.as_bytes(), Variant::XIANGQI).map_err(|e| format!("{e:#}"))?;
        omissions.retain(|_, lost| *lost > 0);
        let known = games
            .answers("test")
            .iter()
            .map(|(_, answer)| answer.len())
            .collect();
        Ok((count, known, omissions))
    }

    #[test]
    fn comments_and_marks_cut_no_game() {
        let plain = said("[Event \"x\"]\n\n1. h2e2 h9g7 2. h0g2 i9h9 1-0\n").expect("a game");
        assert_eq!(
            (plain.0, plain.1.len(), &plain.2),
            (1, 4, &Omissions::new())
        );
        for (text, comments) in [
            (
                "[Event \"x\"]\n\n1. h2e2! {1) first; 2. last [so] } h9g7?! 2.h0g2+ i9h9# 1-0\n",
                1,
            ),
            (
                "[Event \"x\"]\n\n1. h2e2 ; 1-0 so they say\nh9g7 (1... b9c7 {) } (2. b2e2)) 2. H0G2 i9h9 1-0",
                2,
            ),
            (
                "%one line\n[Event \"x\"]\n1. h2e2 {\n[Event \"y\"]\n} h9g7 2. h0g2 $1 i9h9 1-0",
                1,
            ),
        ] {
            let found = said(text).expect("a game");
            assert_eq!((found.0, &found.1), (1, &plain.1), "{text}");
            assert_eq!(
                found.2,
                [("comments_and_variations", comments)].into(),
                "{text}"
            );
        }
        let open = said("1. h2e2 {for ever\n\n[Event \"y\"]\n1. h2e2").expect("a game");
        assert_eq!(
            (open.0, open.2.get("comments_and_variations_without_an_end")),
            (1, Some(&1))
        );
    }

    #[test]
    fn two_pieces_on_a_file_are_told_apart() {
        // Both rooks and both horses are on the fifth file, and one horse can go to the fourth.
        let position = Position::from_fen(Variant::XIANGQI, "3k5/9/4R4/9/4R4/3p5/9/4N4/9/3KN4 w")
            .expect("legal");
        let read = |word: &str| read_move(&position, word).map(|m| position.write_move(m));
        for front in ["+R=1", "R+=1", "R+.1", "前车平一", "前車平一", "e7i7"] {
            assert_eq!(read(front).as_deref(), Some("e7i7"), "{front}");
        }
        assert_eq!(read("-R=1").as_deref(), Some("e5i5"));
        assert_eq!(read("R5=1"), None, "both can");
        assert_eq!(read("H5-4").as_deref(), Some("e2f0"), "one can");
    }

    #[test]
    fn what_is_no_pgn_is_refused() {
        for text in [
            "",
            "{\"a\": 1}",
            "[{\"a\": 1},\n {\"a\": 2}]",
            "a text\nof some lines",
        ] {
            assert!(said(text).is_err(), "{text}: {:?}", said(text));
        }
    }
}

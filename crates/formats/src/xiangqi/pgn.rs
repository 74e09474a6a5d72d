//! Xiangqi games in PGN, with moves in coordinates (ICCS), WXF or Chinese notation.

use anyhow::{Result, bail};
use kagetsu_game::{Move, Position, Variant};
use kagetsu_games::GameTags;

use crate::game_tree::{GameTree, TreePlace};
use crate::games::{GameResult, Games, after, bare};
use crate::omissions::{Omissions, omit};

/// Variations with something that is no move; what comes before it is read.
const BROKEN_VARIATIONS: &str = "variations_cut_short";

/// Reads all games of a file, and counts their main lines.
///
/// # Errors
/// If the file has none.
pub(crate) fn read(bytes: &[u8], variant: Variant) -> Result<(Games, u64, Omissions)> {
    let mut games = Games::default();
    let (count, mut omissions) = read_trees(bytes, variant, &mut |tree| {
        let line: Vec<Move> = tree
            .main_line()
            .into_iter()
            .map(|at| tree.moves[at].at)
            .collect();
        games.play_named(&tree.start, &line, tree.result, tree.tags);
    })?;
    // Whole variations are left out.
    omissions.remove(BROKEN_VARIATIONS);
    Ok((games, count, omissions))
}

/// Reads all games of a file as trees, and returns their number. The omissions count comments and
/// variations, too, which trees have.
///
/// # Errors
/// If the file has none.
pub(crate) fn read_trees(
    bytes: &[u8],
    variant: Variant,
    take: &mut dyn FnMut(GameTree),
) -> Result<(u64, Omissions)> {
    if !matches!(variant, Variant::Xiangqi { .. }) {
        bail!("this reads games of xiangqi, not of {variant}");
    }
    let text = String::from_utf8_lossy(bytes);
    let (mut omissions, mut count, mut has_tags) = (Omissions::new(), 0, false);
    for game in split(&text, &mut omissions) {
        count += 1;
        has_tags |= !game.tags.is_empty();
        let tag = |wanted: &str| {
            let mut tags = game.tags.iter();
            let found = tags.rfind(|(name, _)| *name == wanted);
            found.map(|(_, value)| *value).filter(|text| *text != "?")
        };
        let start = match tag("FEN").filter(|fen| !fen.is_empty()) {
            Some(fen) => Position::from_fen(variant, fen).ok(),
            None => Some(Position::start(variant)),
        };
        let Some(start) = start else {
            omit(&mut omissions, "games_from_impossible_positions", 1);
            continue;
        };
        let text = |name: &str| tag(name).unwrap_or_default();
        let mut tree = GameTree {
            result: tag("Result").map_or(GameResult::Unknown, GameResult::of_text),
            tags: GameTags {
                first: text("Red").into(),
                second: text("Black").into(),
                event: text("Event").into(),
                date: GameTags::date_of(text("Date")),
                round: text("Round").into(),
                source: String::new(),
            },
            ..GameTree::from_start(start)
        };
        play(&mut tree, &game.moves, &mut omissions);
        take(tree);
    }
    let has_moves = omissions.get("games_without_moves") != Some(&count);
    // Moves in Latin letters are readable in any encoding.
    if count > 0 && !has_moves && std::str::from_utf8(bytes).is_err() {
        bail!("it is no text in UTF-8; `iconv -f GB18030 -t UTF-8`, or `-f BIG5`, makes it one");
    }
    if count == 0 || !(has_tags || has_moves) {
        bail!("it has no games of PGN");
    }
    Ok((count, omissions))
}

/// The text of a game.
#[derive(Default)]
struct PgnGame<'a> {
    tags: Vec<(&'a str, &'a str)>,
    moves: Vec<PgnToken>,
}

impl PgnGame<'_> {
    /// Whether there is anything but tags and comments in it.
    fn has_words(&self) -> bool {
        let mut tokens = self.moves.iter();
        tokens.any(|token| matches!(token, PgnToken::Word(_)))
    }

    /// Adds a letter to the word that is being read.
    fn push(&mut self, letter: char, is_new: bool) {
        match self.moves.last_mut() {
            Some(PgnToken::Word(word)) if !is_new => word.push(letter),
            _ => self.moves.push(PgnToken::Word(letter.into())),
        }
    }
}

/// A part of the moves of a game.
enum PgnToken {
    Word(String),
    Comment(String),
    /// The begin of a variation.
    Open,
    /// The end of a variation.
    Close,
}

/// Splits a text into games: tags, one a line, and then moves.
fn split<'a>(text: &'a str, omissions: &mut Omissions) -> Vec<PgnGame<'a>> {
    const INSIDE: &str = "comments_and_variations";
    let (mut games, mut game) = (Vec::new(), PgnGame::default());
    let (mut comment, mut depth) = (None::<String>, 0_u32);
    for line in text.lines() {
        let is_inside = comment.is_some() || depth > 0;
        if !is_inside && line.starts_with('%') {
            continue;
        }
        if let Some(tag) = tag(line.trim()).filter(|_| !is_inside) {
            if game.has_words() {
                games.push(std::mem::take(&mut game));
            }
            game.tags.push(tag);
            continue;
        }
        let mut is_new = true;
        for (at, letter) in line.char_indices() {
            let was_new = std::mem::replace(&mut is_new, true);
            match (letter, &mut comment) {
                ('}', Some(read)) => {
                    game.moves.push(PgnToken::Comment(std::mem::take(read)));
                    comment = None;
                    omit(omissions, INSIDE, u64::from(depth == 0));
                }
                (letter, Some(read)) => read.push(letter),
                ('{', None) => comment = Some(String::new()),
                (';', None) => {
                    let rest = line[at + 1..].to_string();
                    game.moves.push(PgnToken::Comment(rest));
                    omit(omissions, INSIDE, u64::from(depth == 0));
                    break;
                }
                ('(', None) => {
                    depth += 1;
                    game.moves.push(PgnToken::Open);
                }
                (')', None) if depth > 0 => {
                    depth -= 1;
                    game.moves.push(PgnToken::Close);
                    omit(omissions, INSIDE, u64::from(depth == 0));
                }
                (letter, None) => {
                    let letter = ascii(letter);
                    if !letter.is_whitespace() {
                        game.push(letter, was_new);
                        is_new = false;
                    }
                }
            }
        }
        if let Some(read) = &mut comment {
            read.push(' ');
        }
    }
    omit(
        omissions,
        "comments_and_variations_without_an_end",
        u64::from(comment.is_some() || depth > 0),
    );
    if game.has_words() {
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

/// Adds the moves of a game to its tree.
fn play(tree: &mut GameTree, tokens: &[PgnToken], omissions: &mut Omissions) {
    let mut at = TreePlace {
        position: Some(tree.start.clone()),
        last: None,
    };
    let mut left: Vec<TreePlace> = Vec::new();
    for token in tokens {
        match token {
            PgnToken::Open => {
                left.push(at.clone());
                // A variation is an alternative to the last move.
                let last = at.last.filter(|_| at.position.is_some());
                at = TreePlace {
                    position: last.map(|last| tree.moves[last].before.clone()),
                    last: last.and_then(|last| tree.moves[last].parent),
                };
            }
            PgnToken::Close => {
                if let Some(before) = left.pop() {
                    at = before;
                }
            }
            PgnToken::Comment(text) if at.position.is_some() => tree.remark(at.last, text.trim()),
            PgnToken::Comment(_) => {}
            PgnToken::Word(word) => {
                // A number may touch its move: 1.h2e2
                let word = word
                    .trim_start_matches(|c: char| c.is_ascii_digit())
                    .strip_prefix('.')
                    .unwrap_or(word);
                let word = word.trim_start_matches('.');
                if word.is_empty() || word == "*" || word.starts_with('$') || word.starts_with("==")
                {
                    continue;
                }
                let result = GameResult::of_text(word);
                if result != GameResult::Unknown {
                    if left.is_empty() {
                        tree.result = result;
                        break;
                    }
                    continue;
                }
                let Some(before) = at.position.take() else {
                    continue;
                };
                let made = read_move(&before, word).and_then(|m| Some((m, after(&before, m)?)));
                match made {
                    Some((m, next)) => {
                        at.last = Some(tree.push(at.last, before, m));
                        at.position = Some(next);
                    }
                    None if left.is_empty() => {
                        omit(omissions, "games_cut_short", 1);
                        break;
                    }
                    None => omit(omissions, BROKEN_VARIATIONS, 1),
                }
            }
        }
    }
    omit(
        omissions,
        "games_without_moves",
        u64::from(tree.moves.is_empty()),
    );
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

    fn read_counts(text: &str) -> Result<(u64, Vec<usize>, Omissions), String> {
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
        let plain =
            read_counts("[Event \"x\"]\n\n1. h2e2 h9g7 2. h0g2 i9h9 1-0\n").expect("a game");
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
            let found = read_counts(text).expect("a game");
            assert_eq!((found.0, &found.1), (1, &plain.1), "{text}");
            assert_eq!(
                found.2,
                [("comments_and_variations", comments)].into(),
                "{text}"
            );
        }
        let open = read_counts("1. h2e2 {for ever\n\n[Event \"y\"]\n1. h2e2").expect("a game");
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
    fn text_that_is_no_pgn_is_refused() {
        for text in [
            "",
            "{\"a\": 1}",
            "[{\"a\": 1},\n {\"a\": 2}]",
            "a text\nof some lines",
        ] {
            assert!(
                read_counts(text).is_err(),
                "{text}: {:?}",
                read_counts(text)
            );
        }
    }
}

//! Games in PGN: of xiangqi, with moves in every notation that programs write, and of gomoku.

use anyhow::{Result, bail};
use kagetsu_game::{Move, Position, Variant};
use kagetsu_games::{GameResult, GameTags, after};

use crate::games::tally::Games;
use crate::games::tree::{GameTree, TreePlace};
use crate::games::words::result_of;
use crate::input::encoding::decode_entries;
use crate::omissions::{Omissions, UNREAD_RESULTS};
use crate::xiangqi::check_variant;
use crate::xiangqi::pgn_text::{PgnGame, PgnToken, split};
use crate::xiangqi::texts;
use crate::xiangqi::written_move::read_move;

/// Variations with something that is no move; what comes before it is read.
const BROKEN_VARIATIONS: &str = "variations_cut_short";
/// Games that are played by other rules.
const OTHER_RULES: &str = "games_of_other_rules";
/// Tags that are written from other fields of a game.
const OWN_TAGS: [&str; 11] = [
    "Game", "Event", "Date", "Round", "Red", "Black", "White", "Result", "FEN", "SetUp", "Format",
];

/// Reads all games of a file, counts their main lines, and keeps all variations and comments.
///
/// # Errors
/// If the file has none.
pub(crate) fn read(bytes: &[u8], variant: Variant) -> Result<(Games, u64, Omissions)> {
    let mut games = Games::default();
    let (count, omissions) = read_trees(bytes, variant, &mut |tree| {
        games.note_tree(&tree);
        let main = tree.main_line();
        for (at, m) in tree.moves.iter().enumerate() {
            if main.binary_search(&at).is_err() {
                // It was not played.
                games.add(&m.before, m.at, 0);
            }
        }
        let line: Vec<Move> = main.iter().map(|at| tree.moves[*at].at).collect();
        games.play_named(&tree.start, &line, tree.result, tree.tags);
    })?;
    Ok((games, count, omissions))
}

/// Reads all games of a file as trees, and returns their number. The omissions count comments,
/// too, which trees have.
///
/// # Errors
/// If the file has none.
pub(crate) fn read_trees(
    bytes: &[u8],
    variant: Variant,
    take: &mut dyn FnMut(GameTree),
) -> Result<(u64, Omissions)> {
    let is_gomoku = variant.gomoku().is_some();
    if !is_gomoku {
        check_variant(variant)?;
    }
    let text = decode_entries(bytes);
    let as_pgn = texts::as_pgn(&text);
    let (mut games, mut omissions) = split(as_pgn.as_deref().unwrap_or(&text));
    let (mut count, mut has_tags, mut has_moves) = (0, false, false);
    for game in &mut games {
        has_tags |= !game.tags.is_empty();
        let has_swapped = is_gomoku && take_choice(game);
        let Some(mut tree) = begun(game, variant, &mut omissions) else {
            count += 1;
            continue;
        };
        let mut read = play(&tree, &game.tokens, 0);
        if read.unread.is_some() && !is_gomoku {
            let other = play(&tree, &game.tokens, 1);
            if other.tree.moves.len() > read.tree.moves.len() {
                read = other;
            }
        }
        tree = read.tree;
        let is_empty = tree.moves.is_empty();
        if is_empty && game.tags.is_empty() {
            // Some programs put their name behind a game.
            if let Some((word, line)) = game.first_word() {
                omissions.omit_at("words_that_are_no_game", line, word);
            }
            continue;
        }
        (count, has_moves) = (count + 1, has_moves || !is_empty);
        if let Some((word, line)) = game.of_chess(read.unread.is_some()) {
            omissions.omit_at(OTHER_RULES, line, word);
            continue;
        }
        if let Some((line, word)) = read.unread {
            if is_empty && !is_gomoku && game.has_points() {
                bail!(
                    "line {line}: '{word}' is a point of gomoku: give the game that was played, \
                     as in --variant freestyle-15"
                );
            }
            let place = format!("line {line}, after ply {}: ", tree.main_line().len());
            omissions.omit_text("games_cut_short", &place, &word);
        }
        if is_gomoku {
            end_of_gomoku(&mut tree, has_swapped);
        }
        omissions.omit(BROKEN_VARIATIONS, read.broken);
        omissions.omit("games_without_moves", is_empty.into());
        take(tree);
    }
    if count == 0 || !(has_tags || has_moves) {
        match games.iter().find_map(PgnGame::first_word) {
            Some((word, line)) => bail!("it has no games of PGN; line {line}: '{word}' is no move"),
            None => bail!("it has no games of PGN"),
        }
    }
    Ok((count, omissions))
}

/// Removes the words with which a player on PlayOK chooses a side behind the opening stones.
/// Returns whether the player who is named as Black plays White.
fn take_choice(game: &mut PgnGame) -> bool {
    let (mut stones, mut has_swapped) = (0, false);
    game.tokens.retain(|token| match token {
        PgnToken::Word(word, _) if matches!(&**word, "black" | "white") => {
            // The second player chooses behind three stones, the first behind five.
            has_swapped = (word == "black") != (stones > 3);
            false
        }
        token => {
            stones += u32::from(matches!(token, PgnToken::Word(..)));
            true
        }
    });
    has_swapped
}

/// Gives a game of gomoku its result: that of its last stone, else that of the file, where the
/// player who is named as Black stands first.
fn end_of_gomoku(tree: &mut GameTree, has_swapped: bool) {
    if has_swapped {
        std::mem::swap(&mut tree.tags.first, &mut tree.tags.second);
        if let GameResult::Won(side) = &mut tree.result {
            *side = side.other();
        }
    }
    let last = tree.main_line().last().map(|at| &tree.moves[*at]);
    let end = last.and_then(|last| after(&last.before, last.at));
    match end.map(|end| GameResult::of(&end)) {
        None | Some(GameResult::Unknown) => {}
        Some(result) => tree.result = result,
    }
}

/// Whether a tag names xiangqi.
fn is_xiangqi(name: &str) -> bool {
    let name = name.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    has(&["xiangqi", "chinese", "cchess", "象棋"]) && !has(&["mini", "国际", "國際"])
}

/// Returns a game without its moves; `None` if it begins with no position or is of another game.
fn begun(game: &PgnGame, variant: Variant, omissions: &mut Omissions) -> Option<GameTree> {
    // Programs for many games say which one it is.
    if let Some((name, line)) = game.tag("Variant")
        && variant.gomoku().is_none()
        && !is_xiangqi(name)
    {
        omissions.omit_at(OTHER_RULES, line, name);
        return None;
    }
    let start = match game.tag("FEN") {
        Some((fen, line)) => {
            // Red begins where nothing says otherwise.
            let side = if fen.contains(' ') { "" } else { " w" };
            match Position::from_fen(variant, &format!("{fen}{side}")) {
                Ok(start) if start.outcome().is_none() => start,
                over => {
                    let over = over.map(|_| "the game is over there".to_string());
                    let reason = over.unwrap_or_else(|error| error.to_string());
                    // The reason is worth more than the FEN.
                    let text = format!("{reason}: {fen}");
                    omissions.omit_at("games_from_impossible_positions", line, &text);
                    return None;
                }
            }
        }
        None => Position::start(variant),
    };
    let text = |name: &str| game.tag(name).map_or("", |(text, _)| text);
    let names = match text("Red") {
        _ if variant.gomoku().is_some() => [text("Black"), text("White")],
        "" => [text("White"), text("Black")],
        red => [red, text("Black")],
    };
    let result = game
        .tag("Result")
        .map_or(Some(GameResult::Unknown), |(text, line)| {
            let result = result_of(text, variant);
            if result.is_none() {
                omissions.omit_at(UNREAD_RESULTS, line, text);
            }
            result
        });
    // SGF, as which gomoku is written, has no names as PGN has them.
    let is_kept = |name: &str| {
        variant.gomoku().is_none() && !OWN_TAGS.iter().any(|own| own.eq_ignore_ascii_case(name))
    };
    let others = game.tags.iter().filter(|(name, ..)| is_kept(name));
    Some(GameTree {
        result: result.unwrap_or_default(),
        tags: GameTags {
            first: names[0].into(),
            second: names[1].into(),
            event: text("Event").into(),
            date: GameTags::date_of(text("Date")),
            round: text("Round").into(),
            source: String::new(),
        },
        properties: others
            .map(|(name, value, _)| (name.clone(), vec![value.clone()]))
            .collect(),
        ..GameTree::from_start(start)
    })
}

/// A game as far as its moves can be read.
struct ReadGame {
    tree: GameTree,
    /// The line and text of the word that ends the main line without being a move.
    unread: Option<(usize, String)>,
    /// Variations with such a word.
    broken: u64,
}

/// Adds the moves of a game to its tree; the ranks of coordinates count from `lowest`.
fn play(begun: &GameTree, tokens: &[PgnToken], lowest: u8) -> ReadGame {
    let mut read = ReadGame {
        tree: begun.clone(),
        unread: None,
        broken: 0,
    };
    let tree = &mut read.tree;
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
            PgnToken::Mark(mark) => {
                if let Some(last) = at.last.filter(|_| at.position.is_some()) {
                    let properties = &mut tree.moves[last].properties;
                    properties.push(("$".into(), vec![mark.clone()]));
                }
            }
            PgnToken::Result(result) => {
                if *result != GameResult::Unknown {
                    tree.result = *result;
                }
            }
            PgnToken::Word(word, line) => {
                let Some(before) = at.position.take() else {
                    continue;
                };
                let made = read_move(&before, word, lowest);
                match made.and_then(|m| Some((m, after(&before, m)?))) {
                    Some((m, next)) => {
                        at.last = Some(tree.push(at.last, before, m));
                        at.position = Some(next);
                    }
                    None if left.is_empty() => {
                        read.unread.get_or_insert((*line, word.clone()));
                    }
                    None => read.broken += 1,
                }
            }
        }
    }
    read
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
        for (text, moves) in [
            (
                "[Event \"x\"]\n\n1. h2e2! {1) first; 2. last [so] } h9g7?! 2.h0g2+ i9h9# 1-0\n",
                [1, 1, 1, 1],
            ),
            (
                "[Event \"x\"]\n\n1. h2e2 ; 1-0 so they say\nh9g7 (1... b9c7 {) } (1... g9e7 (2. b2e2))) 2. H0G2 i9h9 1-0",
                [1, 1, 1, 3],
            ),
            (
                "%one line\n[Event \"x\"]\n1. h2e2 {\n[Event \"y\"]\n} h9g7 2. h0g2 $1 i9h9 1-0",
                [1, 1, 1, 1],
            ),
        ] {
            let mut found = read_counts(text).expect("a game");
            found.1.sort_unstable();
            assert_eq!((found.0, &found.1[..]), (1, &moves[..]), "{text}");
            let lost = found.2.get(BROKEN_VARIATIONS).copied();
            assert_eq!(lost.is_some(), moves[3] > 1, "{text}: {lost:?}");
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
        let read = |word: &str| read_move(&position, word, 0).map(|m| position.write_move(m));
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

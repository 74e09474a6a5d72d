use kagetsu_game::{Game, Move, Outcome, Position, RuleName, Side, Variant, with_game};
use serde_json::Value;

use crate::data::{board_of, folder, json_lines, strings};

/// Games between engines, judged by another program.
#[test]
fn games_of_engines_end_as_their_judge_says() {
    let Some(folder) = folder("gomoku/games") else {
        return;
    };
    let games = json_lines(&folder.join("engine_games.jsonl"));
    for game in &games {
        let rule = match game["rule"].as_u64() {
            Some(0) => RuleName::Freestyle,
            Some(1) => RuleName::Standard,
            _ => RuleName::Renju,
        };
        let variant: Variant = format!("{rule}-{}", game["size"])
            .parse()
            .expect("a variant");
        let end = Position::from_line(variant, game["moves"].as_str().expect("a line"))
            .expect("a legal line");
        // The record lacks the forbidden move that ended a game.
        match game["termination"]
            .as_str()
            .expect("a sentence")
            .split_once("forbidden move - ")
        {
            Some((_, reason)) => {
                let mut reasons = end
                    .forbidden_moves()
                    .into_iter()
                    .map(|(_, reason)| reason.to_string());
                assert!(
                    reasons.any(|r| r == reason.replace(' ', "-")),
                    "{}",
                    game["id"]
                );
                let (m, _) = end.forbidden_moves()[0];
                let lost = end.play(m).expect("an empty point");
                assert_eq!(
                    (end.outcome(), lost.outcome()),
                    (None, Some(Outcome::Win(Side::Second))),
                    "{}",
                    game["id"]
                );
            }
            None => {
                let winner = if game["result"] == "B+1" {
                    Side::First
                } else {
                    Side::Second
                };
                assert_eq!(end.outcome(), Some(Outcome::Win(winner)), "{}", game["id"]);
            }
        }
        let pairs = game["moves_xy"]
            .as_array()
            .expect("an array")
            .iter()
            .map(|pair| format!("{},{}", pair[0], pair[1]));
        let pairs: Vec<String> = pairs.collect();
        assert_eq!(
            Position::from_line(variant, &pairs.join(" ")),
            Ok(end),
            "{}",
            game["id"]
        );
    }
    assert!(games.len() >= 50);
}

/// Solved puzzles of continuous fours. The attacker never plays a forbidden point, and after the
/// last move of the line every reply of the defender loses at once.
#[test]
fn solutions_by_continuous_fours_win_by_the_rules() {
    let mut solved = 0;
    for (name, file) in [
        ("gomoku/puzzles", "own_vcf_from_engine_games.jsonl"),
        ("gomoku/puzzles", "own_vcf_random_positions.jsonl"),
        ("renju/puzzles", "lfz084_vcf_verified.jsonl"),
    ] {
        let Some(folder) = folder(name) else { return };
        for puzzle in json_lines(&folder.join(file))
            .iter()
            .filter(|puzzle| puzzle["vcf"] == true)
        {
            let variant: Variant = format!(
                "{}-{}",
                puzzle["rule"].as_str().expect("a rule"),
                puzzle["size"]
            )
            .parse()
            .expect("a variant");
            with_game!(variant, G => replay(puzzle, &mut board_of(variant, puzzle).game::<G>()));
            solved += 1;
        }
    }
    assert!(solved >= 1_000, "{solved}");
}

fn replay<G: Game>(puzzle: &Value, game: &mut G) {
    let attacker = game.side();
    for text in strings(&puzzle["solution"]) {
        let m = game.parse_move(text).expect("a point of the board");
        assert_eq!(game.check(m), Ok(()), "{} {text}", puzzle["id"]);
        let allowed = game.side() != attacker || legal(game).contains(&m);
        assert!(allowed, "{} {text}", puzzle["id"]);
        game.play(m);
    }
    if game.outcome().is_none() {
        assert_eq!(
            game.side(),
            attacker.other(),
            "{}: the line ends with the attacker",
            puzzle["id"]
        );
        let mut tries: Vec<Move> = (0..22 * 22).map(Move::new).collect();
        for reply in legal(game) {
            game.play(reply);
            let win = tries.iter().position(|&m| wins_at_once(game, m));
            let text = || G::write_move(game.variant(), reply);
            // A move that wins against one reply mostly wins against the next one.
            tries.swap(
                0,
                win.unwrap_or_else(|| panic!("{}: {} saves the defender", puzzle["id"], text())),
            );
            game.undo();
        }
    } else {
        assert_eq!(
            game.outcome(),
            Some(Outcome::Win(attacker)),
            "{}",
            puzzle["id"]
        );
    }
}

fn legal<G: Game>(game: &G) -> Vec<Move> {
    let mut moves = Vec::new();
    game.moves(&mut moves);
    moves
}

fn wins_at_once<G: Game>(game: &mut G, m: Move) -> bool {
    if game.check(m).is_err() {
        return false;
    }
    let side = game.side();
    game.play(m);
    let wins = game.outcome() == Some(Outcome::Win(side));
    game.undo();
    wins
}

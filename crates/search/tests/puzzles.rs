//! Positions with and without a win by continuous fours, and every win replayed against every
//! defence.

#[path = "../../game/tests/data/mod.rs"]
mod data;

use kagetsu_game::gomoku::{Freestyle, Gomoku, Point, Renju, Rule, Standard};
use kagetsu_game::{
    Claim, Effort, Game, Move, Outcome, Position, ProofKind, Question, RuleName, Side, Variant,
};
use kagetsu_search::{Control, Engine, EngineOptions};
use serde_json::Value;

/// The position of a row, if its rule is one that the engine plays.
fn position(row: &Value) -> Option<Position> {
    let rule = match row["rule"].as_str() {
        Some("freestyle") => RuleName::Freestyle,
        Some("standard") => RuleName::Standard,
        Some("renju") => RuleName::Renju,
        _ => return None,
    };
    let size = row["size"].as_u64().expect("a size") as u8;
    let variant = Variant::Gomoku { rule, size };
    let start = Position::start(variant);
    let mut board = vec![b'.'; usize::from(size).pow(2)];
    for (colour, letter) in [("black", b'X'), ("white", b'O')] {
        for stone in data::strings(&row[colour]) {
            let Point { x, y } = Point::of(start.parse_move(stone).expect("a point"), size);
            board[usize::from(size - 1 - y) * usize::from(size) + usize::from(x)] = letter;
        }
    }
    let rows: Vec<&str> = board
        .chunks(size.into())
        .map(|row| std::str::from_utf8(row).expect("letters"))
        .collect();
    let side = if row["side"] == "black" {
        Side::First
    } else {
        Side::Second
    };
    Some(Position::from_board(variant, &rows.join("\n"), Some(side)).expect("a board"))
}

/// Whether the attacker's moves of `line` win against every defence: wherever the line has one
/// answer, any other lets the attacker make five at once, and the line itself ends with five. Tries
/// every move, knows no pattern.
fn holds<R: Rule>(game: &mut Gomoku<R>, line: &[Move]) -> bool {
    let me = game.side();
    let mut played = 0;
    let mut good = line.len() % 2 == 1;
    for pair in line.chunks(2) {
        game.play(pair[0]);
        played += 1;
        let &[_, answer] = pair else { break };
        good = good
            && game.outcome().is_none()
            && legal(game)
                .into_iter()
                .all(|m| m == answer || is_punished(game, m));
        if !good || game.check(answer).is_err() {
            good = false;
            break;
        }
        game.play(answer);
        played += 1;
    }
    good = good && game.outcome() == Some(Outcome::Win(me));
    (0..played).for_each(|_| game.undo());
    good
}

/// Whether a defence ends nothing and is followed by a five.
fn is_punished<R: Rule>(game: &mut Gomoku<R>, m: Move) -> bool {
    game.play(m);
    let punished = game.outcome().is_none() && {
        let side = game.side();
        legal(game).into_iter().any(|five| {
            game.play(five);
            let wins = game.outcome() == Some(Outcome::Win(side));
            game.undo();
            wins
        })
    };
    game.undo();
    punished
}

fn legal<R: Rule>(game: &Gomoku<R>) -> Vec<Move> {
    let mut moves = Vec::new();
    game.moves(&mut moves);
    moves
}

fn check(engine: &mut Engine, row: &Value) -> Option<bool> {
    let position = position(row)?;
    let question = Question::new(position.clone(), Effort::depth(1));
    let answer = engine
        .answer(&question, &Control::new(), &mut |_| {})
        .expect("supported");
    let (_, verdict) = answer.best().expect("the game goes on");
    let proof = verdict.proof.filter(|proof| proof.claim == Claim::Win);
    let by_fours =
        proof.is_some_and(|proof| matches!(proof.kind, ProofKind::Vcf | ProofKind::Terminal));
    assert_eq!(by_fours, row["vcf"] == true, "{row}");
    if by_fours {
        let line = &verdict.line;
        let fours = row["fours"].as_u64().expect("a number of fours") as usize;
        // The row counts the fours; the last of them is followed by an answer and the five.
        assert!(
            line.len() <= 2 * fours + 1,
            "{} moves, but {fours} fours do: {row}",
            line.len()
        );
        let holds = match position.variant() {
            Variant::Gomoku {
                rule: RuleName::Standard,
                ..
            } => holds(&mut position.game::<Gomoku<Standard>>(), line),
            Variant::Gomoku {
                rule: RuleName::Renju,
                ..
            } => holds(&mut position.game::<Gomoku<Renju>>(), line),
            _ => holds(&mut position.game::<Gomoku<Freestyle>>(), line),
        };
        assert!(holds, "the line does not win: {row}");
    }
    Some(by_fours)
}

#[test]
fn every_win_by_fours_is_found_and_no_other() {
    let folder = kagetsu_builders::needed!(data::folder("gomoku/puzzles"));
    let mut engine = Engine::new(EngineOptions {
        table_bytes: 1 << 20,
        ..EngineOptions::default()
    })
    .expect("an engine");
    for (file, least) in [
        ("own_vcf_from_engine_games.jsonl", 50),
        ("own_vcf_random_positions.jsonl", 150),
    ] {
        let rows = data::json_lines(&folder.join(file));
        let known: Vec<bool> = rows
            .iter()
            .filter_map(|row| check(&mut engine, row))
            .collect();
        let won = known.iter().filter(|&&won| won).count();
        assert!(
            won >= least,
            "{file}: only {won} wins were held against the engine"
        );
        assert!(won < known.len(), "{file}: no position without a win");
        println!("{file}: {won} wins, {} without", known.len() - won);
    }
}

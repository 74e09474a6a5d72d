//! Puzzles of xiangqi, and every mate replayed against every answer by the rules alone.

#[path = "../../game/tests/data/mod.rs"]
mod data;

use kagetsu_game::xiangqi::Xiangqi;
use kagetsu_game::{Claim, Effort, Game, Move, Outcome, Position, Question, Variant};
use kagetsu_search::{Control, Engine, EngineOptions};

/// One row in this many is tried; all rows where `KAGETSU_CASES` is set.
const EVERY: usize = 12;

fn legal(game: &Xiangqi) -> Vec<Move> {
    let mut moves = Vec::new();
    game.moves(&mut moves);
    moves
}

/// Whether the side to move mates within so many plies, giving check with every move.
fn mates(game: &mut Xiangqi, plies: u16) -> bool {
    legal(game).into_iter().any(|m| is_mating(game, m, plies))
}

fn is_mating(game: &mut Xiangqi, m: Move, plies: u16) -> bool {
    let winner = game.side();
    game.play(m);
    let is_mating = match game.outcome() {
        Some(outcome) => outcome == Outcome::Win(winner),
        None => {
            game.is_check()
                && plies > 2
                && legal(game).into_iter().all(|answer| {
                    game.play(answer);
                    let mates = game.outcome().is_none() && mates(game, plies - 2);
                    game.undo();
                    mates
                })
        }
    };
    game.undo();
    is_mating
}

#[test]
fn mates_by_checks_hold_against_every_reply() {
    let folder = kagetsu_builders::needed!(data::folder("xiangqi"));
    let rows = data::json_lines(&folder.join("puzzles/wukong_mates.jsonl"));
    let solved = rows.iter().filter(|row| row["solution"].is_array());
    let every = if std::env::var("KAGETSU_CASES").is_ok() {
        1
    } else {
        EVERY
    };
    let mut engine = Engine::new(EngineOptions {
        table_bytes: 1 << 20,
        ..EngineOptions::default()
    })
    .expect("an engine");
    for row in solved.step_by(every) {
        let (fen, moves) = (
            row["fen"].as_str().expect("a text"),
            row["found_mate_in"].as_u64().expect("a number") as u16,
        );
        let position = Position::from_fen(Variant::XIANGQI, fen)
            .unwrap_or_else(|error| panic!("{fen}: {error}"));
        let question = Question::new(position.clone(), Effort::nodes(30_000));
        let answer = engine
            .answer(&question, &Control::new(), &mut |_| {})
            .expect("supported");
        let (m, verdict) = answer.best().expect("a move");
        let proof = verdict
            .proof
            .filter(|proof| proof.claim == Claim::Win)
            .unwrap_or_else(|| panic!("{fen}: no mate"));
        assert!(proof.plies < 2 * moves, "{fen}: {} plies", proof.plies);
        assert!(
            is_mating(&mut position.game(), m, proof.plies),
            "{fen}: {}",
            position.write_move(m)
        );
    }
}

/// Endings of old manuals, in which both sides threaten mate and not every move is a check.
#[test]
fn mates_of_old_manuals_are_found() {
    let folder = kagetsu_builders::needed!(data::folder("xiangqi"));
    let rows = data::json_lines(&folder.join("puzzles/xiangqibench_cases.jsonl"));
    let mut engine = Engine::new(EngineOptions {
        table_bytes: 8 << 20,
        ..EngineOptions::default()
    })
    .expect("an engine");
    let (mut found, mut tried) = (0, 0);
    for row in rows.iter().step_by(EVERY) {
        let position = Position::from_fen(Variant::XIANGQI, row["fen"].as_str().expect("a text"))
            .expect("a position");
        let question = Question::new(position.clone(), Effort::nodes(200_000));
        let answer = engine
            .answer(&question, &Control::new(), &mut |_| {})
            .expect("supported");
        let (_, verdict) = answer.best().expect("a move");
        // Every win has a proof.
        assert_eq!(
            verdict.score.win_plies(),
            verdict.proof.map(|proof| proof.plies),
            "{}",
            row["fen"]
        );
        tried += 1;
        found += usize::from(verdict.proof.is_some());
    }
    assert!(found * 10 >= tried * 7, "{found} of {tried}");
}

//! End tables of surakarta against the rules, and the claims that a search makes with them. The
//! tables of the process are those of three stones.

use std::collections::HashMap;

use kagetsu_game::surakarta::Surakarta;
use kagetsu_game::{Claim, Effort, Game, Key, Move, Outcome, Position, Question, Variant};
use kagetsu_search::{
    Control, EndTablesError, Engine, EngineOptions, build_end_tables, end_table_pieces,
    give_end_tables,
};

#[path = "../examples/check_end_tables.rs"]
mod checker;

/// Plies without a capture that some position of three stones needs.
const LONGEST: u8 = 3;

/// Returns the claim about the best move for the side to move.
fn claim(engine: &mut Engine, position: &Position) -> Option<Claim> {
    let question = Question::new(position.clone(), Effort::depth(1));
    let answer = engine.answer(&question, &Control::new(), &mut |_| {});
    let answer = answer.expect("it is legal");
    answer
        .best()
        .and_then(|(_, verdict)| verdict.proof)
        .map(|proof| proof.claim)
}

fn engine(end_tables: u8) -> Engine {
    let bytes = build_end_tables(3, &mut |_, _, _| {});
    give_end_tables(&bytes).expect("tables");
    let options = EngineOptions {
        end_tables,
        table_bytes: 0,
        ..EngineOptions::default()
    };
    Engine::new(options).expect("an engine")
}

/// Returns the positions of two and three stones, one of each class, after so many quiet plies.
fn positions(limit: u8, quiet: u8) -> HashMap<Key, Position> {
    let mut all = HashMap::new();
    // Each of the 36 points is the image of one of six.
    for stones in 0..6 * 36 * 36 {
        let points = [
            [0, 1, 2, 7, 8, 14][stones % 6],
            stones / 6 % 36,
            stones / 216,
        ];
        for owners in ["bw", "bwb", "bww"] {
            let mut board = [b'1'; 36];
            let placed = points.into_iter().zip(owners.bytes());
            placed.for_each(|(point, owner)| board[point] = owner);
            if board.iter().filter(|letter| **letter != b'1').count() < owners.len() {
                continue;
            }
            let rows: Vec<String> = board
                .chunks(6)
                .map(|row| String::from_utf8_lossy(row).into_owned())
                .collect();
            let fen = format!("{} b {quiet}", rows.join("/"));
            let position = Position::from_fen(Variant::Surakarta { limit }, &fen);
            let position = position.expect("a board");
            all.entry(position.key()).or_insert(position);
        }
    }
    all
}

/// Returns the value for the side to move, by the rules alone. No line under a limit of four plies
/// repeats a position twice.
fn exhaustive(game: &mut Surakarta, known: &mut HashMap<(u64, u64, u8), i8>) -> i8 {
    match game.outcome() {
        Some(Outcome::Draw) => return 0,
        Some(Outcome::Win(side)) => return if side == game.side() { 1 } else { -1 },
        None => {}
    }
    let [own, his] = [game.side(), game.side().other()].map(|side| game.board().stones(side));
    let state = (own, his, game.quiet());
    if let Some(value) = known.get(&state) {
        return *value;
    }
    let mut moves = Vec::new();
    game.moves(&mut moves);
    let mut best = -1;
    for m in moves {
        game.play(m);
        best = best.max(-exhaustive(game, known));
        game.undo();
    }
    known.insert(state, best);
    best
}

#[test]
fn second_program_confirms_the_tables() {
    let bytes = build_end_tables(4, &mut |_, _, _| {});
    assert_eq!(checker::check(&bytes, 3, 3_000, 1).len(), 3);
}

#[test]
fn claims_hold_whatever_plies_are_used() {
    let (mut engine, mut known) = (engine(7), HashMap::new());
    let mut counts = HashMap::new();
    for quiet in 0..=LONGEST {
        for position in positions(LONGEST + 1, quiet).values() {
            if position.outcome().is_some() {
                continue;
            }
            let claim = claim(&mut engine, position);
            let value = exhaustive(&mut position.game(), &mut known);
            let expected = [Some(Claim::Loss), None, Some(Claim::Win)][(value + 1) as usize];
            // With plies used the tables know less, and say nothing false.
            assert!(
                claim == expected || quiet > 0 && claim.is_none(),
                "{position}: {claim:?}"
            );
            *counts.entry((quiet, claim)).or_insert(0) += 1;
        }
    }
    assert!(
        (0..=LONGEST).all(|quiet| counts[&(quiet, Some(Claim::Loss))] > 100),
        "{counts:?}"
    );
}

#[test]
fn repeated_positions_leave_what_the_numbers_give() {
    let (mut engine, mut counts) = (engine(7), [0; 2]);
    for position in positions(80, 0).into_values() {
        // There and back, so that the position occurs twice.
        let mut game: Surakarta = position.game();
        if game.stones() > 2 {
            continue;
        }
        for _ in 0..2 {
            let mut moves = Vec::new();
            game.moves(&mut moves);
            moves.retain(|m| !game.is_capture(*m));
            moves.first().into_iter().for_each(|m| game.play(*m));
        }
        let turned = |m: &Move| Move::new(m.code() % 36 * 36 + m.code() / 36);
        let mut line = game.history().to_vec();
        line.extend(game.history().iter().map(turned).collect::<Vec<_>>());
        let played = line
            .iter()
            .try_fold(position.clone(), |at, m| at.play(*m).ok());
        let Some(again) = played.filter(|again| again.key() == position.key()) else {
            continue;
        };
        let claims = [&position, &again].map(|position| claim(&mut engine, position));
        assert!(claims[1].is_none() || claims[1] == claims[0], "{position}");
        claims
            .iter()
            .zip(&mut counts)
            .for_each(|(one, count)| *count += i32::from(one.is_some()));
    }
    assert!(counts[0] > counts[1] + 10, "{counts:?}");
}

#[test]
fn engine_without_tables_claims_less() {
    let (mut with, mut without) = (engine(3), engine(2));
    assert_eq!(end_table_pieces(), 3);
    // Two stones against one that cannot be taken soon win by their number.
    let fen = "w5/6/6/6/6/bb4 b";
    let position = Position::from_fen(Variant::SURAKARTA, fen).expect("a board");
    assert_eq!(claim(&mut with, &position), Some(Claim::Win));
    assert_eq!(claim(&mut without, &position), None);
    let variant = Variant::Surakarta { limit: LONGEST - 1 };
    let short = Position::from_fen(variant, fen).expect("a board");
    assert_eq!(
        claim(&mut with, &short),
        None,
        "the tables need a longer limit"
    );
}

#[test]
fn damaged_files_are_refused() {
    engine(3);
    let bytes = build_end_tables(3, &mut |_, _, _| {});
    assert!((0..bytes.len()).all(|length| give_end_tables(&bytes[..length]).is_err()));
    for at in 0..bytes.len() {
        let mut altered = bytes.clone();
        altered[at] ^= 1 << (at % 8);
        assert!(give_end_tables(&altered).is_err(), "byte {at}");
    }
    assert_eq!(give_end_tables(&bytes[1..]), Err(EndTablesError::Foreign));
    let short = &bytes[..bytes.len() - 1];
    assert_eq!(give_end_tables(short), Err(EndTablesError::Damaged));
}

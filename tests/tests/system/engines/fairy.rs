//! Kagetsu against Fairy-Stockfish at xiangqi; the rules judge every move.

use std::path::Path;
use std::process::Command;

use kagetsu_game::{Move, Position, Variant};
use kagetsu_tests::{Dialogue, Program};

/// Plies after which an unfinished game stops.
const MAX_PLIES: usize = 400;

fn fairy_stockfish() -> Option<Dialogue> {
    let paths = [
        "/usr/games/fairy-stockfish",
        "/usr/bin/fairy-stockfish",
        "/usr/local/bin/fairy-stockfish",
    ];
    let Some(path) = paths.into_iter().find(|path| Path::new(path).exists()) else {
        kagetsu_builders::skip("fairy-stockfish");
        return None;
    };
    let mut engine = Dialogue::of(Command::new(path));
    engine.say("uci");
    engine.until("uciok");
    engine.say("setoption name UCI_Variant value xiangqi\nsetoption name Threads value 1\nisready");
    engine.until("readyok");
    Some(engine)
}

/// Both engines count ranks from 1.
fn line(position: &Position) -> String {
    let moves = position
        .moves()
        .iter()
        .map(|&m| kagetsu_game::xiangqi::write_from_one(m));
    moves.collect::<Vec<_>>().join(" ")
}

fn ask(engine: &mut Dialogue, position: &Position, limit: &str) -> Option<Move> {
    engine.say(format!(
        "position startpos moves {}\ngo {limit}",
        line(position)
    ));
    let (best, _) = engine.until("bestmove ");
    let text = best.split(' ').nth(1).expect("a word");
    (text != "(none)").then(|| {
        kagetsu_game::xiangqi::parse_from_one(text).unwrap_or_else(|| panic!("no move: {best}"))
    })
}

/// Replays the game with Fairy-Stockfish's own rules. Returns whether Python has them.
fn judged_by_pyffish(moves: &str) -> bool {
    let program = "import sys, pyffish as p\nfen = p.start_fen('xiangqi')\ndone = []\n\
                   for m in sys.argv[1].split():\n    assert m in p.legal_moves('xiangqi', fen, done), (m, done)\n    done.append(m)\n";
    if !kagetsu_builders::has_python_module("pyffish") {
        return false;
    }
    let judged = Command::new("python3")
        .args(["-c", program, moves])
        .output()
        .expect("python runs");
    assert!(
        judged.status.success(),
        "{}",
        String::from_utf8_lossy(&judged.stderr)
    );
    true
}

#[test]
fn plays_a_whole_game_against_fairy_stockfish() {
    let mut fairy = kagetsu_builders::needed!(fairy_stockfish());
    let mut ours =
        Dialogue::of(Program::Kagetsu.command(&["brain", "--protocol", "uci", "--table-mib", "8"]));
    ours.say("uci");
    ours.until("uciok");
    let mut position = Position::start(Variant::XIANGQI);
    while position.outcome().is_none() && position.moves().len() < MAX_PLIES {
        let is_ours = position.moves().len().is_multiple_of(2);
        let m = if is_ours {
            ask(&mut ours, &position, "nodes 3000")
        } else {
            ask(&mut fairy, &position, "nodes 1500")
        };
        let Some(m) = m else {
            panic!("a side to move gives no move in {position}")
        };
        assert!(
            position.legal_moves().contains(&m),
            "{} after {position}",
            position.write_move(m)
        );
        position = position.play(m).expect("legal");
    }
    let end = position.outcome();
    assert!(end.is_some() || position.moves().len() == MAX_PLIES);
    // A side without a legal move says so.
    if end.is_some() && position.legal_moves().is_empty() {
        assert_eq!(ask(&mut ours, &position, "depth 2"), None);
    }
    let judged = judged_by_pyffish(&line(&position));
    eprintln!(
        "{} plies, {end:?}, judged twice: {judged}",
        position.moves().len()
    );
}

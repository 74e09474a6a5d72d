//! Kagetsu's Gomocup engine under another project's client.

use std::path::Path;
use std::process::Command;

use kagetsu_game::{Move, Position, Variant};
use kagetsu_tests::{Finished, Program};

#[test]
fn plays_whole_games_under_pygomo() {
    if !kagetsu_builders::has_python_module("pygomo") {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/system/engines/pygomo_game.py");
    let brain = Program::Pbrain.command(&[]).get_program().to_owned();
    for (variant, size, rule) in [
        ("freestyle-15", 15, 0),
        ("freestyle-20", 20, 0),
        ("standard-15", 15, 1),
        ("renju-15", 15, 4),
    ] {
        let mut command = Command::new("python3");
        command
            .arg(&script)
            .arg(&brain)
            .args([size.to_string(), rule.to_string()]);
        let run = Finished::of(command);
        assert_eq!(run.code, Some(0), "{variant}: {run:#?}");
        let read = |line: &str| {
            let (x, y): (u16, u16) = line
                .split_once(',')
                .and_then(|(x, y)| Some((x.parse().ok()?, y.parse().ok()?)))
                .expect("x,y");
            Move::new((size - 1 - y) * size + x)
        };
        let moves: Vec<Move> = run.stdout.lines().map(read).collect();
        let variant: Variant = variant.parse().expect("a variant");
        let end = Position::new(variant, None, &moves)
            .unwrap_or_else(|error| panic!("{variant}: {error}"));
        assert!(end.outcome().is_some(), "{end} is not the end of a game");
    }
}

//! The "three-move attack" that Li, Hu and Wang name without a figure, found here by exhaustive
//! search.

use std::collections::BTreeMap;

use kagetsu_game::surakarta::Surakarta;
use kagetsu_game::{Game, Move, Symmetry, Variant};

use super::Board;
use super::board::join;
use crate::EngineOptions;
use crate::heuristics::Heuristics;

/// Returns the stones that the side to move gains by captures alone. No capture is compulsory.
fn gain(board: &mut Board) -> i32 {
    let mut best = 0;
    for m in board
        .captures()
        .map_or_else(Vec::new, |moves| moves.sorted())
    {
        board.play(m);
        best = best.max(1 - gain(board));
        board.undo();
    }
    best
}

/// Returns the first side's quiet moves.
fn quiet(board: &Board) -> Vec<Move> {
    board
        .legal()
        .into_iter()
        .filter(|&m| !board.force(m).attacks)
        .collect()
}

fn mirrored(m: Move) -> Move {
    Surakarta::image(Variant::SURAKARTA, m, mirror())
}

/// Returns the symmetry that swaps left and right.
fn mirror() -> Symmetry {
    let is_mirror = |&symmetry: &Symmetry| {
        Surakarta::image(Variant::SURAKARTA, join(0, 6), symmetry) == join(5, 11)
    };
    (1..8)
        .map(Symmetry::new)
        .find(is_mirror)
        .expect("the board is its own image")
}

/// Returns the boards after `moves` moves of the first side while the second side passes, with
/// those moves. It returns one of two mirror images.
fn boards(moves: u32) -> Vec<(Vec<Move>, Board)> {
    let start = Board::new(
        &Surakarta::start(Variant::SURAKARTA),
        &EngineOptions::default(),
    );
    let mut level = vec![(Vec::new(), start.clone())];
    for _ in 0..moves {
        let mut next: BTreeMap<u64, (Vec<Move>, Board)> = BTreeMap::new();
        for (line, board) in level {
            for m in quiet(&board) {
                let mut after = board.clone();
                after.play(m);
                assert!(after.pass(), "twelve stones");
                let line = [&line[..], &[m]].concat();
                let mut image = start.clone();
                for &m in &line {
                    image.play(mirrored(m));
                    image.pass();
                }
                let is_new = !next.contains_key(&image.stones[0]);
                if is_new {
                    next.entry(after.stones[0]).or_insert((line, after));
                }
            }
        }
        level = next.into_values().collect();
    }
    level
}

/// Whether captures gain a stone for the first side, which is to move, and none for the second
/// side.
fn is_attack(board: &mut Board) -> bool {
    let wins = gain(board) > 0;
    assert!(board.pass(), "twelve stones");
    let is_safe = gain(board) == 0;
    board.undo();
    wins && is_safe
}

#[test]
fn three_moves_suffice_to_win_a_stone() {
    for (moves, count, with_captures, with_gain, attacks) in
        [(1, 8, 0, 0, 0), (2, 84, 12, 0, 0), (3, 503, 177, 12, 4)]
    {
        let mut boards = boards(moves);
        assert_eq!(boards.len(), count);
        boards.retain(|(_, board)| board.captures().is_some());
        assert_eq!(boards.len(), with_captures);
        boards.retain_mut(|(_, board)| gain(board) > 0);
        assert_eq!(boards.len(), with_gain);
        boards.retain_mut(|(_, board)| is_attack(board));
        assert_eq!(boards.len(), attacks);
    }
}

/// The lines of `docs/surakarta.md`.
#[test]
fn the_four_attacks_are_these() {
    for (line, captures) in [
        ("c2d3 b1c2 a2a3", "b2b5"),
        ("a2a3 b2c3 b1b2", "b2b5"),
        ("b2c3 c1b2 c2d3", "c3c5"),
        ("c2b3 d1c2 d2d3", "d3d5"),
    ] {
        let start = Surakarta::start(Variant::SURAKARTA);
        let mut board = Board::new(&start, &EngineOptions::default());
        let parse = |text: &str| start.parse_move(text).expect("a move");
        for text in line.split(' ') {
            board.play(parse(text));
            board.pass();
        }
        assert!(is_attack(&mut board), "{line}");
        assert_eq!(
            board.captures().map(|moves| moves.sorted()),
            Some(vec![parse(captures)]),
            "{line}"
        );
    }
}

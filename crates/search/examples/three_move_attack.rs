//! The "three-move attack" that Li, Hu and Wang name without a figure, found here by exhaustive
//! search. `cargo test` tries all moves; the program prints the attacks.

use std::collections::BTreeMap;

use kagetsu_game::surakarta::Surakarta;
use kagetsu_game::{Game, Move, Side, Symmetry, Variant};

/// Returns the moves of the side to move that capture, or those that do not.
fn moves(board: &Surakarta, captures: bool) -> Vec<Move> {
    let mut moves = Vec::new();
    board.moves_on_board(&mut moves);
    moves.retain(|&m| board.is_capture(m) == captures);
    moves
}

/// Returns the stones that the side to move gains by captures alone. No capture is compulsory.
fn gain(board: &mut Surakarta) -> i32 {
    let mut best = 0;
    for m in moves(board, true) {
        board.play(m);
        best = best.max(1 - gain(board));
        board.undo();
    }
    best
}

/// Returns the same board with the other side to move.
fn passed(board: &Surakarta) -> Surakarta {
    let mut packed = board.pack(Symmetry::IDENTITY);
    packed.0[0] ^= 1;
    Surakarta::unpack(Variant::SURAKARTA, &packed).expect("a board")
}

/// Returns a move by its start and end.
const fn join(from: u16, to: u16) -> Move {
    Move::new(36 * from + to)
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
fn boards(count: u32) -> Vec<(Vec<Move>, Surakarta)> {
    let start = Surakarta::start(Variant::SURAKARTA);
    let after = |board: &Surakarta, m: Move| {
        let mut after = board.clone();
        after.play(m);
        passed(&after)
    };
    let mut level = vec![(Vec::new(), start.clone())];
    for _ in 0..count {
        let mut next: BTreeMap<u64, (Vec<Move>, Surakarta)> = BTreeMap::new();
        for (line, board) in level {
            for m in moves(&board, false) {
                let line = [&line[..], &[m]].concat();
                let images = line.iter().map(|&m| mirrored(m));
                let image = images.fold(start.clone(), |board, m| after(&board, m));
                if !next.contains_key(&image.board().stones(Side::First)) {
                    let after = after(&board, m);
                    let stones = after.board().stones(Side::First);
                    next.entry(stones).or_insert((line, after));
                }
            }
        }
        level = next.into_values().collect();
    }
    level
}

/// Whether captures gain a stone for the first side, which is to move, and none for the second
/// side.
fn is_attack(board: &mut Surakarta) -> bool {
    gain(board) > 0 && gain(&mut passed(board)) == 0
}

fn main() {
    let mut boards = boards(3);
    boards.retain_mut(|(_, board)| is_attack(board));
    for (line, _) in boards {
        let written = line
            .iter()
            .map(|&m| Surakarta::write_move(Variant::SURAKARTA, m));
        println!("{}", written.collect::<Vec<_>>().join(" "));
    }
}

#[test]
fn three_moves_suffice_to_win_a_stone() {
    for (plies, count, with_captures, with_gain, attacks) in
        [(1, 8, 0, 0, 0), (2, 84, 12, 0, 0), (3, 503, 177, 12, 4)]
    {
        let mut boards = boards(plies);
        assert_eq!(boards.len(), count);
        boards.retain(|(_, board)| !moves(board, true).is_empty());
        assert_eq!(boards.len(), with_captures);
        boards.retain_mut(|(_, board)| gain(board) > 0);
        assert_eq!(boards.len(), with_gain);
        boards.retain_mut(|(_, board)| is_attack(board));
        assert_eq!(boards.len(), attacks);
    }
}

/// The lines of `docs/measurements/surakarta.md`.
#[test]
fn the_four_attacks_are_these() {
    for (line, captures) in [
        ("c2d3 b1c2 a2a3", "b2b5"),
        ("a2a3 b2c3 b1b2", "b2b5"),
        ("b2c3 c1b2 c2d3", "c3c5"),
        ("c2b3 d1c2 d2d3", "d3d5"),
    ] {
        let start = Surakarta::start(Variant::SURAKARTA);
        let mut board = start.clone();
        let parse = |text: &str| start.parse_move(text).expect("a move");
        for text in line.split(' ') {
            board.play(parse(text));
            board = passed(&board);
        }
        assert!(is_attack(&mut board), "{line}");
        assert_eq!(moves(&board, true), [parse(captures)], "{line}");
    }
}

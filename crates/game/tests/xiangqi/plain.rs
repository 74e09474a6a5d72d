//! Legal moves by the plainest reading of the rules: every piece tries every point. A move is legal
//! if no enemy piece can then capture the general and the generals do not face each other. It uses
//! none of the crate's tables.

use std::collections::BTreeSet;

use kagetsu_game::xiangqi::{Kind, Piece, SQUARES, Square, Xiangqi};
use kagetsu_game::{Game, Move, Position, Side, Variant};
use proptest::prelude::*;

type Board = [Option<Piece>; SQUARES];

fn board(game: &Xiangqi) -> Board {
    std::array::from_fn(|number| game.board().at(Square::new(number).expect("a point")))
}

fn place(square: usize) -> (i32, i32) {
    ((square % 9) as i32, (square / 9) as i32)
}

fn at(board: &Board, file: i32, rank: i32) -> Option<Piece> {
    board[(rank * 9 + file) as usize]
}

/// Counts the pieces strictly between two points of one line; `None` if they share no line.
fn between(board: &Board, from: usize, to: usize) -> Option<usize> {
    let ((a, b), (c, d)) = (place(from), place(to));
    if (a == c) == (b == d) {
        return None;
    }
    let steps = (a - c).abs().max((b - d).abs());
    let on_the_way = (1..steps)
        .filter(|i| at(board, a + (c - a).signum() * i, b + (d - b).signum() * i).is_some());
    Some(on_the_way.count())
}

/// Whether the piece on `from` reaches `to`, ignoring own pieces and the safety of generals.
fn reaches(board: &Board, from: usize, to: usize) -> bool {
    let Some(piece) = board[from] else {
        return false;
    };
    let ((file, rank), (to_file, to_rank)) = (place(from), place(to));
    let (right, up) = (to_file - file, to_rank - rank);
    let (across, along) = (right.abs(), up.abs());
    let (forward, home) = match piece.side {
        Side::First => (1, 0..=4),
        Side::Second => (-1, 5..=9),
    };
    let in_palace = (3..=5).contains(&to_file) && (to_rank <= 2 || to_rank >= 7);
    match piece.kind {
        Kind::General => in_palace && across + along == 1,
        Kind::Advisor => in_palace && across == 1 && along == 1,
        Kind::Elephant => {
            let eye = at(board, file + right / 2, rank + up / 2);
            across == 2 && along == 2 && home.contains(&to_rank) && eye.is_none()
        }
        Kind::Horse if across == 2 && along == 1 => at(board, file + right / 2, rank).is_none(),
        Kind::Horse => across == 1 && along == 2 && at(board, file, rank + up / 2).is_none(),
        Kind::Rook => between(board, from, to) == Some(0),
        Kind::Cannon => between(board, from, to) == Some(usize::from(board[to].is_some())),
        Kind::Soldier => {
            let is_step = right == 0 && up == forward;
            is_step || up == 0 && across == 1 && !home.contains(&rank)
        }
    }
}

fn is_safe(board: &Board, side: Side) -> bool {
    let general = |side| {
        board.iter().position(|piece| {
            *piece
                == Some(Piece {
                    side,
                    kind: Kind::General,
                })
        })
    };
    let (Some(own), Some(other)) = (general(side), general(side.other())) else {
        return false;
    };
    let attacks = |from: usize| {
        board[from].is_some_and(|piece| piece.side != side) && reaches(board, from, own)
    };
    let faces = own % 9 == other % 9 && between(board, own, other) == Some(0);
    !faces && !(0..SQUARES).any(attacks)
}

fn moves(board: &Board, side: Side) -> BTreeSet<Move> {
    let is_own = |square: usize| board[square].is_some_and(|piece| piece.side == side);
    let pairs = (0..SQUARES)
        .filter(|&from| is_own(from))
        .flat_map(|from| (0..SQUARES).map(move |to| (from, to)));
    let legal = pairs.filter(|&(from, to)| {
        let mut after = *board;
        after[to] = after[from].take();
        !is_own(to) && reaches(board, from, to) && is_safe(&after, side)
    });
    legal
        .map(|(from, to)| Move::new((from * SQUARES + to) as u16))
        .collect()
}

/// Positions with many pins, bare cannons and blocked legs.
const ROOTS: &[&str] = &[
    "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w",
    "CnN1k1b2/c3a4/4ba3/9/2nr5/9/9/4C4/4A4/4KA3 w",
    "1rbaka2R/5r3/6n2/2p1p1p2/4P1bP1/PpC3Bc1/1nPR2P2/2N2AN2/1c2K1p2/2BAC4 w",
    "3akab2/4a4/4b4/9/9/9/4C4/9/9/4K4 b",
    "P2k4P/9/9/P1P3P1P/p1p3p1p/P1P3P1P/p1p3p1p/9/9/p4K2p w",
    "C1nNk4/9/9/9/9/9/n1pp5/B3C4/9/3A1K3 w",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_tables_agree_with_the_plain_rules(root in 0..ROOTS.len(), choices in prop::collection::vec(any::<u16>(), 60)) {
        let position = Position::from_fen(Variant::XIANGQI, ROOTS[root]).expect("a position");
        let mut game: Xiangqi = position.game();
        for choice in choices {
            let mut found = Vec::new();
            game.moves_on_board(&mut found);
            prop_assert_eq!(found.len() as u64, game.count_on_board());
            let set: BTreeSet<Move> = found.iter().copied().collect();
            prop_assert_eq!(set.len(), found.len());
            let board = board(&game);
            prop_assert_eq!(&set, &moves(&board, game.side()), "{}", game.draw());
            prop_assert_eq!(game.is_check(), !is_safe(&board, game.side()));
            match found.as_slice() {
                [] => break,
                found => game.play(found[usize::from(choice) % found.len()]),
            }
        }
    }
}

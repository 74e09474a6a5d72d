//! Captures found by walking the two circuits, as the paper on surakarta engines describes it: each
//! circuit is a vector of points, and points where its lines cross stand in it twice.

use std::collections::BTreeSet;

use kagetsu_game::surakarta::{CIRCUITS, POINTS, Surakarta, routes};
use kagetsu_game::{Game, Move, Packed, Side, Variant};

use crate::dice::{Dice, cases};

const OUTER: &str =
    "a2 b2 c2 d2 e2 f2 ~ e1 e2 e3 e4 e5 e6 ~ f5 e5 d5 c5 b5 a5 ~ b6 b5 b4 b3 b2 b1 ~";
const INNER: &str =
    "a3 b3 c3 d3 e3 f3 ~ d1 d2 d3 d4 d5 d6 ~ f4 e4 d4 c4 b4 a4 ~ c6 c5 c4 c3 c2 c1 ~";

type Board = [Option<Side>; POINTS];

/// Reads a circuit: points and arcs (`None`).
fn track(text: &str) -> Vec<Option<usize>> {
    let point = |word: &str| {
        let [file, rank] = word.as_bytes() else {
            return None;
        };
        Some(usize::from(rank - b'1') * 6 + usize::from(file - b'a'))
    };
    text.split(' ').map(point).collect()
}

/// Returns the stone that `from` may capture, walking from one place of the circuit.
fn victim(board: &Board, track: &[Option<usize>], from: usize) -> Option<usize> {
    let mut arcs = 0;
    for &place in track.iter().cycle().skip(1).take(track.len()) {
        match place {
            None => arcs += 1,
            Some(point) if point == from || board[point].is_none() => {}
            Some(point) => return (arcs > 0 && board[point] != board[from]).then_some(point),
        }
    }
    None
}

fn captures(board: &Board, from: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for text in [OUTER, INNER] {
        let forward = track(text);
        let backward: Vec<_> = forward.iter().rev().copied().collect();
        for track in [forward, backward] {
            let starts = (0..track.len()).filter(|&place| track[place] == Some(from));
            for start in starts {
                let turned: Vec<_> = track[start..]
                    .iter()
                    .chain(&track[..start])
                    .copied()
                    .collect();
                found.extend(victim(board, &turned, from));
            }
        }
    }
    found
}

fn steps(board: &Board, from: usize) -> impl Iterator<Item = usize> {
    let near =
        move |to: usize| (from % 6).abs_diff(to % 6) <= 1 && (from / 6).abs_diff(to / 6) <= 1;
    (0..POINTS).filter(move |&to| board[to].is_none() && near(to))
}

/// Returns all moves of `side`.
pub(crate) fn plain_moves(board: &Board, side: Side) -> BTreeSet<Move> {
    let own = (0..POINTS).filter(|&point| board[point] == Some(side));
    let moves = own.flat_map(|from| {
        let targets: Vec<usize> = captures(board, from)
            .into_iter()
            .chain(steps(board, from))
            .collect();
        targets
            .into_iter()
            .map(move |to| Move::new((from * POINTS + to) as u16))
    });
    moves.collect()
}

pub(crate) fn table_moves(board: &Board, side: Side) -> Vec<Move> {
    let digit = |point: usize| board[point].map_or(0, |side| 1 + side.index() as u8);
    let groups =
        (0..POINTS / 4).map(|at| (0..4).rev().fold(0, |byte, i| byte * 3 + digit(4 * at + i)));
    let packed = Packed(std::iter::once(side.index() as u8).chain(groups).collect());
    let mut moves = Vec::new();
    Surakarta::unpack(Variant::SURAKARTA, &packed)
        .expect("a position")
        .moves_on_board(&mut moves);
    moves
}

/// Returns boards from nearly empty to nearly full.
fn random_board(dice: &mut Dice) -> Board {
    let sides = 2 + dice.roll(14);
    std::array::from_fn(|_| match dice.roll(sides) {
        0 => Some(Side::First),
        1 => Some(Side::Second),
        _ => None,
    })
}

#[test]
fn the_circuits_are_those_of_the_board() {
    for (circuit, text) in CIRCUITS.iter().zip([OUTER, INNER]) {
        let points: Vec<usize> = track(text).into_iter().flatten().collect();
        assert_eq!(circuit.map(usize::from).to_vec(), points);
    }
}

#[test]
fn number_of_routes_is_as_known() {
    let pairs = (0..POINTS as u8).flat_map(|from| (0..POINTS as u8).map(move |to| (from, to)));
    let counts: Vec<usize> = pairs
        .map(|(from, to)| routes(from, to).count())
        .filter(|&count| count > 0)
        .collect();
    assert_eq!((counts.len(), counts.iter().sum::<usize>()), (704, 1344));
    assert_eq!(
        (counts.iter().min(), counts.iter().max()),
        (Some(&1), Some(&4))
    );
    for corner in [0, 5, 30, 35] {
        assert!((0..POINTS as u8).all(|to| {
            routes(corner, to)
                .chain(routes(to, corner))
                .next()
                .is_none()
        }));
    }
}

#[test]
fn the_table_agrees_with_the_tracks() {
    let (seed, mut found) = (1, 0);
    let mut dice = Dice::new(seed);
    for number in 0..cases(100_000) {
        let board = random_board(&mut dice);
        let side = if dice.roll(2) == 0 {
            Side::First
        } else {
            Side::Second
        };
        if !board.contains(&Some(Side::First)) || !board.contains(&Some(Side::Second)) {
            continue;
        }
        let moves = table_moves(&board, side);
        let set: BTreeSet<Move> = moves.iter().copied().collect();
        assert_eq!(
            set.len(),
            moves.len(),
            "seed {seed}, board {number}: a move twice"
        );
        assert_eq!(
            set,
            plain_moves(&board, side),
            "seed {seed}, board {number}: {board:?}"
        );
        found += moves
            .iter()
            .filter(|m| board[m.index() % POINTS].is_some())
            .count();
    }
    assert!(found > 1000, "too few captures to speak of: {found}");
}

use std::collections::BTreeSet;

use kagetsu_game::gomoku::{Freestyle, Gomoku, Standard};
use kagetsu_game::{Game, Position, Symmetry, Variant, zobrist};

use crate::dice::{Dice, cases};

fn hash(line: &str) -> u64 {
    Position::from_line(Variant::STANDARD_15, line)
        .expect("a legal line")
        .game::<Gomoku<Standard>>()
        .hash()
}

/// The example of a hash table in the patent: two lines that transpose.
#[test]
fn transposed_lines_have_one_hash() {
    assert_eq!(hash("7,7 8,7 7,6 7,9"), hash("7,6 7,9 7,7 8,7"));
    assert_ne!(
        hash("7,7 8,7 7,6 7,9"),
        hash("8,7 7,7 7,6 7,9"),
        "the stones of the sides are not alike"
    );
}

/// The hash combines the variant, the side to move, and a number for each stone; the second
/// player's start at 484.
#[test]
fn the_hash_is_the_sum_of_its_parts() {
    let position = Position::from_line(Variant::STANDARD_15, "h8 i9 h9").expect("a legal line");
    let stones = [7 * 15 + 7, 484 + 8 * 15 + 8, 8 * 15 + 7].map(zobrist::number);
    let parts = stones.into_iter().chain([
        zobrist::salt(Variant::STANDARD_15.code()),
        zobrist::SECOND_TO_MOVE,
    ]);
    let board: Gomoku<Standard> = position.game();
    assert_eq!(
        board.zobrist(Symmetry::IDENTITY),
        parts.fold(0, |sum, part| sum ^ part)
    );
}

/// Every position of random games. If two values have equal low halves and different high halves,
/// two positions share a hash.
#[test]
fn positions_of_random_games_have_distinct_hashes() {
    let wanted = cases(100_000);
    let mut dice = Dice::new(64);
    let mut values: Vec<u128> = Vec::with_capacity(wanted);
    while values.len() < wanted {
        let mut board = Gomoku::<Freestyle>::start(Variant::FREESTYLE_15);
        let mut moves = Vec::new();
        board.moves(&mut moves);
        while board.outcome().is_none() && values.len() < wanted {
            board.play(moves.swap_remove(dice.roll(moves.len())));
            values.push(board.zobrist(Symmetry::IDENTITY));
        }
    }
    values.sort_unstable();
    values.dedup();
    let distinct = values.len();
    let mut hashes: Vec<u64> = values.into_iter().map(|value| value as u64).collect();
    hashes.sort_unstable();
    hashes.dedup();
    println!("{distinct} positions, {} hashes", hashes.len());
    assert!(distinct > wanted * 9 / 10);
    assert_eq!(hashes.len(), distinct);
}

/// The numbers of points, sides and variants differ in both halves.
#[test]
fn no_number_is_used_twice() {
    let variants = (5..=22_u32)
        .flat_map(|size| (1..=3).map(move |rule| zobrist::salt(1 << 24 | rule << 16 | size << 8)));
    let numbers = (0..2 * 484)
        .map(zobrist::number)
        .chain([zobrist::SECOND_TO_MOVE, zobrist::FORBIDDEN_MOVE]);
    let all: Vec<u128> = numbers.chain(variants).collect();
    for half in [0, 64] {
        assert_eq!(
            all.iter()
                .map(|number| (number >> half) as u64)
                .collect::<BTreeSet<_>>()
                .len(),
            all.len()
        );
    }
}

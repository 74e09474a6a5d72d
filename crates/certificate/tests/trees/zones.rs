//! The check by zones against the check of every reply.

use std::num::NonZeroUsize;

use kagetsu_certificate::{
    CheckedReplies, Node, ProofDag, Reference, Tree, ZoneChecker, check, check_parallel,
};
use kagetsu_game::{Claim, Move, Position, Side, Variant};

use super::{dag_of, read};

/// Parts of the certificates of h8: positions after a few moves, with the first side to move.
const CERTIFICATES: [&str; 4] = [
    include_str!("data/freestyle-small.proof"),
    include_str!("data/freestyle-large.proof"),
    include_str!("data/standard-small.proof"),
    include_str!("data/standard-large.proof"),
];

/// Numbers that are the same in each run (Marsaglia, "Xorshift RNGs", 2003).
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// The stones of a position as rows from the top.
fn rows(position: &Position, size: usize) -> Vec<Vec<char>> {
    let mut rows = vec![vec!['.'; size]; size];
    for (stones, letter) in position.stones().expect("gomoku").iter().zip(['X', 'O']) {
        for at in stones {
            rows[size - 1 - at.index() / size][at.index() % size] = letter;
        }
    }
    rows
}

/// The position of such rows with the first side to move; `None` if both sides have a five.
fn read_rows(variant: Variant, rows: &[Vec<char>]) -> Option<Position> {
    let drawn: Vec<String> = rows.iter().map(|row| row.iter().collect()).collect();
    Position::from_board(variant, &drawn.join("\n"), Some(Side::First)).ok()
}

/// Whether a node wins by zones, which agrees with the check of every reply.
fn wins(zones: &mut ZoneChecker, dag: &ProofDag, root: u32, position: &Position) -> bool {
    let is_won = zones.wins(dag, position, Reference::to(root), u64::MAX);
    let expected = check(&dag.tree(root, position.clone(), Claim::Win));
    assert_eq!(
        is_won,
        expected.is_ok(),
        "{}: {expected:?}",
        position.draw()
    );
    is_won
}

/// The position with some of the second side's stones moved, removed or added, mostly near the
/// others; `None` where its game is over.
fn changed(position: &Position, numbers: &mut Numbers) -> Option<Position> {
    let (_, size) = position.variant().gomoku().expect("gomoku");
    let size = usize::from(size);
    let mut rows = rows(position, size);
    let stones = position.stones().expect("gomoku");
    let all: Vec<Move> = stones.iter().flatten().copied().collect();
    for _ in 0..1 + numbers.below(4) {
        let loser = &stones[1];
        let old = loser[numbers.below(loser.len())];
        if numbers.below(4) != 0 {
            rows[size - 1 - old.index() / size][old.index() % size] = '.';
        }
        let near = all[numbers.below(all.len())];
        let reach = 2 + numbers.below(size);
        let mut place = |at: usize| {
            let moved = at + numbers.below(2 * reach + 1);
            moved.saturating_sub(reach).min(size - 1)
        };
        let (column, row) = (place(near.index() % size), place(near.index() / size));
        let point = &mut rows[size - 1 - row][column];
        if *point == '.' {
            *point = 'O';
        }
    }
    let position = read_rows(position.variant(), &rows)?;
    position.outcome().is_none().then_some(position)
}

#[test]
fn known_win_carries_over_to_other_stones() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut won, mut lost, mut carried) = (0, 0, 0);
    for whole in CERTIFICATES {
        let tree = read(whole).expect("a tree");
        let (dag, root) = dag_of(&tree);
        let mut zones = ZoneChecker::new(tree.position.variant()).expect("zones");
        for at in 0..20 {
            let position = if at == 0 {
                Some(tree.position.clone())
            } else {
                changed(&tree.position, &mut numbers)
            };
            let Some(position) = position else { continue };
            let is_won = wins(&mut zones, &dag, root, &position);
            carried += usize::from(is_won && zones.visited() == 0);
            *(if is_won { &mut won } else { &mut lost }) += 1;
        }
    }
    let found = format!("{won} won, {lost} lost, {carried} carried over");
    assert!(won > 15 && lost > 15 && carried > 5, "{found}");
}

/// The position with other stones of the second side.
fn with_stones(position: &Position, loser: &[Move]) -> Position {
    let (_, size) = position.variant().gomoku().expect("gomoku");
    let size = usize::from(size);
    let mut rows = rows(position, size);
    rows.iter_mut()
        .flatten()
        .filter(|point| **point == 'O')
        .for_each(|point| *point = '.');
    for at in loser {
        rows[size - 1 - at.index() / size][at.index() % size] = 'O';
    }
    read_rows(position.variant(), &rows).expect("a board")
}

/// Whether a tree's root, with another node in its place, wins at each of two positions, which are
/// checked one after the other.
fn wins_at(tree: &Tree, root: Node, positions: [&Position; 2]) -> [bool; 2] {
    let (mut dag, _) = dag_of(tree);
    let root = dag.add(root);
    let mut zones = ZoneChecker::new(tree.position.variant()).expect("zones");
    positions.map(|position| wins(&mut zones, &dag, root, position))
}

#[test]
fn removed_stone_needs_an_answer() {
    let mut failing = 0;
    for whole in CERTIFICATES {
        let tree = read(whole).expect("a tree");
        let root = tree.nodes().last().expect("a root");
        let stones = tree.position.stones().expect("gomoku");
        let otherwise = root.otherwise.expect("an answer to other replies");
        let moves = tree.position.legal_moves();
        for reply in moves.iter().step_by(60).filter(|m| Some(**m) != root.at) {
            // The last stone of the loser, which is far away, stands on the reply.
            let mut loser = stones[1].clone();
            loser.pop();
            loser.push(*reply);
            let taken = with_stones(&tree.position, &loser);
            let answer = |m: &Move| {
                let found = root.replies.iter().find(|(other, _)| other == m);
                (*m, found.map_or(otherwise, |(_, next)| *next))
            };
            let others = moves.iter().filter(|m| Some(**m) != root.at && *m != reply);
            let mut none = root.clone();
            none.replies = others.map(answer).collect();
            none.otherwise = None;
            let mut wrong = root.clone();
            wrong.replies.retain(|(m, _)| m != reply);
            wrong.replies.push((*reply, Reference::to(0)));
            wrong.replies.sort_unstable();
            for node in [none, wrong] {
                let won = wins_at(&tree, node, [&taken, &tree.position]);
                failing += usize::from(won == [true, false]);
            }
        }
    }
    assert!(failing > 7, "{failing} fail without the stone");
}

#[test]
fn longer_row_without_a_stone_is_a_five() {
    let tree = read(CERTIFICATES[2]).expect("a tree of standard gomoku");
    let root = tree.nodes().last().expect("a root");
    let stones = |text: &str| -> Vec<Move> {
        let moves = text.split(' ');
        moves
            .map(|m| tree.position.parse_move(m).expect("empty"))
            .collect()
    };
    let longer = with_stones(&tree.position, &stones("a15 b15 c15 d15 f15"));
    let five = with_stones(&tree.position, &stones("a15 b15 c15 d15 o1"));
    assert_eq!(
        wins_at(&tree, root.clone(), [&longer, &five]),
        [true, false]
    );
}

#[test]
fn fault_by_zones_is_named_as_without_them() {
    // Node 1 of the large certificate is needed: its move is changed to a point that is far away.
    let tree: Tree = read(CERTIFICATES[1]).expect("a tree");
    let line = CERTIFICATES[1].lines().nth(4).expect("a node");
    let moved = CERTIFICATES[1].replacen(&format!("\n{line}\n"), "\n1 o1\n", 1);
    let broken = read(&moved).expect("a tree");
    assert_ne!(broken, tree);
    let one = NonZeroUsize::MIN;
    let fault =
        check_parallel(&broken, CheckedReplies::ByZones, one, &|_| {}).expect_err("a fault");
    assert_eq!(fault.line, 5, "{fault}");
    let expected = "the game goes on, and nothing follows";
    assert!(fault.what.ends_with(expected), "{fault}");
}

#[test]
fn closed_six_of_the_loser_does_not_carry_over() {
    let tree = read(include_str!("data/closed-six.proof")).expect("a tree");
    for replies in [CheckedReplies::ByZones, CheckedReplies::All] {
        let checked = check_parallel(&tree, replies, NonZeroUsize::MIN, &|_| {});
        let fault = checked.expect_err("the loser makes a five");
        assert!(fault.what.contains("Win(Second)"), "{replies:?}: {fault}");
    }
}

/// Black's four at h8, and the straight four at i8 behind it.
const FOUR_THREE: &str = "kagetsu-proof 1
variant renju-15
position h5 a1 h6 c1 h7 h4 f8 a15 g8 c15
claim win 5
1 h9
2 e8
3 j8
4 i8 e8>3 *>2
5 h8 h9>4 *>1
end 5
";

#[test]
fn stones_that_make_a_point_forbidden_matter() {
    let tree = read(FOUR_THREE).expect("a tree");
    let (dag, root) = dag_of(&tree);
    let position = |own: &str, foe: &str, side| {
        let mut rows = vec![vec!['.'; 15]; 15];
        for (stones, letter) in [(own, 'X'), (foe, 'O')] {
            for m in stones.split_whitespace() {
                let m = Position::start(Variant::RENJU_15).parse_move(m);
                let at = m.expect("a point").index();
                rows[14 - at / 15][at % 15] = letter;
            }
        }
        let drawn: Vec<String> = rows.iter().map(|row| row.iter().collect()).collect();
        Position::from_board(Variant::RENJU_15, &drawn.join("\n"), Some(side)).expect("a board")
    };
    // The diagonal h8 i9 j10 is no three while k11 is forbidden.
    let double_four = "i9 j10 k12 k13 k14";
    let double_three = "i9 j10 l11 m11 k12 k13 n12 n13 n14";
    let rows = [
        // One of two fours at k11 can no longer become a five.
        (double_four, "f6 k15", "f6 k15 k10"),
        // g7 makes a straight four as well.
        (double_four, "f6 k15", "k15"),
        // n11 becomes a double four, so that k11 l11 m11 is no three, and k11 not forbidden.
        (double_three, "f6 i11 n10 n15", "f6 i11 n15"),
        // h8 i9 j10 is closed.
        ("i9 j10", "f6 k11", "f6"),
        // White's six in a row are a five.
        ("h1", "i1 j1 l1 n1", "i1 j1 k1 l1 n1"),
    ];
    for (own, foe, other) in rows {
        let stones = |foe: &str, side| {
            let own = format!("h5 h6 h7 f8 g8 {own}");
            position(&own, &format!("h4 a15 c15 {foe}"), side)
        };
        let mut zones = ZoneChecker::new(Variant::RENJU_15).expect("zones");
        let won = [foe, other].map(|foe| wins(&mut zones, &dag, root, &stones(foe, Side::First)));
        assert_eq!(won, [true, false], "{own}: {foe}, {other}");
        let passed = stones(foe, Side::Second);
        let zone = zones.after_pass(&dag, &passed, Reference::to(root), u64::MAX);
        let zone = zone.expect("a win");
        for m in other.split(' ').filter(|m| !foe.contains(m)) {
            let m = passed.parse_move(m).expect("empty");
            assert!(zone.contains(m), "{own}: {m:?}");
        }
        // Black's six in a row are none, and a win of White has no zones.
        let longer = position("h5 h6 h7 f8 g8 h10", "h4", Side::First);
        assert!(!wins(&mut zones, &dag, root, &longer));
        let swapped = position("h4", "h5 h6 h7 f8 g8", Side::Second);
        assert!(!zones.wins(&dag, &swapped, Reference::to(root), u64::MAX));
    }
}

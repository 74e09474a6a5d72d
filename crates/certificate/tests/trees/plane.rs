//! Boards as windows of the plane: what the checkers accept there wins against every reply on
//! larger boards, and each rule about the stones beyond the window is needed.

use std::num::NonZeroUsize;
use std::process::Command;

use kagetsu_certificate::{
    CheckedReplies, ProofDag, Reference, ZoneChecker, check, check_parallel,
};
use kagetsu_game::{Claim, Move, Side};

use super::forgeries::python;
use super::random::{Cell, Field, GOMOKU, changed, damaged, random_tree, seed, wins};
use super::read;
use super::zones::Numbers;

/// Whether both checkers accept a tree on the plane.
fn holds(tree: &str) -> bool {
    let read = read(tree).expect("a tree");
    let one = NonZeroUsize::MIN;
    let checked = check_parallel(&read, CheckedReplies::OnPlane, one, &|_| {});
    if let Some(script) = python() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tree");
        std::fs::write(&path, tree).expect("room");
        let mut command = Command::new("python3");
        let output = command.arg(script).arg(&path).args(["--board", "plane"]);
        let output = output.output().expect("python3 runs");
        let told = String::from_utf8_lossy(&output.stdout);
        assert_eq!(
            output.status.success(),
            checked.is_ok(),
            "{checked:?}, {told}\n{tree}"
        );
    }
    checked.is_ok()
}

/// A tree of a winner with two fives, who makes so many useless moves first.
fn idle_tree(position: &str, idle: usize, claim: Claim) -> String {
    let moves = ["c15", "e14", "g15", "i14", "k15", "m14"];
    let mut text = format!("kagetsu-proof 1\nvariant freestyle-15\n{position}\n");
    let plies = 2 * idle + 1 + usize::from(claim == Claim::Loss);
    text += &format!("claim {claim} {plies}\n1 h7\n2 h12\n");
    let mut last = 1;
    let named = |idle: usize| {
        let others = moves[..idle].iter().map(|point| format!(",{point}"));
        format!("h7>2 h12{}>1", others.collect::<String>())
    };
    for (number, at) in moves[..idle].iter().enumerate() {
        let node = 3 + number;
        text += &format!("{node} {at} {} *>{last}\n", named(number));
        last = node;
    }
    if claim == Claim::Loss {
        text += &format!("{} - {} *>{last}\n", last + 1, named(idle));
        last += 1;
    }
    text + &format!("end {}\n", last.max(2))
}

/// Four stones of the winner in the middle, and the loser's far from each other.
const OPEN_FOUR: &str = "h8 a1 h9 c5 h10 n3 h11 m7";

#[test]
fn free_moves_beyond_the_window_are_counted() {
    // The winner has h8 to h11, and the loser has nothing but needs five moves for a five.
    let mut setup = [0_u8; 46];
    for point in (7..11).map(|row| 15 * row + 7) {
        setup[1 + point / 5] += 3_u8.pow(point as u32 % 5);
    }
    for (claim, most) in [(Claim::Win, 4), (Claim::Loss, 3)] {
        setup[0] = u8::from(claim == Claim::Loss);
        let hex: String = setup.iter().map(|byte| format!("{byte:02x}")).collect();
        for idle in 1..=6 {
            let tree = idle_tree(&format!("setup {hex}\nposition"), idle, claim);
            assert_eq!(holds(&tree), idle <= most, "{claim}, {idle}");
        }
    }
}

#[test]
fn rows_that_cross_the_border_are_open() {
    // Rows of the loser that the winner has closed on the board, and the moves before the last one
    // that makes five beyond it.
    let cases = [
        ("a5 b5 c5", "d5", 1),
        ("a1 b2 c3", "d4", 1),
        ("n2 o1 m3", "l4", 1),
        ("a3 b3 c3 d3", "e3", 0),
    ];
    for (foe, stone, most) in cases {
        let own = ["h8", "h9", "h10", "h11", stone].into_iter();
        let line: Vec<_> = own.zip(foe.split(' ').chain(["f14", "n8", "k6"])).collect();
        let line: Vec<_> = line
            .iter()
            .map(|(own, foe)| format!("{own} {foe}"))
            .collect();
        for idle in 1..=3 {
            let tree = idle_tree(&format!("position {}", line.join(" ")), idle, Claim::Win);
            let large = tree.replace("freestyle-15", "freestyle-19");
            for board in [&tree, &large] {
                let zones = check_parallel(
                    &read(board).expect("a tree"),
                    CheckedReplies::ByZones,
                    NonZeroUsize::MIN,
                    &|_| {},
                );
                assert!(zones.is_ok_and(|it| it.positions < 5_000), "{foe}, {idle}");
            }
            assert!(check(&read(&tree).expect("a tree")).is_ok());
            assert_eq!(holds(&tree), idle <= most, "{foe}, {idle}");
        }
    }
}

#[test]
fn replies_beyond_the_window_need_an_answer() {
    let whole = idle_tree(&format!("position {OPEN_FOUR}"), 1, Claim::Win);
    assert!(holds(&whole));
    let position = read(&whole).expect("a tree").position;
    let others = position.legal_moves().into_iter();
    let mut others: Vec<_> = others.map(|m| position.write_move(m)).collect();
    others.retain(|point| !["h7", "h12", "c15"].contains(&point.as_str()));
    let named = whole.replace("*>1", &format!("{}>1", others.join(",")));
    assert!(check(&read(&named).expect("a tree")).is_ok());
    assert!(!holds(&named));
}

/// A field in a corner or elsewhere on a larger one, of 5 more rows.
fn widened(field: &Field, [right, up]: [usize; 2]) -> Field {
    let size = field.size + 5;
    let mut cells = vec![Cell::Empty; size * size];
    for (at, cell) in field.cells.iter().enumerate() {
        cells[(at / field.size + up) * size + at % field.size + right] = *cell;
    }
    Field {
        size,
        cells,
        ..*field
    }
}

/// The nodes below a root with their moves on the larger field; `None` if some are turned.
fn shifted(
    dag: &ProofDag,
    root: u32,
    size: usize,
    [right, up]: [usize; 2],
) -> Option<(ProofDag, u32)> {
    let image = |m: Move| {
        Move::new(((m.index() / size + up) * (size + 5) + m.index() % size + right) as u16)
    };
    let (mut new, mut moved) = (ProofDag::default(), Vec::new());
    for number in 0..=root {
        let mut node = dag.node(number).clone();
        if node.references().any(|next| next.turn.number() != 0) {
            return None;
        }
        node.at = node.at.map(image);
        let follow = |next: Reference| Reference::to(moved[next.node as usize]);
        for (reply, next) in &mut node.replies {
            (*reply, *next) = (image(*reply), follow(*next));
        }
        node.replies.sort_unstable();
        node.otherwise = node.otherwise.map(follow);
        moved.push(new.add(node));
    }
    let root = moved[root as usize];
    Some((new, root))
}

/// Compares verdicts on the plane with every reply on larger boards. Returns how often both won,
/// and how often the board's borders were needed.
fn compare(trees: usize, seed: u64) -> (usize, usize) {
    let (mut numbers, mut won, mut bordered) = (Numbers(seed), 0, 0);
    for _ in 0..trees {
        let (field, dag, root) = random_tree(&mut numbers, GOMOKU);
        let (dag, root) = match numbers.below(3) {
            0 => damaged(&dag, root, &field, &mut numbers),
            _ => (dag, root),
        };
        if dag.plies(root) > 7 || field.size > 7 {
            continue;
        }
        let mut plane = ZoneChecker::on_plane(field.variant()).expect("zones");
        for _ in 0..6 {
            let field = changed(&field, &mut numbers);
            let Some(position) = field.position(Side::First) else {
                continue;
            };
            let at = Reference::to(root);
            let is_won = !field.has_five(Cell::Loser) && plane.wins(&dag, &position, at, u64::MAX);
            if !is_won {
                bordered += usize::from(!field.has_five(Cell::Loser) && wins(&dag, at, &field));
                continue;
            }
            let offset = [numbers.below(6), numbers.below(6)];
            let Some((dag, root)) = shifted(&dag, root, field.size, offset) else {
                continue;
            };
            let larger = widened(&field, offset);
            let is_won = wins(&dag, Reference::to(root), &larger);
            assert!(is_won, "seed {seed}: {}", position.draw());
            won += 1;
        }
    }
    (won, bordered)
}

#[test]
fn plane_agrees_with_every_reply_on_larger_boards() {
    let (won, bordered) = compare(100, seed(59));
    assert!(won > 60 && bordered > 2, "{won}, {bordered}");
}

//! Win trees of forced lines, made smaller, joined and looked up.

#[path = "../../certificate/tests/trees/small_boards.rs"]
mod small_boards;

use kagetsu_certificate::{Tree, check};
use kagetsu_game::{Claim, Move, Outcome, Position, Variant};
use kagetsu_proofs::{LineError, NodeCounts, ProofBook, shrink, tree_of_line};
use proptest::prelude::*;
use small_boards::{LOSS, OPEN_FOUR, TURNED, boards, damaged, naive, text, tree_of};

fn read(text: &str) -> Tree {
    Tree::read(&mut text.as_bytes()).expect("a tree")
}

/// Tests that a tree made smaller proves the same and has no more nodes.
fn check_shrunk(tree: &Tree) {
    let position = &tree.position;
    let small = shrink(position, std::slice::from_ref(tree), &|_| {}).expect("a tree of gomoku");
    assert_eq!((&small.position, small.claim), (position, tree.claim));
    assert!(small.nodes().len() <= tree.nodes().len(), "{position}");
    let checked = check(&small).map(|checked| checked.plies);
    assert_eq!(checked, Ok(small.plies), "{position}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn smaller_tree_proves_the_same(
        position in boards(),
        chances in proptest::collection::vec(any::<usize>(), 5),
    ) {
        let Some(tree) = tree_of(&position) else { return Ok(()) };
        let whole = text(&tree);
        let lines: Vec<&str> = whole.lines().collect();
        for at in lines.len() - tree.nodes().len() - 1..lines.len() - 1 {
            for (way, &chance) in chances.iter().enumerate() {
                let Some(new) = damaged(lines[at], way, chance, &position) else { continue };
                let mut changed = lines.clone();
                changed[at] = &new;
                let changed = changed.join("\n") + "\n";
                if let Ok(tree) = Tree::read(&mut changed.as_bytes()) && naive(&tree) {
                    check_shrunk(&tree);
                }
            }
        }
    }

    #[test]
    fn forced_line_is_a_valid_tree(
        position in boards(),
        chances in proptest::collection::vec(any::<prop::sample::Index>(), 0..5),
        is_win in any::<bool>(),
    ) {
        let (mut at, mut line) = (position.clone(), Vec::new());
        for chance in chances {
            let moves = at.legal_moves();
            if moves.is_empty() {
                break;
            }
            line.push(*chance.get(&moves));
            at = at.play(line[line.len() - 1]).expect("legal");
        }
        let claim = if is_win { Claim::Win } else { Claim::Loss };
        if let Ok(tree) = tree_of_line(&position, claim, &line) {
            let checked = check(&tree);
            prop_assert_eq!(checked.map(|checked| checked.plies), Ok(tree.plies), "{:?}", line);
            prop_assert!(naive(&tree));
        }
    }
}

#[test]
fn needless_answer_is_dropped() {
    // The answer to h9 waits for a move before it makes the five.
    let wasteful = OPEN_FOUR
        .replace("win 3", "win 5")
        .replace("3 k8 g8>1 *>2", "3 a15 g8>1 *>2\n4 k8 g8>1 h9>3 *>2")
        .replace("end 3", "end 4");
    let tree = read(&wasteful);
    let checked = check(&tree);
    assert_eq!(checked.map(|checked| checked.plies), Ok(5));
    let position = tree.position.clone();
    let small = shrink(&position, &[tree], &|_| {}).expect("it holds");
    assert_eq!(text(&small), OPEN_FOUR);
    let threats_alone = NodeCounts {
        nodes: 3,
        quiet: 0,
        sequences: 1,
    };
    assert_eq!(NodeCounts::of(&small), threats_alone);
}

#[test]
fn trees_of_all_replies_are_joined() {
    let line = "h8 a1 i8 a3 j8 a5 k8";
    let position = Position::from_line(Variant::FREESTYLE_15, line).expect("legal");
    let five = |reply: Move| {
        let m = if position.write_move(reply) == "g8" {
            "l8"
        } else {
            "g8"
        };
        let reply = position.write_move(reply);
        let text = format!(
            "kagetsu-proof 1\nvariant freestyle-15\nposition {line} {reply}\nclaim win 1\n1 {m}\nend 1\n"
        );
        read(&text)
    };
    let mut trees: Vec<Tree> = position.legal_moves().into_iter().map(five).collect();
    let joined = shrink(&position, &trees, &|_| {}).expect("all replies are answered");
    assert_eq!(
        (joined.claim, joined.plies, joined.nodes().len()),
        (Claim::Loss, 2, 3)
    );
    assert_eq!(check(&joined).map(|checked| checked.plies), Ok(2));
    let fives_after_a_quiet_root = NodeCounts {
        nodes: 3,
        quiet: 1,
        sequences: 2,
    };
    assert_eq!(NodeCounts::of(&joined), fives_after_a_quiet_root);
    // The answer to another reply meets each one but g8.
    trees.retain(|tree| !tree.position.to_string().ends_with("g8"));
    let why = |position: &Position| {
        let error = shrink(position, &trees, &|_| {}).expect_err("no tree");
        error.to_string()
    };
    assert_eq!(why(&position), "no tree answers g8");
    let other = why(&Position::start(Variant::STANDARD_15));
    assert_eq!(
        other,
        "a tree of freestyle-15 is no part of one of standard-15"
    );
}

#[test]
fn certificate_answers_every_defence() {
    let standard = OPEN_FOUR.replace("freestyle", "standard");
    for whole in [OPEN_FOUR, &standard, LOSS, TURNED] {
        let tree = read(whole);
        let book = ProofBook::new(tree.clone()).expect(whole);
        let answer = |position: &Position| {
            let found = book.lookup(position).expect("a position of the tree");
            let [(m, verdict)] = found.verdicts() else {
                panic!("one move in {position}");
            };
            (*m, verdict.proof.map(|proof| (proof.claim, proof.plies)))
        };
        let first = if tree.claim == Claim::Win {
            let (m, proof) = answer(&tree.position);
            assert_eq!(proof, Some((Claim::Win, 3)));
            tree.position.play(m).expect("legal")
        } else {
            tree.position.clone()
        };
        let replies = book.lookup(&first).expect("the loser's replies");
        assert_eq!(replies.len(), first.legal_moves().len());
        let is_loss = |claim: Claim, plies: u16| claim == Claim::Loss && plies == 2;
        let proofs = replies.verdicts().iter().map(|(_, verdict)| verdict.proof);
        assert!(
            proofs
                .flatten()
                .all(|proof| is_loss(proof.claim, proof.plies))
        );
        for reply in first.legal_moves() {
            let defence = first.play(reply).expect("legal");
            let (five, proof) = answer(&defence);
            assert_eq!(proof, Some((Claim::Win, 1)));
            let end = defence.play(five).expect("legal");
            assert!(matches!(end.outcome(), Some(Outcome::Win(_))), "{end}");
            // The same position by another order of moves, and turned.
            let canonical = defence.canonical();
            let image = Position::unpack(defence.variant(), canonical.packed).expect("packed");
            assert!(book.lookup(&image).is_some(), "{image}");
            assert_eq!(book.lookup(&end), None, "the game is over");
        }
        let other = Position::from_line(tree.position.variant(), "h8 a1").expect("legal");
        assert_eq!(book.lookup(&other), None);
    }
}

#[test]
fn forced_line_shows_a_win() {
    // The first side has a three that is closed at g8, and two stones above k8.
    let fours = "h8 g8 i8 a1 j8 a3 k9 a5 k10 a7";
    let open = |what: &str| Err(LineError::Open(what.into()));
    let wrong = |what: &str| Err(LineError::Wrong(what.into()));
    #[rustfmt::skip]
    let rows = [
        ("h8 a1 i8 a3 j8 a5", Claim::Win, "k8", Ok(3)),
        ("h8 a1 i8 a3 j8 a5 k8", Claim::Loss, "", Ok(2)),
        (fours, Claim::Win, "k8 l8 k11", Ok(5)),
        (fours, Claim::Win, "k8 l8 k11 k7 k12", Ok(5)),
        (fours, Claim::Win, "k8", open("after k8: l8 has no answer in the line")),
        (fours, Claim::Win, "k8 l8", open("the line ends before the game does")),
        (fours, Claim::Win, "k11 k8", open("after k11: b1 has no answer in the line")),
        (fours, Claim::Win, "", open("the line ends before the game does")),
        (fours, Claim::Win, "k8 a2 l8 l9", wrong("l9 in the line: l9 comes after the end of the game")),
        (fours, Claim::Loss, "k8 a2 l8", wrong("the line ends with Win(First)")),
        (fours, Claim::Win, "k8 k8", wrong("k8 in the line: k8 is taken")),
        ("h8 a1 i8 a2 j8 a3 k1 a4", Claim::Win, "k8", wrong("a5 ends the game otherwise")),
        (fours, Claim::Draw, "k8", open("no line shows a draw")),
    ];
    for (line, claim, moves, known) in rows {
        let position = Position::from_line(Variant::FREESTYLE_15, line).expect("legal");
        let read = |text: &str| {
            Position::start(Variant::FREESTYLE_15)
                .parse_move(text)
                .expect("a move")
        };
        let moves: Vec<Move> = moves.split_whitespace().map(read).collect();
        let tree = tree_of_line(&position, claim, &moves);
        assert_eq!(
            tree.as_ref().map(|tree| tree.plies),
            known.as_ref().copied(),
            "{line}: {moves:?}"
        );
        if let Ok(tree) = tree {
            assert_eq!(check(&tree).map(|checked| checked.plies), Ok(tree.plies));
        }
    }
}

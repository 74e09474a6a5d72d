//! The checker against a naive one, on trees from a naive search and on damaged versions of them.

mod forgeries;
mod plane;
mod random;
mod small_boards;
mod zones;

use std::num::NonZeroUsize;

use kagetsu_certificate::{
    Checked, CheckedReplies, Node, ProofDag, Reference, Tree, TreeFault, ZoneChecker, check,
    check_parallel,
};
use kagetsu_game::{Claim, Game, Move, Position, Symmetry, Variant, with_game};
use proptest::prelude::*;
use small_boards::{LOSS, OPEN_FOUR, TURNED, boards, damaged, naive, text, tree_of, wins};

/// Returns the nodes of a tree as a graph, and the root's number.
fn dag_of(tree: &Tree) -> (ProofDag, u32) {
    let mut dag = ProofDag::default();
    let root = dag.load(tree);
    (dag, root)
}

/// Tests the zones of a won position: the check by zones agrees with the naive one, and the answer
/// to a pass answers each reply outside its zone. Returns the number of such replies.
fn check_zones(tree: &Tree, is_won: bool) -> usize {
    let position = &tree.position;
    let zones = ZoneChecker::new(position.variant());
    let Some(mut zones) = zones.filter(|zones| zones.covers(position.side())) else {
        return 0;
    };
    if tree.claim != Claim::Win {
        return 0;
    }
    let (dag, root) = dag_of(tree);
    let most = u64::MAX;
    assert_eq!(
        zones.wins(&dag, position, Reference::to(root), most),
        is_won
    );
    let node = dag.node(root);
    let next = node.at.and_then(|m| position.play(m).ok());
    let Some((next, answer)) = next
        .filter(|next| next.outcome().is_none())
        .zip(node.otherwise)
    else {
        return 0;
    };
    let Some(zone) = zones.after_pass(&dag, &next, answer, most) else {
        return 0;
    };
    let mut outside = next.legal_moves();
    outside.retain(|reply| !zone.contains(*reply));
    for reply in &outside {
        with_game!(next.variant(), G => {
            let mut game = next.game::<G>();
            game.play(*reply);
            let nodes: Vec<Node> = (0..=root).map(|number| dag.node(number).clone()).collect();
            let winner = game.side();
            let is_over = game.outcome().is_some();
            assert!(!is_over && wins(&mut game, &nodes, answer.node, &[answer.turn], winner));
        });
    }
    outside.len()
}

fn read(text: &str) -> Result<Tree, TreeFault> {
    Tree::read(&mut text.as_bytes())
}

/// Checks a tree in both ways, which must agree.
fn verify(text: &str) -> Result<u16, TreeFault> {
    let tree = read(text)?;
    let by_zones = check_parallel(&tree, CheckedReplies::ByZones, NonZeroUsize::MIN, &|_| {});
    let all = check(&tree);
    assert_eq!(
        by_zones.is_ok(),
        all.is_ok(),
        "{by_zones:?}, {all:?}: {text}"
    );
    Ok(all?.plies)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn checker_agrees_with_search_and_naive_checker(
        position in boards(),
        chances in proptest::collection::vec(any::<usize>(), 5),
    ) {
        let Some(tree) = tree_of(&position) else { return Ok(()) };
        let whole = text(&tree);
        prop_assert_eq!(&read(&whole), &Ok(tree.clone()));
        prop_assert_eq!(verify(&whole), Ok(tree.plies));
        prop_assert!(naive(&tree));
        let lines: Vec<&str> = whole.lines().collect();
        let nodes = lines.len() - tree.nodes().len() - 1..lines.len() - 1;
        for at in nodes {
            for (way, &chance) in chances.iter().enumerate() {
                let Some(new) = damaged(lines[at], way, chance, &position) else { continue };
                let mut broken = lines.clone();
                broken[at] = &new;
                let broken = broken.join("\n") + "\n";
                match read(&broken) {
                    Err(fault) => prop_assert!(fault.line as usize <= at + 1 || fault.line as usize <= lines.len()),
                    Ok(tree) => {
                        let (checked, is_won) = (check(&tree), naive(&tree));
                        let threads = NonZeroUsize::new(3).expect("some");
                        let plies = |checked: &Result<Checked, _>| checked.as_ref().ok().map(|checked| checked.plies);
                        for replies in [CheckedReplies::ByZones, CheckedReplies::All] {
                            let shared = check_parallel(&tree, replies, threads, &|_| {});
                            prop_assert_eq!(plies(&shared), plies(&checked));
                        }
                        let is_long = checked.as_ref().is_err_and(|fault| fault.what.contains("may last"));
                        check_zones(&tree, is_won);
                        prop_assert!(is_long || checked.is_ok() == is_won, "{checked:?}, naively {is_won}:\n{broken}");
                    }
                }
            }
        }
    }

    #[test]
    fn no_text_is_a_surprise(text in "(kagetsu-proof 1\nvariant (freestyle-15|xiangqi|surakarta)\n(setup [0-9a-f]{0,6}\n)?position( h8)?\nclaim (win|loss) [0-9]{1,4}\n)?([0-9]{1,2} [a-j-]{1,2}[0-9]?( [*h,8]{1,4}>[0-9](/[0-9])?){0,3}\n){0,5}(end [0-9]\n)?") {
        let _ = verify(&text);
    }
}

#[test]
fn pass_stands_for_replies_outside_the_zone() {
    let tree = read(OPEN_FOUR).expect("a tree");
    // 218 points are empty after the open four, and the five needs one of them.
    assert_eq!(check_zones(&tree, true), 217);
    let (dag, root) = dag_of(&tree);
    let mut zones = ZoneChecker::new(tree.position.variant()).expect("freestyle");
    assert!(
        !zones.wins(&dag, &tree.position, Reference::to(root), 1),
        "two positions"
    );
    for other in ["caro-15", "caro-overline-15", "xiangqi"] {
        assert!(
            ZoneChecker::new(other.parse().expect("a variant")).is_none(),
            "{other}"
        );
    }
    for large in ["freestyle-22", "renju-17"] {
        assert!(ZoneChecker::new(large.parse().expect("a variant")).is_some());
    }
}

#[test]
fn stone_outside_the_board_makes_no_five() {
    // Four stones touch the upper edge, and their lower end is taken.
    let line = "h12 h11 h13 a1 h14 a3 h15 a5";
    let position = Position::from_line(Variant::FREESTYLE_15, line).expect("a line");
    let mut zones = ZoneChecker::new(position.variant()).expect("freestyle");
    let mut dag = ProofDag::default();
    let mut last = |m: Move| {
        let node = Node {
            at: Some(m),
            ..Node::default()
        };
        Reference::to(dag.add(node))
    };
    let above = Move::new(15 * 15 + 7);
    let moves = [above, Move::new(255), Move::new(256), Move::new(u16::MAX)].map(&mut last);
    let turned = moves.map(|at| at.turned(Symmetry::new(1)));
    for at in moves.into_iter().chain(turned) {
        assert!(!zones.wins(&dag, &position, at, u64::MAX), "{at:?}");
    }
}

#[test]
fn reply_that_makes_a_five_is_not_answered() {
    // The loser has four stones in a row, and the winner an open four.
    let tree = read(OPEN_FOUR).expect("a tree");
    let (dag, root) = dag_of(&tree);
    let answer = dag.node(root).otherwise.expect("an answer to all replies");
    let mut zones = ZoneChecker::new(tree.position.variant()).expect("freestyle");
    for (line, is_answered) in [
        ("h8 a1 i8 c1 j8 e1 k8", true),
        ("h8 a1 i8 b1 j8 c1 k8 d1 o1", false),
    ] {
        let position = Position::from_line(tree.position.variant(), line).expect("a line");
        let zone = zones.after_pass(&dag, &position, answer, u64::MAX);
        assert_eq!(zone.is_some(), is_answered, "{line}");
    }
}

#[test]
fn each_line_that_is_wrong_is_named() {
    assert_eq!(verify(OPEN_FOUR), Ok(3));
    let rows = [
        ("kagetsu-proof 1", "kagetsu-proof 2", 1, "begins with"),
        ("freestyle-15", "freestyle-99", 2, "size"),
        ("h8 a1", "h8 h8", 3, "taken"),
        ("win 3", "win 1", 7, "may last 3 plies"),
        ("win 3", "loss 3", 7, "'-' where a loss"),
        ("win 3", "win 9999", 4, "at most 1999"),
        ("1 l8", "1 m8", 5, "after k8 g8 m8: the game goes on"),
        ("1 l8", "1 h8", 5, "taken"),
        ("1 l8", "2 l8", 5, "node 1 is expected"),
        ("2 g8\n", "", 6, "node 2 is expected"),
        ("2 g8", "2 g8 *>2", 6, "'2' is no node before"),
        ("2 g8", "2 z99", 6, "z99"),
        (" *>2", "", 6, "no node refers to node 2"),
        (" *>2", " *>1", 6, "no node refers to node 2"),
        ("g8>1 *>2", "g8,f8>1 f8>2 *>2", 7, "two answers to f8"),
        ("g8>1 *>2", "*>1 *>2", 7, "two answers to all"),
        ("g8>1 *>2", "g8>1 h9>2", 7, "the last move has no answer"),
        ("g8>1 *>2", "g8>1 *>2/8", 7, "symmetry"),
        ("g8>1 *>2", "g8 *>2", 7, "no answer, as in"),
        ("end 3", "end 4", 8, "there are 3 nodes"),
        ("end 3\n", "", 8, "the file ends"),
        ("end 3\n", "end 3", 8, "does not end"),
        ("end 3\n", "end 3\n\n", 9, "goes on"),
    ];
    for (old, new, line, what) in rows {
        let fault = verify(&OPEN_FOUR.replacen(old, new, 1)).expect_err(new);
        assert_eq!(fault.line, line, "{old} -> {new}: {fault}");
        assert!(fault.what.contains(what), "{old} -> {new}: {fault}");
    }
}

#[test]
fn a_turned_node_is_played_as_its_image() {
    assert_eq!(verify(TURNED), Ok(3));
    let fault = verify(&TURNED.replace("1/1", "1/2")).expect_err("the rows are mirrored");
    assert_eq!(
        (fault.line, fault.what.as_str()),
        (5, "after f8 j8 j7: the game goes on, and nothing follows")
    );
}

#[test]
fn xiangqi_and_surakarta_are_played_by_their_rules() {
    let mate = |fen: &str, variant, m: &str| {
        let position = Position::from_fen(variant, fen).expect("a position");
        let setup: String = position
            .setup()
            .expect("no start")
            .0
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        verify(&format!(
            "kagetsu-proof 1\nvariant {variant}\nsetup {setup}\nposition\nclaim win 1\n1 {m}\nend 1\n"
        ))
    };
    let fault = |line, what: &str| {
        Err(TreeFault {
            line,
            what: what.into(),
            is_unreadable: false,
        })
    };
    let rooks = "3k5/R8/9/9/9/9/9/9/9/1R3K3 w";
    assert_eq!(mate(rooks, Variant::XIANGQI, "b0b9"), Ok(1));
    assert_eq!(
        mate(rooks, Variant::XIANGQI, "b0c0"),
        fault(6, "after b0c0: the game goes on, and nothing follows")
    );
    assert_eq!(
        mate(rooks, Variant::XIANGQI, "b0a9"),
        fault(6, "b0a9 is not legal here: the piece does not move so")
    );
    // The last piece is captured around the corner.
    let last = "6/6/5b/6/6/2w3 w";
    assert_eq!(
        mate(last, Variant::SURAKARTA, "c1b1"),
        fault(6, "after c1b1: the game goes on, and nothing follows")
    );
}

#[test]
fn binary_file_is_not_called_a_wrong_tree() {
    let read = |mut bytes: &[u8]| Tree::read(&mut bytes).expect_err("no tree");
    for (bytes, line, is_unreadable) in [
        (&b"\xff\xfe\n"[..], 1, true),
        (b"kagetsu-proof 1\n\xff\n", 2, true),
        (b"h8\n", 1, false),
    ] {
        let fault = read(bytes);
        assert_eq!(
            (fault.line, fault.is_unreadable),
            (line, is_unreadable),
            "{fault}"
        );
    }
}

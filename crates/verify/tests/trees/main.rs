//! The checker against a naive one, on trees from a naive search and on damaged versions of them.

mod forgeries;
mod random;
mod zones;

use std::num::NonZeroUsize;

use kagetsu_game::{Claim, Game, Move, Outcome, Position, Side, Symmetry, Variant, with_game};
use kagetsu_verify::{
    Checked, CheckedReplies, LineError, Node, NodeCounts, ProofDag, Reference, ShrinkError, Tree,
    TreeFault, ZoneChecker, check, check_parallel, shrink,
};
use proptest::prelude::*;

/// Builds a tree by which the side to move wins within `plies`; every reply is tried.
fn grow<G: Game>(game: &mut G, plies: u16, dag: &mut ProofDag) -> Option<u32> {
    let (mut moves, winner) = (Vec::new(), game.side());
    game.moves(&mut moves);
    for m in moves {
        game.play(m);
        let replies = match game.outcome() {
            Some(outcome) => (outcome == Outcome::Win(winner)).then(Vec::new),
            None if plies >= 3 => answers(game, plies - 1, dag),
            None => None,
        };
        game.undo();
        if let Some(replies) = replies {
            return Some(dag.add(node(Some(m), replies)));
        }
    }
    None
}

/// Returns an answer to each reply of the side to move within `plies`, if all have one.
fn answers<G: Game>(game: &mut G, plies: u16, dag: &mut ProofDag) -> Option<Vec<(Move, u32)>> {
    let mut moves = Vec::new();
    game.moves(&mut moves);
    let answer = |m: Move| {
        game.play(m);
        let answer = if game.outcome().is_none() {
            grow(game, plies - 1, dag)
        } else {
            None
        };
        game.undo();
        answer.map(|answer| (m, answer))
    };
    moves.into_iter().map(answer).collect()
}

/// The most frequent answer stands for all replies not listed.
fn node(at: Option<Move>, replies: Vec<(Move, u32)>) -> Node {
    let count = |wanted: u32| replies.iter().filter(|(_, next)| *next == wanted).count();
    let most = replies
        .iter()
        .map(|(_, next)| *next)
        .max_by_key(|&next| (count(next), next));
    let listed = replies.iter().filter(|(_, next)| Some(*next) != most);
    let replies = listed.map(|(m, next)| (*m, Reference::to(*next))).collect();
    Node {
        at,
        replies,
        otherwise: most.map(Reference::to),
    }
}

/// Whether a node wins, by playing every reply; its moves go through all `turns`.
fn wins<G: Game>(game: &mut G, nodes: &[Node], at: u32, turns: &[Symmetry], winner: Side) -> bool {
    let variant = game.variant();
    let image = |m: Move| turns.iter().fold(m, |m, &turn| variant.image(m, turn));
    let node = &nodes[at as usize];
    if let Some(m) = node.at.map(image) {
        if game.check(m).is_err() {
            return false;
        }
        game.play(m);
    }
    let is_won = match game.outcome() {
        Some(outcome) => outcome == Outcome::Win(winner),
        None => {
            let mut moves = Vec::new();
            game.moves(&mut moves);
            moves.into_iter().all(|reply| {
                let listed = node
                    .replies
                    .iter()
                    .find(|(m, _)| image(*m) == reply)
                    .map(|(_, next)| *next);
                let Some(next) = listed.or(node.otherwise) else {
                    return false;
                };
                game.play(reply);
                let turns = [&[next.turn], turns].concat();
                let is_won =
                    game.outcome().is_none() && wins(game, nodes, next.node, &turns, winner);
                game.undo();
                is_won
            })
        }
    };
    if node.at.is_some() {
        game.undo();
    }
    is_won
}

fn naive(tree: &Tree) -> bool {
    let position = &tree.position;
    with_game!(position.variant(), G => {
        let mut game = position.game::<G>();
        let winner = if tree.claim == Claim::Win { game.side() } else { game.side().other() };
        let nodes = tree.nodes();
        wins(&mut game, nodes, nodes.len() as u32 - 1, &[], winner)
    })
}

/// Returns the nodes of a tree as a graph, and the root's number.
fn dag_of(tree: &Tree) -> (ProofDag, u32) {
    let (mut dag, mut numbers) = (ProofDag::default(), Vec::new());
    for node in tree.nodes() {
        let moved = |next: &Reference| Reference {
            node: numbers[next.node as usize],
            ..*next
        };
        let replies = node.replies.iter().map(|(m, next)| (*m, moved(next)));
        let node = Node {
            at: node.at,
            replies: replies.collect(),
            otherwise: node.otherwise.as_ref().map(moved),
        };
        numbers.push(dag.add(node));
    }
    let root = numbers.last().copied().expect("a tree has nodes");
    (dag, root)
}

/// Tests the zones of a won position: the check by zones agrees with the naive one, and the answer
/// to a pass answers each reply outside its zone. Returns the number of such replies.
fn check_zones(tree: &Tree, is_won: bool) -> usize {
    let position = &tree.position;
    let Some(mut zones) = ZoneChecker::new(position.variant()) else {
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

/// Tests that a tree made smaller proves the same and has no more nodes.
fn check_shrunk(tree: &Tree) {
    let position = &tree.position;
    match shrink(position, std::slice::from_ref(tree), &mut |_| {}) {
        Err(error) => assert_eq!(error, ShrinkError::Game(position.variant())),
        Ok(small) => {
            assert_eq!((&small.position, small.claim), (position, tree.claim));
            assert!(small.nodes().len() <= tree.nodes().len(), "{position}");
            let checked = check(&small, &mut |_| {}).map(|checked| checked.plies);
            assert_eq!(checked, Ok(small.plies), "{position}");
        }
    }
}

fn text(tree: &Tree) -> String {
    let mut bytes = Vec::new();
    tree.write(&mut bytes).expect("memory");
    String::from_utf8(bytes).expect("text")
}

fn read(text: &str) -> Result<Tree, TreeFault> {
    Tree::read(&mut text.as_bytes())
}

/// Checks a tree in both ways, which must agree.
fn verify(text: &str) -> Result<u16, TreeFault> {
    let tree = read(text)?;
    let by_zones = check_parallel(&tree, CheckedReplies::ByZones, NonZeroUsize::MIN, &|_| {});
    let all = check(&tree, &mut |_| {});
    assert_eq!(
        by_zones.is_ok(),
        all.is_ok(),
        "{by_zones:?}, {all:?}: {text}"
    );
    Ok(all?.plies)
}

/// A small board with few empty points and without a five.
fn boards() -> impl Strategy<Value = Position> {
    let variants = prop::sample::select(vec!["freestyle-6", "standard-6", "renju-6"]);
    let stones = Just((0..36usize).collect::<Vec<_>>()).prop_shuffle();
    (variants, stones, 6..10usize, any::<bool>()).prop_filter_map(
        "a game that goes on",
        |(name, order, empty, is_second)| {
            let mut rows = ['.'; 36];
            order
                .iter()
                .skip(empty)
                .zip(0..)
                .for_each(|(at, number)| rows[*at] = if number % 2 == 0 { 'X' } else { 'O' });
            let drawn: String = rows
                .chunks(6)
                .map(|row| row.iter().collect::<String>() + "\n")
                .collect();
            let side = if is_second { Side::Second } else { Side::First };
            let position = Position::from_board(name.parse().ok()?, &drawn, Some(side)).ok()?;
            position.outcome().is_none().then_some(position)
        },
    )
}

/// Returns the tree of a position that the side to move wins or loses within 5 plies.
fn tree_of(position: &Position) -> Option<Tree> {
    let mut dag = ProofDag::default();
    with_game!(position.variant(), G => {
        let mut game = position.game::<G>();
        if let Some(root) = grow(&mut game, 5, &mut dag) {
            return Some(dag.tree(root, position.clone(), Claim::Win));
        }
        let root = node(None, answers(&mut game, 4, &mut dag)?);
        let root = dag.add(root);
        Some(dag.tree(root, position.clone(), Claim::Loss))
    })
}

/// Damages a line of nodes in one of several ways that keep its syntax.
fn damaged(line: &str, way: usize, chance: usize, position: &Position) -> Option<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let (number, replies) = (words[0].parse::<usize>().ok()?, &words[2..]);
    let moves = position.legal_moves();
    let other = position.write_move(moves[chance % moves.len()]);
    let with = |m: &str, replies: &[&str]| [&[words[0], m], replies].concat().join(" ");
    let new = match way {
        0 => with(&other, replies),
        1 if !replies.is_empty() => {
            let mut fewer = replies.to_vec();
            fewer.remove(chance % replies.len());
            with(words[1], &fewer)
        }
        2 if !replies.is_empty() && number > 1 => {
            let mut moved = replies.to_vec();
            let (at, _) = moved[chance % replies.len()].split_once('>')?;
            let new = format!("{at}>{}", 1 + chance / 7 % (number - 1));
            let last = chance % replies.len();
            moved[last] = &new;
            with(words[1], &moved)
        }
        3 if number > 1 => {
            let mut more: Vec<&str> = replies.to_vec();
            let new = format!("{other}>{}", 1 + chance / 7 % (number - 1));
            more.insert(0, &new);
            with(words[1], &more)
        }
        4 if !replies.is_empty() => {
            let mut turned = replies.to_vec();
            let new = format!("{}/{}", turned[chance % replies.len()], 1 + chance % 7);
            let last = chance % replies.len();
            turned[last] = &new;
            with(words[1], &turned)
        }
        _ => return None,
    };
    (new != line).then_some(new)
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
                        let (checked, is_won) = (check(&tree, &mut |_| {}), naive(&tree));
                        let threads = NonZeroUsize::new(3).expect("some");
                        let plies = |checked: &Result<Checked, _>| checked.as_ref().ok().map(|checked| checked.plies);
                        for replies in [CheckedReplies::ByZones, CheckedReplies::All] {
                            let shared = check_parallel(&tree, replies, threads, &|_| {});
                            prop_assert_eq!(plies(&shared), plies(&checked));
                        }
                        let is_long = checked.as_ref().is_err_and(|fault| fault.what.contains("may last"));
                        check_zones(&tree, is_won);
                        if is_won {
                            check_shrunk(&tree);
                        }
                        prop_assert!(is_long || checked.is_ok() == is_won, "{checked:?}, naively {is_won}:\n{broken}");
                    }
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
        if let Ok(tree) = Tree::of_line(&position, claim, &line) {
            let checked = check(&tree, &mut |_| {});
            prop_assert_eq!(checked.map(|checked| checked.plies), Ok(tree.plies), "{:?}", line);
            prop_assert!(naive(&tree));
        }
    }

    #[test]
    fn no_text_is_a_surprise(text in "(kagetsu-proof 1\nvariant (freestyle-15|xiangqi|surakarta)\n(setup [0-9a-f]{0,6}\n)?position( h8)?\nclaim (win|loss) [0-9]{1,4}\n)?([0-9]{1,2} [a-j-]{1,2}[0-9]?( [*h,8]{1,4}>[0-9](/[0-9])?){0,3}\n){0,5}(end [0-9]\n)?") {
        let _ = verify(&text);
    }
}

/// The first side has three in a row with both ends open, the second side has nothing: an open four
/// wins.
const OPEN_FOUR: &str = "kagetsu-proof 1
variant freestyle-15
position h8 a1 i8 a3 j8 a5
claim win 3
1 l8
2 g8
3 k8 g8>1 *>2
end 3
";

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
    for other in ["renju-15", "freestyle-17", "xiangqi"] {
        assert!(
            ZoneChecker::new(other.parse().expect("a variant")).is_none(),
            "{other}"
        );
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
fn needless_answer_is_dropped() {
    // The answer to h9 waits for a move before it makes the five.
    let wasteful = OPEN_FOUR
        .replace("win 3", "win 5")
        .replace("3 k8 g8>1 *>2", "3 a15 g8>1 *>2\n4 k8 g8>1 h9>3 *>2")
        .replace("end 3", "end 4");
    assert_eq!(verify(&wasteful), Ok(5));
    let tree = read(&wasteful).expect("a tree");
    let position = tree.position.clone();
    let small = shrink(&position, &[tree], &mut |_| {}).expect("it holds");
    assert_eq!(text(&small), OPEN_FOUR);
    let threats_alone = NodeCounts {
        nodes: 3,
        quiet: 0,
        sequences: 1,
    };
    assert_eq!(small.size(), threats_alone);
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
        read(&text).expect("a tree")
    };
    let mut trees: Vec<Tree> = position.legal_moves().into_iter().map(five).collect();
    let joined = shrink(&position, &trees, &mut |_| {}).expect("all replies are answered");
    assert_eq!(
        (joined.claim, joined.plies, joined.nodes().len()),
        (Claim::Loss, 2, 3)
    );
    assert_eq!(
        check(&joined, &mut |_| {}).map(|checked| checked.plies),
        Ok(2)
    );
    let fives_after_a_quiet_root = NodeCounts {
        nodes: 3,
        quiet: 1,
        sequences: 2,
    };
    assert_eq!(joined.size(), fives_after_a_quiet_root);
    let last = trees.pop().expect("many");
    let reply = last.position.moves().last().expect("one");
    assert_eq!(
        shrink(&position, &trees, &mut |_| {}).err(),
        Some(ShrinkError::Open(position.write_move(*reply)))
    );
    let other = Position::start(Variant::STANDARD_15);
    let error = ShrinkError::Variant(Variant::FREESTYLE_15, Variant::STANDARD_15);
    assert_eq!(shrink(&other, &trees, &mut |_| {}).err(), Some(error));
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
fn forced_line_shows_a_win() {
    // The first side has a three that is closed at g8, and two stones above k8.
    let fours = "h8 g8 i8 a1 j8 a3 k9 a5 k10 a7";
    let open = |what: &str| Err(LineError::Open(what.into()));
    let wrong = |what: &str| Err(LineError::Wrong(what.into()));
    let rows = [
        ("h8 a1 i8 a3 j8 a5", Claim::Win, "k8", Ok(3)),
        ("h8 a1 i8 a3 j8 a5 k8", Claim::Loss, "", Ok(2)),
        (fours, Claim::Win, "k8 l8 k11", Ok(5)),
        (fours, Claim::Win, "k8 l8 k11 k7 k12", Ok(5)),
        (
            fours,
            Claim::Win,
            "k8",
            open("after k8: l8 has no answer in the line"),
        ),
        (
            fours,
            Claim::Win,
            "k8 l8",
            open("the line ends before the game does"),
        ),
        (
            fours,
            Claim::Win,
            "k11 k8",
            open("after k11: b1 has no answer in the line"),
        ),
        (
            fours,
            Claim::Win,
            "",
            open("the line ends before the game does"),
        ),
        (
            fours,
            Claim::Win,
            "k8 a2 l8 l9",
            wrong("l9 in the line: l9 comes after the end of the game"),
        ),
        (
            fours,
            Claim::Loss,
            "k8 a2 l8",
            wrong("the line ends with Win(First)"),
        ),
        (
            fours,
            Claim::Win,
            "k8 k8",
            wrong("k8 in the line: k8 is taken"),
        ),
        (
            "h8 a1 i8 a2 j8 a3 k1 a4",
            Claim::Win,
            "k8",
            wrong("a5 ends the game otherwise"),
        ),
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
        let tree = Tree::of_line(&position, claim, &moves);
        assert_eq!(
            tree.as_ref().map(|tree| tree.plies),
            known.as_ref().copied(),
            "{line}: {moves:?}"
        );
        if let Ok(tree) = tree {
            assert_eq!(
                check(&tree, &mut |_| {}).map(|checked| checked.plies),
                Ok(tree.plies)
            );
        }
    }
}

#[test]
fn a_turned_node_is_played_as_its_image() {
    // On fourteen columns a mirror swaps e and j.
    let whole = "kagetsu-proof 1
variant freestyle-14
position h8 a1 i8 a3 g8 a5
claim win 3
1 j8
2 f8 j8>1/1 *>1
end 2
";
    assert_eq!(verify(whole), Ok(3));
    let fault = verify(&whole.replace("1/1", "1/2")).expect_err("the rows are mirrored");
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
        fault(6, "b0a9 is not legal here")
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

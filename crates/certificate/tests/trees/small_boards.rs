//! Win trees of small boards, from a naive search, with a naive checker and damaged lines.

use kagetsu_certificate::{Node, ProofDag, Reference, Tree};
use kagetsu_game::{Claim, Game, Move, Outcome, Position, Side, Symmetry, with_game};
use proptest::prelude::*;

/// The first side has three in a row with both ends open, the second side has nothing: an open four
/// wins.
pub(crate) const OPEN_FOUR: &str = "kagetsu-proof 1
variant freestyle-15
position h8 a1 i8 a3 j8 a5
claim win 3
1 l8
2 g8
3 k8 g8>1 *>2
end 3
";

/// The side to move loses to an open four.
pub(crate) const LOSS: &str = "kagetsu-proof 1
variant freestyle-15
position h8 a1 i8 a3 j8 a5 k8
claim loss 2
1 l8
2 g8
3 - g8>1 *>2
end 3
";

/// On fourteen columns a mirror swaps e and j.
pub(crate) const TURNED: &str = "kagetsu-proof 1
variant freestyle-14
position h8 a1 i8 a3 g8 a5
claim win 3
1 j8
2 f8 j8>1/1 *>1
end 2
";

pub(crate) fn text(tree: &Tree) -> String {
    let mut bytes = Vec::new();
    tree.write(&mut bytes).expect("memory");
    String::from_utf8(bytes).expect("text")
}

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
pub(crate) fn wins<G: Game>(
    game: &mut G,
    nodes: &[Node],
    at: u32,
    turns: &[Symmetry],
    winner: Side,
) -> bool {
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

pub(crate) fn naive(tree: &Tree) -> bool {
    let position = &tree.position;
    with_game!(position.variant(), G => {
        let mut game = position.game::<G>();
        let winner = if tree.claim == Claim::Win { game.side() } else { game.side().other() };
        let nodes = tree.nodes();
        wins(&mut game, nodes, nodes.len() as u32 - 1, &[], winner)
    })
}

/// A small board with few empty points and without a five.
pub(crate) fn boards() -> impl Strategy<Value = Position> {
    let variants = prop::sample::select(vec![
        "freestyle-6",
        "standard-6",
        "renju-6",
        "caro-6",
        "caro-overline-6",
    ]);
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
pub(crate) fn tree_of(position: &Position) -> Option<Tree> {
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
pub(crate) fn damaged(
    line: &str,
    way: usize,
    chance: usize,
    position: &Position,
) -> Option<String> {
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

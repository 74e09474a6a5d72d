use std::collections::HashSet;

use kagetsu_game::{Claim, Game, Move, Outcome, Packed, Side, Symmetry, with_game};

use crate::quick::Quick;
use crate::tree::{Node, Reference, Tree};
use crate::{Fault, Grove};

/// What a check has found true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The game ends within so many plies, by the tree.
    pub plies: u16,
    /// Positions of the winner that were looked at.
    pub positions: u64,
}

/// Nodes that end the game within so many plies are looked at again at every position: that is cheaper than to remember.
const BRIEF: u16 = 5;

/// Positions between two signs of life.
const PACE: u64 = 1 << 20;

/// Plays the whole tree: at each node of the winner its move, at each node of the loser every legal move.
///
/// What a game remembers (repetitions, plies without a capture) is remembered on every way through the tree. `progress`
/// hears now and then how many positions of the winner were looked at.
///
/// # Errors
/// The line of the node that fails, and by which moves it was come to.
pub fn check(tree: &Tree, progress: &mut dyn FnMut(u64)) -> Result<Checked, Fault> {
    let (nodes, position) = (&tree.nodes, &tree.position);
    let mut plies: Vec<u16> = Vec::with_capacity(nodes.len());
    for (node, line) in nodes.iter().zip(tree.first_line..) {
        let below = node
            .references()
            .map(|next| plies[next.node as usize])
            .max();
        let own = u16::from(node.at.is_some());
        let total = below.map_or(own, |below| below.saturating_add(1 + own));
        if total > tree.plies {
            return Err(Fault::at(
                line,
                format!(
                    "the game may last {total} plies, and {} are claimed",
                    tree.plies
                ),
            ));
        }
        plies.push(total);
    }
    let last = tree.first_line + nodes.len() as u64 - 1;
    if let Some(outcome) = position.outcome() {
        return Err(Fault::at(
            tree.first_line - 2,
            format!("the game is over in {position}: {outcome:?}"),
        ));
    }
    with_game!(position.variant(), G => {
        let mut game = position.game::<G>();
        let winner = if tree.claim == Claim::Win { game.side() } else { game.side().other() };
        let mut walk = Walk::<G>::new(nodes, &plies, winner, progress);
        let root = Reference::to(nodes.len() as u32 - 1);
        match walk.node(&mut game, root) {
            Ok(()) => Ok(Checked { plies: plies.last().copied().unwrap_or(0), positions: walk.positions }),
            Err(Wrong { node, moves, what }) => {
                let names: Vec<_> = moves.iter().map(|&m| position.write_move(m)).collect();
                let way = if names.is_empty() { String::new() } else { format!("after {}: ", names.join(" ")) };
                let line = node.map_or(last, |node| tree.first_line + u64::from(node));
                Err(Fault::at(line, format!("{way}{what}")))
            }
        }
    })
}

impl Grove {
    /// Whether a node, turned so, wins for the side to move of `game`, which is left as it was.
    pub fn wins<G: Quick>(&self, game: &mut G, node: Reference) -> bool {
        let winner = game.side();
        let mut silent = |_| {};
        let mut walk = Walk::new(&self.nodes, &self.plies, winner, &mut silent);
        let moves = game.history().len();
        let is_won = walk.node(game, node).is_ok();
        while game.history().len() > moves {
            game.undo();
        }
        is_won
    }
}

/// Why a tree fails: in which node, and by which moves it was come to.
struct Wrong {
    node: Option<u32>,
    moves: Vec<Move>,
    what: String,
}

struct Walk<'a, G> {
    nodes: &'a [Node],
    /// Plies by which each node ends the game at the latest.
    plies: &'a [u16],
    winner: Side,
    /// Where the walk began: moves of before are not told.
    begun: Option<usize>,
    /// Positions of long nodes that are won, as the nodes see them; where the way to a position does not matter.
    won: HashSet<(u32, Packed)>,
    positions: u64,
    spare: Vec<Vec<Move>>,
    progress: &'a mut dyn FnMut(u64),
    /// Whether the loser had every move tried that he had before the winner's: then none of them made a five.
    is_reply: bool,
    game: std::marker::PhantomData<G>,
}

impl<'a, G: Quick> Walk<'a, G> {
    fn new(
        nodes: &'a [Node],
        plies: &'a [u16],
        winner: Side,
        progress: &'a mut dyn FnMut(u64),
    ) -> Self {
        Self {
            nodes,
            plies,
            winner,
            begun: None,
            won: HashSet::new(),
            positions: 0,
            spare: Vec::new(),
            progress,
            is_reply: false,
            game: std::marker::PhantomData,
        }
    }

    fn wrong<T>(&self, node: u32, game: &G, what: impl Into<String>) -> Result<T, Wrong> {
        Err(Wrong {
            node: Some(node),
            moves: game.history()[self.begun.unwrap_or(0)..].to_vec(),
            what: what.into(),
        })
    }

    /// A node, turned so, is where `game` stands now. Where it fails the game is left where that was seen.
    fn node(&mut self, game: &mut G, at: Reference) -> Result<(), Wrong> {
        self.begun.get_or_insert(game.history().len());
        let (variant, nodes) = (game.variant(), self.nodes);
        let node = &nodes[at.node as usize];
        let has_no_history = !variant.has_repetition();
        let is_long = has_no_history && self.plies[at.node as usize] > BRIEF;
        let seen = is_long.then(|| (at.node, game.pack(G::inverse(at.turn))));
        if seen.as_ref().is_some_and(|seen| self.won.contains(seen)) {
            return Ok(());
        }
        self.positions += 1;
        if self.positions.is_multiple_of(PACE) {
            (self.progress)(self.positions);
        }
        match node.at {
            None => self.replies(game, at, node)?,
            Some(m) => {
                let m = G::image(variant, m, at.turn);
                if let Err(error) = game.check(m) {
                    return self.wrong(at.node, game, error.to_string());
                }
                let last = game.history().last().copied().filter(|_| self.is_reply);
                game.play(m);
                match game.outcome() {
                    Some(Outcome::Win(side)) if side == self.winner => {}
                    Some(outcome) => {
                        return self.wrong(
                            at.node,
                            game,
                            format!("the game ends with {outcome:?}"),
                        );
                    }
                    None if node.replies.is_empty() && node.otherwise.is_none() => {
                        return self.wrong(at.node, game, "the game goes on, and nothing follows");
                    }
                    None if last.is_some_and(|last| game.fives_answer_all(nodes, at, last)) => {}
                    None => self.replies(game, at, node)?,
                }
                game.undo();
            }
        }
        self.won.extend(seen);
        Ok(())
    }

    /// The loser is to move.
    fn replies(&mut self, game: &mut G, at: Reference, node: &Node) -> Result<(), Wrong> {
        let (variant, back) = (game.variant(), G::inverse(at.turn));
        let mut moves = self.spare.pop().unwrap_or_default();
        moves.clear();
        game.moves(&mut moves);
        for &reply in &moves {
            game.play(reply);
            match game.outcome() {
                Some(Outcome::Win(side)) if side == self.winner => {}
                Some(outcome) => {
                    return self.wrong(at.node, game, format!("the game ends with {outcome:?}"));
                }
                None => {
                    let own = G::image(variant, reply, back);
                    let found = node.replies.binary_search_by_key(&own, |(m, _)| *m);
                    let next = found.map_or(node.otherwise, |at| Some(node.replies[at].1));
                    let Some(next) = next else {
                        return self.wrong(at.node, game, "the last move has no answer");
                    };
                    let turn = both(next.turn, at.turn);
                    self.is_reply = true;
                    self.node(
                        game,
                        Reference {
                            node: next.node,
                            turn,
                        },
                    )?;
                }
            }
            game.undo();
        }
        self.spare.push(moves);
        Ok(())
    }
}

/// The symmetry of a square board that does first one, then the other.
fn both(first: Symmetry, then: Symmetry) -> Symmetry {
    if first == Symmetry::IDENTITY {
        return then;
    }
    // A point that no symmetry but the identity leaves alone.
    const SIZE: u8 = 5;
    let (column, row) = first.square(SIZE, 0, 1);
    let wanted = then.square(SIZE, column, row);
    let found = (0..8)
        .map(Symmetry::new)
        .find(|both| both.square(SIZE, 0, 1) == wanted);
    found.expect("the symmetries of a square are a group")
}

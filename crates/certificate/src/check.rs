use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use kagetsu_game::{Move, Outcome, Packed, Position, Side, with_game};

use crate::shortcuts::ReplyShortcuts;
use crate::tree::{Node, Reference, Tree};
use crate::zone::{Graph, ZoneChecker};
use crate::{ProofDag, TreeFault};

/// The result of a successful check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Upper bound of the game's length, from the tree.
    pub plies: u16,
    /// Number of the winner's positions checked.
    pub positions: u64,
}

/// Nodes of at most this length are checked again at every position, which is cheaper than to
/// remember them.
const MAX_RECHECKED_PLIES: u16 = 5;

/// Checked pairs of a node and a position that a thread remembers: about 100 bytes each.
const MAX_REMEMBERED: usize = 1 << 20;

/// Positions between two calls of `progress`.
const PROGRESS_INTERVAL: u64 = 1 << 20;

/// Plays the whole tree: the winner's move at each of its nodes, and every legal reply of the
/// loser. Each path keeps its own history, so repetitions and plies without a capture count.
///
/// # Errors
/// The line of the first node that fails, with the moves that lead to it.
pub fn check(tree: &Tree) -> Result<Checked, TreeFault> {
    check_parallel(tree, CheckedReplies::All, NonZeroUsize::MIN, &|_| {})
}

/// How far a check is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckProgress {
    /// Number of replies at the root that are checked, up to symmetry.
    pub done: usize,
    /// Number of replies at the root, up to symmetry.
    pub replies: usize,
    /// Number of the winner's positions checked.
    pub positions: u64,
}

/// How replies are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckedReplies {
    /// Replies outside the relevance zone are not played, where the variant has zones: see
    /// [`ZoneChecker`].
    ByZones,
    /// Every reply is played.
    All,
    /// By zones, where the board is a window of the plane: the loser may play beyond it.
    OnPlane,
}

/// Checks the whole tree with several threads that share the replies at the root. `progress` is
/// called by all of them.
///
/// # Errors
/// As for [`check`], but where several nodes fail, another fault may be named.
pub fn check_parallel(
    tree: &Tree,
    replies: CheckedReplies,
    threads: NonZeroUsize,
    progress: &(dyn Fn(CheckProgress) + Sync),
) -> Result<Checked, TreeFault> {
    let plies = tree.node_plies()?;
    let position = &tree.position;
    if replies == CheckedReplies::OnPlane {
        return check_on_plane(tree, &plies);
    }
    let by_zones = replies == CheckedReplies::ByZones;
    with_game!(position.variant(), G => {
        let mut silent = |_| {};
        let mut walk = CheckWalk::<G>::new(&tree.nodes, &plies, tree.winner(), &mut silent);
        walk.parts = Some(Vec::new());
        let mut game = position.game::<G>();
        walk.node(&mut game, tree.root()).map_err(|failed| failed.fault(tree))?;
        let parts = walk.parts.take().unwrap_or_default();
        let shared = SharedCheck {
            next: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            positions: AtomicU64::new(walk.positions),
            failed: Mutex::new(None),
        };
        let part = || {
            let zones = by_zones.then(|| ZoneChecker::new(position.variant())).flatten();
            check_parts::<G>(tree, &plies, &parts, zones, &shared, progress);
        };
        // The caller's thread takes its share: a browser has no other.
        thread::scope(|scope| {
            for _ in 1..threads.get().min(parts.len()) {
                scope.spawn(part);
            }
            part();
        });
        let positions = shared.positions.into_inner();
        let failed = shared.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        match failed {
            Some((_, failed)) => Err(failed.fault(tree)),
            None => Ok(Checked { plies: plies.last().copied().unwrap_or(0), positions }),
        }
    })
}

fn check_on_plane(tree: &Tree, plies: &[u16]) -> Result<Checked, TreeFault> {
    let (nodes, root, position) = (&tree.nodes, tree.root(), &tree.position);
    let zones = ZoneChecker::on_plane(position.variant());
    let missing = || TreeFault::at(2, format!("{} has no zones", position.variant()));
    let mut zones = zones.ok_or_else(missing)?;
    if zones.wins(Graph { nodes, plies }, position, root, u64::MAX) {
        let plies = plies[root.node as usize];
        let positions = zones.visited();
        return Ok(Checked { plies, positions });
    }
    let (at, moves) = zones.failed().unwrap_or((root, Vec::new()));
    let what = "the node does not win here, where the loser may play beyond the board".into();
    let node = Some(at.node);
    Err(FailedNode { node, moves, what }.fault(tree))
}

/// A reply at the root, and the node that answers it.
struct Part {
    moves: Vec<Move>,
    next: Reference,
    /// The position, seen from the node: equal ones are checked once.
    seen: (u32, Packed),
}

/// The state that the threads of a check share.
struct SharedCheck {
    next: AtomicUsize,
    done: AtomicUsize,
    positions: AtomicU64,
    /// The first part that fails.
    failed: Mutex<Option<(usize, FailedNode)>>,
}

/// Checks parts until none is left or an earlier one has failed.
fn check_parts<G: ReplyShortcuts>(
    tree: &Tree,
    plies: &[u16],
    parts: &[Part],
    mut zones: Option<ZoneChecker>,
    shared: &SharedCheck,
    progress: &(dyn Fn(CheckProgress) + Sync),
) {
    let tell = |positions: u64| {
        progress(CheckProgress {
            done: shared.done.load(Ordering::Relaxed),
            replies: parts.len(),
            positions,
        });
    };
    let mut counted = 0;
    let mut count = |positions: u64| {
        let new = positions - counted;
        counted = positions;
        tell(shared.positions.fetch_add(new, Ordering::Relaxed) + new);
    };
    let mut game = tree.position.game::<G>();
    let begun = game.history().len();
    let mut walk = CheckWalk::<G>::new(&tree.nodes, plies, tree.winner(), &mut count);
    walk.begun = Some(begun);
    let graph = Graph {
        nodes: &tree.nodes,
        plies,
    };
    loop {
        let at = shared.next.fetch_add(1, Ordering::Relaxed);
        let failed = || shared.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if at >= parts.len() || failed().as_ref().is_some_and(|(first, _)| *first < at) {
            return;
        }
        let Part { moves, next, .. } = &parts[at];
        let checked = match &mut zones {
            Some(zones) => walk.part_by_zones(zones, graph, &tree.position, &parts[at], &mut game),
            None => {
                moves.iter().for_each(|m| game.play(*m));
                walk.is_reply = true;
                walk.node(&mut game, *next)
            }
        };
        shared.done.fetch_add(1, Ordering::Relaxed);
        (walk.progress)(walk.positions);
        if let Err(new) = checked {
            let mut failed = failed();
            if failed.as_ref().is_none_or(|(first, _)| at < *first) {
                *failed = Some((at, new));
            }
            return;
        }
        while game.history().len() > begun {
            game.undo();
        }
    }
}

impl ProofDag {
    /// Whether a node, under its symmetry, wins for the side to move of `game`. Leaves `game`
    /// unchanged.
    pub fn wins<G: ReplyShortcuts>(&self, game: &mut G, node: Reference) -> bool {
        let winner = game.side();
        let mut silent = |_| {};
        let mut walk = CheckWalk::new(&self.nodes, &self.plies, winner, &mut silent);
        let moves = game.history().len();
        let is_won = walk.node(game, node).is_ok();
        while game.history().len() > moves {
            game.undo();
        }
        is_won
    }
}

/// A failed node, and the moves that lead to it.
struct FailedNode {
    node: Option<u32>,
    moves: Vec<Move>,
    what: String,
}

impl FailedNode {
    /// Returns the failure as a fault of the tree's file.
    fn fault(self, tree: &Tree) -> TreeFault {
        let Self { node, moves, what } = self;
        let write = |&m: &Move| tree.position.write_move(m);
        let names: Vec<_> = moves.iter().map(write).collect();
        let way = if names.is_empty() {
            String::new()
        } else {
            format!("after {}: ", names.join(" "))
        };
        let last = tree.first_line + tree.nodes.len() as u64 - 1;
        let line = node.map_or(last, |node| tree.first_line + u64::from(node));
        TreeFault::at(line, format!("{way}{what}"))
    }
}

struct CheckWalk<'a, G> {
    nodes: &'a [Node],
    /// Upper bound of the game's length from each node.
    plies: &'a [u16],
    winner: Side,
    /// Length of the history at the start of the walk; errors name later moves only.
    begun: Option<usize>,
    /// Checked pairs of a long node and a position, seen from the node; for games without
    /// repetition.
    won: HashSet<(u32, Packed)>,
    positions: u64,
    spare: Vec<Vec<Move>>,
    progress: &'a mut dyn FnMut(u64),
    /// Whether the loser has just replied and each of its replies was tried, so that none of them
    /// made a five.
    is_reply: bool,
    /// Where given, the answers to the replies at the root are collected here and not checked.
    parts: Option<Vec<Part>>,
    game: std::marker::PhantomData<G>,
}

impl<'a, G: ReplyShortcuts> CheckWalk<'a, G> {
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
            parts: None,
            game: std::marker::PhantomData,
        }
    }

    fn wrong<T>(&self, node: u32, game: &G, what: impl Into<String>) -> Result<T, FailedNode> {
        Err(FailedNode {
            node: Some(node),
            moves: game.history()[self.begun.unwrap_or(0)..].to_vec(),
            what: what.into(),
        })
    }

    /// Checks a node, under its symmetry, at the position of `game`. On failure `game` stays at the
    /// failing position.
    fn node(&mut self, game: &mut G, at: Reference) -> Result<(), FailedNode> {
        self.begun.get_or_insert(game.history().len());
        let (variant, nodes) = (game.variant(), self.nodes);
        let node = &nodes[at.node as usize];
        let has_no_history = !variant.has_repetition();
        let is_long = has_no_history && self.plies[at.node as usize] > MAX_RECHECKED_PLIES;
        let seen = is_long.then(|| (at.node, game.pack(G::inverse(at.turn))));
        if seen.as_ref().is_some_and(|seen| self.won.contains(seen)) {
            return Ok(());
        }
        self.positions += 1;
        if self.positions.is_multiple_of(PROGRESS_INTERVAL) {
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
                    Some(outcome) => return self.wrong(at.node, game, ended(outcome)),
                    None if node.replies.is_empty() && node.otherwise.is_none() => {
                        return self.wrong(at.node, game, "the game goes on, and nothing follows");
                    }
                    None if last.is_some_and(|last| game.fives_answer_all(nodes, at, last)) => {}
                    None => self.replies(game, at, node)?,
                }
                game.undo();
            }
        }
        if let Some(seen) = seen {
            if self.won.len() >= MAX_REMEMBERED {
                self.won.clear();
            }
            self.won.insert(seen);
        }
        Ok(())
    }

    /// Checks a part by zones. Where it fails, every reply is played from the position that fails.
    fn part_by_zones(
        &mut self,
        zones: &mut ZoneChecker,
        graph: Graph<'_>,
        position: &Position,
        part: &Part,
        game: &mut G,
    ) -> Result<(), FailedNode> {
        let begin = part
            .moves
            .iter()
            .try_fold(position.clone(), |at, m| at.play(*m));
        let is_won = begin.is_ok_and(|begin| zones.wins(graph, &begin, part.next, u64::MAX));
        self.positions += zones.visited();
        if is_won {
            return Ok(());
        }
        let begun = game.history().len();
        if let Some((at, line)) = zones.failed() {
            part.moves.iter().chain(&line).for_each(|m| game.play(*m));
            self.is_reply = true;
            self.node(game, at)?;
            while game.history().len() > begun {
                game.undo();
            }
        }
        part.moves.iter().for_each(|m| game.play(*m));
        self.is_reply = true;
        self.node(game, part.next)
    }

    /// Collects the position of `game` as a part of the check, unless an equal one is there.
    fn collect(&mut self, game: &G, next: Reference) {
        let begun = self.begun.unwrap_or(0);
        let part = Part {
            moves: game.history()[begun..].to_vec(),
            next,
            seen: (next.node, game.pack(G::inverse(next.turn))),
        };
        let parts = self.parts.get_or_insert_default();
        let has_history = game.variant().has_repetition();
        if has_history || parts.iter().all(|known| known.seen != part.seen) {
            parts.push(part);
        }
    }

    /// Checks every reply of the loser, who is to move.
    fn replies(&mut self, game: &mut G, at: Reference, node: &Node) -> Result<(), FailedNode> {
        let (variant, back) = (game.variant(), G::inverse(at.turn));
        let mut moves = self.spare.pop().unwrap_or_default();
        moves.clear();
        game.moves(&mut moves);
        for &reply in &moves {
            game.play(reply);
            match game.outcome() {
                Some(Outcome::Win(side)) if side == self.winner => {}
                Some(outcome) => return self.wrong(at.node, game, ended(outcome)),
                None => {
                    let own = G::image(variant, reply, back);
                    let Some(next) = node.answer(own) else {
                        return self.wrong(at.node, game, "the last move has no answer");
                    };
                    let next = next.turned(at.turn);
                    self.is_reply = true;
                    if self.parts.is_some() {
                        self.collect(game, next);
                    } else {
                        self.node(game, next)?;
                    }
                }
            }
            game.undo();
        }
        self.spare.push(moves);
        Ok(())
    }
}

fn ended(outcome: Outcome) -> String {
    format!("the game ends with {outcome:?}")
}

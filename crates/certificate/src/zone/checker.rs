use kagetsu_game::{Move, Position, Variant};

use crate::ProofDag;
use crate::tree::{Node, Reference};

use super::board::ZoneBoard;
use super::known::{KnownWins, MAX_IN_ROW, WinConditions};
use super::points::Zone;
use super::rows::BoardRows;

/// Nodes of at most this length are checked at every position, which is cheaper than to look for a
/// known win.
const MAX_RECHECKED_PLIES: u16 = 3;

/// Checks nodes of a graph by their zones. It plays far fewer positions than a check of every
/// reply. It knows freestyle and standard gomoku on boards of at most 256 points.
///
/// `docs/development/zones.md` states the rule and proves it.
#[derive(Debug)]
pub struct ZoneChecker {
    rows: BoardRows,
    known: KnownWins,
    /// Positions with the winner to move that the current check may still visit.
    left: u64,
    /// Positions that the last check visited.
    visited: u64,
    /// Passes of the loser that lead to the current position.
    passes: u32,
    /// The moves that lead to the current position, without passes.
    line: Vec<Move>,
    /// The node that failed last, and the moves that lead to it.
    failed: Option<(Reference, Vec<Move>)>,
}

/// The nodes of a graph, with an upper bound of the game's length from each.
#[derive(Clone, Copy)]
pub(crate) struct Graph<'a> {
    pub(crate) nodes: &'a [Node],
    pub(crate) plies: &'a [u16],
}

impl<'a> Graph<'a> {
    fn new(dag: &'a ProofDag) -> Self {
        Self {
            nodes: &dag.nodes,
            plies: &dag.plies,
        }
    }

    fn node(self, at: Reference) -> &'a Node {
        &self.nodes[at.node as usize]
    }

    fn plies(self, at: Reference) -> u16 {
        self.plies[at.node as usize]
    }
}

impl ZoneChecker {
    /// Returns a checker; `None` for a variant without zones.
    #[must_use]
    pub fn new(variant: Variant) -> Option<Self> {
        Some(Self {
            rows: BoardRows::new(variant)?,
            known: KnownWins::default(),
            left: 0,
            visited: 0,
            passes: 0,
            line: Vec::new(),
            failed: None,
        })
    }

    /// Returns the number of positions with the winner to move that the last check visited.
    #[must_use]
    pub const fn visited(&self) -> u64 {
        self.visited
    }

    /// Returns the node at which the last check failed, and the moves that lead to it.
    pub(crate) fn failed(&self) -> Option<&(Reference, Vec<Move>)> {
        self.failed.as_ref()
    }

    /// Returns the points that matter where the loser, who is to move, passes and the node answers:
    /// it answers a reply on each other empty point as well. `None` if it does not win after the
    /// pass, needs more than `positions`, or if the loser can make a five.
    pub fn after_pass(
        &mut self,
        dag: &ProofDag,
        position: &Position,
        answer: Reference,
        positions: u64,
    ) -> Option<Zone> {
        let board = ZoneBoard::new(position, position.side().other())?;
        let empty = self.rows.full.without(board.stones());
        if self.rows.can_make_five(board.foe, empty) {
            return None;
        }
        let win = self.check(Graph::new(dag), answer, board, positions)?;
        Some(win.relevant_points(&self.rows, board.foe))
    }

    /// Whether the node wins for the side to move, within this many positions.
    pub fn wins(
        &mut self,
        dag: &ProofDag,
        position: &Position,
        node: Reference,
        positions: u64,
    ) -> bool {
        self.wins_in(Graph::new(dag), position, node, positions)
    }

    /// Whether the node of a graph wins for the side to move, within this many positions.
    pub(crate) fn wins_in(
        &mut self,
        graph: Graph<'_>,
        position: &Position,
        node: Reference,
        positions: u64,
    ) -> bool {
        let board = ZoneBoard::new(position, position.side());
        board.is_some_and(|board| self.check(graph, node, board, positions).is_some())
    }

    fn check(
        &mut self,
        graph: Graph<'_>,
        at: Reference,
        board: ZoneBoard,
        positions: u64,
    ) -> Option<WinConditions> {
        self.left = positions;
        self.passes = 0;
        self.line.clear();
        self.failed = None;
        let win = self.node(graph, at, board);
        self.visited = positions - self.left;
        win
    }

    /// Notes that a node failed after the first `moves` moves of the line.
    fn fail<T>(&mut self, at: Reference, moves: usize) -> Option<T> {
        if self.passes == 0 {
            self.failed = Some((at, self.line[..moves].to_vec()));
        }
        None
    }

    /// Checks a node, and returns the conditions of its win; `None` if it fails.
    fn node(&mut self, graph: Graph<'_>, at: Reference, board: ZoneBoard) -> Option<WinConditions> {
        let is_long = graph.plies(at) > MAX_RECHECKED_PLIES;
        if is_long && let Some(known) = self.known.find(&self.rows, at, board) {
            return Some(known);
        }
        self.left = self.left.checked_sub(1)?;
        let point = graph.node(at).at.and_then(|m| self.rows.image(m, at.turn));
        let Some(point) = point.filter(|point| !board.stones().has(*point)) else {
            return self.fail(at, self.line.len());
        };
        let after = board.with_own(point);
        let mut win = WinConditions {
            free: Zone::default().with(point),
            ..WinConditions::default()
        };
        if !self.rows.makes_five(after.own, point) {
            self.line.push(Move::new(point as u16));
            let replies = self.replies(graph, at, after);
            self.line.pop();
            win.add(replies?);
        }
        if is_long {
            self.known.add(at, board, win);
        }
        Some(win)
    }

    /// Checks all replies of the loser, who is to move, and returns the conditions of the win.
    fn replies(
        &mut self,
        graph: Graph<'_>,
        at: Reference,
        board: ZoneBoard,
    ) -> Option<WinConditions> {
        let node = graph.node(at);
        // The last move of the line is the node's.
        let before = self.line.len().saturating_sub(1);
        // The points on which the loser may have a stone, here or in another position.
        let mut open = self.rows.full.without(board.own);
        let empty = open.without(board.foe);
        let quiet = self.without_fives(board);
        if empty.is_empty() || quiet.is_none() && self.rows.can_make_five(board.foe, empty) {
            return self.fail(at, before);
        }
        let mut win = quiet.unwrap_or_else(|| WinConditions::only(&self.rows, board.foe));
        for (reply, next) in &node.replies {
            let Some(point) = self.rows.image(*reply, at.turn) else {
                continue;
            };
            if board.foe.has(point) {
                win.kept = win.kept.with(point);
            } else if empty.has(point) {
                win.add(self.reply(graph, point, next.turned(at.turn), board)?);
            }
            open = open.without(Zone::default().with(point));
        }
        let Some(next) = node.otherwise else {
            if !open.and(empty).is_empty() {
                return self.fail(at, before);
            }
            win.kept = win.kept.or(open);
            return Some(win);
        };
        win.add(self.others(graph, next.turned(at.turn), open, board)?);
        Some(win)
    }

    /// Returns conditions under which no reply of the loser makes a five; `None` if these stones do
    /// not meet them.
    fn without_fives(&self, board: ZoneBoard) -> Option<WinConditions> {
        let rows = self.rows.outside(board.own);
        let fours = self.rows.counts(board.foe).at_least(MAX_IN_ROW + 1);
        let mut win = WinConditions::default();
        win.at_most[MAX_IN_ROW] = rows;
        rows.and(fours).is_empty().then_some(win)
    }

    /// Checks one answer to a reply on any of these points. The loser may have a stone on some.
    fn others(
        &mut self,
        graph: Graph<'_>,
        next: Reference,
        points: Zone,
        board: ZoneBoard,
    ) -> Option<WinConditions> {
        self.passes += 1;
        let passed = self.node(graph, next, board);
        self.passes -= 1;
        let (mut win, mut relevant) = (WinConditions::default(), points);
        if let Some(passed) = passed {
            relevant = points.and(passed.relevant_points(&self.rows, board.foe));
            win = passed.before(&self.rows, points.without(relevant));
        }
        win.kept = win.kept.or(relevant.and(board.foe));
        for point in relevant.without(board.foe).points() {
            win.add(self.reply(graph, point, next, board)?);
        }
        Some(win)
    }

    /// Checks the answer to one reply, and returns the conditions before the reply.
    fn reply(
        &mut self,
        graph: Graph<'_>,
        point: usize,
        next: Reference,
        board: ZoneBoard,
    ) -> Option<WinConditions> {
        self.line.push(Move::new(point as u16));
        let win = self.node(graph, next, board.with_foe(point));
        self.line.pop();
        let reply = Zone::default().with(point);
        let mut win = win?.before(&self.rows, reply);
        win.kept = win.kept.without(reply);
        Some(win)
    }
}

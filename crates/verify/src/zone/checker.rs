use kagetsu_game::{Move, Position, Variant};

use crate::ProofDag;
use crate::tree::{Node, Reference};

use super::board::ZoneBoard;
use super::known::{KnownWins, Relevance};
use super::points::Zone;
use super::rows::BoardRows;

/// Passes of the loser at a time. With more of them nearly every point matters.
const MAX_PASSES: u8 = 2;

/// Nodes of at most this length are checked at every position, which is cheaper than to look for a
/// known win.
const MAX_RECHECKED_PLIES: u16 = 3;

/// Checks nodes of a graph by their zones. It plays far fewer positions than a check of every
/// reply. It knows freestyle and standard gomoku on boards of at most 256 points.
#[derive(Debug)]
pub struct ZoneChecker {
    rows: BoardRows,
    known: KnownWins,
    /// Positions with the winner to move that the current check may still visit.
    left: u64,
    /// Positions that the last check visited.
    visited: u64,
    /// The moves that lead to the current position.
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
        let board = ZoneBoard::new(position, position.side().other(), 1)?;
        let (fives, _) = self.rows.loser_rows(board);
        if self.rows.loser_has_five(board.foe, fives) {
            return None;
        }
        let relevance = self.check(Graph::new(dag), answer, board, positions)?;
        Some(relevance.zone)
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
        let board = ZoneBoard::new(position, position.side(), 0);
        board.is_some_and(|board| self.check(graph, node, board, positions).is_some())
    }

    fn check(
        &mut self,
        graph: Graph<'_>,
        at: Reference,
        board: ZoneBoard,
        positions: u64,
    ) -> Option<Relevance> {
        self.left = positions;
        self.line.clear();
        self.failed = None;
        let relevance = self.node(graph, at, board);
        self.visited = positions - self.left;
        relevance
    }

    /// Notes that a node failed after the first `moves` moves of the line.
    fn fail<T>(&mut self, at: Reference, board: ZoneBoard, moves: usize) -> Option<T> {
        if board.passes == 0 {
            self.failed = Some((at, self.line[..moves].to_vec()));
        }
        None
    }

    /// Checks a node, and returns what its win depends on; `None` if it fails.
    fn node(&mut self, graph: Graph<'_>, at: Reference, board: ZoneBoard) -> Option<Relevance> {
        let is_long = graph.plies(at) > MAX_RECHECKED_PLIES;
        if is_long && let Some(known) = self.known.find(&self.rows, at, board) {
            return Some(known);
        }
        self.left = self.left.checked_sub(1)?;
        let point = graph.node(at).at.and_then(|m| self.rows.image(m, at.turn));
        let Some(point) = point.filter(|point| !board.stones().has(*point)) else {
            return self.fail(at, board, self.line.len());
        };
        let after = board.with_own(point);
        let mut relevance = Relevance {
            zone: Zone::default().with(point),
            ..Relevance::default()
        };
        if !self.rows.makes_five(after.own, point) {
            self.line.push(Move::new(point as u16));
            let replies = self.replies(graph, at, after);
            self.line.pop();
            relevance.add(replies?);
        }
        if is_long {
            self.known.add(at, board, relevance);
        }
        Some(relevance)
    }

    /// Checks all replies of the loser, who is to move, and returns what the win depends on.
    fn replies(&mut self, graph: Graph<'_>, at: Reference, board: ZoneBoard) -> Option<Relevance> {
        let node = graph.node(at);
        // The last move of the line is the node's.
        let before = self.line.len().saturating_sub(1);
        let mut empty = self.rows.full.without(board.stones());
        let (fives, zone) = self.rows.loser_rows(board);
        let is_full = empty.len() <= 1 + u32::from(board.passes);
        if is_full || self.rows.loser_has_five(board.foe, fives) {
            return self.fail(at, board, before);
        }
        let mut relevance = Relevance {
            zone,
            ..Relevance::default()
        };
        if !fives.is_empty() {
            // A reply makes a row of more than five, and may make a five with fewer stones.
            relevance.needed = board.foe;
        }
        for (reply, next) in &node.replies {
            let Some(point) = self.rows.image(*reply, at.turn) else {
                continue;
            };
            if board.foe.has(point) {
                relevance.needed = relevance.needed.with(point);
            } else if empty.has(point) {
                empty = empty.without(Zone::default().with(point));
                let next = next.turned(at.turn);
                relevance.add(self.reply(graph, point, next, board)?);
            }
        }
        if empty.is_empty() {
            // There may be no answer on other points.
            relevance.needed = board.foe;
            return Some(relevance);
        }
        let Some(next) = node.otherwise else {
            return self.fail(at, board, before);
        };
        let others = self.others(graph, next.turned(at.turn), empty, board)?;
        relevance.add(others);
        Some(relevance)
    }

    /// Checks one answer to a reply on any of these points.
    fn others(
        &mut self,
        graph: Graph<'_>,
        next: Reference,
        points: Zone,
        board: ZoneBoard,
    ) -> Option<Relevance> {
        let point = graph
            .node(next)
            .at
            .and_then(|m| self.rows.image(m, next.turn));
        if let Some(point) = point.filter(|point| !board.stones().or(points).has(*point))
            && self.rows.makes_five(board.own.with(point), point)
        {
            // It answers every reply but the one on its own point.
            return Some(Relevance {
                zone: Zone::default().with(point),
                elsewhere: 1,
                ..Relevance::default()
            });
        }
        let (mut relevance, mut explicit) = (Relevance::default(), points);
        let passed = (board.passes < MAX_PASSES)
            .then(|| self.node(graph, next, board.with_pass()))
            .flatten();
        if let Some(passed) = passed {
            relevance = passed;
            relevance.elsewhere += 1;
            explicit = points.and(passed.zone);
        } else {
            // A reply may do worse than a pass; without a win after the pass all are played, and
            // none was played on the points that are taken.
            relevance.needed = board.foe;
        }
        for point in explicit.points() {
            relevance.add(self.reply(graph, point, next, board)?);
        }
        Some(relevance)
    }

    /// Checks the answer to one reply.
    fn reply(
        &mut self,
        graph: Graph<'_>,
        point: usize,
        next: Reference,
        board: ZoneBoard,
    ) -> Option<Relevance> {
        self.line.push(Move::new(point as u16));
        let relevance = self.node(graph, next, board.with_foe(point));
        self.line.pop();
        let mut relevance = relevance?;
        relevance.replies = relevance.replies.with(point);
        Some(relevance)
    }
}

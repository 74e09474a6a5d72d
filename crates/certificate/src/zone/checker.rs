use kagetsu_game::{Move, Position, Side, Variant};

use crate::ProofDag;
use crate::tree::{Node, Reference};

use super::known::{KnownWins, MAX_IN_ROW, WinConditions};
use super::points::{Zone, ZoneBoard};
use super::rows::BoardRows;

/// Nodes of at most this length are checked at every position, which is cheaper than to look for a
/// known win.
const MAX_RECHECKED_PLIES: u16 = 3;

/// Checks nodes of a graph by their zones. It plays far fewer positions than a check of every
/// reply. It knows freestyle and standard gomoku, and Black's wins in renju.
///
/// `docs/development/zones.md` states the rule and proves it.
#[derive(Debug)]
pub struct ZoneChecker(SizedChecker);

#[derive(Debug)]
enum SizedChecker {
    Board(Box<BoardChecker<4>>),
    LargeBoard(Box<BoardChecker<8>>),
    Plane(Box<BoardChecker<16>>),
}

/// Evaluates an expression for the checker of any size.
macro_rules! with_checker {
    ($sized:expr, $checker:ident => $value:expr) => {
        match $sized {
            SizedChecker::Board($checker) => $value,
            SizedChecker::LargeBoard($checker) => $value,
            SizedChecker::Plane($checker) => $value,
        }
    };
}

/// A checker with sets of so many words.
#[derive(Debug)]
struct BoardChecker<const WORDS: usize> {
    rows: BoardRows<WORDS>,
    known: KnownWins<WORDS>,
    /// Positions with the winner to move that the current check may still visit.
    left: u64,
    /// Positions that the last check visited.
    visited: u64,
    /// Passes of the loser that lead to the current position.
    passes: u32,
    /// The points of the moves that lead to the current position, without passes.
    line: Vec<usize>,
    /// The node that failed last, and the moves that lead to it.
    failed: Option<(Reference, Vec<usize>)>,
}

/// The nodes of a graph, with an upper bound of the game's length from each.
#[derive(Clone, Copy)]
pub struct Graph<'a> {
    pub(crate) nodes: &'a [Node],
    pub(crate) plies: &'a [u16],
}

impl<'a> From<&'a ProofDag> for Graph<'a> {
    fn from(dag: &'a ProofDag) -> Self {
        let ProofDag { nodes, plies, .. } = dag;
        Self { nodes, plies }
    }
}

impl ZoneChecker {
    /// Returns a checker; `None` for a variant without zones.
    #[must_use]
    pub fn new(variant: Variant) -> Option<Self> {
        let small = BoardChecker::new(variant, false).map(SizedChecker::Board);
        let large = || BoardChecker::new(variant, false).map(SizedChecker::LargeBoard);
        small.or_else(large).map(Self)
    }

    /// Returns a checker for the plane, of which the board is a window: the loser may play
    /// anywhere. `None` for a variant without zones.
    #[must_use]
    pub fn on_plane(variant: Variant) -> Option<Self> {
        Some(Self(SizedChecker::Plane(BoardChecker::new(variant, true)?)))
    }

    /// Whether it knows the wins of this side. It sees no win of another one.
    #[must_use]
    pub fn covers(&self, winner: Side) -> bool {
        with_checker!(&self.0, it => it.rows.covers(winner))
    }

    /// Returns the number of positions with the winner to move that the last check visited.
    #[must_use]
    pub const fn visited(&self) -> u64 {
        with_checker!(&self.0, it => it.visited)
    }

    /// Returns the node at which the last check failed, and the moves in the window that lead to
    /// it.
    pub(crate) fn failed(&self) -> Option<(Reference, Vec<Move>)> {
        with_checker!(&self.0, it => {
            let (at, line) = it.failed.as_ref()?;
            Some((*at, line.iter().map_while(|point| it.rows.code(*point)).collect()))
        })
    }

    /// Returns the points that matter where the loser, who is to move, passes and the node answers:
    /// it answers a reply on each other empty point as well. `None` if it does not win after the
    /// pass, needs more than `positions`, if the loser can make a five, or if points beyond the
    /// window matter.
    pub fn after_pass<'a>(
        &mut self,
        graph: impl Into<Graph<'a>>,
        position: &Position,
        answer: Reference,
        positions: u64,
    ) -> Option<Zone> {
        with_checker!(&mut self.0, it => {
            let board = it.rows.board(position, position.side().other())?;
            if it.rows.can_make_five(board.foe, it.rows.full.without(board.stones())) {
                return None;
            }
            let win = it.check(graph.into(), answer, board, positions)?;
            let mut relevant = win.relevant_points(&it.rows, board.foe).points();
            relevant.try_fold(Zone::default(), |zone, at| Some(zone.with(it.rows.code(at)?.index())))
        })
    }

    /// Whether the node wins within this many positions: for the side to move, or where the node
    /// has no move for the other one.
    pub fn wins<'a>(
        &mut self,
        graph: impl Into<Graph<'a>>,
        position: &Position,
        at: Reference,
        positions: u64,
    ) -> bool {
        let (graph, side) = (graph.into(), position.side());
        let is_first = graph.nodes[at.node as usize].at.is_some();
        let winner = if is_first { side } else { side.other() };
        with_checker!(&mut self.0, it => {
            let board = it.rows.board(position, winner);
            board.is_some_and(|board| it.check(graph, at, board, positions).is_some())
        })
    }
}

impl<const WORDS: usize> BoardChecker<WORDS> {
    fn new(variant: Variant, is_plane: bool) -> Option<Box<Self>> {
        Some(Box::new(Self {
            rows: BoardRows::new(variant, is_plane)?,
            known: KnownWins::default(),
            left: 0,
            visited: 0,
            passes: 0,
            line: Vec::new(),
            failed: None,
        }))
    }

    fn check(
        &mut self,
        graph: Graph<'_>,
        at: Reference,
        board: ZoneBoard<WORDS>,
        positions: u64,
    ) -> Option<WinConditions<WORDS>> {
        self.left = positions;
        self.passes = 0;
        self.line.clear();
        self.failed = None;
        let win = match graph.nodes[at.node as usize].at {
            Some(_) => self.node(graph, at, board),
            None => self.replies(graph, at, board),
        };
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
    fn node(
        &mut self,
        graph: Graph<'_>,
        at: Reference,
        board: ZoneBoard<WORDS>,
    ) -> Option<WinConditions<WORDS>> {
        let is_long = graph.plies[at.node as usize] > MAX_RECHECKED_PLIES;
        if is_long && let Some(known) = self.known.find(&self.rows, at, board) {
            return Some(known);
        }
        self.left = self.left.checked_sub(1)?;
        let point = graph.nodes[at.node as usize]
            .at
            .and_then(|m| self.rows.image(m, at.turn));
        let Some(point) = point.filter(|point| !board.stones().has(*point)) else {
            return self.fail(at, self.line.len());
        };
        let own = board.own.with(point);
        let after = ZoneBoard { own, ..board };
        let mut win = WinConditions {
            free: Zone::default().with(point),
            ..WinConditions::default()
        };
        if !self.rows.makes_five(after.own, point) {
            let Some([free, kept]) = self.rows.allowed(board, point) else {
                return self.fail(at, self.line.len());
            };
            (win.free, win.kept) = (win.free.or(free), kept);
            self.line.push(point);
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
        board: ZoneBoard<WORDS>,
    ) -> Option<WinConditions<WORDS>> {
        let node = &graph.nodes[at.node as usize];
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
        win.add(self.others(graph, (at, next.turned(at.turn)), open, board)?);
        Some(win)
    }

    /// Returns conditions under which no reply of the loser makes a five; `None` if these stones do
    /// not meet them.
    fn without_fives(&self, board: ZoneBoard<WORDS>) -> Option<WinConditions<WORDS>> {
        let rows = self.rows.outside(board.own);
        let fours = self.rows.counts(board.foe).at_least(MAX_IN_ROW + 1);
        let mut win = WinConditions::default();
        win.at_most[MAX_IN_ROW] = rows;
        rows.and(fours).is_empty().then_some(win)
    }

    /// Checks one answer of a node to a reply on any of these points. The loser may have a stone on
    /// some.
    fn others(
        &mut self,
        graph: Graph<'_>,
        (at, next): (Reference, Reference),
        points: Zone<WORDS>,
        board: ZoneBoard<WORDS>,
    ) -> Option<WinConditions<WORDS>> {
        self.passes += 1;
        let passed = self.node(graph, next, board);
        self.passes -= 1;
        let (mut win, mut relevant) = (WinConditions::default(), points);
        if let Some(passed) = passed {
            relevant = points.and(passed.relevant_points(&self.rows, board.foe));
            win = passed.before(&self.rows, points.without(relevant));
        }
        if self.rows.beyond.and(relevant).has(BoardRows::<WORDS>::FAR) {
            return self.fail(at, self.line.len().saturating_sub(1));
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
        board: ZoneBoard<WORDS>,
    ) -> Option<WinConditions<WORDS>> {
        self.line.push(point);
        let foe = board.foe.with(point);
        let win = self.node(graph, next, ZoneBoard { foe, ..board });
        self.line.pop();
        let reply = Zone::default().with(point);
        let mut win = win?.before(&self.rows, reply);
        win.kept = win.kept.without(reply);
        Some(win)
    }
}

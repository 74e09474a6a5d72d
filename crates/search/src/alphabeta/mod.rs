mod correction;
mod expansion;
pub(crate) mod history;
mod leaf;
mod probe;
pub(crate) mod sample;
pub(crate) mod selection;
pub(crate) mod table;

use kagetsu_game::{Bound, Move, Score};

use self::correction::{Corrections, StaticValue};
use self::sample::LeafSample;
use self::selection::Node;
use crate::EngineOptions;
use crate::alphabeta::history::History;
use crate::alphabeta::table::TranspositionTable;
use crate::control::exchange::Exchange;
use crate::control::limits::SearchLimits;
use crate::heuristics::{Heuristics, Moves, Situation};

/// Plies from the root beyond which nothing is searched, not even forced replies.
const MAX_PLY: usize = 120;

/// The value of `since` for a score that rests on no earlier position.
const NO_REPETITION: i32 = i32::MAX;

/// Principal variation search of one thread (Marsland and Campbell, "Parallel search of strongly
/// ordered game trees", 1982): the first move has the full window, the others a null window and a
/// second search if they fail high.
///
/// Scores are for the side to move; mate distances count from the node. The crate's documentation
/// explains why every mate score is a proof.
pub(crate) struct AlphaBeta<'a, H> {
    pub(crate) board: H,
    table: &'a TranspositionTable,
    limits: &'a SearchLimits<'a>,
    pub(crate) options: &'a EngineOptions,
    history: History,
    /// Corrections of the static evaluation, where the search is selective and threats decide.
    corrections: Option<Corrections>,
    /// Connection to other engines that search the same question.
    exchange: Option<&'a Exchange>,
    /// Whether this thread only fills the table for the main thread.
    is_helper: bool,
    /// Positions visited by this thread.
    pub(crate) nodes: u64,
    /// The moves from the root to the current node.
    path: Vec<Move>,
    /// The best line from each ply, as last searched.
    lines: Vec<Vec<Move>>,
    /// The ply of the earliest position that the last score rests on through a repetition, negative
    /// before the root, or [`NO_REPETITION`]. A score that rests on a position above its own node
    /// holds on this path only.
    since: i32,
    /// Plies from the root up to which checks extend the search.
    horizon: usize,
    /// Whether a null move is being verified.
    is_verifying: bool,
    /// Static evaluations by ply, for the side to move there.
    opinions: Vec<i32>,
    /// Leaves to collect, for the fit of the evaluation.
    sample: Option<LeafSample>,
}

/// The result of searching a root move.
#[derive(Clone, Debug)]
pub(crate) struct RootScore {
    /// From the viewpoint of the side that plays the move.
    pub(crate) score: Score,
    /// The move and its continuation.
    pub(crate) line: Vec<Move>,
    /// Whether the score rests on earlier positions of the game, so that it holds on this path
    /// only.
    pub(crate) is_bound_to_path: bool,
}

impl<H> Drop for AlphaBeta<'_, H> {
    fn drop(&mut self) {
        self.limits.finish(self.nodes);
    }
}

impl<'a, H: Heuristics> AlphaBeta<'a, H> {
    pub(crate) fn new(
        board: H,
        table: &'a TranspositionTable,
        limits: &'a SearchLimits<'a>,
        options: &'a EngineOptions,
    ) -> Self {
        let is_forcing = H::STYLE.is_forcing && options.selective;
        Self {
            board,
            table,
            limits,
            options,
            history: History::new(MAX_PLY + 2, H::STYLE.codes, is_forcing),
            corrections: is_forcing.then(Corrections::new),
            exchange: limits
                .control()
                .exchange()
                .filter(|exchange| !exchange.is_alone()),
            is_helper: false,
            nodes: 0,
            path: Vec::with_capacity(MAX_PLY + 2),
            lines: vec![Vec::new(); MAX_PLY + 2],
            since: NO_REPETITION,
            horizon: 0,
            is_verifying: false,
            opinions: vec![0; MAX_PLY + 3],
            sample: None,
        }
    }

    /// Turns the search into one that collects leaves.
    pub(crate) fn sampling(self, sample: LeafSample) -> Self {
        let mut search = self;
        search.sample = Some(sample);
        search
    }

    /// Returns the collected leaves: the moves from the root to each.
    pub(crate) fn take_leaves(&mut self) -> Vec<Vec<Move>> {
        self.sample
            .take()
            .map(LeafSample::into_paths)
            .unwrap_or_default()
    }

    /// Turns the search into a helper, which ends when it is dismissed.
    pub(crate) fn helping(self) -> Self {
        let mut helper = self;
        helper.is_helper = true;
        helper
    }

    /// Searches a root move. `None` if the search must end.
    pub(crate) fn root_move(
        &mut self,
        m: Move,
        depth: u8,
        alpha: Score,
        beta: Score,
    ) -> Option<RootScore> {
        self.horizon = 2 * usize::from(depth);
        self.play(m);
        let score = self.search(beta.after(), alpha.after(), i32::from(depth) - 1, 1, false);
        self.undo();
        let score = score?.before();
        let is_bound_to_path = self.since <= 0;
        let mut line = vec![m];
        line.extend(&self.lines[1]);
        if self.exchange.is_some() && score > alpha {
            self.extend_line(&mut line, depth.into());
        }
        Some(RootScore {
            score,
            line,
            is_bound_to_path,
        })
    }

    /// Extends a line that another engine has reported, which consists of a value and one move,
    /// from the table. Replies to fours are not in the table but forced. Entries with an upper
    /// bound have no best move.
    fn extend_line(&mut self, line: &mut Vec<Move>, most: usize) {
        line.iter().for_each(|&m| self.play(m));
        while line.len() < most {
            let known = self
                .table
                .get(self.board.hash())
                .filter(|entry| entry.bound != Bound::Upper);
            let next = match self.board.situation() {
                situation @ Situation::Forced { otherwise: 2 } => {
                    self.board.moves(&situation).take().map(|(_, m)| m)
                }
                _ => known.map(|entry| entry.best),
            };
            let Some(next) = next.filter(|next| self.board.legal().contains(next)) else {
                break;
            };
            line.push(next);
            self.play(next);
        }
        line.iter().for_each(|_| self.undo());
    }

    fn play(&mut self, m: Move) {
        self.path.push(m);
        self.board.play(m);
    }

    fn undo(&mut self) {
        self.path.pop();
        self.board.undo();
    }

    fn search(
        &mut self,
        alpha: Score,
        beta: Score,
        depth: i32,
        ply: usize,
        is_cut: bool,
    ) -> Option<Score> {
        self.lines[ply].clear();
        self.since = NO_REPETITION;
        if self.limits.count(&mut self.nodes, 1) || self.is_helper && self.limits.is_dismissed() {
            return None;
        }
        let situation = self.board.situation();
        match situation {
            Situation::Over(score) => return Some(score),
            Situation::Repeated { score, plies } => {
                self.since = ply as i32 - plies as i32;
                return Some(score);
            }
            Situation::Known(score) => {
                self.lines[ply].extend(self.board.urgent().first());
                return Some(score);
            }
            // The only reply to a four costs no depth.
            Situation::Forced { otherwise: 2 } if ply < MAX_PLY => {
                let node = Node {
                    situation,
                    is_quiet: false,
                    value: StaticValue::from(Score::ZERO),
                    alpha,
                    beta,
                    depth: depth.max(0),
                    ply,
                    is_cut,
                    improves: false,
                };
                self.opinions[ply] = -self.opinions[ply - 1];
                let mut moves = Moves::new(true);
                self.board.list_moves(&situation, &mut moves);
                return self.expand(&mut moves, Score::loss_in(2), node);
            }
            Situation::Forced { .. } | Situation::Free => {}
        }
        // A side that can no longer win gets at most a draw.
        let (mine, his) = self.board.can_win();
        if !mine && alpha >= Score::ZERO || !his && beta <= Score::ZERO {
            return Some(Score::ZERO);
        }
        // A reply to a check costs no depth.
        let is_check = self.board.is_check();
        let extends = is_check && self.options.selective && ply < self.horizon;
        let depth = depth.max(0) + i32::from(extends);
        if depth == 0 || ply >= MAX_PLY {
            return if H::STYLE.is_forcing && self.options.selective {
                self.known_leaf(alpha, beta, ply)
            } else {
                self.leaf(alpha, beta, ply)
            };
        }
        let value = self.evaluate();
        let is_quiet = situation == Situation::Free && !is_check;
        self.opinions[ply] = if situation == Situation::Free {
            value.corrected.raw().into()
        } else {
            -self.opinions[ply - 1]
        };
        let improves = ply < 3 || self.opinions[ply] > self.opinions[ply - 2];
        self.probe(Node {
            situation,
            is_quiet,
            value,
            alpha,
            beta,
            depth,
            ply,
            is_cut,
            improves,
        })
    }

    /// Returns the static evaluation for the side to move, corrected by the errors seen before.
    fn evaluate(&self) -> StaticValue {
        let raw = self.board.evaluate();
        match &self.corrections {
            Some(corrections) => corrections.correct(raw, self.side(), self.board.threat_class()),
            None => raw.into(),
        }
    }

    /// Returns the key of the search of this position to `depth`.
    pub(crate) fn key(&self, depth: i32) -> u64 {
        (self.board.hash() ^ depth as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
    }

    fn side(&self) -> usize {
        self.path.len() % 2
    }

    fn is_killer(&self, ply: usize, m: Move) -> bool {
        self.history
            .is_killer(self.side(), ply, self.last_move(), m)
    }

    /// Returns the history value of a move for the side to move.
    fn history_value(&self, m: Move) -> i32 {
        self.history.value(self.side(), m)
    }

    /// Returns what the history adds to the worth of a move in the order, after the moves before.
    fn learned_worth(&self, before: [Move; 2], m: Move) -> i32 {
        let continuation = self.history.continuation(self.side(), before, m);
        self.history_value(m) / H::STYLE.history + continuation / H::STYLE.history
    }

    fn last_move(&self) -> Move {
        self.last_moves()[0]
    }

    /// Returns the opponent's last move and the own one before it.
    fn last_moves(&self) -> [Move; 2] {
        let mut moves = self.path.iter().rev();
        [(); 2].map(|()| moves.next().copied().unwrap_or(Move::NONE))
    }
}

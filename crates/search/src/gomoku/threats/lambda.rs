//! Lambda search: wins by moves that threaten to win by continuous threats.
//!
//! The attacker's win after a pass shows which replies could refute the threat (Thomsen,
//! "Lambda-search in game trees", 2000). All other replies lose to the same win (Kawano, "Using
//! similar positions to search game trees", 1996).

use std::sync::Arc;

use kagetsu_game::gomoku::{Gomoku, Rule};
use kagetsu_game::{Effort, Move};

use super::vct::{ProofTable, ProofTemplate, Vct, VctDecision};
use crate::gomoku::board::Board;
use crate::gomoku::patterns::kind::CellKind;
use crate::heuristics::{Heuristics, Situation};
use crate::threats::{ClaimStrategy, Strategy};
use crate::{Control, EngineOptions};

/// Positions visited to test whether a proof template wins.
const REPEAT: u64 = 400;

/// Proof templates tried at a position.
const TRIED: usize = 6;

/// More moves than a board has, so that the list holds all near the stones.
const ALL_NEAR: usize = 1_000;

/// Divisor of the open replies to a quiet move: most of them lose to another template.
const QUIET: u32 = 4;

/// Extra cost of a four and of a three: the threat is spent, and the replies are few whether it
/// wins or not.
const FOUR: u32 = 24;
const THREE: u32 = 16;

/// A search for wins by threats that reuses the proofs of similar positions.
pub(crate) struct LambdaSearch<'a, R> {
    board: Board<R>,
    table: &'a mut ProofTable,
    control: &'a Control,
    /// Proofs of wins after replies to this position, the latest success last.
    pub(crate) templates: Vec<Arc<ProofTemplate>>,
    /// Positions visited.
    pub(crate) nodes: u64,
    /// Whether a strategy may be longer than need be.
    pub(crate) takes_any: bool,
}

/// A move of the attacker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LambdaCandidate {
    pub(crate) at: Move,
    /// Estimated rest of the proof, greater for a move that spends a threat; `None` if the move
    /// threatens no win.
    pub(crate) cost: Option<u32>,
}

/// A win by threats.
pub(crate) struct LambdaWin {
    /// The game ends within so many plies.
    pub(crate) plies: u16,
    /// How it begins.
    pub(crate) line: Vec<Move>,
}

impl<'a, R: Rule> LambdaSearch<'a, R> {
    /// Returns a search that uses and extends `table`, which must belong to the same rule and board
    /// size.
    pub(crate) fn new(game: &Gomoku<R>, table: &'a mut ProofTable, control: &'a Control) -> Self {
        let options = EngineOptions {
            candidates: ALL_NEAR,
            ..EngineOptions::default()
        };
        let board = Board::new(game, &options).without_network();
        Self {
            board,
            table,
            control,
            templates: Vec::new(),
            nodes: 0,
            takes_any: false,
        }
    }

    /// Searches for a VCT of the side to move.
    pub(crate) fn find(&mut self, nodes: u64) -> Option<LambdaWin> {
        self.search(nodes).map(|(won, _)| won)
    }

    fn search(&mut self, nodes: u64) -> Option<(LambdaWin, Option<Arc<ProofTemplate>>)> {
        let mut vct = Vct::new(&mut self.board, self.table, self.control);
        let found = match vct.find_any(Effort::nodes(nodes)) {
            VctDecision::Win { plies, line } => {
                let template = vct.template(plies).map(Arc::new);
                Some((LambdaWin { plies, line }, template))
            }
            VctDecision::NoWin { .. } | VctDecision::Unknown => None,
        };
        self.nodes += vct.nodes;
        found
    }

    /// Whether the opponent would have a VCT after a pass. Remembers only the proof of that win.
    pub(crate) fn threaten(&mut self, nodes: u64) -> bool {
        self.templates.clear();
        self.board.pass();
        let found = self.search(nodes);
        self.board.pass();
        let is_threatened = found.is_some();
        self.templates
            .extend(found.and_then(|(_, template)| template));
        is_threatened
    }

    /// Returns the win that the latest proof template gives after a move.
    pub(crate) fn loses_alike(&mut self, cell: usize) -> Option<LambdaWin> {
        self.board.play_cell(cell);
        let won = self.wins_alike(1, |_, plies, line| LambdaWin {
            plies: plies + 1,
            line,
        });
        self.board.undo_cell();
        won
    }

    /// Returns the win that a template gives after a move, and remembers the template.
    pub(crate) fn loses_like(&mut self, cell: usize, template: ProofTemplate) -> Option<LambdaWin> {
        self.templates.push(Arc::new(template));
        let won = self.loses_alike(cell);
        if won.is_none() {
            self.templates.pop();
        }
        won
    }

    /// Tries the latest proof templates. `then` converts the search, the plies of the win and its
    /// first moves.
    fn wins_alike<T>(
        &mut self,
        most: usize,
        then: impl FnOnce(&mut Vct<R>, u16, Vec<Move>) -> T,
    ) -> Option<T> {
        for at in (0..self.templates.len()).rev().take(most) {
            let mut vct = Vct::new(&mut self.board, self.table, self.control);
            let won = vct.repeat(&self.templates[at], REPEAT);
            self.nodes += vct.nodes;
            if let Some((plies, line)) = won {
                let found = then(&mut vct, plies, line);
                let template = self.templates.remove(at);
                self.templates.push(template);
                return Some(found);
            }
        }
        None
    }

    /// Searches for a VCT of the opponent after a move, and remembers its proof.
    pub(crate) fn loses(&mut self, cell: usize, nodes: u64) -> Option<LambdaWin> {
        self.board.play_cell(cell);
        let found = self.search(nodes);
        self.board.undo_cell();
        let (won, template) = found?;
        self.templates.extend(template);
        Some(LambdaWin {
            plies: won.plies + 1,
            line: won.line,
        })
    }

    /// Returns the strategy that wins after a move, by a known proof template or by a new search,
    /// whose proof is remembered.
    pub(crate) fn strategy(&mut self, cell: usize, nodes: u64) -> Option<Strategy> {
        self.board.play_cell(cell);
        let strategy = match self.wins_alike(TRIED, |vct, plies, _| vct.strategy(plies)) {
            Some(plan) => plan,
            None => self.found_strategy(nodes),
        };
        self.board.undo_cell();
        strategy
    }

    /// Returns the strategies that win after these moves, perhaps by their templates, or after a
    /// pass for `None`. It leaves out those that it does not find again.
    pub(crate) fn strategies(
        &mut self,
        replies: Vec<(Option<Move>, Option<Arc<ProofTemplate>>)>,
        nodes: u64,
    ) -> Vec<ClaimStrategy> {
        let found = replies.into_iter().filter_map(|(reply, template)| {
            self.templates.extend(template);
            let strategy = match reply {
                Some(m) => self.strategy(m.index(), nodes),
                None => {
                    self.board.pass();
                    let strategy = self.found_strategy(nodes);
                    self.board.pass();
                    strategy
                }
            };
            Some(ClaimStrategy {
                reply,
                strategy: strategy?,
            })
        });
        found.collect()
    }

    /// Returns a strategy of the side to move.
    pub(crate) fn own_strategy(&mut self, nodes: u64) -> Option<ClaimStrategy> {
        let strategy = self.found_strategy(nodes)?;
        Some(ClaimStrategy {
            reply: None,
            strategy,
        })
    }

    fn found_strategy(&mut self, nodes: u64) -> Option<Strategy> {
        let mut vct = Vct::new(&mut self.board, self.table, self.control);
        let effort = Effort::nodes(nodes);
        let found = if self.takes_any {
            vct.find_any(effort)
        } else {
            vct.find_short(effort)
        };
        let VctDecision::Win { plies, .. } = found else {
            return None;
        };
        let strategy = vct.strategy(plies);
        self.templates.extend(vct.template(plies).map(Arc::new));
        strategy
    }

    /// Returns at most `most` candidates among the asked moves (all if none is named) of a position
    /// without a VCT, those with the best shapes, with the win that each threatens.
    pub(crate) fn candidates(
        &mut self,
        asked: &[Move],
        most: usize,
        nodes: u64,
    ) -> Vec<LambdaCandidate> {
        let situation = self.board.situation();
        let moves = match situation {
            Situation::Forced { .. } | Situation::Free => self.board.moves(&situation).sorted(),
            _ => Vec::new(),
        };
        moves
            .into_iter()
            .filter(|m| asked.is_empty() || asked.contains(m))
            .take(most)
            .map(|m| LambdaCandidate {
                at: m,
                cost: self.cost(m.index(), nodes),
            })
            .collect()
    }

    fn cost(&mut self, cell: usize, nodes: u64) -> Option<u32> {
        let forces = match self.board.kind(self.board.side(), cell) {
            CellKind::Three | CellKind::DoubleThree => Some(THREE),
            kind => kind.is_four().then_some(FOUR),
        };
        self.board.play_cell(cell);
        let cost = self.threaten(nodes).then(|| {
            let open = self.open_replies();
            forces.map_or(open.div_ceil(QUIET), |more| open + more)
        });
        self.board.undo_cell();
        cost
    }

    /// Counts the replies near the threat that the first proof template leaves open.
    fn open_replies(&mut self) -> u32 {
        let side = self.board.side();
        let mut near = self.board.cells_of(side, CellKind::is_four);
        self.templates
            .iter()
            .for_each(|template| near.add(template.cells(), usize::MAX));
        let mut open = 0;
        for cell in near.and(&self.board.empties()).iter() {
            if !self.board.is_forbidden(side, cell) && self.loses_alike(cell).is_none() {
                open += 1;
            }
        }
        open
    }
}

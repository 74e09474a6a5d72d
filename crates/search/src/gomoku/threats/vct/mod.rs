//! The search for a victory by continuous threats (VCT): every move of the attacker makes a five, a
//! four or an open three, or threatens a victory by continuous fours (VCF).
//!
//! # The search
//! Depth-first proof-number search (Nagai, "Df-pn algorithm for searching AND/OR trees", 2002) with
//! thresholds that leave a sibling only when it is worse by a quarter (Pawlewicz and Lew,
//! "Improving depth-first pn-search: 1+epsilon trick", 2006), and with weak proof numbers (Ueda,
//! Hashimoto, Hashimoto and Iida, "Weak proof-number search", 2008): instead of the sum over the
//! children, their greatest number and one for each other child, so that transpositions are not
//! counted many times.
//!
//! The search looks for wins of at most 5 plies first, then 7, 9 and so on, so that it finds the
//! shortest win of its class. Facts about one length stay valid for the others. Three classes of
//! attacks take turns, each time with twice the effort: fours and open threes alone, which are
//! cheap; also moves that make a sleeping three; and also moves that only make a two and threaten a
//! VCF.
//!
//! # Why a win holds against every defence
//! Let A attack and D defend. A node with A to move is won if one of A's moves leads to a won node.
//! A node with D to move is won only in these cases, each with its number of plies:
//! 1. A has two completion points, or one that is forbidden to D, and D has none: A wins in 2
//!    against any move.
//! 2. A has one, and D has none: every move of D except that point loses in 2. The search continues
//!    after that point.
//! 3. Neither has one, D has no cell that leaves two completion points of D's, and A has such cells
//!    e. Every move of D that makes no four and stands neither on e nor on a completion point after
//!    e loses in 4: A plays e, D has no five and can fill only one of the points, A makes five. The
//!    search tries all other moves of D: [`Board::defences`].
//! 4. Neither has one, and A would have a VCF after a pass. Every move of D after which this line
//!    still wins, replayed against all replies, loses in one ply more than the line has. The search
//!    tries all other moves of D: [`Board::replies_to`].
//!
//! In every other case the node counts as refuted, although A may win by other means: that misses
//! wins but never claims a wrong one. A cell that leaves two completion points but may be forbidden
//! does not count as e, so that the search tries more replies.
//!
//! So the number of plies is 1 more than that of the winning move where A moves, and 1 more than
//! the greatest of all replies where D moves: an upper bound on the length of the game.

mod line;
mod search;
mod strategy;
mod table;
mod template;
mod value;

use std::time::Duration;

use kagetsu_game::gomoku::Rule;
use kagetsu_game::{Effort, Move};

use self::search::{Attacks, VctSearch};
use self::value::VctProofNumbers;
use crate::Control;
use crate::control::limits::SearchLimits;
use crate::gomoku::board::Board;
use crate::threats::Strategy;
pub(crate) use table::ProofTable;
pub(crate) use template::ProofTemplate;

/// The shortest win that needs a search, in plies.
const SHORTEST: u16 = 5;

/// Positions of the first turn of each class of attacks; each further turn has twice as many.
const SHARE: u64 = 1_000;

/// Least turn of the widest class of attacks, which is costly and seldom succeeds.
const WIDE: u64 = 4 * SHARE;

/// Positions searched for the shortest win before any win is accepted.
const SHORT: u64 = 50_000;

/// The longest win that is searched for, in plies.
const LONGEST: u16 = 255;

/// The result of a VCT search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum VctDecision {
    /// The side to move wins.
    Win {
        /// Plies within which the game ends against every defence.
        plies: u16,
        /// The line against a long defence. It may be shorter than `plies`, and ends early if the
        /// search was stopped.
        line: Vec<Move>,
    },
    /// There is no win of the class within `plies`, or of any length for `u16::MAX`.
    NoWin {
        /// The length for which this is known.
        plies: u16,
    },
    /// The search ended before it could decide.
    Unknown,
}

/// A VCT search with the side to move as attacker.
pub(crate) struct Vct<'a, R> {
    board: &'a mut Board<R>,
    table: &'a mut ProofTable,
    control: &'a Control,
    /// Positions searched.
    pub(crate) nodes: u64,
    /// The class of attacks of the last win.
    found: Option<Attacks>,
}

impl<'a, R: Rule> Vct<'a, R> {
    /// Returns a search that uses and extends `table`, which must belong to the same rule and board
    /// size.
    pub(crate) fn new(
        board: &'a mut Board<R>,
        table: &'a mut ProofTable,
        control: &'a Control,
    ) -> Self {
        table.begin();
        Self {
            board,
            table,
            control,
            nodes: 0,
            found: None,
        }
    }

    /// Searches for the shortest win, within `effort.depth` plies and the other limits of the
    /// effort.
    pub(crate) fn find(&mut self, effort: Effort) -> VctDecision {
        self.seek(effort, SHORTEST)
    }

    /// Searches for any win, which costs far less than the shortest.
    pub(crate) fn find_any(&mut self, effort: Effort) -> VctDecision {
        self.seek(effort, LONGEST)
    }

    /// Searches for the shortest win up to a limited cost, then for any: short wins make small
    /// strategies.
    pub(crate) fn find_short(&mut self, effort: Effort) -> VctDecision {
        let nodes = effort.nodes.map_or(SHORT, |nodes| nodes.min(SHORT));
        match self.find(Effort {
            nodes: Some(nodes),
            ..effort
        }) {
            VctDecision::Unknown => self.find_any(effort),
            decision => decision,
        }
    }

    /// Searches, beginning with wins of at most `first` plies.
    fn seek(&mut self, effort: Effort, first: u16) -> VctDecision {
        // The attacker makes the last move, so a win has an odd number of plies.
        let most = effort
            .depth
            .map_or(LONGEST, |plies| u16::from(plies.saturating_sub(1) | 1));
        let begun = self.control.now();
        let mut open = Attacks::EACH.map(|attacks| Some((attacks, most.min(first))));
        let (mut share, mut lost) = (SHARE, u16::MAX);
        while open.iter().any(Option::is_some) {
            if open.iter().flatten().count() == 1 {
                share = u64::MAX;
            }
            for stage in &mut open {
                let Some((attacks, plies)) = stage.as_mut() else {
                    continue;
                };
                if *attacks == Attacks::All && share < WIDE {
                    continue;
                }
                let left = Effort {
                    depth: None,
                    nodes: Some(
                        effort
                            .nodes
                            .map_or(u64::MAX, |nodes| nodes.saturating_sub(self.nodes))
                            .min(share),
                    ),
                    time: effort
                        .time
                        .map(|time| (begun + time).saturating_sub(self.control.now())),
                };
                if left.nodes == Some(0)
                    || left.time == Some(Duration::ZERO)
                    || self.control.is_stopped()
                {
                    return VctDecision::Unknown;
                }
                let value = self.deepen(*attacks, plies, most, left);
                if value.is_won() {
                    self.found = Some(*attacks);
                    return VctDecision::Win {
                        plies: value.won,
                        line: self.line(*attacks, value.won),
                    };
                }
                if value.is_lost() {
                    lost = lost.min(value.lost);
                    *stage = None;
                }
            }
            share = share.saturating_mul(2);
        }
        VctDecision::NoWin { plies: lost }
    }

    /// Searches longer and longer wins, from `plies` to `most`.
    fn deepen(
        &mut self,
        attacks: Attacks,
        plies: &mut u16,
        most: u16,
        effort: Effort,
    ) -> VctProofNumbers {
        let limits = SearchLimits::new(self.control, effort);
        let mut search = VctSearch::new(self.board, attacks, self.table, &limits);
        let value = loop {
            let value = search.decide(*plies);
            if !value.is_lost() || value.lost >= most {
                break value;
            }
            *plies = ((value.lost + 1) | 1).min(most);
        };
        self.nodes += search.nodes();
        value
    }

    /// Returns the strategy of the win just found, or `None` if it could not be found again.
    pub(crate) fn strategy(&mut self, plies: u16) -> Option<Strategy> {
        let limits = SearchLimits::new(self.control, Effort::nodes(8 * self.nodes + 100_000));
        VctSearch::new(self.board, self.found?, self.table, &limits).strategy(plies)
    }

    /// Returns the proof template of the win just found, or `None` if it could not be found again.
    pub(crate) fn template(&mut self, plies: u16) -> Option<ProofTemplate> {
        let limits = SearchLimits::new(self.control, Effort::nodes(2 * self.nodes + 1_000));
        let mut search = VctSearch::new(self.board, self.found?, self.table, &limits);
        let template = search.template(plies);
        self.nodes += search.nodes();
        template
    }

    /// Tests whether a proof template wins this position, visiting at most `nodes` positions.
    /// Returns the plies of the win and its first moves.
    pub(crate) fn repeat(
        &mut self,
        template: &ProofTemplate,
        nodes: u64,
    ) -> Option<(u16, Vec<Move>)> {
        let limits = SearchLimits::new(self.control, Effort::nodes(nodes));
        let mut search = VctSearch::new(self.board, template.attacks, self.table, &limits);
        // A win known before may differ from the template.
        let is_known = search.is_known();
        let won = search.repeat(template);
        self.nodes += search.nodes();
        self.found = won.and(Some(template.attacks));
        let won = won?;
        let line = match is_known {
            true => self.line(template.attacks, won),
            false => template.first().into_iter().collect(),
        };
        Some((won, line))
    }

    /// Returns the line of a win. It costs little while the table holds the win; otherwise the line
    /// ends early.
    fn line(&mut self, attacks: Attacks, plies: u16) -> Vec<Move> {
        let limits = SearchLimits::new(self.control, Effort::nodes(2 * self.nodes + 1_000));
        VctSearch::new(self.board, attacks, self.table, &limits).line(plies)
    }
}

//! The search for a win by continuous threats (VCT): every move of the attacker makes a five, a four, or an open three, or
//! threatens to win by continuous fours.
//!
//! # What is searched
//! Depth-first proof-number search (Nagai, "Df-pn algorithm for searching AND/OR trees", 2002) with thresholds that leave
//! a sibling only when it is worse by a quarter (Pawlewicz and Lew, "Improving depth-first pn-search: 1+epsilon trick",
//! 2006), and with weak proof numbers (Ueda, Hashimoto, Hashimoto and Iida, "Weak proof-number search", 2008): instead of
//! the sum over the children their greatest number and one for each other one, so that positions that are reached in many
//! ways are not counted many times.
//!
//! Wins of at most 5 plies are searched first, then of at most 7, 9 and so on, so that what is found is the shortest win
//! of its class; what was decided for one length stays decided for those that follow from it. Three sorts of wins take turns,
//! each time with twice the effort: those by fours and open threes alone, which are cheap to look for; those that make
//! sleeping threes as well; and those where a stone that makes but a two threatens to win by fours.
//!
//! # Why a win is a win against every defence
//! Let A attack and D defend. A node where A moves is won if one of his moves leads to a won node. A node where D moves
//! is won only in these cases, and each says how many plies A needs:
//! 1. A has two completion points, or one that is forbidden to D, and D has none: A wins in 2, whatever D does.
//! 2. A has one, and D has none: every move of D but that point loses in 2. The node after that point is searched.
//! 3. Neither has one, D has no cell that leaves two completion points of his, and A has such cells e. Every move of D that
//!    makes no four and stands neither on e nor on a completion point after e loses in 4: A plays e, D has no five and can
//!    fill but one of the points, A makes five. All other moves of D are searched: [`Board::defences`].
//!
//! 4. Neither has one, and A would win by a line of fours if it were his move. Every move of D after which this line wins as it
//!    stands, replayed against all that D could do, loses in one ply more than the line has. All other moves of D are searched:
//!    [`Board::replies_to`].
//!
//! In every other case the node counts as refuted, though A may win it by other means: that costs wins, never truth. The
//! same holds for what the board does not see (a cell that leaves two completion points but may be forbidden): e is then
//! not counted, so that D has more replies to be searched.
//!
//! So the number of plies is 1 more than the winning move's where A moves, and 1 more than the greatest of the replies'
//! where D moves, those that need no search among them: a true upper bound on the length of the game.

mod line;
mod search;
mod strategy;
mod table;
mod template;
mod value;

use std::time::{Duration, Instant};

use kagetsu_game::gomoku::Rule;
use kagetsu_game::{Effort, Move};

use self::search::{Attacks, VctSearch};
use self::value::ProofNumbers;
use crate::Control;
use crate::control::limits::Limits;
use crate::gomoku::board::Board;
use crate::threats::Strategy;
pub(crate) use table::ProofTable;
pub(crate) use template::ProofTemplate;

/// The shortest win that is not seen without a search.
const SHORTEST: u16 = 5;

/// Positions searched for a win of one sort before one of the other is looked for; twice as many the next time.
const SHARE: u64 = 1_000;

/// Less than that is too little to look for what is seldom there, and dear: moves that make but a two.
const WIDE: u64 = 4 * SHARE;

/// Positions searched for the shortest win before any is good enough for a plan.
const SHORT: u64 = 50_000;

/// The longest win that is ever searched for.
const LONGEST: u16 = 255;

/// What a search for a win has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The side to move wins.
    Win {
        /// The game ends within so many plies, whatever the defender does.
        plies: u16,
        /// How it goes if he defends long; it may be shorter than that, and ends early if the search was stopped.
        line: Vec<Move>,
    },
    /// There is no win of the class within so many plies; of any length where it is `u16::MAX`.
    NoWin {
        /// For which length this is known.
        plies: u16,
    },
    /// The search had to end.
    Unknown,
}

/// The side to move looks for a win by continuous threats.
pub(crate) struct Vct<'a, R> {
    board: &'a mut Board<R>,
    table: &'a mut ProofTable,
    control: &'a Control,
    /// Positions searched.
    pub(crate) nodes: u64,
    /// With which moves the last win was found, or found again.
    found: Option<Attacks>,
}

impl<'a, R: Rule> Vct<'a, R> {
    /// What `table` knows is used and added to; it must be one of the same rule and size of board.
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

    /// The shortest win, within `effort.depth` plies and the other limits of the effort.
    pub(crate) fn find(&mut self, effort: Effort) -> Decision {
        self.seek(effort, SHORTEST)
    }

    /// Some win, however long: found with far less effort than the shortest.
    pub(crate) fn find_any(&mut self, effort: Effort) -> Decision {
        self.seek(effort, LONGEST)
    }

    /// The shortest win where that is soon found, or else any: a short win makes a small plan, but not at any price.
    pub(crate) fn find_short(&mut self, effort: Effort) -> Decision {
        let nodes = effort.nodes.map_or(SHORT, |nodes| nodes.min(SHORT));
        match self.find(Effort {
            nodes: Some(nodes),
            ..effort
        }) {
            Decision::Unknown => self.find_any(effort),
            decision => decision,
        }
    }

    /// Wins of at most `first` plies are searched for first.
    fn seek(&mut self, effort: Effort, first: u16) -> Decision {
        // The attacker makes the last move, so a win has an odd number of plies.
        let most = effort
            .depth
            .map_or(LONGEST, |plies| u16::from(plies.saturating_sub(1) | 1));
        let begun = Instant::now();
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
                    time: effort.time.map(|time| time.saturating_sub(begun.elapsed())),
                };
                if left.nodes == Some(0)
                    || left.time == Some(Duration::ZERO)
                    || self.control.is_stopped()
                {
                    return Decision::Unknown;
                }
                let value = self.deepen(*attacks, plies, most, left);
                if value.is_won() {
                    self.found = Some(*attacks);
                    return Decision::Win {
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
        Decision::NoWin { plies: lost }
    }

    /// Searches longer and longer wins, from `plies` on to `most`, with so much effort.
    fn deepen(
        &mut self,
        attacks: Attacks,
        plies: &mut u16,
        most: u16,
        effort: Effort,
    ) -> ProofNumbers {
        let limits = Limits::new(self.control, effort);
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

    /// How a win that was found is won against every reply; `None` if it could not be found again.
    pub(crate) fn strategy(&mut self, plies: u16) -> Option<Strategy> {
        let limits = Limits::new(self.control, Effort::nodes(8 * self.nodes + 100_000));
        VctSearch::new(self.board, self.found?, self.table, &limits).strategy(plies)
    }

    /// How the win was found, in so many plies; `None` if it could not be found again.
    pub(crate) fn template(&mut self, plies: u16) -> Option<ProofTemplate> {
        let limits = Limits::new(self.control, Effort::nodes(2 * self.nodes + 1_000));
        let mut search = VctSearch::new(self.board, self.found?, self.table, &limits);
        let template = search.template(plies);
        self.nodes += search.nodes();
        template
    }

    /// Whether what won another position wins this one: within how many plies, and how that begins; at most so many positions
    /// are visited.
    pub(crate) fn repeat(
        &mut self,
        template: &ProofTemplate,
        nodes: u64,
    ) -> Option<(u16, Vec<Move>)> {
        let limits = Limits::new(self.control, Effort::nodes(nodes));
        let mut search = VctSearch::new(self.board, template.attacks, self.table, &limits);
        // What is known already may be won by other means.
        let is_known = search.is_known();
        let won = search.repeat(template);
        self.nodes += search.nodes();
        self.found = won.and(Some(template.attacks));
        let first = || {
            template
                .first()
                .map(|first| Move::new(first as u16))
                .into_iter()
                .collect()
        };
        won.map(|won| {
            (
                won,
                if is_known {
                    self.line(template.attacks, won)
                } else {
                    first()
                },
            )
        })
    }

    /// Finding a win again costs little while the table holds it; where it does not, the line ends early.
    fn line(&mut self, attacks: Attacks, plies: u16) -> Vec<Move> {
        let limits = Limits::new(self.control, Effort::nodes(2 * self.nodes + 1_000));
        VctSearch::new(self.board, attacks, self.table, &limits).line(plies)
    }
}

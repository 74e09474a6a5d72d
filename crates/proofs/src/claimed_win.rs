//! Trees of games that claim a win, such as libraries of RenLib, checked as proofs.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use anyhow::{Result, ensure};
use kagetsu_game::{Answer, Key, Move, Outcome, Position, Side};
use kagetsu_search::Control;
use kagetsu_search::threats::ThreatSearch;
use serde::Serialize;

/// Memory of the threat search, in bytes.
const TABLE: usize = 256 << 20;

/// The findings of a check of a tree. Symmetric positions and replies count once.
#[derive(Debug, Default, Serialize)]
pub struct ClaimFindings {
    /// Positions of the tree that were looked at.
    pub positions: u64,
    /// Replies of the loser.
    pub replies: u64,
    /// Replies at the end of the tree that lose to threats.
    pub ends: u64,
    /// Replies that the tree lacks, and that lose to threats.
    pub answered: u64,
    /// Lines to replies that the tree lacks, without a win by threats.
    pub missing_replies: Vec<String>,
    /// Lines at which the tree ends, without a win by threats.
    pub open_ends: Vec<String>,
}

/// Checks that `winner` wins from `root` with the moves of a tree: one of its moves in each
/// position of the winner, and every reply of the loser. Replies that the tree lacks or ends with
/// must lose to threats that a search of at most `nodes` positions finds. Where the winner has
/// several moves, one that wins is enough; where none does, only the gaps of the longest branch
/// are named. `progress` is called with the number of positions.
///
/// # Errors
/// If the tree has no move from `root`, or is none of gomoku.
pub fn check_claimed_win(
    tree: &[(Position, Answer)],
    root: &Position,
    winner: Side,
    nodes: u64,
    progress: &dyn Fn(u64),
) -> Result<ClaimFindings> {
    let mut moves: HashMap<Key, Vec<Move>> = HashMap::new();
    for (position, answer) in tree.iter().filter(|(_, answer)| !answer.is_empty()) {
        let known = moves.entry(position.key()).or_default();
        known.extend(answer.verdicts().iter().map(|(m, _)| *m));
    }
    let variant = root.variant();
    ensure!(
        variant.has_threat_search(),
        "a claim of {variant} cannot be checked: no search for threats plays it"
    );
    ensure!(moves.contains_key(&root.key()), "no move from {root} in it");
    let mut check = ClaimCheck {
        moves,
        winner,
        threats: ThreatSearch::new(TABLE).with_any_length(),
        nodes,
        judged: HashMap::new(),
        failed: Vec::new(),
        findings: ClaimFindings::default(),
        progress,
    };
    check.holds(root)?;
    Ok(check.findings)
}

struct ClaimCheck<'a> {
    /// The moves of the tree in each position, in canonical orientation.
    moves: HashMap<Key, Vec<Move>>,
    winner: Side,
    threats: ThreatSearch,
    nodes: u64,
    /// Whether the claim holds in a position.
    judged: HashMap<Key, bool>,
    /// The positions where it does not.
    failed: Vec<Key>,
    findings: ClaimFindings,
    progress: &'a dyn Fn(u64),
}

impl ClaimCheck<'_> {
    /// Returns the positions that the moves of the tree lead to, the longest branch first.
    fn next(&self, position: &Position) -> Vec<Position> {
        let (key, turn) = position.key_and_symmetry();
        let variant = position.variant();
        let back = variant.inverse(turn);
        let known = self.moves.get(&key).into_iter().flatten();
        let played = known.filter_map(|m| position.play(variant.image(*m, back)).ok());
        let mut next: Vec<Position> = played.collect();
        next.sort_by_cached_key(|next| Reverse(self.moves.get(&next.key()).map(Vec::len)));
        next
    }

    /// Whether the winner wins a position.
    fn holds(&mut self, position: &Position) -> Result<bool> {
        if let Some(outcome) = position.outcome() {
            let is_won = outcome == Outcome::Win(self.winner);
            return Ok(is_won || self.ends_open(position));
        }
        let key = position.key();
        if let Some(known) = self.judged.get(&key) {
            return Ok(*known);
        }
        self.findings.positions += 1;
        (self.progress)(self.findings.positions);
        let holds = match position.side() == self.winner {
            true => self.winner_holds(position)?,
            false => self.loser_fails(position)?,
        };
        self.judged.insert(key, holds);
        if !holds {
            self.failed.push(key);
        }
        Ok(holds)
    }

    /// Names the end of a line where the claim does not hold.
    fn ends_open(&mut self, position: &Position) -> bool {
        self.findings.open_ends.push(position.notation());
        false
    }

    /// Returns the number of gaps of each kind, and of failed positions.
    fn failures(&self) -> [usize; 3] {
        let ClaimFindings {
            missing_replies,
            open_ends,
            ..
        } = &self.findings;
        [missing_replies.len(), open_ends.len(), self.failed.len()]
    }

    /// Whether a move of the winner wins.
    fn winner_holds(&mut self, position: &Position) -> Result<bool> {
        let mut kept = self.failures();
        for (number, next) in self.next(position).iter().enumerate() {
            let holds = self.holds(next)?;
            if number == 0 && !holds {
                kept = self.failures();
            }
            // Positions behind other moves are judged again where they matter.
            self.findings.missing_replies.truncate(kept[0]);
            self.findings.open_ends.truncate(kept[1]);
            for key in self.failed.drain(kept[2]..) {
                self.judged.remove(&key);
            }
            if holds {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether every reply of the loser loses.
    fn loser_fails(&mut self, position: &Position) -> Result<bool> {
        let listed: HashSet<Key> = self.next(position).iter().map(Position::key).collect();
        let mut behind = Vec::new();
        let mut holds = true;
        for reply in position.distinct_moves() {
            self.findings.replies += 1;
            let next = position.play(reply)?;
            let key = next.key();
            if next.outcome().is_some() || self.moves.contains_key(&key) {
                behind.push(next);
                continue;
            }
            let is_end = listed.is_empty() || listed.contains(&key);
            let control = Control::new();
            let found = self.threats.refute(position, reply, self.nodes, &control)?;
            match (found, is_end) {
                (Some(_), true) => self.findings.ends += 1,
                (Some(_), false) => self.findings.answered += 1,
                // The winner's last move in the tree wins too little.
                (None, true) if listed.is_empty() => return Ok(self.ends_open(position)),
                (None, true) => holds = self.ends_open(&next),
                (None, false) => {
                    self.findings.missing_replies.push(next.notation());
                    holds = false;
                }
            }
        }
        for next in behind {
            holds &= self.holds(&next)?;
        }
        Ok(holds)
    }
}

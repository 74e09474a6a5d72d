//! Mates by checks alone: every move of the attacker gives check, and every reply is tried.

use std::collections::HashMap;

use kagetsu_game::Move;
use kagetsu_game::xiangqi::join;

use super::Board;

/// A search for a mate by continuous checks, deeper and deeper, so that it finds a shortest one.
/// Repeating a position is no win, because perpetual check loses.
pub(super) struct Mate<'a> {
    board: &'a mut Board,
    budget: &'a mut u32,
    /// Positions of the attacker, with the number of checks that do not mate.
    failed: HashMap<u64, u32>,
}

impl<'a> Mate<'a> {
    /// Returns a search that takes its tried checks from `budget`.
    pub(super) fn new(board: &'a mut Board, budget: &'a mut u32) -> Self {
        Self {
            board,
            budget,
            failed: HashMap::new(),
        }
    }

    /// Returns a mate in at most `length` checks against the longest defence.
    pub(super) fn find(&mut self, length: u32) -> Option<Vec<Move>> {
        for checks in 1..=length {
            let tried = *self.budget;
            let line = self.attack(checks);
            if line.is_some() || *self.budget == 0 {
                return line;
            }
            // The last length found nothing new to try.
            if checks > 1 && tried - *self.budget == 0 {
                return None;
            }
        }
        None
    }

    /// Returns a mate in at most `checks` checks, with the attacker to move.
    fn attack(&mut self, checks: u32) -> Option<Vec<Move>> {
        let hash = self.board.zobrist();
        if checks == 0
            || self
                .failed
                .get(&hash)
                .is_some_and(|&failed| failed >= checks)
        {
            return None;
        }
        for m in self.checks() {
            if *self.budget == 0 {
                return None;
            }
            *self.budget -= 1;
            self.board.make(m);
            let rest = self.defend(checks - 1);
            self.board.unmake();
            if let Some(rest) = rest {
                return Some(std::iter::once(m).chain(rest).collect());
            }
        }
        if *self.budget > 0 {
            self.failed.insert(hash, checks);
        }
        None
    }

    /// Returns the longest mate over all replies to the check, or `None` if one reply escapes.
    fn defend(&mut self, checks: u32) -> Option<Vec<Move>> {
        if self.board.repeats().is_some() {
            return None;
        }
        let answers: Vec<Move> = self.answers();
        if answers.is_empty() {
            return Some(Vec::new());
        }
        if checks == 0 || self.board.is_quiet_draw() {
            return None;
        }
        let mut longest: Vec<Move> = Vec::new();
        for m in answers {
            self.board.make(m);
            let escapes = self.board.repeats().is_some() || self.board.is_quiet_draw();
            let rest = if escapes { None } else { self.attack(checks) };
            self.board.unmake();
            let rest = rest?;
            if rest.len() >= longest.len() {
                longest = std::iter::once(m).chain(rest).collect();
            }
        }
        Some(longest)
    }

    fn checks(&self) -> Vec<Move> {
        let pieces = &self.board.pieces;
        let all = self.board.targets();
        let all = all.flat_map(|(from, _, targets)| targets.into_iter().map(move |to| (from, to)));
        all.filter(|&(from, to)| pieces.gives_check(from, to))
            .map(|(from, to)| join(from, to))
            .collect()
    }

    fn answers(&self) -> Vec<Move> {
        let all = self.board.targets();
        all.flat_map(|(from, _, targets)| targets.into_iter().map(move |to| join(from, to)))
            .collect()
    }
}

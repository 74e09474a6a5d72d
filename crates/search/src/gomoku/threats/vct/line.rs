use kagetsu_game::Move;
use kagetsu_game::gomoku::Rule;

use super::search::VctSearch;
use super::value::INFINITE;
use crate::gomoku::patterns::kind::CellKind;

impl<R: Rule> VctSearch<'_, R> {
    /// Returns a line from a position that is won within `plies`: the attacker's quickest known win
    /// against the longest known defence. The line is shorter if the search must end.
    pub(super) fn line(&mut self, mut plies: u16) -> Vec<Move> {
        let mut line = Vec::new();
        while let Some((cell, rest)) = self.next_move(plies) {
            line.push(Move::new(cell as u16));
            let is_five = self.board.kind(self.board.side(), cell) == CellKind::Five;
            self.board.play_cell(cell);
            if is_five {
                break;
            }
            plies = rest;
        }
        line.iter().for_each(|_| self.board.undo_cell());
        line
    }

    /// Returns the next move of the line and the plies left after it, or `None` at the end.
    pub(super) fn next_move(&mut self, plies: u16) -> Option<(usize, u16)> {
        let side = self.board.side();
        let attacks = side == self.attacker;
        if attacks && let Some(five) = self.board.one(side, CellKind::Five) {
            return Some((five, 0));
        }
        let mut best: Option<(usize, u16)> = None;
        let (moves, _) = self.moves();
        let legal: Vec<usize> = moves
            .iter()
            .filter(|&cell| !self.board.is_forbidden(side, cell))
            .collect();
        for cell in legal {
            self.board.play_cell(cell);
            let value = if attacks {
                self.look(plies - 1)
            } else {
                self.decide(plies - 1)
            };
            self.board.undo_cell();
            let is_better = best.is_none_or(|(_, known)| {
                if attacks {
                    value.won < known
                } else {
                    value.won > known
                }
            });
            if value.is_won() && is_better {
                best = Some((cell, value.won));
            }
        }
        match best {
            None if attacks => {
                let (value, cell) = self.expand(plies, INFINITE, INFINITE)?;
                value.is_won().then_some((cell, plies - 1))
            }
            // Every reply loses at once: choose one that blocks.
            None => {
                let cell = self
                    .board
                    .one(side.other(), CellKind::Winning)
                    .or_else(|| self.board.one(side.other(), CellKind::Five));
                let cell = cell
                    .filter(|&cell| !self.board.is_forbidden(side, cell))
                    .or_else(|| self.board.any_legal());
                Some((cell?, plies - 1))
            }
            found => found,
        }
    }
}

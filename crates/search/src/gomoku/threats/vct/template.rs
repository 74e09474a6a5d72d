use std::collections::HashMap;

use kagetsu_game::Move;
use kagetsu_game::gomoku::Rule;

use super::LONGEST;
use super::search::{Attacks, VctSearch};
use crate::gomoku::cells::Cells;
use crate::gomoku::patterns::kind::CellKind;

/// The proof of a win: the attacker's moves, and the continuation after each searched reply. It can
/// be tried in a position that differs by a stone.
#[derive(Clone, Debug)]
pub(crate) struct ProofTemplate {
    /// The class of attacks of the proof.
    pub(super) attacks: Attacks,
    /// Steps refer to earlier steps only. The last one is the first to be played.
    steps: Vec<TemplateStep>,
    /// Cells of all moves and searched replies.
    cells: Cells,
}

/// A move of the attacker.
#[derive(Clone, Debug)]
struct TemplateStep {
    cell: u16,
    /// Searched replies and the step after each; `None` where the win needs no search.
    replies: Vec<(u16, Option<u32>)>,
}

impl ProofTemplate {
    /// Returns the cells of all moves and searched replies.
    pub(in crate::gomoku) const fn cells(&self) -> &Cells {
        &self.cells
    }

    /// Returns the template with other cells.
    pub(in crate::gomoku) fn moved(&self, to: impl Fn(Move) -> Move) -> Self {
        let to = |cell: u16| to(Move::new(cell)).code();
        let mut moved = self.clone();
        for step in &mut moved.steps {
            step.cell = to(step.cell);
            step.replies.iter_mut().for_each(|(m, _)| *m = to(*m));
        }
        let cells = self.cells.iter();
        moved.cells = cells.map(|cell| to(cell as u16).into()).collect();
        moved
    }

    /// The first move.
    pub(crate) fn first(&self) -> Option<Move> {
        self.steps.last().map(|step| Move::new(step.cell))
    }
}

impl<R: Rule> VctSearch<'_, R> {
    /// Returns the template of a position that is won within `plies`. `None` if the search must end
    /// before it has found the whole win again.
    pub(super) fn template(&mut self, plies: u16) -> Option<ProofTemplate> {
        let mut template = ProofTemplate {
            attacks: self.attacks(),
            steps: Vec::new(),
            cells: Cells::NONE,
        };
        self.draw(plies, &mut template, &mut HashMap::new())?;
        Some(template)
    }

    /// Returns the step of a position with the attacker to move.
    fn draw(
        &mut self,
        plies: u16,
        template: &mut ProofTemplate,
        known: &mut HashMap<u64, u32>,
    ) -> Option<u32> {
        let hash = self.board.hash_now();
        if let Some(step) = known.get(&hash) {
            return Some(*step);
        }
        let (cell, rest) = self.next_move(plies)?;
        self.board.play_cell(cell);
        let replies = self.draw_replies(rest, template, known);
        self.board.undo_cell();
        template.cells.insert(cell);
        template.steps.push(TemplateStep {
            cell: cell as u16,
            replies: replies?,
        });
        let step = template.steps.len() as u32 - 1;
        known.insert(hash, step);
        Some(step)
    }

    fn draw_replies(
        &mut self,
        rest: u16,
        template: &mut ProofTemplate,
        known: &mut HashMap<u64, u32>,
    ) -> Option<Vec<(u16, Option<u32>)>> {
        if rest < 4 {
            // Five, or two completion points.
            let fives = |kind| kind == CellKind::Five;
            let fives = self.board.cells_of(self.attacker, fives);
            template.cells.add(&fives, usize::MAX);
            return Some(Vec::new());
        }
        let (cells, _) = self.moves();
        let mut replies = Vec::new();
        for cell in cells.iter() {
            if self.board.is_forbidden(self.board.side(), cell) {
                continue;
            }
            template.cells.insert(cell);
            self.board.play_cell(cell);
            let next = self.draw(rest - 1, template, known);
            self.board.undo_cell();
            replies.push((cell as u16, Some(next?)));
        }
        Some(replies)
    }

    /// Plays the template; where it fails, a small search tries something else. Returns the plies
    /// of the win, with the attacker to move.
    pub(super) fn repeat(&mut self, template: &ProofTemplate) -> Option<u16> {
        self.retrace(
            template,
            template.steps.len().checked_sub(1).map(|last| last as u32),
        )
    }

    /// Whether the attacker, who is to move, has a known win.
    pub(super) fn is_known(&mut self) -> bool {
        self.look(LONGEST).is_won()
    }

    fn retrace(&mut self, template: &ProofTemplate, step: Option<u32>) -> Option<u16> {
        if self.visit() {
            return None;
        }
        let known = self.look(LONGEST);
        if !known.is_open() {
            return known.is_won().then_some(known.won);
        }
        let step = &template.steps[step? as usize];
        let cell = usize::from(step.cell);
        if !self.may_attack(cell) {
            return None;
        }
        self.board.play_cell(cell);
        let won = self.retrace_replies(template, step);
        self.board.undo_cell();
        let won = won?.saturating_add(1);
        self.learn(won);
        Some(won)
    }

    /// Plays the template with the defender to move.
    fn retrace_replies(&mut self, template: &ProofTemplate, step: &TemplateStep) -> Option<u16> {
        let known = self.look(LONGEST);
        if !known.is_open() {
            return known.is_won().then_some(known.won);
        }
        let (cells, otherwise) = self.moves();
        if otherwise > LONGEST {
            return None;
        }
        let mut won = otherwise;
        for cell in cells.iter() {
            if self.board.is_forbidden(self.board.side(), cell) {
                continue;
            }
            let next = step
                .replies
                .iter()
                .find(|(reply, _)| usize::from(*reply) == cell)
                .and_then(|(_, next)| *next);
            self.board.play_cell(cell);
            let after = self.retrace(template, next);
            self.board.undo_cell();
            won = won.max(after?.saturating_add(1));
        }
        self.learn(won);
        Some(won)
    }
}

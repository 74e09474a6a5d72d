use std::collections::{BTreeMap, HashMap};

use kagetsu_game::Move;
use kagetsu_game::gomoku::Rule;

use super::search::VctSearch;
use crate::gomoku::patterns::kind::CellKind;
use crate::heuristics::Heuristics;
use crate::threats::{Strategy, StrategyStep};

/// A strategy under construction.
#[derive(Default)]
struct Draft {
    steps: Vec<StrategyStep>,
    known: HashMap<StrategyStep, u32>,
    /// Steps by the hash of their position, with the attacker to move.
    reached: HashMap<u64, u32>,
}

impl Draft {
    fn add(&mut self, step: StrategyStep) -> u32 {
        if let Some(known) = self.known.get(&step) {
            return *known;
        }
        let number = self.steps.len() as u32;
        self.known.insert(step.clone(), number);
        self.steps.push(step);
        number
    }

    fn add_last(&mut self, cell: usize) -> u32 {
        self.add(StrategyStep {
            at: Move::new(cell as u16),
            replies: Vec::new(),
            otherwise: None,
        })
    }
}

/// The answers to all replies of the defender, as in a [`StrategyStep`].
struct Answers {
    replies: Vec<(Move, u32)>,
    otherwise: Option<u32>,
}

impl<R: Rule> VctSearch<'_, R> {
    /// Returns the strategy of a position that is won within `plies`, with an answer to every legal
    /// reply. `None` if the search must end before it has found the whole win again.
    pub(super) fn strategy(&mut self, plies: u16) -> Option<Strategy> {
        let mut draft = Draft::default();
        if !self.decide(plies).is_won() {
            return None;
        }
        self.attack(plies, &mut draft)?;
        Some(Strategy { steps: draft.steps })
    }

    /// Returns the step of a position with the attacker to move.
    fn attack(&mut self, plies: u16, draft: &mut Draft) -> Option<u32> {
        let me = self.attacker;
        if let Some(five) = self.board.one(me, CellKind::Five) {
            return Some(draft.add_last(five));
        }
        let hash = self.board.hash();
        if let Some(known) = draft.reached.get(&hash) {
            return Some(*known);
        }
        let mut at_once = self.board.cells_of(me, |kind| kind == CellKind::Winning);
        if self.board.count(me.other(), CellKind::Five) > 0 {
            at_once = at_once.and(&self.board.stops(me.other()));
        }
        let (cell, rest) = match at_once.first() {
            Some(cell) => (cell, 2),
            None => self.next_move(plies)?,
        };
        let step = self.make(cell, rest, draft)?;
        draft.reached.insert(hash, step);
        Some(step)
    }

    /// Returns the step of a move that wins within `rest` further plies.
    fn make(&mut self, cell: usize, rest: u16, draft: &mut Draft) -> Option<u32> {
        self.board.play_cell(cell);
        let replies = self.answer_all(rest, draft);
        self.board.undo_cell();
        let Answers { replies, otherwise } = replies?;
        Some(draft.add(StrategyStep {
            at: Move::new(cell as u16),
            replies,
            otherwise,
        }))
    }

    /// Returns the answers to all replies, with the defender to move.
    fn answer_all(&mut self, rest: u16, draft: &mut Draft) -> Option<Answers> {
        let (me, other) = (self.attacker, self.attacker.other());
        if self.board.count(me, CellKind::Five) > 0 {
            return self.answer_five(draft, |search, draft| {
                search.attack(rest.saturating_sub(1), draft)
            });
        }
        let line = if self.has_open_threat() {
            None
        } else {
            Some(self.threat()?)
        };
        let defences = match &line {
            None => self.board.defences(),
            Some(line) => self.board.replies_to(line),
        };
        // Positions with a threatened VCF have no such cell.
        let threat = if line.is_none() {
            self.board.one(me, CellKind::Winning)?
        } else {
            usize::MAX
        };
        let replies: Vec<usize> = self
            .board
            .empties()
            .iter()
            .filter(|&cell| !self.board.is_forbidden(other, cell))
            .collect();
        let mut answers: Vec<(Move, u32)> = Vec::with_capacity(replies.len());
        for reply in replies {
            let answer = self.after(reply, |search| {
                if defences.contains(reply) {
                    return search.attack(rest.saturating_sub(1), draft);
                }
                if let Some(line) = &line {
                    return search.follow(line, draft);
                }
                let is_left = reply != threat && search.board.kind(me, threat) == CellKind::Winning;
                let four = if is_left {
                    threat
                } else {
                    search.board.one(me, CellKind::Winning)?
                };
                search.make(four, 2, draft)
            })?;
            answers.push((Move::new(reply as u16), answer));
        }
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        answers
            .iter()
            .for_each(|(_, answer)| *counts.entry(*answer).or_default() += 1);
        let otherwise = counts
            .into_iter()
            .max_by_key(|(_, count)| *count)
            .map(|(answer, _)| answer);
        answers.retain(|(_, answer)| Some(*answer) != otherwise);
        Some(Answers {
            replies: answers,
            otherwise,
        })
    }

    /// Answers all replies to a four: with a five, or another one after a reply that stops it.
    /// `next` continues after such a reply if there is no second five.
    fn answer_five(
        &mut self,
        draft: &mut Draft,
        mut next: impl FnMut(&mut Self, &mut Draft) -> Option<u32>,
    ) -> Option<Answers> {
        let (me, other) = (self.attacker, self.attacker.other());
        let first = self.board.one(me, CellKind::Five)?;
        let otherwise = Some(draft.add_last(first));
        let mut replies = Vec::new();
        for reply in self.board.answers(me, first).iter() {
            if self.board.is_forbidden(other, reply) {
                continue;
            }
            let answer =
                self.after(reply, |search| match search.board.one(me, CellKind::Five) {
                    Some(second) => Some(draft.add_last(second)),
                    None => next(search, draft),
                })?;
            replies.push((Move::new(reply as u16), answer));
        }
        Some(Answers { replies, otherwise })
    }

    /// Returns the first step of a VCF that wins as given.
    fn follow(&mut self, line: &[Move], draft: &mut Draft) -> Option<u32> {
        if let Some(five) = self.board.one(self.attacker, CellKind::Five) {
            return Some(draft.add_last(five));
        }
        let &[four, _, ref rest @ ..] = line else {
            return None;
        };
        self.board.play_cell(four.index());
        let answers = self.answer_five(draft, |search, draft| search.follow(rest, draft));
        self.board.undo_cell();
        let Answers { replies, otherwise } = answers?;
        Some(draft.add(StrategyStep {
            at: four,
            replies,
            otherwise,
        }))
    }

    fn after<T>(&mut self, cell: usize, look: impl FnOnce(&mut Self) -> T) -> T {
        self.board.play_cell(cell);
        let found = look(self);
        self.board.undo_cell();
        found
    }
}

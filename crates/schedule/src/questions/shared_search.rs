use alloc::vec::Vec;
use core::time::Duration;

use kagetsu_game::{Answer, Effort, Question};

use crate::effect::Role;
use crate::{Effect, QuestionId, Scheduler, TaskId, WorkerId};

/// Workers beyond which more do not help with one position.
const MOST_MEMBERS: usize = 64;

/// Questions that every worker searches whole, sharing what the tables learn.
impl Scheduler {
    /// A question is for all who have room.
    pub(crate) fn pool(&mut self, id: QuestionId) {
        let now = self.now;
        if let Some(inquiry) = self.inquiries.get_mut(&id) {
            inquiry.until = inquiry
                .question
                .effort
                .time
                .map(|time| now.saturating_add(time));
            self.pools.insert(id);
            self.add_member(id);
        }
    }

    /// Gives every pool its share of the slots that play its variant: a member for each. It has one in any case; and none
    /// more when most of its time is over, for the first answer counts, and who comes late knows little.
    pub(crate) fn recruit(&mut self) {
        for id in self.pools.iter().copied().collect::<Vec<_>>() {
            let share = self.portion(id).0;
            let members = |scheduler: &Self| {
                scheduler
                    .inquiries
                    .get(&id)
                    .map_or(share, |inquiry| inquiry.parts.len())
            };
            while members(self) < share && (members(self) == 0 || !self.is_late(id)) {
                self.add_member(id);
            }
            while members(self) > share
                && let Some(surplus) = self.surplus(id)
            {
                self.drop_part(id, surplus);
            }
        }
    }

    /// How many members a pool may have, and for how many of them there is a free slot; one in any case.
    fn portion(&self, id: QuestionId) -> (usize, u64) {
        let variant = self
            .inquiries
            .get(&id)
            .map(|inquiry| inquiry.question.position.variant());
        let (slots, free) = variant.map_or((0, 0), |variant| self.roster.slots_for(variant));
        let of =
            |slots: u64| (slots / self.pools.len().max(1) as u64).clamp(1, MOST_MEMBERS as u64);
        (usize::try_from(of(slots)).unwrap_or(MOST_MEMBERS), of(free))
    }

    /// Whether less than a fourth of a pool's time is left.
    fn is_late(&self, id: QuestionId) -> bool {
        let Some(inquiry) = self.inquiries.get(&id) else {
            return true;
        };
        let (Some(until), Some(time)) = (inquiry.until, inquiry.question.effort.time) else {
            return false;
        };
        until.saturating_sub(self.now) < time / 4
    }

    /// The member that would be missed least: one that nobody is, else the last.
    fn surplus(&self, id: QuestionId) -> Option<TaskId> {
        let parts = &self.inquiries.get(&id)?.parts;
        let is_waiting =
            |task: &&TaskId| self.parts.get(task).is_some_and(|part| !part.is_running());
        parts
            .iter()
            .rev()
            .find(is_waiting)
            .or(parts.last())
            .copied()
    }

    /// Of the positions that may be visited each gets its part of those who can begin at once: who gets a slot later
    /// only adds to them.
    fn add_member(&mut self, id: QuestionId) {
        let (of, at_once) = self.portion(id);
        let Some(inquiry) = self.inquiries.get_mut(&id) else {
            return;
        };
        let (number, priority) = (inquiry.members, inquiry.priority);
        inquiry.members = inquiry.members.saturating_add(1);
        let Effort { depth, nodes, time } = inquiry.question.effort;
        let left = |until: Duration| until.saturating_sub(self.now).max(Duration::from_millis(1));
        let time = inquiry.until.map(left).or(time);
        let effort = Effort {
            depth,
            nodes: nodes.map(|nodes| nodes.div_ceil(at_once)),
            time,
        };
        let ask = Question {
            effort,
            ..inquiry.question.clone()
        };
        let task: TaskId = self.add_part(id, ask, priority);
        let of = u16::try_from(of)
            .unwrap_or(u16::MAX)
            .max(number.saturating_add(1));
        self.parts
            .entry(task)
            .and_modify(|part| part.role = Role::Member { number, of });
    }

    /// Forgets one part, and tells the workers that have it.
    fn drop_part(&mut self, id: QuestionId, task: TaskId) {
        self.release(task, None);
        if let Some(part) = self.parts.remove(&task) {
            self.waiting.remove(&(part.priority, task));
        }
        self.inquiries
            .entry(id)
            .and_modify(|inquiry| inquiry.parts.retain(|part| *part != task));
    }

    /// One has answered: the others need not go on.
    pub(crate) fn agree(&mut self, id: QuestionId, worker: WorkerId, answer: Answer) {
        self.pools.remove(&id);
        let parts = self
            .inquiries
            .get(&id)
            .map(|inquiry| inquiry.parts.clone())
            .unwrap_or_default();
        let visited = |task: &TaskId| {
            let holders = self
                .parts
                .get(task)
                .map(|part| part.holders())
                .unwrap_or_default();
            let nodes = |holder| {
                self.roster
                    .get(holder)
                    .and_then(|w| w.hold(*task))
                    .map_or(0, |hold| hold.nodes)
            };
            holders.into_iter().map(nodes).fold(0, u64::saturating_add)
        };
        let nodes = parts
            .iter()
            .map(visited)
            .fold(answer.nodes(), u64::saturating_add);
        parts.into_iter().for_each(|task| self.drop_part(id, task));
        self.totals.finished += 1;
        self.effects.push_back(Effect::Finished {
            question: id,
            answer,
            nodes,
            by: [worker].into(),
        });
    }
}

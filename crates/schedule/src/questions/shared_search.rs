use alloc::vec::Vec;
use core::time::Duration;

use kagetsu_game::{Answer, Effort, Question};

use crate::effect::TaskRole;
use crate::{Effect, QuestionId, Scheduler, TaskId, WorkerId};

/// Number of workers beyond which one position gains nothing.
const MAX_MEMBERS: usize = 64;

/// Questions that every worker searches whole, exchanging table entries.
impl<P> Scheduler<P> {
    /// Opens a question to all workers with a free slot.
    pub(crate) fn start_shared_search(&mut self, id: QuestionId) {
        let now = self.now;
        if let Some(question_state) = self.questions.get_mut(&id) {
            question_state.until = question_state
                .question
                .effort
                .time
                .map(|time| now.saturating_add(time));
            self.shared_searches.insert(id);
            self.add_member(id);
        }
    }

    /// Gives every shared search its share of the slots that play its variant, one member a slot
    /// and at least one. Adds no member when most of the time is over: the first answer counts, and
    /// a late member knows little.
    pub(crate) fn balance_members(&mut self) {
        for id in self.shared_searches.iter().copied().collect::<Vec<_>>() {
            let share = self.member_share(id).0;
            let members = |scheduler: &Self| {
                scheduler
                    .questions
                    .get(&id)
                    .map_or(share, |question_state| question_state.tasks.len())
            };
            while members(self) < share && (members(self) == 0 || !self.is_late(id)) {
                self.add_member(id);
            }
            while members(self) > share
                && let Some(surplus) = self.surplus(id)
            {
                self.remove_task(id, surplus);
            }
        }
    }

    /// Returns how many members a shared search may have, and how many of them could start in a
    /// free slot; both are at least 1.
    fn member_share(&self, id: QuestionId) -> (usize, u64) {
        let variant = self
            .questions
            .get(&id)
            .map(|question_state| question_state.question.position.variant());
        let (slots, free) = variant.map_or((0, 0), |variant| self.roster.slots_for(variant));
        let of = |slots: u64| {
            (slots / self.shared_searches.len().max(1) as u64).clamp(1, MAX_MEMBERS as u64)
        };
        (usize::try_from(of(slots)).unwrap_or(MAX_MEMBERS), of(free))
    }

    /// Whether less than a quarter of the question's time is left.
    fn is_late(&self, id: QuestionId) -> bool {
        let Some(question_state) = self.questions.get(&id) else {
            return true;
        };
        let (Some(until), Some(time)) = (question_state.until, question_state.question.effort.time)
        else {
            return false;
        };
        until.saturating_sub(self.now) < time / 4
    }

    /// Returns the most dispensable member: one that is not running, else the last.
    fn surplus(&self, id: QuestionId) -> Option<TaskId> {
        let parts = &self.questions.get(&id)?.tasks;
        let is_waiting = |task: &&TaskId| {
            self.tasks
                .get(task)
                .is_some_and(|state| !state.is_running())
        };
        parts
            .iter()
            .rev()
            .find(is_waiting)
            .or(parts.last())
            .copied()
    }

    /// Adds a member. A node limit is divided among the members that can start at once; later
    /// members come on top.
    fn add_member(&mut self, id: QuestionId) {
        let (of, at_once) = self.member_share(id);
        let Some(question_state) = self.questions.get_mut(&id) else {
            return;
        };
        let (number, priority) = (question_state.members, question_state.priority);
        question_state.members = question_state.members.saturating_add(1);
        let Effort { depth, nodes, time } = question_state.question.effort;
        let left = |until: Duration| until.saturating_sub(self.now).max(Duration::from_millis(1));
        let time = question_state.until.map(left).or(time);
        let effort = Effort {
            depth,
            nodes: nodes.map(|nodes| nodes.div_ceil(at_once)),
            time,
        };
        let ask = Question {
            effort,
            ..question_state.question.clone()
        };
        let task: TaskId = self.add_task(id, ask, priority);
        let of = u16::try_from(of)
            .unwrap_or(u16::MAX)
            .max(number.saturating_add(1));
        self.tasks
            .entry(task)
            .and_modify(|state| state.role = TaskRole::Member { number, of });
    }

    /// Removes a task and revokes its leases.
    fn remove_task(&mut self, id: QuestionId, task: TaskId) {
        self.end_task(task);
        self.questions
            .entry(id)
            .and_modify(|question_state| question_state.tasks.retain(|state| *state != task));
    }

    /// Ends a shared search with its first answer, and revokes the other members.
    pub(crate) fn finish_shared_search(
        &mut self,
        id: QuestionId,
        worker: WorkerId,
        answer: Answer,
    ) {
        self.shared_searches.remove(&id);
        let parts = self
            .questions
            .get(&id)
            .map(|question_state| question_state.tasks.clone())
            .unwrap_or_default();
        let visited = |task: &TaskId| {
            let holders = self
                .tasks
                .get(task)
                .map(|state| state.holders())
                .unwrap_or_default();
            let nodes = |holder| {
                self.roster
                    .get(holder)
                    .and_then(|w| w.lease(*task))
                    .map_or(0, |lease| lease.nodes)
            };
            holders.into_iter().map(nodes).fold(0, u64::saturating_add)
        };
        let nodes = parts
            .iter()
            .map(visited)
            .fold(answer.nodes(), u64::saturating_add);
        parts
            .into_iter()
            .for_each(|task| self.remove_task(id, task));
        self.totals.finished += 1;
        self.effects.push_back(Effect::Finished {
            question: id,
            answer,
            nodes,
            by: [worker].into(),
        });
    }
}

use alloc::vec::Vec;
use core::time::Duration;

use kagetsu_game::Answer;

use crate::tree::{Order, Terms, Tree};
use crate::workers::Room;
use crate::{Effect, QuestionId, Scheduler, TaskId};

/// Round trips that a task should take at least.
const ROUND_TRIPS: u64 = 20;
/// A question whose time is over before anything is known is looked at again after so long.
const SOON: Duration = Duration::from_millis(20);
/// Positions a second of a slot of which nothing is known.
const SPEED: u64 = 500_000;

/// Questions that workers search as one tree.
impl Scheduler {
    /// A message to a worker and its answer took so long, the search between them not counted.
    pub fn observe(&mut self, round_trip: Duration) {
        // Of late, but no single delay counts for much.
        self.round_trip = (7 * self.round_trip + round_trip.min(8 * self.round_trip)) / 8;
    }

    /// The replies worth a search in a position, best first, as [`Effect::Expand`] asked. Harmless for a question that is
    /// not known any more.
    pub fn expand(&mut self, now: Duration, question: QuestionId, node: usize, replies: &Answer) {
        self.now = self.now.max(now);
        if let Some(tree) = self.tree(question) {
            tree.expand(node, replies);
        }
        self.hand_out();
    }

    fn tree(&mut self, id: QuestionId) -> Option<&mut Tree> {
        self.inquiries.get_mut(&id)?.tree.as_mut()
    }

    /// A question is to be searched together.
    pub(crate) fn unite(&mut self, id: QuestionId) {
        let now = self.now;
        if let Some(inquiry) = self.inquiries.get_mut(&id) {
            inquiry.until = inquiry
                .question
                .effort
                .time
                .map(|time| now.saturating_add(time));
            self.joint.insert(id);
        }
    }

    /// A branch is searched.
    pub(crate) fn grow(&mut self, id: QuestionId, task: TaskId, answer: Answer) {
        self.drop_part(id, task);
        let visited = answer.nodes();
        let Some(tree) = self.tree(id) else { return };
        let is_news = tree.report(task, answer, visited);
        if tree.is_over() {
            self.conclude(id);
        } else if is_news {
            let answer = tree.so_far();
            self.effects.push_back(Effect::Progress {
                question: id,
                answer,
            });
        }
    }

    /// Forgets one part, and tells who has it.
    pub(crate) fn drop_part(&mut self, id: QuestionId, task: TaskId) {
        self.release(task, None);
        if let Some(part) = self.parts.remove(&task) {
            self.waiting.remove(&(part.priority, task));
        }
        self.inquiries
            .entry(id)
            .and_modify(|inquiry| inquiry.parts.retain(|part| *part != task));
    }

    /// The answer is there.
    fn conclude(&mut self, id: QuestionId) {
        self.joint.remove(&id);
        let parts = self
            .inquiries
            .get(&id)
            .map(|inquiry| inquiry.parts.clone())
            .unwrap_or_default();
        parts.into_iter().for_each(|task| self.drop_part(id, task));
        let Some(tree) = self.tree(id) else { return };
        let (nodes, answer) = (tree.nodes_visited, tree.take_answer());
        self.totals.finished += 1;
        self.effects.push_back(Effect::Finished {
            question: id,
            answer,
            nodes,
            by: Vec::new(),
        });
    }

    /// Asks what is to be asked, and takes back what is no longer wanted.
    pub(crate) fn confer(&mut self) {
        for id in self.joint.iter().copied().collect::<Vec<_>>() {
            let free = usize::try_from(self.roster.free_slots).unwrap_or(usize::MAX);
            let room = usize::try_from(self.roster.room).unwrap_or(usize::MAX);
            let waiting = self.waiting.len();
            let terms = Terms {
                slots: self.roster.slots,
                least: self.least_nodes(),
                free: free.saturating_sub(waiting),
                queue: room.saturating_sub(waiting.max(free)),
            };
            let orders = self
                .tree(id)
                .map(|tree| tree.plan(terms))
                .unwrap_or_default();
            orders.into_iter().for_each(|order| self.obey(id, order));
        }
    }

    fn obey(&mut self, id: QuestionId, order: Order) {
        match order {
            Order::Ask { ask, level } => {
                let Some(inquiry) = self.inquiries.get(&id) else {
                    return;
                };
                let Some(tree) = &inquiry.tree else { return };
                let left = inquiry
                    .question
                    .effort
                    .nodes
                    .map(|most| most.saturating_sub(tree.nodes_visited).max(1));
                let (home, priority) = (tree.home(ask.node), inquiry.priority);
                let Some((question, role)) = tree.words(&ask, left) else {
                    return;
                };
                let task = self.add_part(id, question, priority);
                self.parts
                    .entry(task)
                    .and_modify(|part| (part.role, part.home) = (role, home));
                if let Some(tree) = self.tree(id) {
                    tree.made(task, ask, level);
                }
            }
            Order::Revoke(task) => self.drop_part(id, task),
            Order::Narrow(task, window) => {
                let Some(part) = self.parts.get_mut(&task) else {
                    return;
                };
                part.ask.window = window;
                let narrow = |worker| Effect::Narrow {
                    worker,
                    task,
                    window,
                };
                self.effects.extend(part.holders().into_iter().map(narrow));
            }
            Order::Expand(node) => match self.tree(id).and_then(|tree| tree.position(node)) {
                Some(position) => self.effects.push_back(Effect::Expand {
                    question: id,
                    node,
                    position,
                }),
                None => self
                    .tree(id)
                    .into_iter()
                    .for_each(|tree| tree.expand(node, &Answer::new())),
            },
        }
    }

    /// Positions that a slot visits in twenty round trips.
    fn least_nodes(&self) -> u64 {
        let (speed, slots) = self.roster.speed();
        let speed = speed
            .checked_div(slots)
            .map_or(SPEED, |speed| speed.max(1_000));
        let micros = u64::try_from(self.round_trip.as_micros())
            .unwrap_or(u64::MAX)
            .max(1);
        speed.saturating_mul(micros).saturating_mul(ROUND_TRIPS) / 1_000_000
    }

    /// Branches to those whose tables know them, if they have a slot free.
    pub(crate) fn send_home(&mut self) {
        let tasks = self
            .joint
            .iter()
            .filter_map(|id| self.inquiries.get(id))
            .flat_map(|inquiry| inquiry.parts.clone());
        for task in tasks.collect::<Vec<_>>() {
            let Some(part) = self.parts.get(&task) else {
                continue;
            };
            let Some(home) = part
                .home
                .filter(|_| self.waiting.contains(&(part.priority, task)))
            else {
                continue;
            };
            if self.roster.has_room(home, Room::Slot) && !self.avoids(task, home) {
                self.assign(home, task);
            }
        }
    }

    /// Ends the questions whose time is over.
    pub(crate) fn end_late(&mut self) {
        let now = self.now;
        let is_late = |id: &QuestionId| {
            self.inquiries
                .get(id)
                .and_then(|i| i.until)
                .is_some_and(|until| until <= now)
        };
        for id in self
            .joint
            .iter()
            .copied()
            .filter(is_late)
            .collect::<Vec<_>>()
        {
            if self.tree(id).is_some_and(Tree::stop) {
                self.conclude(id);
            } else if let Some(inquiry) = self.inquiries.get_mut(&id) {
                // Something must be said; the first words come soon.
                inquiry.until = Some(now.saturating_add(SOON));
            }
        }
    }

    /// When the first question must end.
    pub(crate) fn next_end(&self) -> Option<Duration> {
        let until = |id: &QuestionId| self.inquiries.get(id).and_then(|inquiry| inquiry.until);
        self.joint.iter().filter_map(until).min()
    }
}

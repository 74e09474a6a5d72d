//! The small tree that many workers search together: the top plies of one position, what is known of every move in it at
//! every depth, and from that what is to be asked next.
//!
//! Young brothers wait (Feldmann, "Game tree search on massively parallel systems", 1993): the eldest move first, with the
//! whole window; its brothers as scouts, with a null window at its value (Marsland and Campbell, 1982); who beats it is asked
//! again for his value. A move that costs more than its share is itself divided, by the replies to it.
//!
//! Nothing here depends on who says what in which order: reports become bounds on the value of a move at a depth, bounds only
//! tighten, and both the next questions and the answer follow from the bounds.

mod answer;
mod bounds;
#[cfg(test)]
mod laws;
mod plan;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use kagetsu_game::{Answer, Effort, Move, Position, Provenance, Question, Score, Verdict, Window};

pub(crate) use plan::{Order, Terms};

use crate::effect::Role;
use crate::{TaskId, WorkerId};
use bounds::Facts;

/// A node, in the order in which they were made. The root is 0, and is no move.
pub(crate) type NodeId = usize;

const ROOT: NodeId = 0;
/// Moves made in the deepest node: the root's moves, the replies to them, and the answers to these.
const DEEPEST: u8 = 3;
/// Plies of the first question, which one worker answers alone.
const FIRST: u8 = 4;

/// What a worker is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ask {
    pub(crate) node: NodeId,
    pub(crate) what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// The value, in the iteration of so many plies from the root. At the root: of all moves.
    Value { iteration: u8, window: Window },
    /// Whether the side to move wins by threats alone, after the move.
    Threats,
}

/// A move made, and what is known of the position behind it.
#[derive(Debug)]
struct Node {
    parent: NodeId,
    m: Move,
    /// Moves from the root.
    ply: u8,
    replies: Replies,
    /// By iteration.
    facts: BTreeMap<u8, Facts>,
    /// What holds at every depth.
    proven: Option<Verdict>,
    /// Whose table knows it.
    home: Option<WorkerId>,
    /// Positions visited for it and what is below it, by iteration.
    spent: BTreeMap<u8, u64>,
    /// Whether a search for threats was asked for.
    is_threatened: bool,
}

/// The moves that answer a move.
#[derive(Debug)]
enum Replies {
    Unknown,
    /// They are being found out.
    Wanted,
    /// The most promising first. None: it is not to be divided.
    Known(Vec<NodeId>),
}

#[derive(Debug)]
pub(crate) struct Tree {
    question: Question,
    nodes: Vec<Node>,
    /// Plies from the root of the iteration at work.
    iteration: u8,
    at_work: BTreeMap<TaskId, (Ask, u8)>,
    /// Of the last iteration that is complete.
    answer: Answer,
    /// The value of the last of the best moves, by iteration.
    values: BTreeMap<u8, Score>,
    /// Who spoke last.
    by: Option<Provenance>,
    /// All moves that were chosen lose: one worker must look at the others.
    is_desperate: bool,
    /// Positions visited.
    pub(crate) nodes_visited: u64,
    is_over: bool,
}

impl Tree {
    pub(crate) fn new(question: Question) -> Self {
        let deepest = question
            .effort
            .depth
            .unwrap_or(Effort::MAX_DEPTH)
            .clamp(1, Effort::MAX_DEPTH);
        let mut tree = Self {
            question,
            nodes: Vec::new(),
            iteration: FIRST.min(deepest),
            at_work: BTreeMap::new(),
            answer: Answer::new(),
            values: BTreeMap::new(),
            by: None,
            is_desperate: false,
            nodes_visited: 0,
            is_over: false,
        };
        tree.add(ROOT, Move::NONE, 0);
        tree
    }

    fn deepest(&self) -> u8 {
        self.question
            .effort
            .depth
            .unwrap_or(Effort::MAX_DEPTH)
            .clamp(1, Effort::MAX_DEPTH)
    }

    fn add(&mut self, parent: NodeId, m: Move, ply: u8) -> NodeId {
        self.nodes.push(Node {
            parent,
            m,
            ply,
            replies: Replies::Unknown,
            facts: BTreeMap::new(),
            proven: None,
            home: None,
            spent: BTreeMap::new(),
            is_threatened: false,
        });
        self.nodes.len() - 1
    }

    /// The position behind a node's move.
    pub(crate) fn position(&self, node: NodeId) -> Option<Position> {
        if node == ROOT {
            return Some(self.question.position.clone());
        }
        let Node { parent, m, .. } = self.nodes.get(node)?;
        self.position(*parent)?.play(*m).ok()
    }

    /// The best-known replies to a node's move; none where it is not to be divided.
    pub(crate) fn expand(&mut self, node: NodeId, replies: &Answer) {
        if self
            .nodes
            .get(node)
            .is_none_or(|node| !matches!(node.replies, Replies::Wanted))
        {
            return;
        }
        let ply = self.nodes[node].ply + 1;
        let children = replies
            .verdicts()
            .iter()
            .map(|(m, _)| self.add(node, *m, ply))
            .collect();
        self.nodes[node].replies = Replies::Known(children);
    }

    /// The children of a node, as far as they are known.
    fn replies(&self, node: NodeId) -> &[NodeId] {
        match &self.nodes[node].replies {
            Replies::Known(children) => children,
            Replies::Unknown | Replies::Wanted => &[],
        }
    }

    /// The question for a worker, and in which part it answers it; `None` for a node that cannot be.
    pub(crate) fn words(&self, ask: &Ask, budget: Option<u64>) -> Option<(Question, Role)> {
        let node = self.nodes.get(ask.node)?;
        let effort = Effort {
            nodes: budget,
            depth: None,
            time: None,
        };
        let rank = self
            .replies(node.parent)
            .iter()
            .position(|&id| id == ask.node)
            .unwrap_or(0);
        let rank = u16::try_from(rank).unwrap_or(u16::MAX);
        match ask.what {
            What::Value { iteration, window } if ask.node == ROOT => {
                let effort = Effort {
                    depth: Some(iteration),
                    ..effort
                };
                Some((
                    Question {
                        window,
                        effort,
                        ..self.question.clone()
                    },
                    Role::Branch { rank: None },
                ))
            }
            What::Value { iteration, window } => {
                let position = self.position(node.parent)?;
                let effort = Effort {
                    depth: Some(iteration + 1 - node.ply),
                    ..effort
                };
                let question = Question {
                    position,
                    moves: [node.m].into(),
                    window,
                    effort,
                    width: 1,
                };
                Some((question, Role::Branch { rank: Some(rank) }))
            }
            What::Threats => {
                let position = self.position(ask.node)?;
                let effort = Effort {
                    depth: None,
                    nodes: Some(self.most_threats()),
                    ..effort
                };
                Some((Question::new(position, effort), Role::Threats))
            }
        }
    }

    /// The worker whose table knows most of a node.
    pub(crate) fn home(&self, mut node: NodeId) -> Option<WorkerId> {
        while node != ROOT {
            if let Some(home) = self.nodes[node].home {
                return Some(home);
            }
            node = self.nodes[node].parent;
        }
        self.nodes[ROOT].home
    }

    /// A worker begins to search a node.
    pub(crate) fn begin(&mut self, task: TaskId, worker: WorkerId) {
        if let Some((Ask { node, .. }, _)) = self.at_work.get(&task) {
            self.nodes[*node].home = Some(worker);
        }
    }

    /// A task was made of a question.
    pub(crate) fn made(&mut self, task: TaskId, ask: Ask, level: u8) {
        self.at_work.insert(task, (ask, level));
        if let What::Threats = ask.what {
            self.nodes[ask.node].is_threatened = true;
        }
    }

    /// A worker has answered; whether there is more to show.
    pub(crate) fn report(&mut self, task: TaskId, answer: Answer, visited: u64) -> bool {
        let Some((Ask { node, what }, _)) = self.at_work.remove(&task) else {
            return false;
        };
        let visited = visited.max(answer.nodes());
        self.nodes_visited = self.nodes_visited.saturating_add(visited);
        if self.is_spent() {
            // It may have been stopped on the way: what it says is not of the depth that was asked for.
            if self.answer.is_empty() && node == ROOT {
                self.answer = answer;
            }
            self.stop();
            return true;
        }
        match what {
            What::Threats => self.learn_threat(node, &answer),
            What::Value { iteration, .. } => {
                self.spend(node, iteration, visited);
                if node == ROOT {
                    self.learn_all(iteration, answer);
                } else if let Some(verdict) = answer.get(self.nodes[node].m) {
                    self.learn(node, iteration, verdict.clone());
                }
            }
        }
        let before = self.iteration;
        self.advance();
        self.iteration != before || self.is_over
    }

    fn is_spent(&self) -> bool {
        self.question
            .effort
            .nodes
            .is_some_and(|most| self.nodes_visited >= most)
    }

    /// Ends it with what is known; whether anything is.
    pub(crate) fn stop(&mut self) -> bool {
        self.answer = self.so_far();
        self.is_over = !self.answer.is_empty();
        self.is_over
    }

    fn spend(&mut self, mut node: NodeId, iteration: u8, visited: u64) {
        loop {
            let spent = self.nodes[node].spent.entry(iteration).or_default();
            *spent = spent.saturating_add(visited);
            if node == ROOT {
                return;
            }
            node = self.nodes[node].parent;
        }
    }

    /// Whether the answer is there.
    pub(crate) const fn is_over(&self) -> bool {
        self.is_over
    }
}

//! What is to be asked next.

use alloc::vec::Vec;

use kagetsu_game::{Score, Variant, Window};

use super::{Ask, DEEPEST, NodeId, ROOT, Replies, Tree, What};
use crate::TaskId;

/// Positions that a search for threats may visit: so many times the square of the depth, as many as one engine alone gives
/// to its search for threats, and at most as many as for a depth of a hundred.
const THREATS: u64 = 50;
/// First replies that are searched for threats.
const THREATENED: usize = 4;

// How far a question is from what is certainly needed. Of two questions the one of the lower level is asked first.
const NEEDED: u8 = 0;
const HELP: u8 = 4;
const GUESS: u8 = 5;
const THREAT: u8 = 7;
const AHEAD: u8 = 9;

/// What the cluster is like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// Tasks that are searched at the same time.
    pub(crate) slots: u64,
    /// Positions that a task should take at least.
    pub(crate) least: u64,
    /// Slots without a task.
    pub(crate) free: usize,
    /// Tasks that could wait for a slot, beyond those.
    pub(crate) queue: usize,
}

/// What the scheduler has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Ask {
        ask: Ask,
        level: u8,
    },
    Revoke(TaskId),
    Narrow(TaskId, Window),
    /// Find out the replies to a node's move.
    Expand(NodeId),
}

/// What kind of value a node is expected to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Within the window.
    Inside,
    /// At most alpha: one of the replies refutes it.
    Low,
    /// At least beta: none of the replies does.
    High,
}

#[derive(Clone, Copy, Debug)]
struct Wanted {
    ask: Ask,
    level: u8,
}

/// A plan in the making.
struct Draft<'a> {
    tree: &'a Tree,
    terms: Terms,
    /// Positions that a task should take at most, where there is a choice.
    grain: u64,
    wanted: Vec<Wanted>,
    unknown: Vec<NodeId>,
}

impl Tree {
    /// What is to be done now. What is returned is taken to be done, but for the names of the tasks.
    pub(crate) fn plan(&mut self, terms: Terms) -> Vec<Order> {
        if self.is_over {
            return Vec::new();
        }
        let grain = terms
            .least
            .max(self.estimate(ROOT, self.iteration) / (4 * terms.slots.max(1)));
        let mut draft = Draft {
            tree: self,
            terms,
            grain,
            wanted: Vec::new(),
            unknown: Vec::new(),
        };
        draft.root();
        let Draft {
            mut wanted,
            unknown,
            ..
        } = draft;
        let is_value = |wanted: &Wanted| matches!(wanted.ask.what, What::Value { .. });
        let is_waiting = self
            .nodes
            .iter()
            .any(|node| matches!(node.replies, Replies::Wanted));
        if unknown.is_empty() && !is_waiting && !wanted.iter().any(is_value) {
            // Workers that contradict each other leave nothing to ask: one of them shall say all.
            let (iteration, window) = (self.iteration, self.question.window);
            let ask = Ask {
                node: ROOT,
                what: What::Value { iteration, window },
            };
            wanted.push(Wanted { ask, level: NEEDED });
        }
        wanted.sort_by_key(|wanted| wanted.level); // stable: the order of the plan among equals
        let mut orders: Vec<Order> = Vec::new();
        for node in unknown {
            self.nodes[node].replies = Replies::Wanted;
            orders.push(Order::Expand(node));
        }
        self.withdraw(&wanted, &mut orders);
        self.ask(&wanted, terms, &mut orders);
        orders
    }

    /// Ends what is no longer wanted, and narrows what is.
    fn withdraw(&mut self, wanted: &[Wanted], orders: &mut Vec<Order>) {
        let mut ended = Vec::new();
        for (&task, (ask, level)) in &mut self.at_work {
            let Some(want) = wanted.iter().find(|wanted| is_same(&wanted.ask, ask)) else {
                ended.push(task);
                continue;
            };
            *level = want.level;
            if let (What::Value { window, .. }, What::Value { window: to, .. }) =
                (&mut ask.what, want.ask.what)
                && is_narrower(to, *window)
            {
                *window = to;
                orders.push(Order::Narrow(task, to));
            }
        }
        for task in ended {
            self.at_work.remove(&task);
            orders.push(Order::Revoke(task));
        }
    }

    /// Asks what nobody works on, as much as there is room for; what is needed takes the place of what is not.
    fn ask(&mut self, wanted: &[Wanted], terms: Terms, orders: &mut Vec<Order>) {
        let freed = orders
            .iter()
            .filter(|order| matches!(order, Order::Revoke(_)))
            .count();
        let (mut free, mut queue) = (terms.free + freed, terms.queue);
        for &Wanted { ask, level } in wanted {
            if self
                .at_work
                .values()
                .any(|(at_work, _)| is_same(at_work, &ask))
            {
                continue;
            }
            if free > 0 {
                free -= 1;
            } else if level > NEEDED {
                continue;
            } else if let Some(task) = self.least_needed() {
                self.at_work.remove(&task);
                orders.push(Order::Revoke(task));
            } else if queue > 0 {
                queue -= 1;
            } else {
                break;
            }
            orders.push(Order::Ask { ask, level });
        }
    }

    /// The task that would be missed least, if it is not needed for certain.
    fn least_needed(&self) -> Option<TaskId> {
        let least = self
            .at_work
            .iter()
            .max_by_key(|(task, (_, level))| (*level, **task));
        least
            .filter(|(_, (_, level))| *level >= HELP)
            .map(|(task, _)| *task)
    }

    /// Positions that a node will take in an iteration: what it took before, and as much more as the whole tree grows.
    pub(super) fn estimate(&self, node: NodeId, iteration: u8) -> u64 {
        let here = &self.nodes[node];
        if let Some((&before, &spent)) = here.spent.range(..iteration).next_back() {
            let (above, below) = self.growth();
            let plies = u32::from(iteration - before).min(3);
            return spent.saturating_mul(above.saturating_pow(plies))
                / below.saturating_pow(plies).max(1);
        }
        if node == ROOT {
            return 0;
        }
        let brothers = self.replies(here.parent);
        let parent = self.estimate(here.parent, iteration);
        if brothers.first() == Some(&node) {
            parent / 2
        } else {
            parent / brothers.len().max(1) as u64
        }
    }

    /// Positions that a search for threats may visit.
    pub(super) fn most_threats(&self) -> u64 {
        let depth = self.question.effort.depth.unwrap_or(self.iteration + 8);
        THREATS * u64::from(depth) * u64::from(depth)
    }

    /// By how much the last iteration took more than the one before, as a fraction.
    fn growth(&self) -> (u64, u64) {
        let mut last = self.nodes[ROOT]
            .spent
            .range(..self.iteration)
            .rev()
            .map(|(_, &spent)| spent);
        match (last.next(), last.next()) {
            (Some(last), Some(before)) if before > 0 => (
                last.clamp(before.saturating_add(before / 2), before.saturating_mul(6)),
                before,
            ),
            _ => (2, 1),
        }
    }
}

fn is_same(a: &Ask, b: &Ask) -> bool {
    a.node == b.node
        && match (a.what, b.what) {
            (What::Threats, What::Threats) => true,
            (
                What::Value { iteration, .. },
                What::Value {
                    iteration: other, ..
                },
            ) => iteration == other,
            _ => false,
        }
}

fn is_narrower(a: Window, b: Window) -> bool {
    a != b && b.alpha <= a.alpha && a.beta <= b.beta
}

fn above(score: Score) -> Score {
    Score::from_raw(score.raw().saturating_add(1)).unwrap_or(Score::MAX)
}

fn below(score: Score) -> Score {
    Score::from_raw(score.raw().saturating_sub(1)).unwrap_or(Score::MIN)
}

/// Whether nothing more is wanted of a value.
fn is_settled((lower, upper): (Score, Score), Window { alpha, beta }: Window) -> bool {
    lower >= upper || lower >= beta || upper <= alpha
}

impl Draft<'_> {
    fn root(&mut self) {
        let tree = self.tree;
        let iteration = tree.iteration;
        let children = tree.replies(ROOT);
        let whole = tree.estimate(ROOT, iteration);
        if children.is_empty()
            || tree.is_desperate
            || whole < 4 * self.terms.least && !tree.is_divided(ROOT, iteration)
        {
            let window = tree.question.window;
            let ask = Ask {
                node: ROOT,
                what: What::Value { iteration, window },
            };
            self.wanted.push(Wanted { ask, level: NEEDED });
        } else {
            self.moves(iteration, NEEDED);
            if iteration < tree.deepest()
                && is_settled(tree.bounds(children[0], iteration), tree.window())
            {
                self.moves(iteration + 1, AHEAD);
            }
        }
        if matches!(tree.question.position.variant(), Variant::Gomoku { .. })
            && !children.is_empty()
        {
            for &node in [ROOT]
                .iter()
                .chain(&children[..children.len().min(THREATENED)])
            {
                let is_at_work = tree.at_work.values().any(|(ask, _)| {
                    *ask == Ask {
                        node,
                        what: What::Threats,
                    }
                });
                if is_at_work
                    || !tree.nodes[node].is_threatened && tree.nodes[node].proven.is_none()
                {
                    self.wanted.push(Wanted {
                        ask: Ask {
                            node,
                            what: What::Threats,
                        },
                        level: THREAT,
                    });
                }
            }
        }
    }

    /// The root's moves in an iteration: those of the last that had an exact value first, then the others with the least
    /// of these as their bound.
    fn moves(&mut self, iteration: u8, level: u8) {
        let tree = self.tree;
        let window = tree.window();
        let children = tree.replies(ROOT);
        let ranking = tree.ranking(iteration);
        let firsts = tree.width().min(children.len());
        let open: Vec<NodeId> = children[..firsts]
            .iter()
            .copied()
            .filter(|&c| !is_settled(tree.bounds(c, iteration), window))
            .collect();
        if !open.is_empty() {
            open.into_iter()
                .for_each(|c| self.want(c, iteration, window, Kind::Inside, level));
            // Until their value is known, who has nothing else to do asks whether the others are better than it was last.
            if let Some(guess) = tree.guess(iteration) {
                let window = Window {
                    alpha: guess,
                    beta: above(guess),
                };
                let rest = &children[firsts..];
                rest.iter().for_each(|&c| {
                    self.want(c, iteration, window, Kind::Low, level.saturating_add(GUESS))
                });
            }
            return;
        }
        let last = ranking.get(tree.width() - 1).copied();
        for (at, &child) in children.iter().enumerate() {
            let bounds = tree.bounds(child, iteration);
            let Some((value, place)) = last else {
                self.want(child, iteration, window, Kind::Inside, level);
                continue;
            };
            // Of equal moves the earlier counts.
            let alpha = if at > place { value } else { below(value) }
                .max(window.alpha)
                .min(below(window.beta));
            if bounds.0 > alpha {
                self.want(
                    child,
                    iteration,
                    Window { alpha, ..window },
                    Kind::Inside,
                    level,
                );
            } else {
                self.want(
                    child,
                    iteration,
                    Window {
                        alpha,
                        beta: above(alpha),
                    },
                    Kind::Low,
                    level,
                );
            }
        }
    }

    /// A value within a window.
    fn want(&mut self, node: NodeId, iteration: u8, window: Window, kind: Kind, level: u8) {
        let tree = self.tree;
        let bounds = tree.bounds(node, iteration);
        if is_settled(bounds, window) {
            return;
        }
        let (lower, upper) = bounds;
        // A value that is known to be at least as much is to be told from one that is less, to have its line.
        let narrowed = Window {
            alpha: if lower > window.alpha {
                below(lower)
            } else {
                window.alpha
            },
            beta: if upper < window.beta {
                above(upper)
            } else {
                window.beta
            },
        };
        let ask = Ask {
            node,
            what: What::Value {
                iteration,
                window: narrowed,
            },
        };
        if tree
            .at_work
            .values()
            .any(|(at_work, _)| is_same(at_work, &ask))
        {
            self.wanted.push(Wanted { ask, level });
            // Who has nothing else to do helps with what takes long.
            if self.is_worth_dividing(node, iteration, kind) {
                self.answers(node, iteration, window, kind, level.saturating_add(HELP));
            }
        } else if tree.is_divided(node, iteration) || self.is_worth_dividing(node, iteration, kind)
        {
            self.answers(node, iteration, window, kind, level);
        } else {
            self.wanted.push(Wanted { ask, level });
        }
    }

    /// Whether a node costs more than one task should, and can be divided.
    fn is_worth_dividing(&self, node: NodeId, iteration: u8, kind: Kind) -> bool {
        let tree = self.tree;
        if tree.nodes[node].ply >= DEEPEST
            || iteration < tree.nodes[node].ply + 3
            || self.terms.slots < 2
        {
            return false;
        }
        let is_possible = match &tree.nodes[node].replies {
            Replies::Known(replies) => {
                let may_hold =
                    |&reply: &NodeId| tree.bounds(reply, iteration).1.loss_plies().is_none();
                replies.iter().any(may_hold)
            }
            Replies::Unknown | Replies::Wanted => true,
        };
        // What others wait for is divided further.
        let most = (4 * self.terms.least).max(if kind == Kind::Inside {
            self.grain
        } else {
            2 * self.grain
        });
        is_possible && tree.estimate(node, iteration) > most
    }

    /// The replies to a move whose value is wanted.
    fn answers(&mut self, node: NodeId, iteration: u8, window: Window, kind: Kind, level: u8) {
        let tree = self.tree;
        let replies = match &tree.nodes[node].replies {
            Replies::Known(replies) => replies,
            Replies::Wanted => return,
            Replies::Unknown => return self.unknown.push(node),
        };
        let window = Window {
            alpha: window.beta.after(),
            beta: window.alpha.after(),
        };
        let lower = |&reply: &NodeId| tree.bounds(reply, iteration).0;
        let best = replies
            .iter()
            .map(lower)
            .max()
            .unwrap_or(Score::MIN)
            .max(window.alpha);
        match kind {
            Kind::Inside => {
                if let Some(&first) = replies.first()
                    && !is_settled(tree.bounds(first, iteration), window)
                {
                    return self.want(first, iteration, window, Kind::Inside, level);
                }
                for reply in replies {
                    let is_best = lower(reply) == best && best > window.alpha;
                    if is_best {
                        self.want(
                            *reply,
                            iteration,
                            Window {
                                alpha: below(best),
                                ..window
                            },
                            Kind::Inside,
                            level,
                        );
                    } else {
                        self.want(
                            *reply,
                            iteration,
                            Window {
                                alpha: best,
                                beta: above(best),
                            },
                            Kind::Low,
                            level,
                        );
                    }
                }
            }
            Kind::Low => {
                let mut open = 0;
                for &reply in replies {
                    self.want(
                        reply,
                        iteration,
                        window,
                        Kind::High,
                        level.saturating_add(open),
                    );
                    open = (open + u8::from(!is_settled(tree.bounds(reply, iteration), window)))
                        .min(HELP - 1);
                }
            }
            Kind::High => replies
                .iter()
                .for_each(|&reply| self.want(reply, iteration, window, Kind::Low, level)),
        }
    }
}

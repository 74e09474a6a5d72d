use std::cmp::Reverse;

use kagetsu_certificate::{Node, Reference, Zone};
use kagetsu_game::{Move, Position};

use super::NodePool;

/// The different answers to the replies at one position, the most used first.
#[derive(Default)]
pub(crate) struct ReplyAnswers(Vec<SharedAnswer>);

/// An answer to some replies at a position.
struct SharedAnswer {
    node: Reference,
    replies: Vec<Move>,
    /// The points that matter to it after a pass.
    zone: Option<Zone>,
    /// The guide's answer to the first of its replies.
    guide: Option<Reference>,
}

/// Where the answer to a reply comes from, in the order of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AnswerSource {
    Book,
    Search,
    /// The book counts the reply as lost because the answer to another one wins.
    OtherReply,
}

/// A reply at a position.
pub(crate) struct LoserReply {
    pub(crate) source: AnswerSource,
    pub(crate) at: Move,
    /// The position that it leads to.
    pub(crate) next: Position,
    /// The answer of the guide.
    pub(crate) guide: Option<Reference>,
}

impl ReplyAnswers {
    /// Notes an answer that answers no reply yet, unless it is known.
    pub(crate) fn know(
        &mut self,
        node: Reference,
        guide: Option<Reference>,
        zone: impl FnOnce() -> Option<Zone>,
    ) {
        if self.0.iter().all(|known| known.node != node) {
            self.0.push(SharedAnswer {
                node,
                replies: Vec::new(),
                zone: zone(),
                guide,
            });
        }
    }

    /// Notes the answer to a reply.
    pub(crate) fn add(&mut self, reply: Move, node: Reference) {
        self.know(node, None, || None);
        if let Some(known) = self.0.iter_mut().find(|known| known.node == node) {
            known.replies.push(reply);
        }
        self.sort();
    }

    fn sort(&mut self) {
        self.0.sort_by_key(|known| Reverse(known.replies.len()));
    }

    /// Returns an answer to other replies that answers this one too: first the one to replies for
    /// which the guide has the same answer, then the most used. `tries` bounds the answers, and
    /// `most` the positions that each costs.
    pub(crate) fn find(
        &self,
        pool: &mut NodePool,
        reply: &LoserReply,
        tries: usize,
        most: u64,
    ) -> Option<Reference> {
        let is_outside =
            |known: &&SharedAnswer| known.zone.is_some_and(|zone| !zone.contains(reply.at));
        if let Some(known) = self.0.iter().find(is_outside) {
            return Some(known.node);
        }
        let is_other = |known: &&SharedAnswer| known.guide.is_none() || known.guide != reply.guide;
        let mut known: Vec<&SharedAnswer> = self.0.iter().collect();
        known.sort_by_key(is_other);
        let has_zones = pool.has_zones(reply.next.side());
        known.retain(|known| has_zones || pool.plans.contains(&known.node.node));
        let mut tried = known.iter().take(tries).map(|known| known.node);
        tried.find(|node| pool.wins(&reply.next, *node, most))
    }

    /// Drops answers to at most `few` replies that other answers meet too.
    pub(crate) fn join(&mut self, pool: &mut NodePool, position: &Position, few: usize, most: u64) {
        let answers = &mut self.0;
        for at in (0..answers.len()).rev() {
            let replies = answers[at].replies.clone();
            if replies.len() > few {
                continue;
            }
            let mut others: Vec<usize> = (0..answers.len()).filter(|other| *other != at).collect();
            others.retain(|&other| !answers[other].replies.is_empty());
            others.sort_by_key(|&other| Reverse(answers[other].replies.len()));
            let takes_over = |reply: &Move| {
                let mut others = others.iter().copied();
                others.find(|&other| pool.answers(position, *reply, answers[other].node, most))
            };
            let moved: Option<Vec<usize>> = replies.iter().map(takes_over).collect();
            for (other, reply) in moved.into_iter().flatten().zip(replies) {
                answers[at].replies.clear();
                answers[other].replies.push(reply);
            }
        }
        self.sort();
    }

    /// Returns the node of a move; the answer to most replies stands for all that are not named.
    pub(crate) fn into_node(self, at: Option<Move>) -> Node {
        let mut known = self.0.into_iter();
        let most = known.next().map(|known| known.node);
        let named = |known: SharedAnswer| known.replies.into_iter().map(move |m| (m, known.node));
        let mut replies: Vec<(Move, Reference)> = known.flat_map(named).collect();
        replies.sort_unstable_by_key(|(reply, _)| *reply);
        Node {
            at,
            replies,
            otherwise: most,
        }
    }
}

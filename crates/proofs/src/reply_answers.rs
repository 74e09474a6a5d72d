use kagetsu_certificate::{Reference, Zone};
use kagetsu_game::{Move, Position};

/// The answers to the replies at one position.
pub(crate) struct ReplyAnswers<'a> {
    pub(crate) position: &'a Position,
    pub(crate) replies: Vec<(Move, Reference)>,
    /// The different answers, the most used first.
    pub(crate) known: Vec<CountedAnswer>,
}

/// An answer to some replies at a position.
pub(crate) struct CountedAnswer {
    pub(crate) node: Reference,
    /// The number of its replies.
    count: usize,
    /// The points that matter to it after a pass.
    pub(crate) zone: Option<Zone>,
    /// The guide's answer to the first of its replies.
    pub(crate) guide: Option<Reference>,
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

impl<'a> ReplyAnswers<'a> {
    /// Returns no answers yet.
    pub(crate) const fn new(position: &'a Position) -> Self {
        Self {
            position,
            replies: Vec::new(),
            known: Vec::new(),
        }
    }

    /// Notes an answer that answers no reply yet, unless it is known.
    pub(crate) fn know(
        &mut self,
        node: Reference,
        guide: Option<Reference>,
        zone: impl FnOnce() -> Option<Zone>,
    ) {
        if self.known.iter().all(|known| known.node != node) {
            self.known.push(CountedAnswer {
                node,
                count: 0,
                zone: zone(),
                guide,
            });
        }
    }

    /// Notes the answer to a reply.
    pub(crate) fn add(&mut self, reply: Move, node: Reference) {
        self.replies.push((reply, node));
        if let Some(known) = self.known.iter_mut().find(|known| known.node == node) {
            known.count += 1;
        }
        self.known
            .sort_by_key(|known| std::cmp::Reverse(known.count));
    }
}
